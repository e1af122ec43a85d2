//! A kitty that does not do what it says: nothing replaces the old save, and the run says so.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use super::{Odd, Saved, can_misbehave};
use crate::rig::Rig;
use kittymux::sys::json::{self, Object};

const SAVE: &[&str] = &["sessions", "save", "work"];
const RESTORE: &[&str] = &["sessions", "restore", "work"];

/// A save at a kitty with these faults fails with `why`; the old one stands, and nothing else is there.
fn saves_nothing(saved: &Saved, how: &[&str], why: &[&str], seconds: u64) {
    let before = saved.state();
    let odd = Odd::misbehaving(&saved.rig, how);
    for words in [SAVE, &["sessions", "save", "--all", "work"]] {
        let ran = saved.at(&odd.address(), words);
        ran.says(1, why);
        ran.within(seconds);
        assert_eq!(saved.state(), before, "{how:?}");
    }
}

#[test]
fn a_save_that_is_none_replaces_nothing() {
    if !can_misbehave() {
        return;
    }
    let saved = Saved::new();
    let broke = "the connection broke (connection reset by peer)";
    let wrote_nothing =
        "kitty said it saved and wrote nothing; look for a dialog in its window, then try again\n";
    saves_nothing(&saved, &["reset"], &["KITTYMUX_TARGET unix:", broke], 7);
    saves_nothing(
        &saved,
        &["half-frame"],
        &["the connection was closed before the answer"],
        7,
    );
    saves_nothing(
        &saved,
        &["empty-file"],
        &["kitty's save holds no window; nothing was saved\n"],
        7,
    );
    saves_nothing(&saved, &["no-kitten", "empty-file"], &[wrote_nothing], 7);
    saves_nothing(&saved, &["no-kitten", "no-file"], &[wrote_nothing], 7);
    saves_nothing(&saved, &["wrong-ok"], &[wrote_nothing], 7);
    saves_nothing(&saved, &["no-kitten", "wrong-ok"], &[wrote_nothing], 7);
    saves_nothing(&saved, &["silent"], &["it does not answer"], 7);
    saves_nothing(&saved, &["slow:20000"], &["it does not answer"], 7);
    saves_nothing(
        &saved,
        &["old"],
        &["this kitty is too old to save sessions: kitty 0.43 or newer is needed\n"],
        7,
    );
}

#[test]
fn a_kitty_that_falls_silent_during_the_save() {
    if !can_misbehave() {
        return;
    }
    let saved = Saved::new();
    let before = saved.state();
    let odd = Odd::misbehaving(&saved.rig, &["stop-after:1"]);
    let ran = saved.at(&odd.address(), SAVE);
    ran.says(
        1,
        &["kitty did not answer within 10 s; nothing was saved\n"],
    );
    ran.within(14);
    assert_eq!(saved.state(), before);
}

