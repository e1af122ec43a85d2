//! Repairs: kitty's saver writes files that its own loader refuses, or reads as something else.
//!
//! A line break in any word makes it refuse the whole file, `$` is expanded when the file is
//! loaded, and a choice of windows leaves wrong tab numbers and an empty first OS window behind
//! (facts 5.4, 5.6, 6.1, 6.5–6.7).

use super::launch_line::{LaunchLine, Startup};
use super::session_file::{Item, SessionFile};
use super::words::{can_stand, double_dollars, nearest};
use crate::sys::out::visible;

impl SessionFile {
    /// Whether the file begins an OS window before it says anything else: what is left where the
    /// saver's choice of windows left out the first OS window.
    fn leading_new_os_window(&self) -> Option<usize> {
        let first = self
            .lines
            .iter()
            .position(|l| !matches!(l.item, Item::Blank | Item::Comment(_)))?;
        matches!(self.lines[first].item, Item::NewOsWindow).then_some(first)
    }

    /// Makes every line one that kitty reads back as it was meant, as near as it can be; says what
    /// could not be kept. Only for a text of kitty's own saver: there `$` stands for itself.
    /// `is_set` tells whether a variable is set in kitty's environment: kitty expands those in
    /// directories a second time, and nothing can stop it.
    pub fn repair(&mut self, is_set: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(first) = self.leading_new_os_window() {
            self.lines.remove(first);
        }
        // The directory of the tab, where kitty cannot be told to go there.
        let mut missed: Option<String> = None;
        for line in &mut self.lines {
            match &line.item {
                Item::NewTab(title) => {
                    missed = None;
                    let title = title.clone();
                    if !can_stand(&title) {
                        said.push(format!(
                            "tab title {:?}: line breaks became blanks",
                            visible(&title)
                        ));
                    }
                    if title.contains('$') || !can_stand(&title) {
                        let value = double_dollars(nearest(&title).trim());
                        line.set(format!("new_tab {value}").trim_end());
                    }
                }
                Item::Cd(dir) => {
                    let dir = dir.clone();
                    let (value, lost) = directory(&dir, is_set);
                    if lost {
                        said.push(format!(
                            "directory {}: kitty cannot be told to go there; its windows open in {}",
                            visible(&dir),
                            visible(&value)
                        ));
                    }
                    let written = double_dollars(&value);
                    if written != dir {
                        line.set(&format!("cd {written}"));
                    }
                    missed = lost.then_some(dir);
                }
                Item::Other(keyword, value) if keyword.starts_with("os_window_") => {
                    let (keyword, value) = (keyword.clone(), value.clone());
                    if !can_stand(&value) {
                        said.push(format!(
                            "{keyword} {}: line breaks became blanks",
                            visible(&value)
                        ));
                    }
                    if value.contains('$') || !can_stand(&value) {
                        line.set(&format!(
                            "{keyword} {}",
                            double_dollars(nearest(&value).trim())
                        ));
                    }
                }
                Item::Refused(_) => {
                    said.push(format!(
                        "left out a line that kitty cannot read: {}",
                        crate::sys::out::clip(&visible(&line.raw), 60)
                    ));
                    line.set("");
                }
                _ => {}
            }
            if let Item::Launch(launch) = &mut line.item {
                repair_launch(launch, missed.as_deref(), is_set, &mut said);
            }
        }
        said
    }

