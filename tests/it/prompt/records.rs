//! Records of every kind: what is not usable is a shell with one line that says why.

use std::time::Duration;

use super::{Case, is_a_shell};
use crate::pty::Pty;

/// The prompt with these words says one line with `why` and is a shell; nothing was run.
fn refused(case: &Case, words: &[&str], why: &str) {
    let mut all = vec!["resume-prompt"];
    all.extend(words);
    let mut pty = Pty::start(case.command(&all), b"");
    let text = is_a_shell(&mut pty);
    let said: Vec<&str> = text.lines().filter(|l| l.contains("kittymux:")).collect();
    assert_eq!(said.len(), 1, "{words:.80?}: {text}");
    assert!(
        said[0].contains(why),
        "{words:.80?}: {why:?} is not in {text}"
    );
    assert!(said[0].chars().count() < 300, "a short line: {}", said[0]);
    for wrong in ["usage", "panicked", "thread '"] {
        assert!(!text.contains(wrong), "{text}");
    }
    let raw = pty.bytes(Duration::ZERO).to_vec();
    let raw = String::from_utf8_lossy(&raw).into_owned();
    for hostile in ["\x1b]0;", "\x07", "\u{202e}", "\x1b[31m"] {
        assert!(!raw.contains(hostile), "{raw:?}");
    }
    assert_eq!(case.starts().len(), 0, "{words:.80?}");
}

#[test]
fn what_it_is_started_with_is_never_used_wrongly() {
    let case = Case::new();
    let record = case.record.text();
    for words in [
        &[][..],
        &["--info"],
        &["--info="],
        &["--help"],
        &["--version"],
        &["--frob", "x"],
        &["work"],
        &["--", "--info", "{}"],
    ] {
        refused(
            &case,
            words,
            "this window has no agent to bring back: its record",
        );
    }
    // More than it knows is no reason not to ask.
    let mut pty = Pty::start(
        case.command(&["resume-prompt", "--later", "--info", &record, "more"]),
        b"",
    );
    pty.asks();
}

#[test]
fn words_that_are_not_text_are_a_shell_too() {
    use std::os::unix::ffi::OsStrExt;
    let case = Case::new();
    let mut command = case.command(&["resume-prompt", "--info"]);
    command.arg(std::ffi::OsStr::from_bytes(b"{\"v\":1,\xff\xfe"));
    let mut pty = Pty::start(command, b"");
    let text = is_a_shell(&mut pty);
    assert!(text.contains("it is not JSON"), "{text}");
}

#[test]
fn what_is_no_record_is_refused() {
    let case = Case::new();
    let deep = "[".repeat(50_000);
    for (text, why) in [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("{\"v\":1,\"id\":[1", "it is not JSON"),
        (&deep, "it is not JSON"),
        ("[]", "it is not a JSON object"),
        ("null", "it is not a JSON object"),
        ("5", "it is not a JSON object"),
        ("\"x\"", "it is not a JSON object"),
        ("{}", "it has no version"),
        ("{\"v\":\"1\"}", "it has no version"),
        ("{\"v\":1}", "its mode is none of exact, latest and new"),
        ("{\"v\":1,\"mode\":\"auto\"}", "its mode is none of"),
        (
            "{\"v\":1,\"mode\":\"new\",\"orig\":\"claude\"}",
            "its orig is not a list of words",
        ),
        (
            "{\"v\":1,\"mode\":\"new\",\"orig\":[1]}",
            "its orig holds something that is not a plain text",
        ),
        (
            "{\"v\":1,\"mode\":\"new\",\"orig\":[\"a\\u0000\"]}",
            "its orig holds something",
        ),
        (
            "{\"v\":1,\"mode\":\"new\",\"cwd\":\"/a\\u0000\"}",
            "its cwd is not a plain text",
        ),
        ("{\"v\":1,\"mode\":\"new\"}", "no agent \"\" is defined"),
    ] {
        refused(&case, &["--info", text], why);
    }
}

