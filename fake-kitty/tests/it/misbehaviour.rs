//! The switches for not behaving like kitty, and the capture kitten.

use crate::support::{Client, Person, data, windows_of};
use fake_kitty::{Config, FakeKitty, Misbehave, json};
use serde_json::{Value, json};
use std::io::Read;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(300);
const LS: &str = r#"{"cmd":"ls","version":[0,26,0]}"#;

fn saved(words: &[&str]) -> (FakeKitty, Client) {
    let mut config = Config::new();
    for word in words {
        config = config.misbehave(Misbehave::parse(word).unwrap());
    }
    let kitty = FakeKitty::serve_capture_with(
        config,
        &data("ls-rich.json"),
        &data("save-rich.kitty-session"),
    )
    .unwrap();
    let client = Client::connect(kitty.socket().unwrap());
    (kitty, client)
}

#[test]
fn silence_reset_half_a_frame_slowness_and_stopping() {
    let (kitty, mut c) = saved(&["silent"]);
    c.send(LS);
    assert_eq!(c.receive(SHORT), None);
    assert_eq!(kitty.log(), [LS]);

    let (_kitty, mut c) = saved(&["reset"]);
    c.send(LS);
    c.0.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(
        c.0.read(&mut [0]).unwrap_err().kind(),
        std::io::ErrorKind::ConnectionReset
    );

    let (_kitty, mut c) = saved(&["half-frame"]);
    c.send(LS);
    let mut got = Vec::new();
    c.0.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    c.0.read_to_end(&mut got).unwrap();
    assert!(got.starts_with(b"\x1bP@kitty-cmd{\"ok\": true") && !got.ends_with(b"\x1b\\"));

    let (_kitty, mut c) = saved(&["slow:400"]);
    let start = Instant::now();
    c.call("ls", json!({}));
    assert!(start.elapsed() >= Duration::from_millis(400));

    let (_kitty, mut c) = saved(&["stop-after:2"]);
    c.call("ls", json!({}));
    c.call("ls", json!({}));
    c.send(LS);
    assert_eq!(c.receive(SHORT), None);
}

#[test]
fn listings_that_are_huge_empty_or_old() {
    let (_kitty, mut c) = saved(&["huge"]);
    let reply = c.call("ls", json!({}));
    assert!(reply["data"].as_str().unwrap().len() > 5_000_000);
    let (_kitty, mut c) = saved(&["empty-ls"]);
    assert_eq!(c.call("ls", json!({}))["data"], "[]");
    let (_kitty, mut c) = saved(&["old"]);
    let list = c.ls(json!({}));
    assert!(windows_of(&list)[0].get("session_name").is_none());
    assert!(windows_of(&list)[0].get("foreground_processes").is_some());
    assert_eq!(
        c.action("save_as_session --save-only /x")["error"],
        "Unknown action: save_as_session"
    );
    assert_eq!(c.call("kitten", json!({"kitten": "/x"}))["ok"], false);
    assert!(
        c.call("set-user-vars", json!({}))["error"]
            .as_str()
            .unwrap()
            .contains("Unknown kitty remote")
    );
    c.send(r#"{"cmd":"ls","version":[0,27,0]}"#);
    assert!(
        c.receive(Duration::from_secs(5))
            .unwrap()
            .contains("is newer than this kitty")
    );
}

#[test]
fn saves_that_say_ok_and_leave_nothing() {
    let dir = crate::support::Dir::new("misbehave");
    let file = dir.path("s");
    let save = format!("save_as_session --save-only {}", file.display());
    let (_kitty, mut c) = saved(&[]);
    assert_eq!(c.action(&save), json!({"ok": true}));
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        data("save-rich.kitty-session")
    );
    std::fs::remove_file(&file).unwrap();
    for word in ["no-file", "wrong-ok"] {
        let (_kitty, mut c) = saved(&[word]);
        assert_eq!(c.action(&save), json!({"ok": true}));
        assert!(!file.exists(), "{word}");
    }
    let (_kitty, mut c) = saved(&["empty-file"]);
    assert_eq!(c.action(&save), json!({"ok": true}));
    assert_eq!(std::fs::read(&file).unwrap(), b"");
    let person = Person::new("misbehave-live");
    for (word, there) in [
        ("no-file", false),
        ("empty-file", true),
        ("wrong-ok", false),
    ] {
        std::fs::remove_file(&file).ok();
        let config = person
            .config()
            .command(["sleep", "99"])
            .misbehave(Misbehave::parse(word).unwrap());
        let kitty = FakeKitty::start(config).unwrap();
        let mut c = Client::connect(kitty.socket().unwrap());
        assert_eq!(c.action(&save), json!({"ok": true}));
        assert_eq!(file.exists(), there, "{word}");
        assert_eq!(c.windows().len(), 1, "{word}");
    }
}

