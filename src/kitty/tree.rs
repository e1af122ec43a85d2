//! What kitty shows of itself (`ls`): OS windows, tabs, windows, their processes and variables
//! (facts 3.1–3.9).

#![allow(clippy::question_mark)] // in what the derive of DeJson writes

use std::collections::BTreeMap;

use nanoserde::DeJson;

use crate::sys::json;

/// The largest `ls` we read: 500 windows are some 1 MB.
pub const LIMIT: usize = 16 << 20;

/// An OS window.
#[derive(Debug, Clone, Default, PartialEq, DeJson)]
#[nserde(default)]
pub struct OsWindow {
    /// Its id, unique in its kitty.
    pub id: u64,
    /// Has the keyboard focus of the desktop now.
    pub is_focused: bool,
    /// Had it last.
    pub last_focused: bool,
    /// Is the one kitty acts on.
    pub is_active: bool,
    /// Window class; `kitty-quick-access` is a utility panel.
    pub wm_class: Option<String>,
    /// Window name.
    pub wm_name: Option<String>,
    /// Its tabs, in order.
    pub tabs: Vec<Tab>,
}

/// A tab.
#[derive(Debug, Clone, Default, PartialEq, DeJson)]
#[nserde(default)]
pub struct Tab {
    /// Its id, unique in its kitty.
    pub id: u64,
    /// What its bar shows.
    pub title: Option<String>,
    /// Whether the title was set by hand; only then kitty saves it.
    pub title_overridden: bool,
    /// Name of its layout.
    pub layout: Option<String>,
    /// Is the visible tab of its OS window.
    pub is_active: bool,
    /// Window groups: a window and its overlays, base first.
    pub groups: Vec<Group>,
    /// Its windows.
    pub windows: Vec<Window>,
}

/// A window and its overlays.
#[derive(Debug, Clone, Default, PartialEq, Eq, DeJson)]
#[nserde(default)]
pub struct Group {
    /// Its id.
    pub id: u64,
    /// Ids of its windows, base first.
    pub windows: Vec<u64>,
}

/// A window: one terminal with one child process.
#[derive(Debug, Clone, Default, PartialEq, DeJson)]
#[nserde(default)]
pub struct Window {
    /// Its id, unique in its kitty and never used again there.
    pub id: u64,
    /// Pid of its own child process.
    pub pid: Option<i32>,
    /// Directory; `None` where kitty does not know one.
    pub cwd: Option<String>,
    /// Words of the child now. kitty drops trailing empty words and gives `[]` for non-UTF-8 ones.
    pub cmdline: Vec<String>,
    /// Processes of the terminal's foreground group, by rising pid.
    pub foreground_processes: Vec<Foreground>,
    /// User variables.
    pub user_vars: BTreeMap<String, String>,
    /// Shell integration says: an idle prompt. False without integration.
    pub at_prompt: bool,
    /// The line typed last, by shell integration. It stays after the command ended.
    pub last_reported_cmdline: Option<String>,
    /// What the program calls itself, or what was set by hand.
    pub title: Option<String>,
    /// Whether the title was set by hand.
    pub title_overridden: bool,
    /// The kitty session it belongs to; empty: none.
    pub session_name: Option<String>,
    /// Is the visible window of its tab.
    pub is_active: bool,
    /// Is the active window of any tab of the focused OS window.
    pub is_focused: bool,
    /// Is the window the request came from.
    pub is_self: bool,
    /// When it was made, nanoseconds of wall time.
    pub created_at: u64,
}

/// A process in the foreground of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq, DeJson)]
#[nserde(default)]
pub struct Foreground {
    /// Its pid.
    pub pid: Option<i32>,
    /// Its words.
    pub cmdline: Vec<String>,
    /// Its directory.
    pub cwd: Option<String>,
}

/// Reads what `ls` answered.
///
/// # Errors
/// Why it is no window list.
pub fn read(text: &str) -> Result<Vec<OsWindow>, String> {
    json::decode(text.as_bytes(), LIMIT)
        .map_err(|e| format!("kitty's window list is unreadable: {e}"))
}

/// A window with the tab and the OS window it is in.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The OS window.
    pub os_window: &'a OsWindow,
    /// The tab.
    pub tab: &'a Tab,
    /// The window.
    pub window: &'a Window,
}

/// All windows, in kitty's order.
pub fn windows(tree: &[OsWindow]) -> impl Iterator<Item = Place<'_>> {
    tree.iter().flat_map(|os_window| {
        os_window.tabs.iter().flat_map(move |tab| {
            tab.windows.iter().map(move |window| Place {
                os_window,
                tab,
                window,
            })
        })
    })
}

