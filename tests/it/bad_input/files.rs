//! Session files that are none, or nobody should open.

use std::os::unix::fs::PermissionsExt;

use super::{Ran, Saved};

/// Restoring `word` is refused with `why`; kitty has its one window as before.
fn refused(saved: &Saved, word: &str, why: &[&str]) -> Ran {
    let before = saved.state();
    let ran = saved.at(&saved.address(), &["sessions", "restore", word]);
    ran.says(1, why);
    ran.within(2);
    assert_eq!(saved.state(), before, "{word}");
    assert_eq!(saved.kitty.windows().len(), 1, "{word}: nothing was opened");
    ran
}

#[test]
fn names_that_are_not_there() {
    let saved = Saved::new();
    for (word, shown) in [
        ("nothing", "nothing"),
        ("WORK", "WORK"),
        ("", ""),
        ("..", ".."),
        (".previous", ".previous"),
        ("\x1b[31m", "\\u{1b}[31m"),
    ] {
        refused(
            &saved,
            word,
            &[&format!("no save is called \"{shown}\"; there is: work\n")],
        );
    }
    let long = "x".repeat(5000);
    let ran = refused(
        &saved,
        &long,
        &["no save is called \"xxx", "…\"; there is: work\n"],
    );
    assert!(ran.err.len() < 200, "{ran:?}");
    let file = saved
        .rig
        .home()
        .join("nothing.kitty-session")
        .display()
        .to_string();
    refused(
        &saved,
        &file,
        &[&format!(
            "could not read {file}: no such file or directory\n"
        )],
    );
    refused(
        &saved,
        "./no/such",
        &["could not read ", "/no/such: no such file or directory\n"],
    );
}

#[test]
fn a_file_that_kitty_would_refuse_is_refused_with_its_line() {
    let saved = Saved::new();
    let file = |text: &str| {
        let path = saved.rig.file("s.kitty-session", text);
        path.display().to_string()
    };
    for (text, line, why) in [
        ("launch\nfrobnicate\n", 2, "frobnicate"),
        ("launch\n\n# note\nnew_tab\nlaunch --title 'open\n", 5, ""),
        ("launch --no-such-option=1\n", 1, "no-such-option"),
        (
            "launch\nlayout frob\n",
            2,
            "kitty knows no layout \"frob\"\n",
        ),
        ("launch\nresize_window \x1b[31mx\n\x1b[31m\n", 3, ""),
    ] {
        let path = file(text);
        let ran = refused(
            &saved,
            &path,
            &[&format!("kitty would refuse {path} for line {line}: "), why],
        );
        assert!(
            ran.err.trim_end().len() > ran.err.find("line ").unwrap_or(0) + 9,
            "a reason: {ran:?}"
        );
    }
    for text in ["", "\n\n", "# nothing\n", "new_tab x\ncd /\n"] {
        let path = file(text);
        refused(&saved, &path, &[&format!("{path} holds no window\n")]);
    }
    // The same of a save of ours that was damaged.
    let save = ".local/state/kittymux/sessions/work.kitty-session";
    for (text, why) in [
        ("", "holds no window\n"),
        ("launch\nfrob\n", "for line 2: "),
    ] {
        saved.rig.file(save, text);
        refused(&saved, "work", &["work.kitty-session", why]);
    }
}

#[test]
fn what_is_no_file_to_read() {
    let saved = Saved::new();
    let home = saved.rig.home();
    let shown = |name: &str| home.join(name).display().to_string();
    std::fs::create_dir(home.join("dir.kitty-session")).expect("a directory");
    let path = shown("dir.kitty-session");
    refused(
        &saved,
        &path,
        &[&format!("could not read {path}: not a regular file\n")],
    );
    refused(&saved, "./", &["could not read ", "not a regular file\n"]);
    let made = std::process::Command::new("mkfifo")
        .arg(home.join("pipe.kitty-session"))
        .status();
    assert!(made.is_ok_and(|s| s.success()));
    let path = shown("pipe.kitty-session");
    refused(
        &saved,
        &path,
        &[&format!("could not read {path}: not a regular file\n")],
    );
    refused(
        &saved,
        "/dev/zero",
        &["could not read /dev/zero: not a regular file\n"],
    );
    let sparse = home.join("sparse.kitty-session");
    let file = std::fs::File::create(&sparse).expect("a file");
    file.set_len(10 << 30).expect("a length");
    let path = shown("sparse.kitty-session");
    refused(
        &saved,
        &path,
        &[&format!("could not read {path}: larger than ")],
    );
    // The same where our own saves lie.
    let sessions = home.join(".local/state/kittymux/sessions");
    std::fs::create_dir(sessions.join("d.kitty-session")).expect("a directory");
    refused(
        &saved,
        "d",
        &["d.kitty-session is not a regular file of yours; it is left alone\n"],
    );
    std::os::unix::fs::symlink(
        sessions.join("work.kitty-session"),
        sessions.join("l.kitty-session"),
    )
    .expect("a link");
    refused(&saved, "l", &["could not read ", "l.kitty-session: "]);
    std::fs::rename(&sparse, sessions.join("s.kitty-session")).expect("moved");
    let before = std::time::Instant::now();
    let ran = saved.at(&saved.address(), &["sessions", "restore", "s"]);
    ran.says(1, &["could not read ", "s.kitty-session: larger than "]);
    assert!(before.elapsed().as_secs() < 3);
    // The list passes them over.
    let ran = saved.at(&saved.address(), &["sessions", "restore"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.lines().any(|l| l.starts_with("work ")), "{ran:?}");
}

#[test]
fn a_file_of_somebody_else_is_not_run_by_its_name() {
    if !rustix::process::geteuid().is_root() {
        println!("left out: only root can give a file away");
        return;
    }
    let saved = Saved::new();
    let path = saved
        .rig
        .file("theirs.kitty-session", "launch sh -c 'touch /tmp/x'\n");
    std::os::unix::fs::chown(&path, Some(1234), None).expect("chown");
    let shown = path.display().to_string();
    refused(
        &saved,
        &shown,
        &[&format!(
            "{shown} belongs to another user: copy it and look into it first\n"
        )],
    );
    let own = saved
        .rig
        .home()
        .join(".local/state/kittymux/sessions/work.kitty-session");
    std::os::unix::fs::chown(&own, Some(1234), None).expect("chown");
    refused(
        &saved,
        "work",
        &["work.kitty-session is not a regular file of yours; it is left alone\n"],
    );
}

#[test]
fn an_unreadable_file() {
    let Some(alone) = super::Alone::new() else {
        return;
    };
    let path = alone.rig.file("shut.kitty-session", "launch\n");
    alone.own();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("a mode");
    let shown = path.display().to_string();
    alone.run(&["sessions", "restore", &shown]).says(
        1,
        &[&format!("could not read {shown}: permission denied\n")],
    );
}
