//! Shells: which one a process is, and whether it talks to a person.

use super::program::plain;
use crate::kitty::words;
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
    /// Its file; a plain name where it is looked for on PATH.
    pub exe: Option<String>,
    /// Its arguments. Behind kitty's `run-shell` those that it will have.
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

/// The shell that a process is, or will be: kitty's `kitten run-shell` runs a program and becomes a
/// shell after it.
#[must_use]
pub fn shell_of(process: &Process) -> Option<Shell> {
    let argv = argv(process);
    if let Some(words) = behind_run_shell(argv) {
        let name = words.first().map_or_else(String::new, |w| shell_name(w));
        return Some(Shell {
            kind: ShellKind::named(name.clone()),
            exe: words.first().cloned(),
            interactive: true,
            login: is_login(&name, &words),
            argv: words,
        });
    }
    let first = argv.first().map_or("", String::as_str);
    let file = exe(process);
    // By the file first: rc files that replace the shell by another are common.
    let by_file = file.map(shell_name).filter(|n| is_shell(n));
    let called = first.strip_prefix('-').unwrap_or(first);
    let (name, exe, argv) = if let Some(name) = by_file.filter(|n| !runs_another(n, argv)) {
        (name, file.map(str::to_owned), argv.to_vec())
    } else if is_shell(&shell_name(called)) && !runs_another(&shell_name(called), argv) {
        // The file is a program of many names, or is not known.
        (shell_name(called), Some(called.to_owned()), argv.to_vec())
    } else {
        // A shell that is a script of an interpreter, as xonsh is.
        let interpreter = shell_name(called);
        let runs_scripts = is_shell(&interpreter) || interpreter.starts_with("python");
        let script = argv
            .get(1)
            .filter(|w| runs_scripts && is_shell(&shell_name(w)))?;
        (shell_name(script), Some(script.clone()), argv[1..].to_vec())
    };
    let options: Vec<&str> = argv.iter().skip(1).map(String::as_str).collect();
    let (script, command, asked) = shell_options(&name, &options);
    Some(Shell {
        interactive: asked || !(script || command),
        login: first.starts_with('-') || is_login(&name, &argv),
        kind: ShellKind::named(name),
        exe,
        argv,
    })
}

impl ShellKind {
    fn named(name: String) -> Self {
        match name.as_str() {
            "bash" => Self::Bash,
            "zsh" => Self::Zsh,
            "fish" => Self::Fish,
            _ => Self::Other(name),
        }
    }
}

impl Shell {
    /// The options it was started with, for starting it again; none where a command or a script is
    /// among them. kitty's own `--posix` is not the person's.
    #[must_use]
    pub fn options(&self) -> &[String] {
        let options = self.argv.get(1..).unwrap_or_default();
        let words: Vec<&str> = options.iter().map(String::as_str).collect();
        let name = match &self.kind {
            ShellKind::Other(name) => name,
            ShellKind::Bash => "bash",
            ShellKind::Zsh => "zsh",
            ShellKind::Fish => "fish",
        };
        match shell_options(name, &words) {
            (false, false, _) if options.first().is_some_and(|w| w == "--posix") => &options[1..],
            (false, false, _) => options,
            _ => &[],
        }
    }
}

/// Whether a command starts a shell for a person: a shell and options, no command and no script.
#[must_use]
pub fn is_plain_start(words: &[&str]) -> bool {
    words.split_first().is_some_and(|(program, options)| {
        let name = shell_name(program);
        is_shell(&name) && matches!(shell_options(&name, options), (false, false, _))
    })
}

fn shell_name(word: &str) -> String {
    plain(word.strip_prefix('-').unwrap_or(word))
}

fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether an interpreter that is a shell itself runs another shell's script.
fn runs_another(name: &str, argv: &[String]) -> bool {
    argv.get(1)
        .map(|w| shell_name(w))
        .is_some_and(|script| is_shell(&script) && script != name)
}

fn is_login(name: &str, argv: &[String]) -> bool {
    let cluster = |w: &str| w.starts_with('-') && !w.starts_with("--") && w.contains('l');
    argv.first().is_some_and(|w| w.starts_with('-'))
        || argv
            .iter()
            .skip(1)
            .any(|w| w == "--login" || (has_clusters(name) && cluster(w)))
}

