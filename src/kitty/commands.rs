//! The requests we make of kitty, as frames.

use super::launch_line::LaunchLine;
use super::wire::request;
use super::words::{can_stand, quote};
use crate::sys::json::{Object, list, push_string};

/// All windows. `window`: the one we run in, which the answer then marks.
#[must_use]
pub fn ls(window: Option<u64>) -> Vec<u8> {
    request("ls", "{}", window)
}

/// Sets (`Some`) and deletes (`None`) user variables of one window.
#[must_use]
pub fn set_user_vars(window: u64, vars: &[(&str, Option<&str>)]) -> Vec<u8> {
    let words: Vec<String> = vars
        .iter()
        .map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => (*name).to_owned(),
        })
        .collect();
    let payload = Object::new()
        .text("match", &format!("id:{window}"))
        .texts("var", &words)
        .finish();
    request("set-user-vars", &payload, None)
}

/// Whether a refusal says that this kitty has no sessions: 0.48.2 says `Unknown action` of one that it
/// does not know, 0.26.5 does not know the command `action`.
#[must_use]
pub fn is_too_old(refusal: &str) -> bool {
    refusal.starts_with("Unknown action")
        || refusal.contains("Unknown kitty remote control command")
}

/// One of kitty's mappable actions.
#[must_use]
pub fn action(text: &str) -> Vec<u8> {
    request("action", &Object::new().text("action", text).finish(), None)
}

/// Saves the windows that `matching` selects to `path` (absolute) with kitty's own saver.
///
/// kitty expands `$` in the whole text first, inside quotes too, and then splits it into words.
#[must_use]
pub fn save_as_session(path: &str, matching: Option<&str>) -> Vec<u8> {
    let mut text = String::from("save_as_session --save-only --use-foreground-process");
    if let Some(matching) = matching {
        text.push(' ');
        text.push_str(&quote(&format!("--match={matching}")));
    }
    text.push(' ');
    text.push_str(&quote(path));
    action(&text.replace('$', "$$"))
}

/// Opens the session file at `path` (absolute), or switches to the session of its name.
#[must_use]
pub fn goto_session(path: &str) -> Vec<u8> {
    action(&format!("goto_session {}", quote(path)).replace('$', "$$"))
}

/// Our capture kitten at `path`: the text of the OS windows `os_windows` (`None`: all) without the
/// windows `skip`, and the window list of the same instant. `carrier` is a window that exists.
#[must_use]
pub fn capture(
    path: &str,
    os_windows: Option<&[u64]>,
    skip: &[u64],
    carrier: Option<u64>,
) -> Vec<u8> {
    let numbers = |ids: &[u64]| list(ids.iter().map(u64::to_string));
    let choice = Object::new()
        .raw(
            "os_windows",
            &os_windows.map_or_else(|| "null".to_owned(), numbers),
        )
        .raw("skip", &numbers(skip))
        .finish();
    let mut payload = Object::new()
        .text("kitten", path)
        .texts("args", &["1", &choice]);
    if let Some(window) = carrier {
        payload = payload.text("match", &format!("id:{window}"));
    }
    request("kitten", &payload.finish(), None)
}

/// A new tab with kitty's own shell.
#[must_use]
pub fn plain_tab() -> Vec<u8> {
    request("launch", &Object::new().text("type", "tab").finish(), None)
}

/// Closes all windows whose user variable `name` is `value` (a token).
#[must_use]
pub fn close_by_var(name: &str, value: &str) -> Vec<u8> {
    let payload = Object::new().text("match", &format!("var:{name}=^{value}$"));
    request("close-window", &payload.finish(), None)
}

/// Closes a window.
#[must_use]
pub fn close_window(id: u64) -> Vec<u8> {
    let payload = Object::new().text("match", &format!("id:{id}"));
    request("close-window", &payload.finish(), None)
}

/// Shows `text` as the title of `window` until its program sets another.
#[must_use]
pub fn show_title(window: u64, text: &str) -> Vec<u8> {
    let payload = Object::new()
        .text("match", &format!("id:{window}"))
        .text("title", text)
        .flag("temporary", true);
    request("set-window-title", &payload.finish(), None)
}

/// Opens an overlay that runs `words` and counts as no part of a desk.
#[must_use]
pub fn overlay(words: &[&str]) -> Vec<u8> {
    let mut payload = Object::new()
        .texts("args", words)
        .text("type", "overlay")
        .texts("var", &[format!("{}=1", super::tree::UTILITY)])
        .text("window_title", "kittymux");
    payload = payload.flag("hold", false);
    request("launch", &payload.finish(), None)
}