#[test]
fn only_the_agent_and_a_plain_id_are_ever_run() {
    let long = "x".repeat(10_000);
    for id in [
        "--help",
        "-x",
        "a;rm -rf ~",
        "../../x",
        "$(id)",
        "",
        &long,
        "a\nb",
        "a\u{202e}b",
        "\x1b]0;x\x07",
        "not-a-uuid",
    ] {
        let case = Case::with(|c| {
            c.record.resume[2] = id.into();
            c.record.sid = id.into();
        });
        refused(
            &case,
            &["--info", &case.record.text()],
            "\" is no session id of claude",
        );
    }
    type Change = fn(&mut Case);
    let changes: [(Change, &str); 13] = [
        (
            |c| c.record.agent = "cl\x1b]0;x\x07aude".into(),
            "no agent \"cl\\u{1b}]0;x\\u{7}aude\" is defined",
        ),
        (|c| c.record.agent = "x".repeat(10_000), "is defined"),
        (
            |c| c.record.agent = "cl aude".into(),
            "no agent \"cl aude\" is defined",
        ),
        (|c| c.record.orig.clear(), "it has no command"),
        (
            |c| c.record.orig[0] = "rm".into(),
            "its command is \"rm\", which is not claude",
        ),
        (
            |c| c.record.orig[0] = "\x1b[31mrm".into(),
            "its command is \"\\u{1b}[31mrm\"",
        ),
        (
            |c| c.record.resume[0] = "rm".into(),
            "its two commands start different programs",
        ),
        (
            |c| c.record.exe = "/bin/rm".into(),
            "its program file \"/bin/rm\" is no full path of claude",
        ),
        (
            |c| c.record.cwd = "work".into(),
            "its directory is not an absolute path",
        ),
        (
            |c| c.record.env = vec!["LD_PRELOAD=/x.so".into()],
            "it sets \"LD_PRELOAD\" in the environment",
        ),
        (
            |c| c.record.env = vec!["\x1b]0;x\x07=1".into()],
            "it sets \"\\u{1b}]0;x\\u{7}\" in the environment",
        ),
        (
            |c| c.record.save = "a b".into(),
            "its save id is not a plain word",
        ),
        (
            |c| {
                c.record.resume.remove(2);
            },
            "its resume command does not name its session id",
        ),
    ];
    for (change, why) in changes {
        let case = Case::with(change);
        refused(&case, &["--info", &case.record.text()], why);
    }
}

#[test]
fn whatever_a_record_shows_is_shown_escaped() {
    let hostile = "a\x1b]0;x\x07\u{202e}\nb";
    let case = Case::with(|c| {
        let dir = c.rig.dir("work/a\u{202e}b\x1b]0;x\x07");
        c.record.cwd = dir.display().to_string();
        c.record.tab = hostile.into();
        c.record.at = hostile.into();
        c.record.lost = vec![hostile.into()];
        c.record.was = vec![hostile.into()];
        c.record.resume.push(hostile.into());
        c.record.orig.push(hostile.into());
    });
    let mut pty = case.prompt();
    pty.asks();
    pty.send(b"i");
    pty.shows("  new:    ");
    pty.bytes(Duration::from_millis(50));
    let raw = String::from_utf8_lossy(pty.bytes(Duration::ZERO)).into_owned();
    assert!(
        !raw.contains("\x1b]0;") && !raw.contains('\u{202e}') && !raw.contains('\x07'),
        "{raw:?}"
    );
    let text = pty.text();
    assert!(
        text.contains("tab “a\\u{1b}]0;x\\u{7}\\u{202e}\\nb”"),
        "{text}"
    );
    assert!(text.contains("left out for secrecy: a\\u{1b}"), "{text}");
    assert!(text.contains("work/a\\u{202e}b\\u{1b}]0;x\\u{7}"), "{text}");
    // They are words all the same, byte for byte.
    pty.send(b"\r");
    pty.shows("(resumed)");
    case.started(&case.record.resume);
}

#[test]
fn five_hundred_words_come_through() {
    let case = Case::with(|c| {
        for n in 0..500 {
            c.record.resume.push(format!("--add-dir={n}"));
        }
    });
    let mut pty = case.prompt();
    pty.asks();
    pty.send(b"\r");
    pty.shows("(resumed)");
    case.started(&case.record.resume);
}

#[test]
fn a_record_in_a_file_is_read_from_there_and_nowhere_else() {
    let case = Case::new();
    case.rig.file(
        ".local/state/kittymux/sessions/.records/abc123",
        &case.record.text(),
    );
    case.rig.file("elsewhere", &case.record.text());
    std::os::unix::fs::symlink(
        case.rig.home().join("elsewhere"),
        case.state("sessions/.records/link"),
    )
    .expect("a link");
    let named = |name: &str| format!("{{\"v\":1,\"file\":\"{name}\"}}");
    let mut pty = Pty::start(
        case.command(&["resume-prompt", "--info", &named("abc123")]),
        b"",
    );
    pty.asks();
    pty.send(b"\r");
    pty.shows(&case.record.sid);
    case.started(&case.record.resume);
    let case = Case::new();
    for (name, why) in [
        ("gone", "its file gone is not there any more"),
        ("../../../../../elsewhere", "is no name of a record's file"),
        (
            "/etc/passwd",
            "\"/etc/passwd\" is no name of a record's file",
        ),
        ("", "\"\" is no name of a record's file"),
        (
            "\\u001b]0;x\\u0007",
            "\"\\u{1b}]0;x\\u{7}\" is no name of a record's file",
        ),
        ("..", "is no name of a record's file"),
    ] {
        refused(&case, &["--info", &named(name)], why);
    }
    case.rig
        .file(".local/state/kittymux/sessions/.records/link", "");
    std::fs::remove_file(case.state("sessions/.records/link")).expect("removed");
    case.rig.file("elsewhere", &case.record.text());
    std::os::unix::fs::symlink(
        case.rig.home().join("elsewhere"),
        case.state("sessions/.records/link"),
    )
    .expect("a link");
    refused(&case, &["--info", &named("link")], "could not read");
}
