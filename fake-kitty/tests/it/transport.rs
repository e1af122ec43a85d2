//! Frames: split, pipelined, broken, too long.

use crate::support::{Client, data};
use fake_kitty::{Config, FakeKitty, RemoteControl, frame};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(10);

/// A kitty of saved answers: no programs, so these tests are quick.
fn kitty() -> FakeKitty {
    FakeKitty::serve_capture(&data("ls-1-shell-at-prompt.json"), "").unwrap()
}

fn client(kitty: &FakeKitty) -> Client {
    Client::connect(kitty.socket().unwrap())
}

#[test]
fn a_whole_reply_is_byte_for_byte_the_recorded_one() {
    let kitty = kitty();
    let mut c = client(&kitty);
    c.send(r#"{"cmd":"ls","version":[0,26,0]}"#);
    let reply = c.receive(LONG).unwrap();
    assert_eq!(
        data("ls-1-shell-at-prompt.reply"),
        String::from_utf8(frame::wrap(&reply)).unwrap()
    );
}

#[test]
fn frames_may_be_split_anywhere_and_pipelined_and_are_answered_in_order() {
    let kitty = kitty();
    let mut c = client(&kitty);
    for b in frame::wrap(r#"{"cmd":"ls","version":[0,26,0],"payload":{"match":"id:1"}}"#) {
        c.0.write_all(&[b]).unwrap();
    }
    assert!(c.receive(LONG).unwrap().starts_with(r#"{"ok": true"#));
    let many: Vec<u8> = (0..500)
        .flat_map(|i| {
            frame::wrap(&format!(
                r#"{{"cmd":"ls","version":[0,26,0],"payload":{{"match":"id:{}"}}}}"#,
                1000 + i
            ))
        })
        .collect();
    let mut writer = c.0.try_clone().unwrap();
    let sender = std::thread::spawn(move || writer.write_all(&many).unwrap());
    for i in 0..500 {
        let want = format!("No matching windows for expression: id:{}", 1000 + i);
        let reply: Value = serde_json::from_str(&c.receive(LONG).unwrap()).unwrap();
        assert_eq!(reply, json!({"ok": false, "error": want}));
    }
    sender.join().unwrap();
}

#[test]
fn what_is_no_request_is_not_answered_and_does_not_end_the_connection() {
    let kitty = kitty();
    let mut c = client(&kitty);
    for bad in [
        "{bad",
        r#"{"cmd":"ls"}"#,
        "[1]",
        "3",
        r#"{"cmd":"ls","version":[0,26,0],"no_response":true}"#,
        r#"{"cmd":"ls","version":[0,26,0],"no_response":"yes"}"#,
    ] {
        c.send(bad);
    }
    c.0.write_all(b"\x1bP@kitty-cmd{\"cmd\":\"ls\xff\"}\x1b\\")
        .unwrap();
    assert_eq!(c.receive(SHORT), None);
    c.send(r#"{"cmd":"frob","version":[0,26,0],"no_response":true}"#);
    assert!(
        c.receive(LONG)
            .unwrap()
            .contains("'Unknown kitty remote control command: frob'")
    );
}

#[test]
fn bytes_before_the_prefix_and_bel_are_waited_on_for_ever() {
    let kitty = kitty();
    let mut c = client(&kitty);
    c.0.write_all(b"\n").unwrap();
    c.send(r#"{"cmd":"ls","version":[0,26,0]}"#);
    assert_eq!(c.receive(SHORT), None);
    let mut c = client(&kitty);
    c.0.write_all(b"\x1bP@kitty-cmd{\"cmd\":\"ls\",\"version\":[0,26,0]}\x07")
        .unwrap();
    assert_eq!(c.receive(SHORT), None);
    c.0.shutdown(Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    c.0.set_read_timeout(Some(LONG)).unwrap();
    assert_eq!(c.0.read_to_end(&mut rest).unwrap(), 0);
    let told = kitty
        .messages()
        .iter()
        .any(|m| m == "Malformatted remote control message received from peer, ignoring");
    assert!(told);
}

#[test]
fn half_close_after_a_frame_still_gets_the_reply() {
    let kitty = kitty();
    let mut c = client(&kitty);
    c.send(r#"{"cmd":"ls","version":[0,26,0]}"#);
    c.0.shutdown(Shutdown::Write).unwrap();
    assert!(c.receive(LONG).is_some());
    assert_eq!(c.receive(LONG), None);
}

/// A frame of `n` bytes in all.
fn frame_of(n: usize) -> Vec<u8> {
    let head = r#"{"cmd":"frob","version":[0,26,0],"x":""#;
    let around = frame::PREFIX.len() + frame::SUFFIX.len() + head.len() + 2;
    frame::wrap(&format!("{head}{}\"}}", "x".repeat(n - around)))
}

#[test]
fn a_frame_over_64_kib_resets_the_connection() {
    let kitty = kitty();
    let mut c = client(&kitty);
    let fits = frame_of(65_536);
    assert_eq!(fits.len(), 65_536);
    c.0.write_all(&fits).unwrap();
    assert!(
        c.receive(LONG)
            .unwrap()
            .contains("Unknown kitty remote control command")
    );
    let _ = c.0.write_all(&frame_of(65_537));
    c.0.set_read_timeout(Some(LONG)).unwrap();
    let e = c.0.read(&mut [0; 16]).unwrap_err();
    assert_eq!(e.kind(), std::io::ErrorKind::ConnectionReset);
    assert!(
        kitty
            .messages()
            .iter()
            .any(|m| m.contains("Ignoring too large message from peer"))
    );
}

#[test]
fn only_the_first_two_numbers_of_the_version_count() {
    let kitty = kitty();
    let mut c = client(&kitty);
    let newer = "The kitty client you are using to send remote commands is newer than this kitty instance. \
                 This is not supported.";
    for (version, ok) in [
        ("[0,48,99]", true),
        ("[0,49,0]", false),
        ("[0]", true),
        ("[]", true),
        ("[1,0,0]", false),
    ] {
        c.send(&format!(r#"{{"cmd":"ls","version":{version}}}"#));
        let reply: Value = serde_json::from_str(&c.receive(LONG).unwrap()).unwrap();
        assert_eq!(reply["ok"], ok, "{version}");
        if !ok {
            assert_eq!(reply["error"], newer);
        }
    }
    c.send(r#"{"cmd":"ls","version":"0.26.0"}"#);
    assert!(c.receive(LONG).unwrap().contains("\"tb\""));
}

#[test]
fn lone_surrogates_come_back_as_escapes() {
    let kitty = kitty();
    let mut c = client(&kitty);
    c.send(r#"{"cmd":"set-user-vars","version":[0,26,0],"payload":{"match":"id:1","var":["k=a\udc80b"]}}"#);
    assert_eq!(c.receive(LONG).unwrap(), r#"{"ok": true, "data": ""}"#);
    c.send(r#"{"cmd":"ls","version":[0,26,0]}"#);
    assert!(c.receive(LONG).unwrap().contains(r#"\"k\": \"a\\udc80b\""#));
}

#[test]
fn modes_of_allow_remote_control() {
    let capture = data("ls-1-shell-at-prompt.json");
    let start = |mode| {
        FakeKitty::serve_capture_with(
            Config::new().remote_control(RemoteControl::parse(mode)),
            &capture,
            "",
        )
        .unwrap()
    };
    assert_eq!(start("no").socket(), None);
    for mode in ["yes", "socket", "socket-only"] {
        let kitty = start(mode);
        assert_eq!(client(&kitty).call("ls", json!({}))["ok"], true, "{mode}");
    }
    let kitty = start("password");
    let refused = json!({"ok": false, "error": "Remote control is disabled. Add allow_remote_control to your kitty.conf"});
    assert_eq!(client(&kitty).call("ls", json!({})), refused);
    let mut c = client(&kitty);
    c.send(r#"{"cmd":"ls","version":[0,26,0],"no_response":true}"#);
    assert_eq!(c.receive(SHORT), None);
}

#[test]
fn addresses_are_made_as_kitty_makes_them() {
    let capture = data("ls-1-shell-at-prompt.json");
    let dir = crate::support::Dir::new("addresses");
    let d = dir.0.display().to_string();
    let pid = std::process::id();
    let config = || Config::new().env("HOME", &dir.0).env("TMPDIR", &dir.0);
    let at = |c: Config| {
        let kitty = FakeKitty::serve_capture_with(c, &capture, "").unwrap();
        let address = kitty.socket().map(str::to_owned);
        if let Some(a) = &address {
            assert_eq!(Client::connect(a).call("ls", json!({}))["ok"], true);
        }
        (address, kitty.messages())
    };
    let conf = |s: &str| at(config().listen_on_of_conf(s)).0.unwrap();
    assert_eq!(conf(&format!("unix:{d}/a")), format!("unix:{d}/a-{pid}"));
    assert_eq!(
        conf(&format!("unix:{d}/b-{{kitty_pid}}.sock")),
        format!("unix:{d}/b-{pid}.sock")
    );
    assert_eq!(conf("unix:~/c"), format!("unix:{d}/c-{pid}"));
    assert_eq!(conf("unix:${HOME}/d"), format!("unix:{d}/d-{pid}"));
    assert_eq!(conf("unix:rel"), format!("unix:{d}/rel-{pid}"));
    assert_eq!(
        conf("unix:@fk-abstract"),
        format!("unix:@fk-abstract-{pid}")
    );
    assert_eq!(
        at(config().listen_on(format!("unix:{d}/cl"))).0.unwrap(),
        format!("unix:{d}/cl")
    );
    assert!(!dir.path("cl").exists(), "the file goes at the end");
    let (none, told) = at(config().listen_on(format!("{d}/plain")));
    assert_eq!(
        (none, told),
        (None, vec![format!("Invalid listen_on={d}/plain, ignoring")])
    );
    assert_eq!(at(config().listen_on(format!("unix:{d}/nodir/x"))).0, None);
}

#[test]
fn a_dead_socket_is_replaced_and_a_live_one_is_not() {
    let capture = data("ls-1-shell-at-prompt.json");
    let dir = crate::support::Dir::new("stale");
    let address = format!("unix:{}", dir.path("s").display());
    drop(std::os::unix::net::UnixListener::bind(dir.path("s")).unwrap());
    let start = || {
        FakeKitty::serve_capture_with(Config::new().listen_on(address.as_str()), &capture, "")
            .unwrap()
    };
    let first = start();
    assert_eq!(first.socket(), Some(address.as_str()));
    let second = start();
    assert_eq!(second.socket(), None);
    drop(second);
    assert_eq!(Client::connect(&address).call("ls", json!({}))["ok"], true);
}