/// Opens a tab with the window that a line of a session file describes: its environment, variables
/// and program, in the directory `cwd`.
#[must_use]
pub fn launch_tab(line: &LaunchLine, cwd: &str, title: Option<&str>) -> Vec<u8> {
    let pairs = |option: &str, change: fn(&str) -> String| -> Vec<String> {
        let options = line.options().into_iter();
        options
            .filter(|(name, _)| *name == option)
            .filter_map(|(_, value)| value.map(change))
            .collect()
    };
    // What a session file says is expanded once more than what comes over the socket.
    let once = |value: &str| value.replace("$$", "$");
    let mut payload = Object::new()
        .texts("args", &line.program())
        .text("type", "tab")
        .texts("env", &pairs("--env", once))
        .texts("var", &pairs("--var", once));
    if can_stand(cwd) {
        payload = payload.text("cwd", cwd);
    }
    if let Some(title) = title {
        payload = payload.text("tab_title", title);
    }
    request("launch", &payload.finish(), None)
}

/// Brings a window to the front.
#[must_use]
pub fn focus_window(window: u64) -> Vec<u8> {
    request(
        "focus-window",
        &Object::new()
            .text("match", &format!("id:{window}"))
            .finish(),
        None,
    )
}

/// A match expression for exactly these windows.
#[must_use]
pub fn match_ids(ids: &[u64]) -> String {
    ids.iter()
        .map(|id| format!("id:{id}"))
        .collect::<Vec<_>>()
        .join(" or ")
}

/// A JSON string, for tests and payloads made elsewhere.
#[must_use]
pub fn json_string(text: &str) -> String {
    let mut out = String::new();
    push_string(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(frame: &[u8]) -> String {
        String::from_utf8_lossy(&frame[12..frame.len() - 2]).into_owned()
    }

    #[test]
    fn the_save_path_survives_kittys_expansion_and_splitting() {
        expect_test::expect![[r#"{"cmd":"action","version":[0,26,0],"payload":{"action":"save_as_session --save-only --use-foreground-process \u0027--match=id:1 or id:2\u0027 \u0027/a b/\u0024\u0024HOME/it\u0027\"\u0027\"\u0027s\u0027"}}"#]]
            .assert_eq(&body(&save_as_session("/a b/$HOME/it's", Some("id:1 or id:2"))));
    }

    #[test]
    fn variables_are_set_and_deleted_in_one_request() {
        expect_test::expect![[r#"{"cmd":"set-user-vars","version":[0,26,0],"payload":{"match":"id:3","var":["a=b","c"]}}"#]]
            .assert_eq(&body(&set_user_vars(3, &[("a", Some("b")), ("c", None)])));
    }

    #[test]
    fn a_line_of_a_session_file_is_opened_as_a_tab() {
        let line = "launch 'kitty-unserialize-data={\"id\": 1}' '--env=A=a$$$$b c' --env=B=1 --var=k=v$$w /bin/bash --rcfile '/s $x/r'";
        let line = LaunchLine::parse(line).expect("a line");
        expect_test::expect![[r#"{"cmd":"launch","version":[0,26,0],"payload":{"args":["/bin/bash","--rcfile","/s \u0024x/r"],"type":"tab","env":["A=a\u0024\u0024b c","B=1"],"var":["k=v\u0024w"],"cwd":"/p \u0024HOME","tab_title":"t"}}"#]].assert_eq(&body(&launch_tab(&line, "/p $HOME", Some("t"))));
        expect_test::expect![[r#"{"cmd":"launch","version":[0,26,0],"payload":{"args":[],"type":"tab","env":[],"var":[]}}"#]].assert_eq(&body(&launch_tab(&LaunchLine::new(None), "/a\nb", None)));
    }

    #[test]
    fn the_capture_names_its_windows() {
        expect_test::expect![[r#"{"cmd":"kitten","version":[0,26,0],"payload":{"kitten":"/k/kittymux_capture.py","args":["1","{\"os_windows\":[1,2],\"skip\":[]}"],"match":"id:9"}}"#]]
            .assert_eq(&body(&capture("/k/kittymux_capture.py", Some(&[1, 2]), &[], Some(9))));
    }
}
