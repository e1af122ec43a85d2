//! Sockets that lead nowhere, or not to a kitty of ours.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use super::{Alone, Odd, Ran, Saved};
use crate::rig::until;

const VERBS: [&[&str]; 3] = [
    &["sessions", "list"],
    &["sessions", "list", "--json"],
    &["sessions", "save", "x"],
];

#[test]
fn without_any_kitty() {
    let Some(alone) = Alone::new() else { return };
    for verb in VERBS {
        let ran = alone.run(verb);
        ran.says(
            1,
            &["no kitty is running: start one, or run this inside it\n"],
        );
        ran.within(2);
    }
    let ran = alone.run(&[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(
        ran.out.starts_with("no kitty is running: start one"),
        "{ran:?}"
    );
    let ran = alone.run(&["sessions", "restore"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.out,
        "nothing is saved yet: kittymux sessions save NAME\n"
    );
    let mut command = alone.kittymux(&["sessions", "restore", "w.kitty-session"]);
    alone.rig.file("w.kitty-session", "launch\n");
    command.env("PATH", "/usr/bin:/bin");
    let no_kitty_here = !Path::new("/usr/bin/kitty").exists();
    if no_kitty_here {
        Ran::of(command).says(
            1,
            &["kitty is not on PATH: run this inside kitty, or put kitty on PATH\n"],
        );
    }
}

#[test]
fn what_the_environment_names_is_gone() {
    let Some(alone) = Alone::new() else { return };
    let dead = alone.rig.dir("run").join("dead");
    drop(UnixListener::bind(&dead).expect("bind"));
    let plain = alone.rig.file("plain", "");
    alone.own();
    let path = |p: &Path| format!("unix:{}", p.display());
    for (stale, shown) in [
        (path(&dead), true),
        (path(&plain), true),
        ("unix:/nowhere/at-all".into(), true),
        ("unix:@kittymux-nobody".into(), true),
        ("fd:77".into(), true),
        ("garbage".into(), false),
        ("tcp:localhost:1".into(), false),
        ("unix:\x1b]0;x\x07".into(), false),
    ] {
        for verb in VERBS {
            let mut command = alone.kittymux(verb);
            command
                .env("KITTY_LISTEN_ON", &stale)
                .env("KITTY_PID", "1")
                .env("KITTY_WINDOW_ID", "3");
            let ran = Ran::of(command);
            ran.says(1, &["no kitty is running"]);
            ran.within(2);
            let said = format!("(nobody listens at {stale} any more): start one");
            assert_eq!(ran.err.contains(&said), shown, "{ran:?}");
        }
    }
    // The kitty that does run is found all the same.
    let kitty = alone.kitty(&[]);
    kitty.listens();
    let mut command = alone.kittymux(&["sessions", "save", "found"]);
    command
        .env("KITTY_LISTEN_ON", path(&dead))
        .env("KITTY_PID", "1");
    let ran = Ran::of(command);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.starts_with("saved 1 window as found\n"), "{ran:?}");
}

#[test]
fn a_kitty_that_may_not_be_asked() {
    let Some(alone) = Alone::new() else { return };
    alone.rig.write_conf("allow_remote_control no\n");
    alone.own();
    let kitty = alone.kitty(&[]);
    let said = format!(
        "kitty (pid {}) has no socket that kittymux can use\n",
        kitty.pid()
    );
    until("kitty to run", || {
        alone
            .run(&["sessions", "list"])
            .err
            .contains(&said)
            .then_some(())
    });
    let lines = "put into kitty.conf, then restart kitty:\n  allow_remote_control socket-only\n";
    for verb in VERBS {
        let ran = alone.run(verb);
        ran.says(1, &[&said, lines]);
        ran.within(2);
    }
    drop(kitty);
    alone.rig.write_conf("allow_remote_control password\n");
    alone.own();
    let kitty = alone.kitty(&[]);
    kitty.listens();
    for verb in VERBS {
        let ran = alone.run(verb);
        ran.says(1, &["Remote control is", lines]);
        ran.within(2);
    }
}

#[test]
fn a_kitty_that_does_not_answer() {
    let Some(alone) = Alone::new() else { return };
    let silent = alone.kitty(&["--misbehave", "silent"]);
    silent.listens();
    for verb in VERBS {
        let ran = alone.run(verb);
        ran.says(
            1,
            &[
                &format!(
                    "no answer from kitty {} ({})",
                    silent.pid(),
                    silent.address()
                ),
                "look whether its window is frozen, then try again\n",
            ],
        );
        ran.within(7);
    }
    // Another one does: it is listed, and not taken for the one we are in.
    let other = alone.kitty(&[]);
    other.listens();
    let ours = |words: &[&str]| {
        let mut command = alone.kittymux(words);
        command
            .env("KITTY_LISTEN_ON", silent.address())
            .env("KITTY_PID", silent.pid().to_string());
        Ran::of(command)
    };
    let ran = ours(&["sessions", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.err.starts_with("kittymux: not looked at: kitty "),
        "{ran:?}"
    );
    let ran = ours(&["sessions", "save", "x"]);
    ran.says(1, &[&format!("no answer from kitty {}", silent.pid())]);
    ran.within(7);
    let saves = alone.rig.home().join(".local/state/kittymux/sessions");
    assert_eq!(
        std::fs::read_dir(saves).map_or(0, Iterator::count),
        0,
        "nothing was saved"
    );
}

#[test]
fn a_kitty_too_busy_to_take_connections_is_no_dead_one() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen, socket};
    let saved = Saved::new();
    let path = saved.rig.dir("run").join("busy");
    let address = SocketAddrUnix::new(&path).expect("an address");
    let new = || socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
    let listener = new();
    bind(&listener, &address).expect("bind");
    listen(&listener, 0).expect("listen");
    let mut queue = Vec::new();
    loop {
        let fd = new();
        rustix::io::ioctl_fionbio(&fd, true).expect("non-blocking");
        if connect(&fd, &address).is_err() {
            break;
        }
        queue.push(fd);
    }
    for verb in VERBS {
        let ran = saved.at(&format!("unix:{}", path.display()), verb);
        ran.says(1, &[": it does not answer; unset KITTYMUX_TARGET"]);
        ran.within(3);
    }
    // It takes connections again after a moment.
    let path = saved.rig.dir("run").join("busy");
    let first = queue.remove(0);
    let taker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        let taken = rustix::net::accept(&listener).expect("accepted");
        drop(first);
        (listener, taken)
    });
    let address = kittymux::kitty::address::Address::Path(path);
    assert!(address.connect().is_ok(), "it is waited for");
    taker.join().expect("taken");
}

