//! Repairs: kitty's saver writes files that its own loader refuses, or reads as something else.
//!
//! A line break in any word makes it refuse the whole file, `$` is expanded when the file is
//! loaded, and a choice of windows leaves wrong tab numbers and an empty first OS window behind.

use super::launch_line::LaunchLine;
use super::session_file::{Item, SessionFile};
use super::words::{can_stand, double_dollars, nearest};

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
    pub fn repair(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(first) = self.leading_new_os_window() {
            self.lines.remove(first);
        }
        for line in &mut self.lines {
            match &line.item {
                Item::NewTab(title) => {
                    let title = title.clone();
                    if !can_stand(&title) {
                        said.push(format!(
                            "tab title {:?}: line breaks became blanks",
                            crate::sys::out::visible(&title)
                        ));
                    }
                    if title.contains('$') || !can_stand(&title) {
                        let value = double_dollars(nearest(&title).trim());
                        line.set(format!("new_tab {value}").trim_end());
                    }
                }
                Item::Cd(dir) => {
                    let dir = dir.clone();
                    let (value, lost) = directory(&dir);
                    if lost {
                        said.push(format!(
                            "directory {}: kitty cannot go there, its windows open in {value}",
                            crate::sys::out::visible(&dir)
                        ));
                    }
                    if value != dir {
                        line.set(&format!("cd {}", double_dollars(&value)));
                    }
                }
                Item::Other(keyword, value) if keyword.starts_with("os_window_") => {
                    let (keyword, value) = (keyword.clone(), value.clone());
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
                        crate::sys::out::clip(&crate::sys::out::visible(&line.raw), 60)
                    ));
                    line.set("");
                }
                _ => {}
            }
            if let Item::Launch(launch) = &mut line.item {
                repair_launch(launch, &mut said);
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
/// write one with a line break or bytes that are not UTF-8; trailing blanks need a slash behind.
fn directory(dir: &str) -> (String, bool) {
    if can_stand(dir) {
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
    while !can_stand(parent) {
        parent = parent.rfind('/').map_or("", |n| &parent[..n]);
    }
    (
        if parent.is_empty() {
            "/".to_owned()
        } else {
            parent.to_owned()
        },
        true,
    )
}

fn repair_launch(launch: &mut LaunchLine, said: &mut Vec<String>) {
    let lost = std::cell::RefCell::new(Vec::new());
    launch.change_options(|name, value| {
        let (kept, what) = match name {
            "--cwd" => {
                let (kept, other) = if can_stand(value) {
                    (value.to_owned(), false)
                } else {
                    directory(value)
                };
                (
                    kept.clone(),
                    other.then(|| {
                        format!(
                            "directory {}: kitty cannot go there, the window opens in {kept}",
                            crate::sys::out::visible(value)
                        )
                    }),
                )
            }
            _ if can_stand(value) => (value.to_owned(), None),
            _ => (
                nearest(value),
                Some(format!(
                    "{name}={}: line breaks became blanks",
                    crate::sys::out::visible(value)
                )),
            ),
        };
        lost.borrow_mut().extend(what);
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
    let program: Vec<String> = launch.program().into_iter().map(str::to_owned).collect();
    if program.iter().all(|w| can_stand(w)) {
        return;
    }
    // A start-up command is JSON, which can carry line breaks; only NUL and raw bytes are lost there.
    let words: Vec<String> = program
        .iter()
        .map(|w| {
            if w.contains('\0') || crate::sys::bytes::is_raw(w) {
                nearest(w)
            } else {
                w.clone()
            }
        })
        .collect();
    if words != program {
        said.push(format!(
            "{}: an argument that is not UTF-8 became the nearest text",
            crate::sys::out::visible(&program[0])
        ));
    }
    if words.iter().all(|w| can_stand(w)) {
        launch.set_program(&words);
    } else {
        said.push(format!(
            "{}: its arguments hold line breaks, so it starts inside a shell",
            crate::sys::out::visible(&program[0])
        ));
        launch.set_program::<&str>(&[]);
        launch.set_startup(Some(&super::launch_line::Startup::Words(words)));
    }
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
            file.repair();
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
        let said = file.repair();
        expect_test::expect![[r#"

            new_tab x layout splits cd / launch --type=background evil
            layout splits
            cd /tmp

            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["prog","c\u000alaunch evil"]}' '--title=b launch evil'
            focus

            focus_tab 0"#]].assert_eq(&file.text());
        expect_test::expect![[r#"
            tab title "x\\nlayout splits\\ncd /\\n\\nlaunch --type=background evil": line breaks became blanks
            directory /tmp/a\nlaunch evil: kitty cannot go there, its windows open in /tmp
            --title=b\nlaunch evil: line breaks became blanks
            prog: its arguments hold line breaks, so it starts inside a shell"#]].assert_eq(&said.join("\n"));
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
}