#[test]
fn a_saved_kitty_answers_from_its_files() {
    let (_kitty, mut c) = saved(&[]);
    let reply = c.call("ls", json!({}));
    assert_eq!(
        reply["data"].as_str().unwrap(),
        data("ls-rich.json").trim_end()
    );
    let mut ids = |e: &str| -> Vec<u64> {
        windows_of(&c.ls(json!({"match": e})))
            .iter()
            .map(|w| w["id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(ids("var:kittymux_id=w-1"), [3]);
    assert_eq!(ids("not state:active"), [2, 3, 4, 5]);
    assert_eq!(ids("cwd:proj"), [2, 3, 7]);
    assert_eq!(
        c.call("set-user-vars", json!({"match": "id:7", "var": ["a=b"]})),
        json!({"ok": true, "data": ""})
    );
    assert_eq!(
        windows_of(&c.ls(json!({"match": "id:7"})))[0]["user_vars"],
        json!({"a": "b"})
    );
    assert_eq!(
        c.call("ls", json!({"match": "id:99"}))["error"],
        "No matching windows for expression: id:99"
    );
}

fn kitten(c: &mut Client, path: &str, wanted: &Value) -> Result<Value, String> {
    let reply = c.call(
        "kitten",
        json!({"kitten": path, "args": ["1", wanted.to_string()]}),
    );
    match reply["data"].as_str() {
        Some(data) => Ok(json::parse(data).unwrap()),
        None => Err(reply["error"].as_str().unwrap().to_owned()),
    }
}

#[test]
fn the_capture_kitten_gives_text_and_listing_of_one_instant() {
    let person = Person::new("kitten");
    let kitty = FakeKitty::start(person.config().command(["sleep", "101"])).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    c.call("launch", json!({"args": ["sleep", "102"]}));
    c.call(
        "launch",
        json!({"args": ["sleep", "103"], "type": "os-window"}),
    );
    c.call(
        "launch",
        json!({"args": ["sleep", "104"], "type": "os-window"}),
    );
    let file = person.dir.path("kittymux_capture.py").display().to_string();
    let all = json!({"os_windows": null, "skip": []});
    assert_eq!(
        kitten(&mut c, &file, &all).unwrap_err(),
        format!("[Errno 2] No such file or directory: '{file}'")
    );
    person.dir.write("kittymux_capture.py", "");
    let document = kitten(&mut c, &file, &all).unwrap();
    assert_eq!(
        (&document["v"], &document["kitty"]),
        (&json!(1), &json!("0.48.2"))
    );
    assert_eq!(document["cwds"], json!({}));
    let mut list = c.ls(json!({}));
    for os in list.as_array_mut().unwrap() {
        for tab in os["tabs"].as_array_mut().unwrap() {
            for w in tab["windows"].as_array_mut().unwrap() {
                w["env"] = json!({});
            }
        }
    }
    assert_eq!(document["ls"], list, "as ls, but nobody's environment");
    assert_eq!(
        person.scrub(document["text"].as_str().unwrap()),
        person.save(&mut c, "")
    );
    let document = kitten(
        &mut c,
        &file,
        &json!({"os_windows": [2, 3], "skip": [4, 2]}),
    )
    .unwrap();
    let text = document["text"].as_str().unwrap();
    assert!(text.starts_with("\nnew_tab"), "{text}");
    assert_eq!(text.matches("\nlaunch ").count(), 1);
    assert!(text.contains("sleep 103"));
    assert_eq!(
        windows_of(&document["ls"]).len(),
        4,
        "the listing is always whole"
    );
    let one = kitten(&mut c, &file, &json!({"os_windows": [1], "skip": [1]})).unwrap();
    assert!(
        one["text"]
            .as_str()
            .unwrap()
            .contains("\"window_ids\": [1]"),
        "groups are not filtered"
    );
    // What the kitten itself refuses it says in its answer.
    let reply = c.call("kitten", json!({"kitten": file, "args": ["2", "{}"]}));
    assert_eq!(
        reply["data"],
        r#"{"v": 1, "error": "ValueError: contract version 2 is not known"}"#
    );
    // A lone surrogate that stands for no byte does not come through, one that does only in the listing.
    c.send(r#"{"cmd":"set-user-vars","version":[0,26,0],"payload":{"match":"id:1","var":["k=\ud800","l=\udcff"]}}"#);
    c.receive(Duration::from_secs(5)).unwrap();
    let reply = c.call(
        "kitten",
        json!({"kitten": file, "args": ["1", all.to_string()]}),
    );
    let data = reply["data"].as_str().unwrap();
    assert!(
        data.contains(r#"--var=k=\ufffd' '--var=l=\ufffd'"#),
        "{data}"
    );
    assert!(
        data.contains(r#""user_vars": {"k": "\ufffd", "l": "\udcff"}"#),
        "{data}"
    );
    let other = person.dir.write("other.py", "").display().to_string();
    assert!(kitten(&mut c, &other, &all).is_err());
    drop(kitty);
    let config = person
        .config()
        .command(["sleep", "1"])
        .misbehave(Misbehave::NoKitten);
    let kitty = FakeKitty::start(config).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    assert!(kitten(&mut c, &file, &all).is_err());
    assert_eq!(c.windows().len(), 1);
}