#[test]
fn the_kitty_that_is_named_and_no_other() {
    let saved = Saved::new();
    let before = saved.state();
    let run = saved.rig.dir("run");
    let dead = run.join("dead");
    drop(UnixListener::bind(&dead).expect("bind"));
    let silent = run.join("silent");
    let _listener = UnixListener::bind(&silent).expect("bind");
    let plain = saved.rig.file("plain", "");
    let path = |p: &Path| format!("unix:{}", p.display());
    for (target, why) in [
        (path(&dead), "nobody listens there (connection refused)"),
        (path(&silent), "it does not answer"),
        (path(&plain), "nobody listens there (not a socket)"),
        (
            "unix:/nowhere".into(),
            "nobody listens there (no such file or directory)",
        ),
        ("unix:@kittymux-nobody".into(), "nobody listens there"),
        ("fd:99".into(), "nobody listens there (bad file descriptor)"),
        (
            "unix:/a\x1b]0;x\x07\u{202e}".into(),
            "unix:/a\\u{1b}]0;x\\u{7}\\u{202e}: nobody",
        ),
    ] {
        for verb in VERBS
            .iter()
            .chain(&[&["sessions", "restore", "work"][..], &[]])
        {
            // Kitties that answer are at hand, and are not asked.
            let ran = saved.at(&target, verb);
            ran.says(
                1,
                &[
                    "KITTYMUX_TARGET ",
                    why,
                    "; unset KITTYMUX_TARGET, or set it to the socket",
                ],
            );
            ran.within(7);
        }
    }
    for target in [
        "foo", "unix:rel", "tcp:x", "fd:1", "fd:x", "unix:", "\x1b[31m",
    ] {
        let ran = saved.at(target, &["sessions", "list"]);
        ran.says(
            1,
            &[
                "KITTYMUX_TARGET is no socket address: \"",
                "\"; it has the form unix:/path, unix:@name or fd:N\n",
            ],
        );
    }
    assert_eq!(saved.state(), before, "nothing was touched");
    assert_eq!(saved.kitty.windows().len(), 1);
    // One that is right is taken.
    let ran = saved.at(&saved.address(), &["sessions", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn sockets_of_somebody_else() {
    if !rustix::process::geteuid().is_root() {
        println!("left out: only root can play another user");
        return;
    }
    let saved = Saved::new();
    let before = saved.state();
    let run = saved.rig.dir("run");
    // The file is another user's.
    let theirs = run.join("theirs");
    let _listener = UnixListener::bind(&theirs).expect("bind");
    std::os::unix::fs::chown(&theirs, Some(1234), Some(1234)).expect("chown");
    // The file is ours, and who listens is not.
    let mut top = tempfile::tempdir().expect("a directory");
    top.disable_cleanup(false);
    std::fs::set_permissions(top.path(), std::fs::Permissions::from_mode(0o777)).expect("a mode");
    let ours = top.path().join("socket");
    let mut command = std::process::Command::new(
        saved
            .rig
            .dir("tools")
            .join("kitty")
            .canonicalize()
            .expect("kitty"),
    );
    command
        .args([
            "--config",
            "NONE",
            "-o",
            "allow_remote_control=yes",
            "--listen-on",
        ])
        .arg(format!("unix:{}", ours.display()))
        .env_clear()
        .env("HOME", top.path())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(top.path());
    std::os::unix::process::CommandExt::uid(&mut command, 1234);
    let program = command.get_program().to_owned();
    let reachable = std::process::Command::new("setpriv")
        .args(["--reuid=1234", "--clear-groups", "test", "-x"])
        .arg(&program)
        .status()
        .is_ok_and(|s| s.success());
    let mut targets = vec![(theirs, "the socket belongs to another user")];
    let mut held = None;
    if reachable {
        held = Some(Odd::start(command, &saved.rig));
        until("its socket", || ours.exists().then_some(()));
        std::os::unix::fs::chown(&ours, Some(0), Some(0)).expect("chown");
        targets.push((
            ours.clone(),
            "the program that listens there runs as another user",
        ));
    } else {
        println!("left out: another user cannot start fake-kitty from where it lies");
    }
    for (path, why) in &targets {
        let target = format!("unix:{}", path.display());
        for verb in VERBS.iter().chain(&[&["sessions", "restore", "work"][..]]) {
            let ran = saved.at(&target, verb);
            ran.says(1, &[why]);
            ran.within(2);
        }
        // As an inherited address it is passed over, and nothing is sent there.
        let mut command = saved.rig.command(&saved.rig.dir("tools").join("kittymux"));
        command
            .args(["sessions", "list"])
            .env("KITTY_LISTEN_ON", &target);
        let ran = Ran::of(command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(
            ran.err
                .contains(&format!("not looked at: {target}: {why}\n")),
            "{ran:?}"
        );
    }
    assert_eq!(saved.state(), before);
    drop(held);
    std::thread::sleep(Duration::from_millis(1));
}
