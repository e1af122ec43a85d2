//! A desk taken apart by kitty session: each comes back as its own, from a file of its own.

use super::rewrite::VAR_SESSION;
use crate::kitty::launch_line::LaunchLine;
use crate::kitty::session_file::{Item, Line, SessionFile};

/// The windows of one kitty session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The session's name; empty: the windows of none.
    pub session: String,
    /// Its file.
    pub file: SessionFile,
}

/// A tab's lines.
struct Tab {
    session: String,
    lines: Vec<Line>,
}

/// An OS window: its tabs, what belongs to it as a whole, and the place of its visible tab.
#[derive(Default)]
struct OsWindow {
    tabs: Vec<Tab>,
    rest: Vec<Line>,
    focus: usize,
}

/// Takes a desk apart. The first part is the one that was visible; a desk of one session, or of
/// none, is one part, to the byte. A session whose name `can_stand` refuses counts as none.
#[must_use]
pub fn parts(file: &SessionFile, can_stand: &dyn Fn(&str) -> bool) -> Vec<Part> {
    let (head, mut os_windows) = take_apart(file);
    for tab in os_windows.iter_mut().flat_map(|o| &mut o.tabs) {
        if !can_stand(&tab.session) {
            tab.session.clear();
        }
    }
    let mut names: Vec<String> = Vec::new();
    for tab in os_windows.iter().flat_map(|o| &o.tabs) {
        if !names.contains(&tab.session) {
            names.push(tab.session.clone());
        }
    }
    let visible = os_windows
        .iter()
        .rev()
        .find(|o| !o.tabs.is_empty())
        .map(|o| o.tabs[o.focus.min(o.tabs.len() - 1)].session.clone())
        .unwrap_or_default();
    if names.len() < 2 {
        return vec![Part {
            session: visible,
            file: file.clone(),
        }];
    }
    names.sort_by_key(|n| *n != visible);
    names
        .into_iter()
        .map(|session| Part {
            file: one(&head, &os_windows, &session),
            session,
        })
        .collect()
}

fn take_apart(file: &SessionFile) -> (Vec<Line>, Vec<OsWindow>) {
    let mut head = Vec::new();
    let mut os_windows = vec![OsWindow::default()];
    for line in &file.lines {
        let Some(now) = os_windows.last_mut() else {
            continue;
        };
        match &line.item {
            Item::NewOsWindow => os_windows.push(OsWindow::default()),
            Item::NewTab(_) => now.tabs.push(Tab {
                session: String::new(),
                lines: vec![line.clone()],
            }),
            Item::FocusTab(at) => now.focus = at.trim().parse().unwrap_or(0),
            Item::Comment(_) if now.tabs.is_empty() && now.rest.is_empty() => {
                head.push(line.clone());
            }
            Item::Other(keyword, _) if keyword.starts_with("os_window_") => {
                now.rest.push(line.clone());
            }
            _ => match now.tabs.last_mut() {
                Some(tab) => {
                    if let Item::Launch(launch) = &line.item
                        && tab.session.is_empty()
                    {
                        tab.session = session_of(launch);
                    }
                    tab.lines.push(line.clone());
                }
                // A file that a person wrote may begin without a tab.
                None if matches!(line.item, Item::Blank) => {}
                None => now.tabs.push(Tab {
                    session: match &line.item {
                        Item::Launch(launch) => session_of(launch),
                        _ => String::new(),
                    },
                    lines: vec![line.clone()],
                }),
            },
        }
    }
    os_windows.retain(|o| !o.tabs.is_empty());
    (head, os_windows)
}

fn session_of(launch: &LaunchLine) -> String {
    launch.var(VAR_SESSION).unwrap_or("").replace("$$", "$")
}

/// The file of one session.
fn one(head: &[Line], os_windows: &[OsWindow], session: &str) -> SessionFile {
    let mut lines = head.to_vec();
    let mut first = true;
    for os_window in os_windows {
        let kept: Vec<usize> = (0..os_window.tabs.len())
            .filter(|n| os_window.tabs[*n].session == session)
            .collect();
        if kept.is_empty() {
            continue;
        }
        if !first {
            lines.push(Line::new("new_os_window"));
        }
        first = false;
        for n in &kept {
            lines.extend(os_window.tabs[*n].lines.iter().cloned());
        }
        lines.extend(os_window.rest.iter().cloned());
        let focus = kept.iter().position(|n| *n == os_window.focus).unwrap_or(0);
        lines.push(Line::new(&format!("focus_tab {focus}")));
    }
    SessionFile { lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kitty::session_file::Origin;

    fn show(text: &str) -> String {
        parts(&SessionFile::read(text, Origin::Person, &[]), &|_| true)
            .iter()
            .map(|p| format!("== {}\n{}", p.session, p.file.text()))
            .collect()
    }

    #[test]
    fn a_desk_of_one_session_stays_to_the_byte() {
        for text in [
            "# x\nnew_tab a\nlaunch --var=kittymux_session=work\n\nfocus_tab 0\n",
            "launch\r\nlaunch\r\n",
            "",
        ] {
            let parts = parts(&SessionFile::read(text, Origin::Person, &[]), &|_| true);
            assert_eq!(parts.len(), 1);
            assert_eq!(parts[0].file.text(), text);
        }
    }

    #[test]
    fn each_session_gets_its_tabs_and_the_visible_one_comes_first() {
        let text = "# kittymux 1\n\nnew_tab a\nlayout splits\ncd /a\nlaunch --var=kittymux_session=one\n\n\
                    new_tab b\ncd /b\nlaunch\nlaunch\nfocus\n\nfocus_tab 1\n\n\
                    new_os_window\n\nnew_tab c\ncd /c\nlaunch --var=kittymux_session=one\n\n\
                    new_tab d\ncd /d\nlaunch --var=kittymux_session=my$$two\n\nos_window_class k\nfocus_tab 1\n";
        expect_test::expect![[r#"
            == my$two
            # kittymux 1
            new_tab d
            cd /d
            launch --var=kittymux_session=my$$two

            os_window_class k
            focus_tab 0
            == one
            # kittymux 1
            new_tab a
            layout splits
            cd /a
            launch --var=kittymux_session=one

            focus_tab 0
            new_os_window
            new_tab c
            cd /c
            launch --var=kittymux_session=one

            os_window_class k
            focus_tab 0
            == 
            # kittymux 1
            new_tab b
            cd /b
            launch
            launch
            focus


            focus_tab 0
        "#]]
        .assert_eq(&show(text));
    }
}
