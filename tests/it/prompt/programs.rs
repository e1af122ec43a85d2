//! What the answer becomes: the agent, found or not, in its directory or not at all.

use std::path::Path;
use std::time::Duration;

use super::{Case, is_a_shell, shell_dir, still_asks};
use crate::pty::{Pty, wake_ups};
use crate::rig::until;
use kittymux::resume::record::Mode;

#[test]
fn an_agent_that_is_not_there_is_a_shell_and_a_line() {
    for key in ["\r", "n"] {
        let case = Case::with(|c| c.record.exe = String::new());
        let mut pty = case.prompt();
        pty.asks();
        pty.send(key.as_bytes());
        let text = is_a_shell(&mut pty);
        assert!(
            text.contains("kittymux: claude is not installed here, or not on PATH\n"),
            "{text}"
        );
        assert!(
            text.contains(&format!("shell in {},", case.record.cwd)),
            "{text}"
        );
    }
}

#[test]
fn a_poorer_path_finds_it_where_it_was_and_a_moved_one_on_path() {
    // PATH of these tests does not name the agents' directory: the record does.
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    pty.send(b"\r");
    pty.shows("(resumed)");
    // A path of an older version, gone: the one on PATH.
    let case = Case::with(|c| {
        let gone = c
            .rig
            .home()
            .join("old/v18/bin/claude")
            .display()
            .to_string();
        c.record.exe.clone_from(&gone);
        c.record.orig[0].clone_from(&gone);
        c.record.resume[0] = gone;
    });
    let mut asking = case.asking();
    asking.env(
        "PATH",
        format!("{}/bin:/usr/bin:/bin", case.rig.home().display()),
    );
    let mut pty = Pty::start(asking, b"");
    pty.asks();
    pty.send(b"\r");
    pty.shows(&format!("conversation {} (resumed)", case.record.sid));
}

#[test]
fn a_program_that_cannot_start_is_a_shell_and_a_line() {
    for (text, mode, why) in [
        (
            "#!/bin/sh\n",
            0o644,
            "cannot be executed: look at its permissions",
        ),
        ("#!/no/such/interpreter\n", 0o755, "could not start"),
        ("no program\n", 0o755, "could not start"),
        ("", 0o755, "could not start"),
    ] {
        // The C library of a development build runs what is no program by /bin/sh.
        if !text.starts_with('#') && !cfg!(target_env = "musl") {
            continue;
        }
        let case = Case::with(|c| {
            let path = c.program("odd/claude", text, mode).display().to_string();
            c.record.exe.clone_from(&path);
            c.record.orig[0].clone_from(&path);
            c.record.resume[0] = path;
        });
        let mut pty = case.prompt();
        pty.asks();
        pty.send(b"\r");
        let said = is_a_shell(&mut pty);
        let line = said
            .lines()
            .find(|l| l.starts_with("kittymux: "))
            .unwrap_or("");
        assert!(
            line.contains(why) && line.contains("odd/claude"),
            "{text:?}: {said}"
        );
        let mut pty = case.in_shell();
        pty.asks();
        pty.send(b"n");
        assert!(pty.shows("status=0.").contains(why));
    }
}

#[test]
fn without_its_directory_it_is_not_resumed_elsewhere() {
    let gone = |c: &mut Case| {
        c.record.cwd = c.rig.dir("work/x").join("gone/deep").display().to_string();
    };
    let file = |c: &mut Case| {
        c.record.cwd = c.rig.file("work/file", "").display().to_string();
    };
    type Change = fn(&mut Case);
    let changes: [(Change, &str, &str); 2] = [
        (gone, "its directory is not there any more", "work/x"),
        (file, "its directory is a file now", "work"),
    ];
    for (change, why, parent) in changes {
        let case = Case::with(change);
        let mut pty = case.prompt();
        let text = pty.asks();
        assert!(
            text.starts_with("claude was running here — its conversation cannot be resumed\n"),
            "{text}"
        );
        assert!(text.contains(&format!("\n  {why}\n")), "{text}");
        assert!(text.ends_with("\n  s shell   i commands"), "{text}");
        for key in ["\r", "n", "a", "y"] {
            pty.send(key.as_bytes());
            still_asks(&case, &mut pty);
        }
        pty.send(b"s");
        assert_eq!(
            shell_dir(&mut pty),
            case.rig.home().join(parent).display().to_string()
        );
        assert!(
            !case.rig.home().join("work/x/gone").exists(),
            "nothing is made"
        );
        // Nobody to ask: nothing is started in another place either.
        let mut auto = case.asking();
        auto.env("KITTYMUX_RESUME", "auto");
        let mut pty = Pty::start(auto, b"");
        pty.asks();
        still_asks(&case, &mut pty);
    }
}

