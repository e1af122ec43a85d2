//! Whether the line that was typed is that of what runs. bash reports a line from its history, and
//! one that is kept out of it (`HISTCONTROL=ignorespace`, `HISTIGNORE`) as the line before (fact 3.7):
//! to run that one again could do anything. And every shell reports a job that was brought back as
//! `fg` (fact 5.10).

use super::{WRAPPERS, plain_name};
use crate::agents::window::{Shell, ShellKind, is_plain_start};
use crate::kitty::tree::Window;

/// The words of what runs in a window of bash, where the typed line is another command's: no program
/// in front has the name of any that the line starts. An alias and a function are not told from
/// that; their programs come back by their own words.
pub(super) fn instead_of_line(
    line: &str,
    window: &Window,
    shell: Option<&Shell>,
) -> Option<Vec<String>> {
    let brought_back = line
        .split_whitespace()
        .next()
        .is_some_and(|w| w == "fg" || w.starts_with('%'));
    if !brought_back && shell.is_none_or(|s| s.kind != ShellKind::Bash) {
        return None;
    }
    let in_front: Vec<&[String]> = window
        .foreground_processes
        .iter()
        .filter(|p| p.pid.is_some() && p.pid != window.pid)
        .map(|p| p.cmdline.as_slice())
        .collect();
    // One whose words kitty cannot show may be anything, and so may what brought up another shell.
    let first: Vec<&str> = in_front.first()?.iter().map(String::as_str).collect();
    // A program that wrote a title over its words cannot be started by them.
    let has_title = first
        .first()
        .is_some_and(|w| w.contains(char::is_whitespace));
    if in_front.iter().any(|words| words.is_empty()) || is_plain_start(&first) || has_title {
        return None;
    }
    let known: Vec<String> = in_front
        .iter()
        .flat_map(|words| words.iter())
        .flat_map(|word| parts(word))
        .collect();
    let mut names = started(line).peekable();
    names.peek()?;
    let names_one = names.any(|name| {
        let mut parts = parts(&name).peekable();
        parts.peek().is_some() && parts.all(|part| known.contains(&part))
    });
    // The first in front is what the shell started; the others are that one's.
    (!names_one).then(|| in_front[0].to_vec())
}

/// The runs of letters and digits of a word.
fn parts(word: &str) -> impl Iterator<Item = String> {
    word.split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
}

/// The plain names of the programs that a typed line starts, as far as that can be read from it.
fn started(line: &str) -> impl Iterator<Item = String> {
    const WORDS_OF_BASH: [&str; 13] = [
        "do", "then", "else", "elif", "if", "while", "until", "{", "}", "!", "time", "coproc",
        "sudo",
    ];
    line.split([';', '|', '&', '(', ')', '`', '\n'])
        .filter_map(|command| {
            command
                .split(|c: char| c.is_whitespace() || c == '\'' || c == '"')
                .filter(|w| !w.is_empty())
                .find(|w| {
                    let name = plain_name(w);
                    // `A=1`, `-x` and `5s` stand before a program; a digit may also begin its name.
                    let passed = w.starts_with('-')
                        || w.split('/').next().is_some_and(|first| first.contains('='))
                        || w.chars().all(|c| c.is_ascii_digit() || ".smhd".contains(c));
                    !passed && !WORDS_OF_BASH.contains(w) && !WRAPPERS.contains(&name.as_str())
                })
                .map(plain_name)
        })
}

#[cfg(test)]
mod tests {
    use super::instead_of_line;
    use crate::agents::window::{Shell, ShellKind};
    use crate::kitty::tree::{Foreground, Window};

    fn instead(line: &str, in_front: &[&str], kind: ShellKind) -> Option<String> {
        let words_of = |text: &str| -> Vec<String> {
            match text.strip_prefix("title:") {
                Some(title) => vec![title.to_owned()],
                None => text.split(' ').map(str::to_owned).collect(),
            }
        };
        let process = |(n, words): (usize, &&str)| Foreground {
            pid: Some(200 + i32::try_from(n).expect("few")),
            cmdline: words_of(words),
            cwd: None,
        };
        let window = Window {
            pid: Some(100),
            foreground_processes: in_front.iter().enumerate().map(process).collect(),
            ..Window::default()
        };
        let shell = Shell {
            kind,
            exe: None,
            argv: Vec::new(),
            interactive: true,
            login: false,
        };
        instead_of_line(line, &window, Some(&shell)).map(|words| words.join(" "))
    }

    #[test]
    fn a_line_that_names_what_runs_is_believed() {
        for (line, in_front) in [
            ("sleep 5", &["sleep 5"][..]),
            ("cd /tmp && FOO=1 ./run.sh x", &["/bin/bash ./run.sh x"]),
            ("npm run dev", &["npm run dev", "node /x/vite.js"]),
            ("npm run dev", &["node /usr/lib/npm-cli.js run dev"]),
            ("make -j2", &["make -j2", "cc1 -quiet x.c"]),
            ("cat x | less", &["less"]),
            ("for i in 1 2; do sleep 9; done", &["sleep 9"]),
            ("while true; do date; sleep 1; done", &["sleep 1"]),
            ("timeout 9 top", &["timeout 9 top", "top"]),
            ("sudo -E env A=1 htop", &["sudo -E env A=1 htop"]),
            ("(cd /x; exec vim a)", &["vim a"]),
            (
                "bash -c 'sleep 5; true'",
                &["bash -c sleep 5; true", "sleep 5"],
            ),
            ("7z x a.7z", &["/usr/lib/7z x a.7z"]),
            ("Vim.Basic", &["vim.basic"]),
            ("bash", &["sleep 5"]),
            (
                "bin/rails server",
                &["title:puma 6.4 (tcp://[::1]:3000) [app]"],
            ),
            ("guix shell", &["/bin/bash -i"]),
        ] {
            assert_eq!(instead(line, in_front, ShellKind::Bash), None, "{line}");
        }
    }

    #[test]
    fn another_commands_line_is_not_run_again() {
        for (line, in_front, wanted) in [
            ("rm -rf build", &["tail -f x.log"][..], "tail -f x.log"),
            ("git push --force", &["sleep 5", "x"], "sleep 5"),
            ("ls", &["tail -f false.log"], "tail -f false.log"),
            ("vim notes", &["tail -f notes"], "tail -f notes"),
            // An alias.
            ("gst", &["git status"], "git status"),
        ] {
            assert_eq!(
                instead(line, in_front, ShellKind::Bash).as_deref(),
                Some(wanted),
                "{line}"
            );
            // The others report what was typed.
            assert_eq!(instead(line, in_front, ShellKind::Zsh), None);
        }
        assert_eq!(instead("rm x", &[], ShellKind::Bash), None);
        for line in ["fg", "fg %1", "%2", " fg"] {
            let words = instead(line, &["vim x"], ShellKind::Fish);
            assert_eq!(words.as_deref(), Some("vim x"), "{line}");
        }
    }
}
