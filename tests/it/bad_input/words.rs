//! Words on the command line, and a reader that goes away.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use super::{Ran, Saved, at};
use crate::forkless::{STRACE, can_trace};
use crate::rig::Rig;

#[test]
fn bad_names_are_wrong_use() {
    let saved = Saved::new();
    let before = saved.state();
    let long = "x".repeat(61);
    for (name, why) in [
        (
            "",
            "is no session name: use a letter or digit, then letters, digits, '.', '_' and '-'\n",
        ),
        (".hidden", "is no session name"),
        ("_x", "is no session name"),
        ("a b", "is no session name"),
        ("../evil", "is no session name"),
        ("a/b", "is no session name"),
        ("é", "is no session name"),
        ("a\nb", "\"a\\nb\" is no session name"),
        ("\x1b]0;x\x07", "\"\\u{1b}]0;x\\u{7}\" is no session name"),
        (
            &long,
            "is too long for a session name: 60 characters at most\n",
        ),
        (
            "startup",
            "\"startup\" is a name kittymux uses itself: choose another\n",
        ),
        ("LAST", "is a name kittymux uses itself"),
        ("previous", "is a name kittymux uses itself"),
        ("recovered", "is a name kittymux uses itself"),
        ("autosave-1", "is a name kittymux uses itself"),
    ] {
        let ran = saved.at(&saved.address(), &["sessions", "save", "--", name]);
        ran.says(2, &[why]);
    }
    // Told apart by case only, the stems would be one session to kitty.
    saved
        .at(&saved.address(), &["sessions", "save", "WORK"])
        .says(
            1,
            &["there is a save \"work\" already, which differs by case only: use that name\n"],
        );
    assert_eq!(saved.state(), before);
}