#[test]
fn a_directory_that_may_not_be_entered_is_none() {
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        println!("left out: only root can play two users");
        return;
    }
    let case = Case::with(|c| {
        let dir = c.rig.dir("shut");
        std::fs::set_permissions(&dir, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .expect("a mode");
        c.record.cwd = dir.display().to_string();
    });
    // As somebody who may enter all but this directory.
    let home = tempfile::tempdir().expect("a home");
    for dir in [
        home.path().to_owned(),
        case.rig.home(),
        case.rig.home().join(".."),
    ] {
        std::fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("a mode");
    }
    std::os::unix::fs::chown(home.path(), Some(1234), Some(1234)).expect("chown");
    let mut asking = case.asking();
    asking
        .env("HOME", home.path())
        .uid(1234)
        .gid(1234)
        .env("PS1", "$ ");
    let mut pty = Pty::start(asking, b"");
    let text = pty.asks();
    assert!(
        text.contains("\n  its directory cannot be entered: permission denied\n"),
        "{text}"
    );
    pty.send(b"\r");
    pty.bytes(Duration::from_millis(100));
    pty.send(b"s");
    pty.shows("$ ");
    pty.send(b"pwd\r");
    pty.shows(&format!("\n{}\n", case.rig.home().display()));
    assert_eq!(case.starts().len(), 0);
}

#[test]
fn a_transcript_that_is_gone_is_said_and_not_resumed() {
    let case = Case::new();
    std::fs::remove_file(
        case.rig
            .home()
            .join(format!(".claude/projects/p/{}.jsonl", case.record.sid)),
    )
    .expect("removed");
    let mut pty = case.prompt();
    let text = pty.asks();
    assert!(
        text.starts_with("claude was running here — session 0a1b2c3d has no transcript any more\n"),
        "{text}"
    );
    for key in ["\r", "y", "a"] {
        pty.send(key.as_bytes());
        still_asks(&case, &mut pty);
    }
    pty.send(b"n");
    pty.shows("(new)");
    case.started(&case.record.orig);
}

#[test]
fn the_latest_conversation_is_asked_for_by_its_own_words() {
    let case = Case::with(|c| {
        c.record.mode = Mode::Latest;
        c.record.sid = String::new();
        c.record.resume = vec!["claude".into(), "--continue".into()];
        let project: String = c
            .record
            .cwd
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let from = c.rig.home().join(".claude/projects/p");
        std::fs::rename(&from, from.with_file_name(project)).expect("renamed");
    });
    let mut pty = case.prompt();
    assert!(
        pty.asks()
            .starts_with("claude was running here — resume its latest conversation?\n")
    );
    pty.send(b"\r");
    pty.shows("(resumed)");
    case.started(&case.record.resume);
}

#[test]
fn its_configuration_directory_is_carried_over() {
    let case = Case::with(|c| {
        let dir = c.rig.home().join(".claude-work");
        std::fs::rename(c.rig.home().join(".claude"), &dir).expect("renamed");
        c.record.env = vec![format!("CLAUDE_CONFIG_DIR={}", dir.display())];
    });
    let mut pty = case.prompt();
    pty.asks();
    pty.send(b"\r");
    pty.shows("(resumed)");
    assert!(
        case.rig.starts()[0].contains("/.claude-work\""),
        "{:?}",
        case.rig.starts()
    );
}

/// What the kernel says of the agent that the answer became.
fn facts(pty: &mut Pty) -> (Vec<String>, Vec<String>) {
    pty.shows("agent here");
    let pid = pty.pid();
    // While it starts it opens files of its own.
    let mut last = Vec::new();
    until("sleep to sleep", || {
        let comm = kittymux::sys::proc::stat(pid)?.comm;
        let now = wake_ups(pid);
        let same = comm == "sleep" && now == last;
        last = now;
        std::thread::sleep(Duration::from_millis(30));
        same.then_some(())
    });
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
    let signals = status
        .lines()
        .filter(|l| {
            ["SigBlk", "SigIgn", "SigCgt"]
                .iter()
                .any(|n| l.starts_with(n))
        })
        .map(str::to_owned)
        .collect();
    let mut open: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("descriptors")
        .flatten()
        .map(|e| {
            let what = std::fs::read_link(e.path()).unwrap_or_default();
            // Which terminal it is differs.
            let what = what.display().to_string();
            let what = what.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{} {what}", e.file_name().display())
        })
        .collect();
    open.sort();
    (signals, open)
}

#[test]
fn the_agent_gets_the_signals_it_would_have_and_three_descriptors() {
    let own = "";
    // As in a terminal that `nohup` started.
    let ignored = "trap '' HUP TERM; ";
    for (key, shell, trap) in [
        ("\r", false, own),
        ("n", false, own),
        ("a", false, own),
        ("\r", true, own),
        ("\r", true, ignored),
    ] {
        let case = Case::new();
        // A program that touches neither signals nor descriptors once it is `sleep`.
        case.program(
            "bin2/claude",
            "#!/bin/sh\necho agent here\nexec sleep 60\n",
            0o755,
        );
        let path = format!("{}/bin2:/usr/bin:/bin", case.rig.home().display());
        // As it is without us: what this test was started with is there either way.
        let mut direct = case.rig.command(Path::new("/bin/sh"));
        let agent = case.rig.home().join("bin2/claude");
        direct
            .args(["-c", &format!("{trap}exec \"$0\"")])
            .arg(agent);
        let wanted = facts(&mut Pty::start(direct, b""));
        assert!(
            wanted.0.contains(&format!("SigBlk:\t{:016x}", 0)),
            "{wanted:?}"
        );
        let mut command = if shell {
            case.script(&format!(r#"{trap}exec "$KM" resume-prompt --info "$R""#))
        } else {
            case.asking()
        };
        command.env("PATH", path);
        let mut pty = Pty::start(command, b"");
        pty.asks();
        pty.send(key.as_bytes());
        let (signals, open) = facts(&mut pty);
        assert_eq!((signals, open), wanted, "{key:?} {trap}");
    }
}