    /// Corrects `focus_tab`, which the saver writes by the unfiltered place: tabs without a window in
    /// the file do not exist for the loader's counting.
    pub fn refocus(&mut self, tabs_before: &[Vec<bool>]) {
        let mut os_window = 0;
        for line in &mut self.lines {
            match &line.item {
                Item::NewOsWindow => os_window += 1,
                Item::FocusTab(place) => {
                    if let (Ok(place), Some(kept)) =
                        (place.trim().parse::<usize>(), tabs_before.get(os_window))
                        && kept.iter().any(|k| !k)
                    {
                        let now = kept.iter().take(place).filter(|k| **k).count();
                        line.set(&format!("focus_tab {now}"));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The directory kitty can go to for `dir`, and whether that is another one. kitty has no way to
/// write one with a line break, bytes that are not UTF-8, or the name of a variable that it has;
/// trailing blanks need a slash behind.
fn directory(dir: &str, is_set: &dyn Fn(&str) -> bool) -> (String, bool) {
    let reachable = |d: &str| can_stand(d) && !variables(d).any(is_set);
    if reachable(dir) {
        let blank_at_end = dir.chars().next_back().is_some_and(char::is_whitespace);
        return (
            if blank_at_end {
                format!("{dir}/")
            } else {
                dir.to_owned()
            },
            false,
        );
    }
    let mut parent = dir;
    while !reachable(parent) {
        parent = parent.rfind('/').map_or("", |n| &parent[..n]);
    }
    (
        if parent.is_empty() { "/" } else { parent }.to_owned(),
        true,
    )
}

/// The names behind each `$` of a text, with and without braces.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|rest| {
        let inner = rest
            .strip_prefix('{')
            .and_then(|r| r.split_once('}'))
            .map(|(name, _)| name);
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        inner.or(Some(&rest[..end])).filter(|name| !name.is_empty())
    })
}

/// Arguments that kitty puts something else for when a session is opened in a running kitty.
const SUBSTITUTED: [&str; 9] = [
    "@selection",
    "@active-kitty-window-id",
    "@cursor-x",
    "@cursor-y",
    "@scrolled-by",
    "@first-line-on-screen",
    "@last-line-on-screen",
    "@input-line-number",
    "@line-count",
];

fn repair_launch(
    launch: &mut LaunchLine,
    missed: Option<&str>,
    is_set: &dyn Fn(&str) -> bool,
    said: &mut Vec<String>,
) {
    let own = launch
        .option("--cwd")
        .map(|dir| (dir.to_owned(), directory(dir, is_set)));
    let lost = std::cell::RefCell::new(Vec::new());
    launch.change_options(|name, value| {
        let kept = match &own {
            Some((dir, (near, _))) if name == "--cwd" && dir == value => near.clone(),
            _ if can_stand(value) => value.to_owned(),
            _ => {
                lost.borrow_mut().push(format!(
                    "{name}={}: line breaks became blanks",
                    visible(value)
                ));
                nearest(value)
            }
        };
        // kitty expands --env values twice, all others once.
        let dollars = double_dollars(&kept);
        let written = if name == "--env" {
            double_dollars(&dollars)
        } else {
            dollars
        };
        (written != value).then_some(written)
    });
    said.extend(lost.into_inner());
    let missed = match &own {
        Some((dir, (near, true))) => {
            said.push(format!(
                "directory {}: kitty cannot be told to go there; the window opens in {}",
                visible(dir),
                visible(near)
            ));
            Some(dir.as_str())
        }
        Some(_) => None,
        None => missed,
    };
    repair_program(launch, said);
    // A shell can still be told to go there, once it is up.
    if let Some(dir) = missed
        && launch.program().is_empty()
        && launch.startup().is_none()
        && !dir.contains('\0')
        && !crate::sys::bytes::is_raw(dir)
    {
        launch.set_startup(Some(&Startup::Words(vec!["cd".to_owned(), dir.to_owned()])));
    }
}

fn repair_program(launch: &mut LaunchLine, said: &mut Vec<String>) {
    let program: Vec<String> = launch.program().into_iter().map(str::to_owned).collect();
    let substituted = program
        .iter()
        .skip(1)
        .any(|w| SUBSTITUTED.contains(&w.as_str()));
    if program.iter().all(|w| can_stand(w)) && !substituted {
        return;
    }
    let name = visible(&program[0]);
    // A start-up command is JSON, which can carry line breaks; only NUL and raw bytes are lost there.
    let lost = |w: &String| w.contains('\0') || crate::sys::bytes::is_raw(w);
    if program.iter().any(lost) {
        said.push(format!(
            "{name}: an argument that is not UTF-8 became the nearest text"
        ));
    }
    let words: Vec<String> = program
        .iter()
        .map(|w| if lost(w) { nearest(w) } else { w.clone() })
        .collect();
    if words.iter().all(|w| can_stand(w)) && !substituted {
        launch.set_program(&words);
        return;
    }
    said.push(format!(
        "{name}: kitty cannot write its arguments on a launch line, so it starts inside a shell"
    ));
    if words.iter().any(String::is_empty) {
        said.push(format!("{name}: its empty arguments are lost"));
    }
    launch.set_program::<&str>(&[]);
    launch.set_startup(Some(&Startup::Words(words)));
}

#[cfg(test)]
mod tests {
    use super::super::session_file::tests::captures;
    use super::super::session_file::{Origin, SessionFile};

    #[test]
    fn every_capture_can_be_loaded_after_repair() {
        let titles = vec!["line\nbreak".to_owned(), "ls\u{2028}sep".to_owned()];
        for (name, text) in captures() {
            let mut file = SessionFile::read(&text, Origin::Kitty, &titles);
            file.repair(&|name| name == "HOME");
            let again = SessionFile::read(&file.text(), Origin::Person, &[]);
            assert_eq!(again.refusal(), None, "{name}");
            assert_eq!(again.launches().count(), file.launches().count(), "{name}");
        }
    }

    #[test]
    fn a_hostile_title_or_directory_cannot_add_a_window() {
        let title = "x\nlayout splits\ncd /\n\nlaunch --type=background evil";
        let dir = "/tmp/a\nlaunch evil";
        let text = format!(
            "\nnew_tab {title}\nlayout splits\ncd {dir}\n\nlaunch 'kitty-unserialize-data={{\"id\": 1}}' '--title=b\nlaunch evil' prog 'c\nlaunch evil'\nfocus\n\nfocus_tab 0"
        );
        let mut file = SessionFile::read(&text, Origin::Kitty, &[title.to_owned(), dir.to_owned()]);
        assert_eq!(file.text(), text);
        let said = file.repair(&|name| name == "HOME");
        expect_test::expect![[r#"

            new_tab x layout splits cd / launch --type=background evil
            layout splits
            cd /tmp

            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["prog","c\u000alaunch evil"]}' '--title=b launch evil'
            focus

            focus_tab 0"#]].assert_eq(&file.text());
        expect_test::expect![[r#"
            tab title "x\\nlayout splits\\ncd /\\n\\nlaunch --type=background evil": line breaks became blanks
            directory /tmp/a\nlaunch evil: kitty cannot be told to go there; its windows open in /tmp
            --title=b\nlaunch evil: line breaks became blanks
            prog: kitty cannot write its arguments on a launch line, so it starts inside a shell"#]].assert_eq(&said.join("\n"));
    }

    #[test]
    fn the_visible_tab_is_found_again_when_tabs_before_it_are_left_out() {
        let mut file = SessionFile::read(
            "new_tab a\nlaunch\nfocus_tab 2\nnew_os_window\nnew_tab\nlaunch\nfocus_tab 1",
            Origin::Kitty,
            &[],
        );
        file.refocus(&[vec![false, true, true], vec![true, true]]);
        assert_eq!(
            file.text(),
            "new_tab a\nlaunch\nfocus_tab 1\nnew_os_window\nnew_tab\nlaunch\nfocus_tab 1"
        );
    }

    #[test]
    fn directories_come_back_or_their_parent_does() {
        let line = |dir: &str| {
            let text = format!(
                "new_tab\ncd {dir}\n\nlaunch 'kitty-unserialize-data={{\"id\": 1}}'\nlaunch 'kitty-unserialize-data={{\"id\": 2}}' '--cwd={dir}' prog"
            );
            let mut file = SessionFile::read(&text, Origin::Kitty, &[dir.to_owned()]);
            let said = file.repair(&|name| name == "HOME");
            file.text() + "\n" + &said.join("\n")
        };
        let shown: Vec<String> = [
            "/tmp/a$b",
            "/tmp/a$HOME/x",
            "/tmp/${HOME}",
            "/tmp/a\u{2028}b/c",
            "/tmp/blank ",
        ]
        .map(line)
        .to_vec();
        expect_test::expect![[r#"
            new_tab
            cd /tmp/a$$b

            launch 'kitty-unserialize-data={"id": 1}'
            launch 'kitty-unserialize-data={"id": 2}' '--cwd=/tmp/a$$b' prog


            new_tab
            cd /tmp

            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["cd","/tmp/a\u0024HOME/x"]}'
            launch 'kitty-unserialize-data={"id": 2}' --cwd=/tmp prog
            directory /tmp/a$HOME/x: kitty cannot be told to go there; its windows open in /tmp
            directory /tmp/a$HOME/x: kitty cannot be told to go there; the window opens in /tmp

            new_tab
            cd /tmp

            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["cd","/tmp/\u0024{HOME}"]}'
            launch 'kitty-unserialize-data={"id": 2}' --cwd=/tmp prog
            directory /tmp/${HOME}: kitty cannot be told to go there; its windows open in /tmp
            directory /tmp/${HOME}: kitty cannot be told to go there; the window opens in /tmp

            new_tab
            cd /tmp

            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["cd","/tmp/a\u2028b/c"]}'
            launch 'kitty-unserialize-data={"id": 2}' --cwd=/tmp prog
            directory /tmp/a\u{2028}b/c: kitty cannot be told to go there; its windows open in /tmp
            directory /tmp/a\u{2028}b/c: kitty cannot be told to go there; the window opens in /tmp

            new_tab
            cd /tmp/blank /

            launch 'kitty-unserialize-data={"id": 1}'
            launch 'kitty-unserialize-data={"id": 2}' '--cwd=/tmp/blank /' prog
        "#]].assert_eq(&shown.join("\n\n"));
    }

    #[test]
    fn what_kitty_would_put_something_else_for_is_kept_from_it() {
        let text = "launch 'kitty-unserialize-data={\"id\": 1}' prog @selection ''";
        let mut file = SessionFile::read(text, Origin::Kitty, &[]);
        let said = file.repair(&|_| false);
        expect_test::expect![[r#"
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["prog","@selection",""]}'
            prog: kitty cannot write its arguments on a launch line, so it starts inside a shell
            prog: its empty arguments are lost"#]].assert_eq(&(file.text() + "\n" + &said.join("\n")));
    }
}
