//! One `launch` line of a session file, with every byte we do not mean to change kept as it stands.

use super::words::{Unbalanced, quote, split};
use crate::sys::json;

/// The word with which kitty's saver hands a window's id and start-up command to its loader; it must
/// be the first word after `launch`.
const UNSERIALIZE: &str = "kitty-unserialize-data=";

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

/// Launch options that take a value.
const VALUED: [&str; 27] = [
    "--source-window",
    "--window-title",
    "--title",
    "--tab-title",
    "--type",
    "--cwd",
    "--add-to-session",
    "--env",
    "--var",
    "--location",
    "--next-to",
    "--bias",
    "--remote-control-password",
    "--stdin-source",
    "--marker",
    "--os-window-class",
    "--os-window-name",
    "--os-window-title",
    "--os-window-state",
    "--os-window-position",
    "--logo",
    "--logo-position",
    "--logo-alpha",
    "--color",
    "--spacing",
    "--watcher",
    "--os-panel",
];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    gap: String,
    raw: String,
    text: String,
}

impl Piece {
    fn new(text: &str) -> Self {
        Self {
            gap: " ".to_owned(),
            raw: quote(text),
            text: text.to_owned(),
        }
    }
}

/// What kitty starts in a window's shell once it is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// A line the shell evaluates.
    Line(String),
    /// Exact words.
    Words(Vec<String>),
}

/// A launch line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchLine {
    head: String,
    pieces: Vec<Piece>,
    tail: String,
    /// How many pieces are options (with the values that stand apart, and `--`).
    options_end: usize,
    options_begin: usize,
}

impl LaunchLine {
    /// Reads a line whose first word is `launch`.
    ///
    /// # Errors
    /// A quote that does not end.
    pub fn parse(line: &str) -> Result<Self, Unbalanced> {
        let words = split(line)?;
        let mut at = 0;
        let mut pieces = Vec::with_capacity(words.len());
        let mut head = String::new();
        for (n, word) in words.into_iter().enumerate() {
            let gap = line[at..word.span.start].to_owned();
            at = word.span.end;
            if n == 0 {
                head = gap + &line[word.span];
            } else {
                pieces.push(Piece {
                    gap,
                    raw: line[word.span].to_owned(),
                    text: word.text,
                });
            }
        }
        let mut launch = Self {
            head,
            pieces,
            tail: line[at..].to_owned(),
            options_end: 0,
            options_begin: 0,
        };
        launch.find_options();
        Ok(launch)
    }

    /// A line made anew: window id, then what is added.
    #[must_use]
    pub fn new(id: Option<u64>) -> Self {
        let pieces = id.map(|id| Piece::new(&format!("{UNSERIALIZE}{{\"id\": {id}}}")));
        let mut launch = Self {
            head: "launch".to_owned(),
            pieces: pieces.into_iter().collect(),
            tail: String::new(),
            options_end: 0,
            options_begin: 0,
        };
        launch.find_options();
        launch
    }

    fn find_options(&mut self) {
        let mut at = usize::from(
            self.pieces
                .first()
                .is_some_and(|p| p.text.starts_with(UNSERIALIZE)),
        );
        self.options_begin = at;
        while let Some(piece) = self.pieces.get(at) {
            if piece.text == "--" {
                at += 1;
                break;
            }
            if !piece.text.starts_with('-') || piece.text == "-" {
                break;
            }
            let apart = !piece.text.contains('=') && VALUED.contains(&name_of(&piece.text));
            at += if apart { 2 } else { 1 };
        }
        self.options_end = at.min(self.pieces.len());
    }

    fn unserialize(&self) -> Option<&str> {
        self.pieces.first()?.text.strip_prefix(UNSERIALIZE)
    }