#[test]
fn a_kitty_without_windows() {
    if !can_misbehave() {
        return;
    }
    let saved = Saved::new();
    let before = saved.state();
    let odd = Odd::misbehaving(&saved.rig, &["empty-ls"]);
    saved
        .at(&odd.address(), SAVE)
        .says(1, &["kitty shows no window; nothing was saved\n"]);
    assert_eq!(saved.state(), before);
    let ran = saved.at(&odd.address(), &["sessions", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.out, "no agent runs in any window\n");
}

#[test]
fn a_list_of_an_unreadable_kitty_says_so() {
    if !can_misbehave() {
        return;
    }
    let saved = Saved::new();
    for (how, why) in [
        ("reset", "the connection broke"),
        ("half-frame", "the connection was closed before the answer"),
        ("silent", "it does not answer"),
    ] {
        let odd = Odd::misbehaving(&saved.rig, &[how]);
        for words in [&["sessions", "list"][..], &["sessions", "list", "--json"]] {
            let ran = saved.at(&odd.address(), words);
            ran.says(1, &[why]);
            ran.within(7);
        }
    }
}

#[test]
fn slow_and_huge_answers_are_waited_for() {
    if !can_misbehave() {
        return;
    }
    let saved = Saved::new();
    for how in ["slow:300", "slow:1500", "huge"] {
        let odd = Odd::misbehaving(&saved.rig, &[how]);
        let ran = saved.at(&odd.address(), &["sessions", "save", "again"]);
        assert_eq!(
            (ran.code, ran.err.as_str()),
            (Some(0), ""),
            "{how}: {ran:?}"
        );
        assert!(ran.out.starts_with("saved 1 window as again\n"), "{ran:?}");
    }
}

#[test]
fn a_restore_counts_what_came_and_not_what_was_said() {
    if !can_misbehave() {
        return;
    }
    let saved = Saved::new();
    let odd = Odd::misbehaving(&saved.rig, &["wrong-ok"]);
    let ran = saved.at(&odd.address(), RESTORE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(
        ran.err,
        "kittymux: 1 window did not come back: look for an error in kitty's window; the save is as it was\n"
    );
    ran.within(10);
    let odd = Odd::misbehaving(&saved.rig, &["old"]);
    saved.at(&odd.address(), RESTORE).says(
        1,
        &["this kitty is too old for sessions: kitty 0.43 or newer is needed\n"],
    );
}

/// The text of a save without what differs from one to the next.
fn without_ids(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().skip(1) {
        let mut line = line.to_owned();
        for (from, until) in [
            ("kittymux_save=", ' '),
            ("\"id\": ", ','),
            ("\"id\":", ','),
            ("\"save\":\"", '"'),
            ("\"at\":\"", '"'),
        ] {
            let mut at = 0;
            while let Some(found) = line[at..].find(from) {
                let begin = at + found + from.len();
                let end = line[begin..]
                    .find([until, '}', '\''])
                    .map_or(line.len(), |n| begin + n);
                line.replace_range(begin..end, "_");
                at = begin;
            }
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[test]
fn with_and_without_the_kitten_the_save_is_the_same() {
    if !can_misbehave() {
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    let sid = "0a1b2c3d-0000-4000-8000-00000000beef";
    let dir = rig.dir("work/two words");
    rig.file(
        &format!(".claude/projects/p/{sid}.jsonl"),
        &format!(
            "{{\"type\":\"user\",\"sessionId\":\"{sid}\",\"cwd\":\"{}\"}}\n",
            dir.display()
        ),
    );
    let claude = rig.home().join("bin/claude").display().to_string();
    let mut texts = Vec::new();
    for words in [&[][..], &["--misbehave", "no-kitten"]] {
        let kitty = rig.start_kitty(words);
        let agent = kitty.launch(&dir, &[&claude, "--resume", sid, "--model", "it's $HOME"]);
        kitty.shows(agent, "(resumed)");
        let shell = kitty.launch(&dir, &[]);
        kitty.shows(shell, "$");
        kitty.launch_with(
            Object::new()
                .text("type", "window")
                .text("cwd", &dir.display().to_string())
                .text("window_title", "a \"title\"")
                .raw(
                    "args",
                    &json::list([String::from("\"sleep\""), "\"1000\"".into()].into_iter()),
                ),
        );
        let ran = super::at(
            &rig,
            &kitty.address.to_string(),
            &["sessions", "save", "--all", "same"],
        );
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
        assert!(
            ran.out.starts_with("saved 4 windows · 1 conversation"),
            "{ran:?}"
        );
        texts.push(without_ids(&rig.saved("same")));
        kitty.crash();
    }
    assert_eq!(texts[0], texts[1]);
    assert!(
        texts[0].contains(sid) && texts[0].contains("two words"),
        "{}",
        texts[0]
    );
}

#[test]
fn more_windows_to_leave_out_than_a_request_can_name() {
    let saved = Saved::new();
    let before = saved.state();
    let os_window = |id: u64, windows: std::ops::Range<u64>| {
        let list = json::list(windows.map(|n| Object::new().number("id", n).finish()));
        let tab = Object::new().number("id", id).raw("windows", &list);
        Object::new()
            .number("id", id)
            .flag("is_focused", id == 1)
            .flag("last_focused", id == 1)
            .flag("is_active", id == 1)
            .raw("tabs", &json::list(std::iter::once(tab.finish())))
            .finish()
    };
    let tree = json::list([os_window(1, 1..2), os_window(2, 2..9000)].into_iter());
    let replies = [
        (
            "ls",
            Object::new().flag("ok", true).text("data", &tree).finish(),
        ),
        (
            "kitten",
            Object::new()
                .flag("ok", false)
                .text("error", "no such kitten")
                .finish(),
        ),
        (
            "set-user-vars",
            Object::new().flag("ok", true).text("data", "").finish(),
        ),
    ];
    let address = answering(&saved.rig, "crowd", replies.to_vec());
    saved.at(&address, SAVE).says(
        1,
        &["too many windows to leave out at once: save with --all\n"],
    );
    assert_eq!(saved.state(), before);
}

/// Answers requests of these names until the test is over. Its address.
fn answering(rig: &Rig, name: &str, replies: Vec<(&'static str, String)>) -> String {
    let path = rig.dir("run").join(name);
    let listener = UnixListener::bind(&path).expect("bind");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let replies = replies.clone();
            std::thread::spawn(move || answer(stream, &replies));
        }
    });
    format!("unix:{}", path.display())
}

/// Answers as kitty 0.26.5 was heard to, until the test is over. Its address.
fn recorded_old_kitty(rig: &Rig) -> String {
    let text = include_str!("../../data/old-kitty-0.26.5.json");
    let recorded = json::parse(text.as_bytes(), 1 << 20).expect("the recording");
    let reply = |name: &str| {
        let entry = json::member(&recorded, name).expect("recorded");
        json::text_at(entry, "reply").expect("a reply").to_owned()
    };
    let replies = [
        ("ls", reply("ls")),
        ("kitten", reply("kitten capture")),
        ("set-user-vars", reply("set-user-vars")),
        ("action save_as_session", reply("action save_as_session")),
        ("action goto_session", reply("action goto_session")),
    ];
    answering(rig, "recorded", replies.to_vec())
}

fn answer(mut stream: UnixStream, replies: &[(&str, String)]) {
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 {
            return;
        }
        heard.extend_from_slice(&buffer[..n]);
        while let Some(end) = heard.windows(2).position(|w| w == b"\x1b\\") {
            let frame: Vec<u8> = heard.drain(..end + 2).collect();
            let frame = String::from_utf8_lossy(&frame).into_owned();
            let body = frame
                .trim_start_matches("\x1bP@kitty-cmd")
                .trim_end_matches("\x1b\\");
            let request = json::parse(body.as_bytes(), 1 << 20).expect("a request");
            let command = json::text_at(&request, "cmd").expect("a command");
            let action = json::member(&request, "payload")
                .and_then(|p| json::text_at(p, "action"))
                .and_then(|a| a.split(' ').next());
            let name = action.map_or(command.to_owned(), |a| format!("{command} {a}"));
            let reply = replies.iter().find(|(n, _)| *n == name);
            let (_, reply) = reply.unwrap_or_else(|| panic!("{name} was not recorded"));
            let _ = stream.write_all(format!("\x1bP@kitty-cmd{reply}\x1b\\").as_bytes());
        }
    }
}

#[test]
fn a_kitty_that_is_really_too_old() {
    let saved = Saved::new();
    let before = saved.state();
    let address = recorded_old_kitty(&saved.rig);
    let ran = saved.at(&address, &["sessions", "list"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    for words in [SAVE, &["sessions", "save", "--all", "work"]] {
        saved.at(&address, words).says(
            1,
            &["this kitty is too old to save sessions: kitty 0.43 or newer is needed\n"],
        );
    }
    assert_eq!(saved.state(), before);
    saved.at(&address, RESTORE).says(
        1,
        &["this kitty is too old for sessions: kitty 0.43 or newer is needed\n"],
    );
}
