//! What kitty's loader refuses on a launch line, and with it the whole file.

use super::{LaunchLine, VALUED, name_of};
use crate::sys::json;

/// Launch options that take no value (kitty 0.48.2's `kitty/launch.py`, `bool-set`).
const FLAGS: [&str; 10] = [
    "--keep-focus",
    "--dont-take-focus",
    "--hold",
    "--copy-colors",
    "--copy-cmdline",
    "--copy-env",
    "--allow-remote-control",
    "--stdin-add-formatting",
    "--stdin-add-line-wrap-markers",
    "--hold-after-ssh",
];

impl LaunchLine {
    /// Why kitty would refuse the whole file for this line, if it would.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        if let Some(data) = self.unserialize() {
            match json::parse(data.as_bytes(), usize::MAX) {
                Err(e) => return Some(format!("kitty-unserialize-data is not JSON ({})", e.what)),
                Ok(value) => {
                    if json::member(&value, "id").is_none() {
                        return Some("kitty-unserialize-data has no id".to_owned());
                    }
                    use json::JsonValue as V;
                    match json::member(&value, "cmd_at_shell_startup") {
                        None | Some(V::Null | V::String(_)) => {}
                        Some(V::Array(items))
                            if items.iter().all(|i| matches!(i, V::String(_))) => {}
                        Some(_) => {
                            return Some(
                                "cmd_at_shell_startup is neither a line nor a list of words"
                                    .to_owned(),
                            );
                        }
                    }
                }
            }
        }
        let mut at = self.options_begin;
        while at < self.options_end {
            let text = self.pieces[at].text.as_str();
            if text == "--" {
                break;
            }
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            if FLAGS.contains(&name) {
                at += 1;
                continue;
            }
            if name == "--help" || name == "-h" {
                return Some(format!("{name} stands on a launch line"));
            }
            if !VALUED.contains(&name_of(name)) {
                return Some(format!("kitty knows no launch option {name}"));
            }
            let value = match value {
                Some(value) => Some(value),
                None => {
                    at += 1;
                    self.pieces.get(at).map(|p| p.text.as_str())
                }
            };
            let Some(value) = value else {
                return Some(format!("{name} has no value"));
            };
            if let Some(wrong) = bad_choice(name, value) {
                return Some(wrong);
            }
            at += 1;
        }
        if self.option("--type") == Some("background") && self.program().is_empty() {
            return Some("--type=background without a program".to_owned());
        }
        None
    }
}

fn bad_choice(name: &str, value: &str) -> Option<String> {
    let choices: &[&str] = match name {
        "--type" => &[
            "window",
            "tab",
            "os-window",
            "os-panel",
            "overlay",
            "overlay-main",
            "background",
            "clipboard",
            "primary",
        ],
        "--location" => &[
            "first", "after", "before", "neighbor", "last", "vsplit", "hsplit", "split", "default",
        ],
        "--os-window-state" => &["normal", "fullscreen", "maximized", "minimized"],
        "--stdin-source" => &[
            "none",
            "@selection",
            "@screen",
            "@screen_scrollback",
            "@alternate",
            "@alternate_scrollback",
            "@first_cmd_output_on_screen",
            "@last_cmd_output",
            "@last_visited_cmd_output",
        ],
        _ => return None,
    };
    (!choices.contains(&value)).then(|| format!("{value} is no value for {name}"))
}