    /// The window's id when it was saved.
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        let data = json::guard(self.unserialize()?.as_bytes(), usize::MAX).ok()?;
        let member = json::members(&data)?.into_iter().find(|m| m.name == "id")?;
        data[member.value].parse().ok()
    }

    /// What kitty would start in its shell.
    #[must_use]
    pub fn startup(&self) -> Option<Startup> {
        let data = json::parse(self.unserialize()?.as_bytes(), usize::MAX).ok()?;
        match json::member(&data, "cmd_at_shell_startup")? {
            json::JsonValue::String(line) => Some(Startup::Line(line.clone())),
            json::JsonValue::Array(words) => words
                .iter()
                .map(|w| match w {
                    json::JsonValue::String(text) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Option<_>>()
                .map(Startup::Words),
            _ => None,
        }
    }

    /// Sets or takes away what kitty starts in the shell; all else in that word stays as it is.
    pub fn set_startup(&mut self, startup: Option<&Startup>) {
        let Some(data) = self.unserialize() else {
            return;
        };
        let Some(members) = json::guard(data.as_bytes(), usize::MAX)
            .ok()
            .as_deref()
            .and_then(json::members)
        else {
            return;
        };
        // The guard decodes escapes, so spans are of the decoded text: take the text it gave.
        let Ok(mut text) = json::guard(data.as_bytes(), usize::MAX) else {
            return;
        };
        if let Some(member) = members.iter().find(|m| m.name == "cmd_at_shell_startup") {
            let before = text[..member.span.start].rfind(',');
            let after = text[member.span.end..]
                .find(',')
                .map(|n| member.span.end + n);
            let cut = match (before, after) {
                (Some(comma), _) => comma..member.span.end,
                (None, Some(comma)) => {
                    let blanks = text[comma + 1..].len() - text[comma + 1..].trim_start().len();
                    member.span.start..comma + 1 + blanks
                }
                (None, None) => member.span.clone(),
            };
            text.replace_range(cut, "");
        }
        if let Some(startup) = startup {
            let mut value = String::new();
            match startup {
                Startup::Line(line) => json::push_string(&mut value, line),
                Startup::Words(words) => {
                    value = json::list(words.iter().map(|w| {
                        let mut word = String::new();
                        json::push_string(&mut word, w);
                        word
                    }));
                }
            }
            if let Some(close) = text.rfind('}') {
                let comma = if text[..close].trim_end().ends_with('{') {
                    ""
                } else {
                    ", "
                };
                text.insert_str(close, &format!("{comma}\"cmd_at_shell_startup\": {value}"));
            }
        }
        let ascii = to_ascii(&text);
        self.pieces[0] = Piece {
            gap: self.pieces[0].gap.clone(),
            ..Piece::new(&format!("{UNSERIALIZE}{ascii}"))
        };
    }

    /// The options in order: name, value (`None` for one without), as they stand in the file.
    #[must_use]
    pub fn options(&self) -> Vec<(&str, Option<&str>)> {
        let mut found = Vec::new();
        let mut at = self.options_begin;
        while at < self.options_end {
            let text = self.pieces[at].text.as_str();
            if text == "--" {
                break;
            }
            match text.split_once('=') {
                Some((name, value)) => found.push((name, Some(value))),
                None if VALUED.contains(&name_of(text)) => {
                    at += 1;
                    found.push((text, self.pieces.get(at).map(|p| p.text.as_str())));
                }
                None => found.push((text, None)),
            }
            at += 1;
        }
        found
    }

    /// The value of the last option `name`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options()
            .into_iter()
            .rev()
            .find(|(n, _)| *n == name)
            .and_then(|(_, v)| v)
    }

    /// Whether the option is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.options().iter().any(|(n, _)| *n == name)
    }

    /// The value of `--var=NAME=…` (the last one counts).
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.pair("--var", name)
    }

    /// The value of `--env=NAME=…`.
    #[must_use]
    pub fn env(&self, name: &str) -> Option<&str> {
        self.pair("--env", name)
    }

    fn pair(&self, option: &str, name: &str) -> Option<&str> {
        self.options()
            .into_iter()
            .rev()
            .filter(|(o, _)| *o == option)
            .find_map(|(_, v)| v?.strip_prefix(name)?.strip_prefix('='))
    }

    /// Takes away the options for which `doomed` says so.
    pub fn remove_options(&mut self, doomed: impl Fn(&str, Option<&str>) -> bool) {
        let mut kept = Vec::with_capacity(self.pieces.len());
        let mut at = 0;
        while at < self.pieces.len() {
            let piece = &self.pieces[at];
            let is_option =
                (self.options_begin..self.options_end).contains(&at) && piece.text != "--";
            let apart =
                is_option && !piece.text.contains('=') && VALUED.contains(&name_of(&piece.text));
            let size = if apart { 2 } else { 1 };
            let gone = is_option
                && match piece.text.split_once('=') {
                    Some((name, value)) => doomed(name, Some(value)),
                    None if apart => doomed(
                        &piece.text,
                        self.pieces.get(at + 1).map(|p| p.text.as_str()),
                    ),
                    None => doomed(&piece.text, None),
                };
            if !gone {
                kept.extend(
                    self.pieces[at..(at + size).min(self.pieces.len())]
                        .iter()
                        .cloned(),
                );
            }
            at += size;
        }
        self.pieces = kept;
        self.find_options();
    }

    /// Changes the values of options; `change` gives the new value where it is to change.
    pub fn change_options(&mut self, change: impl Fn(&str, &str) -> Option<String>) {
        let mut at = self.options_begin;
        while at < self.options_end {
            let text = self.pieces[at].text.clone();
            if let Some((name, value)) = text.split_once('=') {
                if let Some(new) = change(name, value) {
                    let gap = self.pieces[at].gap.clone();
                    self.pieces[at] = Piece {
                        gap,
                        ..Piece::new(&format!("{name}={new}"))
                    };
                }
            } else if VALUED.contains(&name_of(&text)) {
                at += 1;
                if let Some(piece) = self.pieces.get(at)
                    && let Some(new) = change(&text, &piece.text)
                {
                    self.pieces[at] = Piece {
                        gap: piece.gap.clone(),
                        ..Piece::new(&new)
                    };
                }
            }
            at += 1;
        }
        self.find_options();
    }

    /// Sets `OPTION=NAME=VALUE` (for `--var` and `--env`), replacing what was there. `value` is
    /// written as it is: the caller has doubled its `$`.
    pub fn set_pair(&mut self, option: &str, name: &str, value: Option<&str>) {
        let prefix = format!("{name}=");
        self.remove_options(|o, v| {
            o == option && v.is_some_and(|v| v.starts_with(&prefix) || v == name)
        });
        if let Some(value) = value {
            self.add_option(&format!("{option}={name}={value}"));
        }
    }

    /// Adds an option word behind the others.
    pub fn add_option(&mut self, word: &str) {
        let mut at = self.options_end;
        if at > self.options_begin && self.pieces[at - 1].text == "--" {
            at -= 1;
        }
        self.pieces.insert(at, Piece::new(word));
        self.find_options();
    }

    /// The program and its arguments; empty: kitty's own shell.
    #[must_use]
    pub fn program(&self) -> Vec<&str> {
        self.pieces[self.options_end..]
            .iter()
            .map(|p| p.text.as_str())
            .collect()
    }

    /// Sets the program; words that are already there keep their bytes.
    pub fn set_program<S: AsRef<str>>(&mut self, words: &[S]) {
        let old: Vec<Piece> = self.pieces.drain(self.options_end..).collect();
        if self.pieces.last().is_some_and(|p| p.text == "--")
            && self.pieces.len() > self.options_begin
        {
            self.pieces.pop();
        }
        if words
            .first()
            .is_some_and(|w| w.as_ref().starts_with('-') || w.as_ref().starts_with(UNSERIALIZE))
        {
            self.pieces.push(Piece::new("--"));
        }
        self.pieces
            .extend(words.iter().enumerate().map(|(n, word)| match old.get(n) {
                Some(piece) if piece.text == word.as_ref() => piece.clone(),
                _ => Piece::new(word.as_ref()),
            }));
        self.find_options();
    }

    /// The whole line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = self.head.clone();
        for piece in &self.pieces {
            out.push_str(&piece.gap);
            out.push_str(&piece.raw);
        }
        out.push_str(&self.tail);
        out
    }

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

