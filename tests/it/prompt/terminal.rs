//! The terminal: its size, its modes, its end.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{Case, is_a_shell, still_asks};
use crate::pty::{Pty, plain, wake_ups};
use crate::rig::until;
use kittymux::sys::out::width;

/// What the program wrote since, as the lines it drew.
fn drawn(pty: &mut Pty) -> Vec<String> {
    pty.bytes(Duration::from_millis(150));
    let text = pty.text();
    pty.clear(Duration::ZERO);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn it_is_never_wider_nor_higher_than_the_window() {
    let case = Case::with(|c| c.record.tab = "日本語のタブ".repeat(20));
    let mut pty = case.prompt();
    pty.asks();
    for (columns, rows) in [
        (40, 24),
        (4, 24),
        (1, 1),
        (2, 2),
        (3, 1),
        (200, 3),
        (7, 5),
        (100, 24),
    ] {
        pty.clear(Duration::from_millis(50));
        pty.resize(columns, rows);
        let lines = drawn(&mut pty);
        assert!(!lines.is_empty(), "{columns}×{rows}: it repaints");
        assert!(
            lines.len() <= usize::from(rows),
            "{columns}×{rows}: {lines:?}"
        );
        for line in &lines {
            assert!(
                width(line) <= usize::from(columns),
                "{columns}×{rows}: {line:?}"
            );
        }
    }
    pty.resize(99, 24);
    let text = pty.shows("i commands");
    assert!(
        text.contains("claude was running here — resume session 0a1b2c3d?\n"),
        "{text}"
    );
    still_asks(&case, &mut pty);
    // A window being dragged.
    for n in 0..60 {
        pty.resize(20 + n, 10 + n % 7);
    }
    still_asks(&case, &mut pty);
    pty.send(b"n");
    pty.shows("(new)");
}

#[test]
fn a_tiny_window_can_be_answered() {
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    pty.resize(1, 1);
    pty.bytes(Duration::from_millis(100));
    pty.send(b"s");
    until("a shell", || {
        pty.bytes(Duration::from_millis(10));
        let argv = kittymux::sys::proc::argv(pty.pid()).found()?;
        (argv == ["/bin/bash"]).then_some(())
    });
}

/// Everything it switched on is off: paste marks, keyboard, title, mark.
fn is_calm(pty: &mut Pty) {
    let bytes = pty.bytes(Duration::from_millis(20)).to_vec();
    let text = String::from_utf8_lossy(&bytes);
    for (on, off) in [
        ("\x1b[?2004h", "\x1b[?2004l"),
        ("\x1b[>0u", "\x1b[<u"),
        ("\x1b]2;resume claude?\x1b\\", "\x1b]2;\x1b\\"),
        (
            "SetUserVar=kittymux_wait=MQ==\x1b\\",
            "SetUserVar=kittymux_wait\x1b\\",
        ),
    ] {
        let at = |what: &str| {
            text.rfind(what)
                .unwrap_or_else(|| panic!("no {what:?} in {text:?}"))
        };
        assert!(at(off) > at(on), "{text:?}");
    }
}

#[test]
fn the_modes_are_as_before_on_every_way_out() {
    for key in ["s", "\x1b", "\x03", "\x04"] {
        let case = Case::new();
        let mut pty = case.in_shell();
        pty.asks();
        assert!(!pty.is_as_before(), "it reads keys");
        pty.send(key.as_bytes());
        pty.shows("status=0.");
        assert!(pty.is_as_before(), "{key:?}: {:?}", pty.modes());
        is_calm(&mut pty);
    }
    for key in ["\r", "n", "a"] {
        let case = Case::new();
        case.program(
            "bin2/claude",
            "#!/bin/sh\necho agent here\nexec sleep 60\n",
            0o755,
        );
        let mut asking = case.asking();
        asking.env(
            "PATH",
            format!("{}/bin2:/usr/bin:/bin", case.rig.home().display()),
        );
        let mut pty = Pty::start(asking, b"");
        pty.asks();
        pty.send(key.as_bytes());
        pty.shows("agent here");
        assert!(pty.is_as_before(), "{key:?}: {:?}", pty.modes());
        is_calm(&mut pty);
    }
}

#[test]
fn waiting_costs_no_wake_ups() {
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    // "Resume all" of another test wakes every prompt of this machine.
    let quiet = (0..10).any(|_| {
        let before = wake_ups(pty.pid());
        std::thread::sleep(Duration::from_millis(700));
        wake_ups(pty.pid()) == before
    });
    assert!(quiet, "{:?}", wake_ups(pty.pid()));
    still_asks(&case, &mut pty);
}

#[test]
fn told_to_end_it_gives_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        let case = Case::new();
        let mut pty = case.in_shell();
        pty.asks();
        let pid = pty.prompt_pid().and_then(Pid::from_raw).expect("a job");
        kill_process(pid, signal).expect("sent");
        pty.shows("status=129.");
        assert!(pty.is_as_before(), "{signal:?}: {:?}", pty.modes());
        is_calm(&mut pty);
        assert_eq!(case.starts().len(), 0);
    }
}

#[test]
fn a_terminal_that_goes_away_ends_it_and_starts_nothing() {
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    pty.hang_up();
    pty.end();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(case.starts().len(), 0);
}

#[test]
fn without_a_terminal_the_original_command_runs() {
    use std::process::Stdio;
    let case = Case::new();
    // A session of its own has no controlling terminal.
    let mut command = case.rig.command(std::path::Path::new("/usr/bin/setsid"));
    command
        .args(["--wait", "--fork"])
        .arg(case.kittymux())
        .args(["resume-prompt", "--info", &case.record.text()])
        .stdin(Stdio::null());
    let output = command.output().expect("setsid runs");
    case.started(&case.record.orig);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn should_it_ever_fail_inside_the_person_has_a_shell() {
    if !cfg!(debug_assertions) {
        println!("left out: only a debug build can be told to fail inside");
        return;
    }
    let case = Case::new();
    let mut asking = case.asking();
    asking.env("KITTYMUX_FAULT_AT", "0:panic");
    let mut pty = Pty::start(asking, b"");
    let text = is_a_shell(&mut pty);
    assert!(text.contains("kittymux: it failed inside"), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    let raw = String::from_utf8_lossy(pty.bytes(Duration::ZERO)).into_owned();
    assert!(
        raw.find("\x1b[?2004l") > raw.find("\x1b[?2004h"),
        "{}",
        plain(&raw)
    );
    let mut script =
        case.script(r#""$KM" resume-prompt --info "$R"; echo "status=$?."; exec sleep 60"#);
    script.env("KITTYMUX_FAULT_AT", "0:panic");
    let mut pty = Pty::start(script, b"");
    pty.shows("status=0.");
    assert!(pty.is_as_before());
}
