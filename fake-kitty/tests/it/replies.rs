//! The recorded replies of a kitty with real windows.

use crate::program;
use crate::support::{Client, Person, data};
use fake_kitty::{FakeKitty, json};
use serde_json::Value;
use std::time::Duration;

/// What a reply tells, without what must differ: temporary names and the lines of kitty's own source.
fn tells(reply: &str) -> Value {
    let inside = reply
        .strip_prefix("\u{1b}P@kitty-cmd")
        .unwrap()
        .strip_suffix("\u{1b}\\")
        .unwrap();
    let mut v = json::parse(inside).unwrap();
    if let Some(tb) = v.get_mut("tb") {
        *tb = Value::Bool(true);
    }
    v
}

/// What an ordinary user may not write: the root of the disk, and a directory of root's (the recorded
/// one, `/unwritable`, is `/usr` here).
fn permission_denied(cases: &[(String, Value)]) {
    let person = Person::new("denied");
    let h = person.home();
    let conf = person.dir.write(
        "home/user/.config/kitty/kitty.conf",
        format!("allow_remote_control yes\nlisten_on unix:{h}/sock-{{kitty_pid}}\n"),
    );
    assert!(conf.exists());
    let mut program = program::command(&person, &["sleep", "1000"]);
    let ordinary = 23_456;
    let is_root = rustix::process::getuid().is_root();
    if is_root {
        std::os::unix::process::CommandExt::uid(&mut program, ordinary);
        let status = std::process::Command::new("chown")
            .args(["-R", &ordinary.to_string()])
            .arg(&person.dir.0)
            .status();
        assert!(status.unwrap().success());
    }
    let running = program::Running(program.spawn().unwrap());
    let socket = person
        .dir
        .path(&format!("home/user/sock-{}", running.0.id()));
    // kitty answers its own user alone: what counts is who the thread is that connects.
    let mut c = std::thread::spawn(move || {
        if is_root {
            let uid = rustix::process::Uid::from_raw(ordinary);
            rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
        }
        program::connect(&socket)
    })
    .join()
    .unwrap();
    let name = regex_lite::Regex::new("tmp[a-z0-9_]{8}[.]tmp").unwrap();
    for (case, recorded) in cases {
        let there = |text: &str| text.replace("/unwritable", "/usr");
        c.send(&there(&recorded["request"].to_string()));
        let got = c.receive(Duration::from_secs(10)).unwrap();
        let got = String::from_utf8(fake_kitty::frame::wrap(&got)).unwrap();
        let want = there(recorded["reply"].as_str().unwrap());
        assert!(name.is_match(&want) && name.is_match(&got), "{case}: {got}");
        assert_eq!(
            name.replace(&want, "NAME"),
            name.replace(&got, "NAME"),
            "{case}"
        );
    }
}

#[test]
fn every_recorded_request_gets_the_recorded_reply() {
    let person = Person::new("replies");
    // Seven windows, and two that failing actions open: the launch is the recorded 10.
    let kitty = FakeKitty::start(person.config().command(["sleep", "1000"])).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    for i in 2..8 {
        let reply = c.call(
            "launch",
            serde_json::json!({"args": ["sleep", "1000"], "type": "tab"}),
        );
        assert_eq!(reply["data"], i.to_string());
    }
    let cases = json::parse(&data("replies.json")).unwrap();
    let mut seen = 0;
    let mut refused = Vec::new();
    for (name, case) in cases.as_object().unwrap() {
        let want = case["reply"].as_str().unwrap();
        if name.starts_with("save into directory") || name == "save permission denied" {
            // Recorded as an ordinary user at the root of the disk: a kitty of its own below.
            refused.push((name.clone(), case.clone()));
            continue;
        }
        let request = match &case["request"] {
            Value::String(s) => s.clone(),
            v => v.to_string(),
        };
        c.send(&request);
        let limit = if want == "<TIMEOUT>" { 400 } else { 10_000 };
        match c.receive(Duration::from_millis(limit)) {
            None => assert_eq!(want, "<TIMEOUT>", "{name}"),
            Some(got) => {
                let got = String::from_utf8(fake_kitty::frame::wrap(&got)).unwrap();
                assert_eq!(tells(want), tells(&got), "{name}");
                // Byte for byte, but for tracebacks.
                if !want.contains("\"tb\"") {
                    assert_eq!(want, got, "{name}");
                }
            }
        }
        seen += 1;
    }
    assert_eq!(seen, cases.as_object().unwrap().len() - 2);
    assert_eq!(refused.len(), 2);
    permission_denied(&refused);
    // The unbalanced quote and the second path opened a window each.
    let titles: Vec<String> = kitty.windows().into_iter().map(|w| w.title).collect();
    assert!(
        titles.contains(&"Failed to parse action".to_owned()),
        "{titles:?}"
    );
    assert!(
        titles.contains(&"Invalid save_as_session command line".to_owned()),
        "{titles:?}"
    );
}
