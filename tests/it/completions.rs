//! The completion files in their real shells, on a terminal: a line is typed with tabs, and must be
//! the command that was meant.

use std::path::Path;

use crate::pty::Pty;
use crate::rig::{Rig, has_shell};

/// Names that files can have and that a shell would read as something else.
const ODD: [&str; 4] = [
    "it's $HOME (1)",
    "ab:cd=ef:gh",
    "two  blanks & \"quotes\" `id` \\n",
    "日本~*?[x]#!",
];

/// Saves of these names; each shows its number when it is looked into.
fn saves(rig: &Rig) {
    for (number, name) in ODD.iter().enumerate() {
        let file = format!(".local/state/kittymux/sessions/{name}.kitty-session");
        rig.file(&file, &format!("launch shows-{number}-{number}\n"));
    }
}

/// A shell on a terminal that has loaded `file` the way it is installed for it.
fn shell(rig: &Rig, name: &str) -> Option<Pty> {
    let path = format!("/usr/bin/{name}");
    if !has_shell(&path) {
        return None;
    }
    let text = rig.kittymux_ok(None, &["completions", name]);
    let mut command = rig.command(Path::new(&path));
    command.env("PS1", "ready> ");
    match name {
        "bash" => {
            let file = rig.file("kittymux.bash", &text);
            let rc = format!("PS1='ready> '; source '{}'\n", file.display());
            let rc = rig.file("rc", &rc);
            command.args(["--noprofile", "--rcfile"]).arg(rc).arg("-i");
        }
        "zsh" => {
            rig.file("functions/_kittymux", &text);
            rig.file(
                ".zshrc",
                "PS1='ready> '; fpath=(~/functions $fpath)\nautoload -Uz compinit && compinit -u -D\n\
                 zstyle ':completion:*' insert-tab false\n",
            );
            command.args(["-d", "-i"]);
        }
        _ => {
            rig.file(".config/fish/completions/kittymux.fish", &text);
            rig.file(
                ".config/fish/config.fish",
                "set -g fish_greeting\nfunction fish_prompt; echo 'ready> '; end\n",
            );
            command.arg("-i");
        }
    }
    let mut pty = Pty::start(command, b"");
    pty.shows("ready>");
    Some(pty)
}

fn completes(name: &str) {
    let rig = Rig::new("/bin/bash", true);
    saves(&rig);
    let Some(mut pty) = shell(&rig, name) else {
        return;
    };
    for (number, begin) in ["it", "ab", "two", "日"].iter().enumerate() {
        let line = format!("kittymux sess\tres\t--dr\t{begin}\t\r");
        pty.send(line.as_bytes());
        pty.shows(&format!("shows-{number}-{number}"));
    }
}

#[test]
fn bash_completes_verbs_options_and_odd_names() {
    completes("bash");
}

#[test]
fn zsh_completes_verbs_options_and_odd_names() {
    completes("zsh");
}

#[test]
fn fish_completes_verbs_options_and_odd_names() {
    completes("fish");
}

#[test]
fn bash_goes_on_in_the_quotes_that_were_begun_and_completes_files() {
    let rig = Rig::new("/bin/bash", true);
    saves(&rig);
    rig.file("some dir/it's.kitty-session", "launch shows-a-file\n");
    let Some(mut pty) = shell(&rig, "bash") else {
        return;
    };
    let begun = [
        ("'it", 0),
        ("\"it", 0),
        ("it\\'s\\ \\$", 0),
        ("ab:", 1),
        ("ab:cd=", 1),
        ("\"ab:cd=", 1),
        ("'ab:c", 1),
        ("\"two  bl", 2),
        ("'two  bl", 2),
        ("two\\ ", 2),
    ];
    let paths = ["./so\tit", "~/so\tit", "'./so\tit"];
    let files = paths.map(|begin| (begin, "shows-a-file".to_owned()));
    let names = begun.map(|(begin, number)| (begin, format!("shows-{number}-{number}")));
    for (n, (begin, shown)) in names.into_iter().chain(files).enumerate() {
        pty.clear(std::time::Duration::ZERO);
        let line =
            format!("kittymux sessions restore --dry-run {begin}\t&& echo end-$((100+{n}))\r");
        pty.send(line.as_bytes());
        let said = pty.shows(&format!("end-{}", 100 + n));
        assert!(said.contains(&shown), "{begin}: {said}");
    }
}

#[test]
fn nothing_is_run_and_nothing_written_as_a_line_is_completed() {
    let rig = Rig::new("/bin/bash", true);
    let Some(mut pty) = shell(&rig, "bash") else {
        return;
    };
    let line = "kittymux sessions restore $(touch ran) `touch ran` \"$(touch ran)\t";
    pty.send(line.as_bytes());
    pty.send(b"\x15echo the-$((1+1))nd\r");
    pty.shows("the-2nd");
    assert!(!rig.home().join("ran").exists());
    assert!(!rig.state().exists(), "a look makes no directories");
}

#[test]
fn names_are_offered_without_a_kitty_and_what_a_terminal_would_obey_is_not() {
    let rig = Rig::new("/bin/bash", true);
    saves(&rig);
    rig.file(
        ".local/state/kittymux/sessions/a\nb\x1b[2J.kitty-session",
        "launch\n",
    );
    // Every other verb would end with an error: there is nobody at that address.
    let nobody = [("KITTYMUX_TARGET", "unix:/nowhere")];
    let words = ["complete", "--", "sessions", "restore", ""];
    let output = rig.kittymux_with(None, &words, &nobody);
    let said = String::from_utf8(output.stdout).expect("a text");
    assert!(output.status.success() && output.stderr.is_empty());
    let mut names: Vec<&str> = said.lines().filter_map(|l| l.split('\t').next()).collect();
    names.sort_unstable();
    let mut wanted = ODD.to_vec();
    wanted.extend(["last", "previous", ""]);
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    let words = ["complete", "--", "sessions", "check", ""];
    let said = rig.kittymux_ok(None, &words);
    assert!(said.lines().any(|l| l.starts_with("claude\t")), "{said}");
    // A state directory that cannot be used means fewer names, not an error.
    let broken = [("KITTYMUX_STATE_DIR", "not/absolute")];
    let output = rig.kittymux_with(
        None,
        &["complete", "--", "sessions", "restore", ""],
        &broken,
    );
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

#[test]
fn a_shell_that_is_not_known_is_named_wrongly() {
    let rig = Rig::new("/bin/bash", true);
    for words in [&["completions"][..], &["completions", "tcsh"]] {
        let output = rig.kittymux(None, words);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("completions bash|zsh|fish"), "{said}");
        assert!(output.stdout.is_empty());
    }
}