/// The long name of an option; `-w` is `--watcher`.
fn name_of(option: &str) -> &str {
    if option == "-w" { "--watcher" } else { option }
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

/// JSON text with everything beyond ASCII as `\u` escapes (only strings can hold it).
fn to_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if let Some(b) = crate::sys::bytes::stood_for(c) {
            out.push_str(&format!("\\udc{b:02x}"));
        } else if c.is_ascii() && c != '\u{7f}' {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> LaunchLine {
        LaunchLine::parse(text).expect("balanced")
    }

    const RICH: &str = "  launch  'kitty-unserialize-data={\"id\": 3, \"cmd_at_shell_startup\": \"claude --resume '\"'\"'abc'\"'\"'\", \"new\": [1, {}]}'  --cwd=/p\t'--var=note=a b' --env X=1 --hold --type=overlay /bin/agent 'x y' ''  ";

    #[test]
    fn an_untouched_line_keeps_every_byte() {
        let launch = line(RICH);
        assert_eq!(launch.text(), RICH);
        assert_eq!(launch.id(), Some(3));
        assert_eq!(
            launch.startup(),
            Some(Startup::Line("claude --resume 'abc'".into()))
        );
        assert_eq!(launch.program(), ["/bin/agent", "x y", ""]);
        assert_eq!(launch.var("note"), Some("a b"));
        assert_eq!(launch.env("X"), Some("1"));
        assert_eq!(launch.option("--cwd"), Some("/p"));
        assert!(launch.has("--hold"));
        assert_eq!(launch.refusal(), None);
    }

    #[test]
    fn only_what_is_meant_changes() {
        let mut launch = line(RICH);
        launch.set_startup(None);
        launch.set_pair("--var", "note", Some("new"));
        launch.set_pair("--env", "X", None);
        launch.set_program(&["/bin/agent", "z"]);
        assert_eq!(
            launch.text(),
            "  launch  'kitty-unserialize-data={\"id\": 3, \"new\": [1, {}]}'  --cwd=/p --hold --type=overlay --var=note=new /bin/agent z  "
        );
        launch.set_startup(Some(&Startup::Words(vec!["a'b".into(), "c\n$d".into()])));
        assert_eq!(
            launch.startup(),
            Some(Startup::Words(vec!["a'b".into(), "c\n$d".into()]))
        );
        launch.set_program::<&str>(&[]);
        assert_eq!(launch.program(), Vec::<&str>::new());
    }

    #[test]
    fn start_up_commands_are_taken_out_wherever_they_stand() {
        for (data, left) in [
            (r#"{"cmd_at_shell_startup": "x", "id": 1}"#, r#"{"id": 1}"#),
            (
                r#"{"id": 1, "cmd_at_shell_startup": ["a,b", "c"]}"#,
                r#"{"id": 1}"#,
            ),
            (r#"{"id": 1}"#, r#"{"id": 1}"#),
            (
                r#"{"id":1,"cmd_at_shell_startup":"x","b":2}"#,
                r#"{"id":1,"b":2}"#,
            ),
        ] {
            let mut launch = line(&format!(
                "launch {}",
                quote(&format!("kitty-unserialize-data={data}"))
            ));
            launch.set_startup(None);
            assert_eq!(launch.unserialize(), Some(left));
        }
    }

    #[test]
    fn a_program_that_looks_like_an_option_is_fenced() {
        let mut launch = line("launch --hold -- --odd x");
        assert_eq!(launch.program(), ["--odd", "x"]);
        launch.add_option("--var=a=b");
        assert_eq!(launch.text(), "launch --hold --var=a=b -- --odd x");
        launch.set_program(&["plain"]);
        assert_eq!(launch.text(), "launch --hold --var=a=b plain");
        launch.set_program(&["-fish"]);
        assert_eq!(launch.text(), "launch --hold --var=a=b -- -fish");
    }

    #[test]
    fn what_kitty_refuses_is_told() {
        for (text, why) in [
            ("launch --frob=1 x", "kitty knows no launch option --frob"),
            ("launch -Z x", "kitty knows no launch option -Z"),
            ("launch --type=frob x", "frob is no value for --type"),
            ("launch --title", "--title has no value"),
            ("launch --help", "--help stands on a launch line"),
            (
                "launch 'kitty-unserialize-data={}'",
                "kitty-unserialize-data has no id",
            ),
            (
                "launch --type=background",
                "--type=background without a program",
            ),
        ] {
            assert_eq!(line(text).refusal().as_deref(), Some(why));
        }
    }
}