/// Whether the letters of an option are options of their own.
fn has_clusters(name: &str) -> bool {
    !matches!(name, "elvish" | "pwsh")
}

/// The words of the shell that a `kitten run-shell` becomes; empty for the person's own, which it
/// finds by itself. `None` for every other program.
fn behind_run_shell(argv: &[String]) -> Option<Vec<String>> {
    let first = plain(argv.first()?);
    let at = match first.as_str() {
        "kitten" => 1,
        "kitty" if argv.get(1).is_some_and(|w| w == "+kitten") => 2,
        "kitty" if argv.get(1..3).is_some_and(|w| w == ["+", "kitten"]) => 3,
        _ => return None,
    };
    if argv.get(at).is_none_or(|w| w != "run-shell") {
        return None;
    }
    let mut shell = "";
    let mut rest = argv[at + 1..].iter();
    while let Some(word) = rest.next().filter(|w| w.starts_with('-') && *w != "--") {
        // All of its options take a value.
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None => (word.as_str(), rest.next().map_or("", String::as_str)),
        };
        if name == "--shell" {
            shell = value;
        }
    }
    let words: Vec<String> = match words::split(shell) {
        Ok(words) => words.into_iter().map(|w| w.text).collect(),
        Err(_) => vec![shell.to_owned()],
    };
    Some(if words == ["."] { Vec::new() } else { words })
}

/// Options that a value follows, by shell; those of the shells of old for all that are not named.
fn takes_value(name: &str, option: &str) -> bool {
    let nu = [
        "--config",
        "--env-config",
        "--plugin-config",
        "--plugins",
        "--include-path",
        "-I",
        "--table-mode",
        "-m",
        "--error-style",
        "--log-level",
        "--log-target",
        "--log-include",
        "--log-exclude",
        "--threads",
        "-t",
    ];
    let elvish = ["rc", "db", "sock", "log", "cpuprofile"];
    match name {
        "nu" => nu.contains(&option),
        "elvish" => elvish.contains(&option.trim_start_matches('-')),
        "xonsh" => matches!(option, "--rc" | "--shell-type" | "-D"),
        "pwsh" => matches!(
            option.to_lowercase().trim_start_matches('-'),
            "workingdirectory"
                | "wd"
                | "configurationname"
                | "settingsfile"
                | "executionpolicy"
                | "ep"
                | "ex"
        ),
        "fish" => matches!(option, "-d" | "-o" | "-D"),
        _ => matches!(
            option,
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O"
        ),
    }
}

/// Options behind which a command stands after which the shell talks to a person all the same.
fn runs_and_stays(name: &str, option: &str) -> bool {
    match name {
        "nu" => matches!(option, "--execute" | "-e"),
        "fish" => matches!(option, "--init-command" | "-C"),
        _ => false,
    }
}

/// Whether a shell's options name a script, name a command, ask for a prompt.
fn shell_options(name: &str, options: &[&str]) -> (bool, bool, bool) {
    let (mut command, mut asked) = (false, false);
    let mut at = 0;
    while let Some(word) = options.get(at).copied() {
        at += 1;
        if runs_and_stays(name, word) {
            (command, asked) = (true, true);
            at += 1;
            continue;
        }
        if takes_value(name, word) {
            at += 1;
            continue;
        }
        // What follows a command are its arguments.
        match word {
            "--" => return (options.len() > at, command, asked),
            "--interactive" => asked = true,
            "--command" | "--commands" => return (false, true, asked),
            _ if name == "elvish" => match word.trim_start_matches('-') {
                "c" | "lsp" | "daemon" => return (false, true, asked),
                "i" => asked = true,
                _ if word.starts_with('-') => {}
                _ => return (true, command, asked),
            },
            _ if name == "pwsh" => match word.to_lowercase().trim_start_matches('-') {
                "noexit" | "noe" => asked = true,
                "command" | "c" | "encodedcommand" | "e" | "ec" => return (false, true, asked),
                "file" | "f" => return (true, command, asked),
                _ if word.starts_with('-') => {}
                _ => return (true, command, asked),
            },
            word if word.starts_with("--") => {
                if word.starts_with("--command=") || word.starts_with("--commands=") {
                    return (false, true, asked);
                }
            }
            word if word.starts_with('-') && word.len() > 1 => {
                asked |= word.contains('i');
                if word.contains('c') {
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
