//! The recorded replies of a kitty with real windows.

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
    for (name, case) in cases.as_object().unwrap() {
        let want = case["reply"].as_str().unwrap();
        if name.starts_with("save into directory") || name == "save permission denied" {
            // Recorded as an ordinary user at the root of the disk; `saves` has the like of it.
            assert!(want.contains("[Errno 13] Permission denied: '/"));
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
