//! Shells: which one a process is, and whether it talks to a person.

use super::program::plain;
use crate::sys::look::Look;
use crate::sys::proc::Process;

/// Which shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellKind {
    /// GNU bash.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
    /// Another one, by its plain name.
    Other(String),
}

/// A shell that is a window's own process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// Which one it is, by its file and not by what it is called.
    pub kind: ShellKind,
    /// Its file.
    pub exe: Option<String>,
    /// Its arguments.
    pub argv: Vec<String>,
    /// Whether it talks to a person: no script, no `-c` alone.
    pub interactive: bool,
    /// Whether it is a login shell.
    pub login: bool,
}

const SHELLS: [&str; 12] = [
    "bash", "zsh", "fish", "sh", "dash", "ksh", "mksh", "nu", "elvish", "xonsh", "tcsh", "pwsh",
];

/// The words of a process, as far as they are known.
pub(super) fn argv(process: &Process) -> &[String] {
    match &process.argv {
        Look::Found(words) => words,
        _ => &[],
    }
}

/// The file of a process's program, as far as it is known.
pub(super) fn exe(process: &Process) -> Option<&str> {
    match &process.exe {
        Look::Found(path) => Some(path),
        _ => None,
    }
}

/// The shell that a process is.
#[must_use]
pub fn shell_of(process: &Process) -> Option<Shell> {
    let argv = argv(process);
    let first = argv.first().map_or("", String::as_str);
    let called = plain(first.strip_prefix('-').unwrap_or(first));
    let file = exe(process).map(plain);
    // By the file first: rc files that replace the shell by another are common.
    let name = [file, Some(called)]
        .into_iter()
        .flatten()
        .find(|n| SHELLS.contains(&n.as_str()))?;
    let options: Vec<&str> = argv.iter().skip(1).map(String::as_str).collect();
    let (script, command, asked) = shell_options(&options);
    Some(Shell {
        kind: match name.as_str() {
            "bash" => ShellKind::Bash,
            "zsh" => ShellKind::Zsh,
            "fish" => ShellKind::Fish,
            _ => ShellKind::Other(name),
        },
        exe: exe(process).map(ToOwned::to_owned),
        argv: argv.to_vec(),
        interactive: asked || !(script || command),
        login: first.starts_with('-') || options.iter().any(|o| *o == "--login" || cluster(o, 'l')),
    })
}

fn cluster(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

/// Whether a shell's options name a script, name a command, ask for a prompt.
fn shell_options(options: &[&str]) -> (bool, bool, bool) {
    let mut command = false;
    let mut asked = false;
    let mut at = 0;
    while let Some(word) = options.get(at) {
        at += 1;
        match *word {
            "--" => return (options.len() > at, command, asked),
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" | "-C" | "--init-command" => {
                at += 1
            }
            "--interactive" => asked = true,
            "--command" => return (false, true, asked),
            word if word.starts_with("--") => command |= word.starts_with("--command="),
            word if word.starts_with('-') && word.len() > 1 => {
                asked |= word.contains('i');
                if word.contains('c') {
                    // What follows is the command and its arguments.
                    return (false, true, asked);
                }
            }
            word if word.starts_with('+') => {}
            _ => return (true, command, asked),
        }
    }
    (false, command, asked)
}

/// What to call a shell inside the window's shell: `nix-shell` (and `nix develop`) start bash with a
/// start-up file of theirs.
#[must_use]
pub fn inner_shell_name(process: &Process) -> String {
    let words = argv(process);
    if words.iter().skip(1).any(|w| w.contains("nix-shell")) {
        return "nix-shell".to_owned();
    }
    match exe(process) {
        Some(path) => plain(path),
        None => words.first().map(|w| plain(w)).unwrap_or_default(),
    }
}
