//! No process is started: the kernel is asked what `list`, `save` and `resume-prompt` do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::prompt::Case;
use crate::pty::Pty;
use crate::rig::{Kitty, Rig, is_real, until};

pub const STRACE: &str = "/usr/bin/strace";

/// Whether programs can be traced here; says so when not.
pub fn can_trace() -> bool {
    let traced = Command::new(STRACE)
        .args(["-f", "-o", "/dev/null", "/bin/true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !traced {
        println!("left out: strace is not installed here, or may not trace");
    }
    traced
}

/// `program` with `words`, traced into the file `trace` of the home.
fn traced(rig: &Rig, program: &Path, words: &[&str]) -> (Command, PathBuf) {
    let file = rig.file("trace", "");
    let mut command = rig.command(Path::new(STRACE));
    command
        .args(["-f", "-qq", "-e", "trace=%process", "-o"])
        .arg(&file)
        .arg(program)
        .args(words);
    (command, file)
}

/// What was traced: the programs that took the process over, and the processes that were started.
fn seen(file: &Path) -> (Vec<String>, Vec<String>) {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let call = |line: &str| {
        line.split_once(' ')
            .map(|(_, rest)| rest.trim_start().to_owned())
    };
    let mut programs = Vec::new();
    let mut started = Vec::new();
    for call in text.lines().filter_map(call) {
        // A try that failed took over nothing, and one without its end may still fail.
        if call.starts_with("execve") && call.ends_with(" = 0") {
            programs.push(call.split('"').nth(1).unwrap_or("").to_owned());
        }
        let starts = ["fork(", "vfork(", "clone(", "clone3("];
        if starts.iter().any(|s| call.starts_with(s)) {
            started.push(call);
        }
    }
    (programs, started)
}

fn starts_nothing(rig: &Rig, kitty: &Kitty, words: &[&str]) {
    let km = rig.dir("tools").join("kittymux");
    let (mut command, file) = traced(rig, &km, words);
    command
        .env("KITTY_LISTEN_ON", kitty.address.to_string())
        .env("KITTY_PID", kitty.pid.to_string());
    let output = command.output().expect("strace runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
    assert_eq!(
        seen(&file),
        (vec![km.display().to_string()], Vec::new()),
        "{words:?}"
    );
}

#[test]
fn list_and_save_start_no_process() {
    if !can_trace() {
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let claude = rig.home().join("bin/claude").display().to_string();
    let agent = kitty.launch(&rig.dir("work"), &[&claude]);
    kitty.shows(agent, "(new)");
    kitty.send(agent, "hello\r");
    kitty.shows(agent, "heard hello");
    for words in [
        &["sessions", "list"][..],
        &["sessions", "list", "--json"],
        &["sessions", "save", "work"],
        &["sessions", "save", "--all", "desk"],
        &["sessions", "restore"],
        &["sessions", "restore", "--dry-run", "work"],
        // Inside kitty it opens there: no process of ours either.
        &["sessions", "restore", "work"],
        &[],
        &["--version"],
        &["--help"],
        &["man"],
        &["completions", "bash"],
        &["complete", "--", "sessions", "restore", ""],
        &["complete", "--", "sessions", "check", ""],
        &["complete", "--", "sessions", "reopen", ""],
    ] {
        starts_nothing(&rig, &kitty, words);
    }
    if is_real() {
        return;
    }
    // By kitty's own saver.
    drop(kitty);
    let kitty = rig.start_kitty(&["--misbehave", "no-kitten"]);
    starts_nothing(&rig, &kitty, &["sessions", "save", "work"]);
}

#[test]
fn the_prompt_becomes_one_program_and_starts_none() {
    if !can_trace() {
        return;
    }
    for key in ["\r", "n", "a", "i\r"] {
        let case = Case::new();
        case.program(
            "bin2/claude",
            "#!/bin/sh\necho agent here\nexec sleep 60\n",
            0o755,
        );
        let agent = case.rig.home().join("bin2/claude");
        let info = case.record.text();
        let (mut command, file) = traced(
            &case.rig,
            &case.kittymux(),
            &["resume-prompt", "--info", &info],
        );
        command.env(
            "PATH",
            format!("{}/bin2:/usr/bin:/bin", case.rig.home().display()),
        );
        let mut pty = Pty::start(command, b"");
        pty.asks();
        pty.send(key.as_bytes());
        pty.shows("agent here");
        let wanted: Vec<String> = [case.kittymux(), agent, PathBuf::from("/usr/bin/sleep")]
            .iter()
            .map(|p| p.display().to_string())
            .collect();
        let (programs, started) = until("sleep", || {
            let seen = seen(&file);
            (seen.0.len() >= 3).then_some(seen)
        });
        assert_eq!((programs, started), (wanted, Vec::new()), "{key:?}");
    }
    // A shell: the one above takes over by itself.
    for key in ["s", "\x1b", "\x03"] {
        let case = Case::new();
        let info = case.record.text();
        let km = case.kittymux();
        let (command, file) = traced(&case.rig, &km, &["resume-prompt", "--info", &info]);
        let mut pty = Pty::start(command, b"");
        pty.asks();
        pty.send(key.as_bytes());
        assert!(pty.end().success());
        assert_eq!(seen(&file), (vec![km.display().to_string()], Vec::new()));
    }
}