/// The OS window a person means: the one `window` is in, else the focused, else the last focused,
/// else the only one.
#[must_use]
pub fn meant(tree: &[OsWindow], window: Option<u64>) -> Option<&OsWindow> {
    let of_window = |id: u64| {
        windows(tree)
            .find(|p| p.window.id == id)
            .map(|p| p.os_window)
    };
    window
        .and_then(of_window)
        .or_else(|| tree.iter().find(|o| o.is_focused))
        .or_else(|| tree.iter().find(|o| o.last_focused))
        .or_else(|| tree.iter().find(|o| o.is_active))
        .or_else(|| (tree.len() == 1).then(|| &tree[0]))
}

/// Whether all of a kitty is the quick-access panel.
#[must_use]
pub fn is_panel(tree: &[OsWindow]) -> bool {
    let is_one = |o: &OsWindow| o.wm_class.as_deref() == Some("kitty-quick-access");
    !tree.is_empty() && tree.iter().all(is_one)
}

/// Marks our own overlays (pickers, results): they are no part of a desk.
pub const UTILITY: &str = "kittymux_utility";

impl Window {
    /// Whether it is one of our own overlays.
    #[must_use]
    pub fn is_utility(&self) -> bool {
        self.user_vars.contains_key(UTILITY)
    }

    /// A user variable that is set and not empty.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.user_vars
            .get(name)
            .map(String::as_str)
            .filter(|v| !v.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rich_kitty_is_read_whole() {
        let tree = read(include_str!("../../tests/data/kitty/ls-rich.json")).expect("readable");
        let shown: Vec<String> = windows(&tree)
            .map(|p| {
                format!(
                    "{}/{}/{} {:?} fg={} vars={:?} prompt={}",
                    p.os_window.id,
                    p.tab.title.as_deref().unwrap_or(""),
                    p.window.id,
                    p.window.cmdline,
                    p.window.foreground_processes.len(),
                    p.window.user_vars,
                    p.window.at_prompt
                )
            })
            .collect();
        expect_test::expect![[r#"
            1/manual title/1 ["/bin/bash", "--posix"] fg=2 vars={} prompt=false
            1/agents/2 ["/bin/bash", "--posix"] fg=1 vars={} prompt=false
            1/agents/3 ["/bin/bash", "/home/user/bin/agent.sh", "x y", "it's", "$HOME", "é😀"] fg=1 vars={"kittymux_id": "w-1", "note": "a b"} prompt=false
            1/agents/4 ["/usr/bin/kitten", "run-shell", "--shell=/bin/bash", "--shell-integration=enabled", "--env=KITTY_HOLD=1", "/home/user/bin/agent.sh", "held"] fg=2 vars={} prompt=false
            1/agents/5 ["/bin/bash", "--posix"] fg=1 vars={} prompt=true
            1/agents/6 ["/bin/bash", "/home/user/bin/agent.sh", "overlay"] fg=1 vars={} prompt=false
            2/~/proj/with space/7 ["/bin/bash", "--posix"] fg=1 vars={} prompt=true"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn null_directories_lone_surrogates_and_unknown_fields_are_read() {
        let tree = read(
            r#"[{"id":1,"new_field":{"a":[1,{"b":null}]},"tabs":[{"id":1,"windows":[{"id":7,"cwd":"/tmp/\udcff",
            "cmdline":[],"foreground_processes":[{"pid":5,"cmdline":[],"cwd":null}],"user_vars":{"a":"\udc80"},
            "created_at":1796000000123456789}]}]}]"#,
        )
        .expect("readable");
        let window = &tree[0].tabs[0].windows[0];
        assert_eq!(
            crate::sys::bytes::to_bytes(window.cwd.as_deref().unwrap_or("")),
            b"/tmp/\xff"
        );
        assert_eq!(window.created_at, 1_796_000_000_123_456_789);
        assert_eq!(window.foreground_processes[0].cwd, None);
        for bad in ["", "{}", "[{]", "[1]", "null"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_meant_os_window_is_the_callers_then_the_focused_then_the_last_focused() {
        let tree = read(
            r#"[{"id":1,"last_focused":true,"tabs":[{"windows":[{"id":1}]}]},{"id":2,"tabs":[{"windows":[{"id":2}]}]}]"#,
        )
        .expect("readable");
        let id = |w| meant(&tree, w).map(|o| o.id);
        assert_eq!(
            (id(Some(2)), id(None), id(Some(99))),
            (Some(2), Some(1), Some(1))
        );
    }
}