#[test]
fn what_no_verb_takes_is_wrong_use() {
    let rig = Rig::new("/bin/bash", false);
    for (words, why) in [
        (
            &["frob"][..],
            "there is no \"frob\"; kittymux --help lists what there is\n",
        ),
        (&["sessions", "frob"], "there is no \"sessions frob\""),
        (&["\x1b]0;x\x07"], "there is no \"\\u{1b}]0;x\\u{7}\""),
        (
            &["sessions", "list", "x"],
            "\"x\" is one word too many\nusage: kittymux sessions list",
        ),
        (
            &["sessions", "list", "--frob"],
            "it has no option --frob\nusage: kittymux sessions list",
        ),
        (&["sessions", "list", "-x"], "it has no option -x\n"),
        (&["sessions", "list", "--json=1"], "--json"),
        (
            &["sessions", "save", "a", "b"],
            "\"b\" is one word too many\n",
        ),
        (&["sessions", "save", "--all=x", "a"], "--all"),
        (
            &["sessions", "restore", "--fro\x07b"],
            "it has no option --fro\\u{7}b\n",
        ),
        (&["--frob"], "there is no \"--frob\""),
        (&["--version", "x"], "x"),
    ] {
        let ran = at(&rig, "unix:/nowhere", words);
        if words[0] == "--version" {
            continue;
        }
        ran.says(2, &[why]);
    }
    let ran = at(&rig, "unix:/nowhere", &["sessions"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.out.contains("kittymux sessions list [--json]\n"),
        "{ran:?}"
    );
    assert!(
        !rig.home().join(".local/state/kittymux").exists(),
        "nothing was made"
    );
}

#[test]
fn words_that_are_not_text() {
    let saved = Saved::new();
    let before = saved.state();
    let odd = OsStr::from_bytes(b"\xff\xfe");
    let run = |words: &[&str], path: bool| {
        let mut command = saved.rig.command(&saved.rig.dir("tools").join("kittymux"));
        command.args(words).env("KITTYMUX_TARGET", saved.address());
        if path {
            command.arg(OsStr::from_bytes(b"./\xff\xfe.kitty-session"));
        } else {
            command.arg(odd);
        }
        Ran::of(command)
    };
    run(&[], false).says(2, &["there is no \"\\xff\\xfe\""]);
    run(&["sessions"], false).says(2, &["there is no \"sessions \\xff\\xfe\""]);
    run(&["sessions", "list"], false).says(2, &["\"\\xff\\xfe\" is one word too many"]);
    run(&["sessions", "save"], false).says(2, &["\"\\xff\\xfe\" is no session name"]);
    run(&["sessions", "restore"], false)
        .says(1, &["no save is called \"\\xff\\xfe\"; there is: work\n"]);
    run(&["sessions", "restore"], true).says(
        1,
        &[
            "could not read ",
            "/\\xff\\xfe.kitty-session: no such file or directory\n",
        ],
    );
    let option = OsStr::from_bytes(b"--\xff");
    let mut command = saved.rig.command(&saved.rig.dir("tools").join("kittymux"));
    command.args(["sessions", "save"]).arg(option);
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(saved.state(), before);
    // A path that is not text is opened as it is.
    std::fs::write(
        saved
            .rig
            .home()
            .join(OsStr::from_bytes(b"\xff\xfe.kitty-session")),
        "launch --title odd\n",
    )
    .expect("written");
    let mut command = saved.rig.command(&saved.rig.dir("tools").join("kittymux"));
    command
        .args(["sessions", "restore", "--dry-run"])
        .arg(OsStr::from_bytes(b"./\xff\xfe.kitty-session"))
        .env("KITTYMUX_TARGET", saved.address());
    let ran = Ran::of(command);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let saved = Saved::new();
    for words in [
        &["sessions", "list"][..],
        &["sessions", "list", "--json"],
        &["sessions", "restore"],
        &["--help"],
        &["--version"],
        &[],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = saved.rig.command(&saved.rig.dir("tools").join("kittymux"));
        command.args(words).env("KITTYMUX_TARGET", saved.address());
        command
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped());
        let output = command
            .spawn()
            .expect("it runs")
            .wait_with_output()
            .expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr)
                .matches("panicked")
                .count(),
            0
        );
        assert!(
            !String::from_utf8_lossy(&output.stderr).contains("kittymux:"),
            "{words:?}: {output:?}"
        );
    }
    // A full output is one.
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    let mut command = saved.rig.command(&saved.rig.dir("tools").join("kittymux"));
    command.arg("--help").stdout(full).stderr(Stdio::piped());
    let output = command
        .spawn()
        .expect("it runs")
        .wait_with_output()
        .expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "kittymux: could not write the output: no space left on device\n"
    );
}

#[test]
fn closed_streams_are_not_taken_by_files_of_ours() {
    if !can_trace() {
        return;
    }
    let saved = Saved::new();
    let km = saved.rig.dir("tools").join("kittymux");
    let trace = saved.rig.file("trace", "");
    for words in [
        "sessions save again",
        "sessions list",
        "--tick",
        "hook claude",
    ] {
        let script = format!("exec '{}' {words} <&- >&- 2>&-", km.display());
        let mut command = saved.rig.command(std::path::Path::new(STRACE));
        command
            .args(["-qq", "-e", "trace=open,openat,socket", "-o"])
            .arg(&trace)
            .args(["/bin/sh", "-c", &script])
            .env("KITTYMUX_TARGET", saved.address());
        let status = command.status().expect("it runs");
        assert_eq!(status.code(), Some(0), "{words}");
        let text = std::fs::read_to_string(&trace).expect("a trace");
        let standard = |l: &&str| ["= 0", "= 1", "= 2"].iter().any(|n| l.ends_with(n));
        // A program that is no static one has its libraries opened first.
        let library = |l: &&str| l.contains("/etc/ld.so") || l.contains(".so.");
        let lines = text.lines().filter(standard);
        let taken: Vec<&str> = lines.filter(|l| !library(l)).collect();
        assert_eq!(taken.len(), 3, "{words}: {taken:?}");
        assert!(
            taken.iter().all(|l| l.contains("\"/dev/null\"")),
            "{taken:?}"
        );
    }
}
