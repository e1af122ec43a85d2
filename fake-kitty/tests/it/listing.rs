//! `ls` against the recorded listings.

use crate::support::{Client, Person, data};
use fake_kitty::json;
use serde_json::Value;

/// The listing now, with the person's directory cut out.
pub fn scrubbed(person: &Person, c: &mut Client) -> Value {
    let text = c.ls(serde_json::json!({})).to_string();
    json::parse(&person.scrub(&text)).unwrap()
}

/// Compares everything that does not depend on the machine: numbers of processes, times, sizes in cells and
/// the environment are left out.
pub fn same_as_capture(name: &str, listing: &Value) {
    let mut want = json::parse(&data(name)).unwrap();
    let mut got = listing.clone();
    for v in [&mut want, &mut got] {
        neutral(v);
    }
    let (want, got) = (json::dumps_pretty(&want), json::dumps_pretty(&got));
    let differs = want
        .lines()
        .zip(got.lines())
        .enumerate()
        .find(|(_, (w, g))| w != g);
    assert_eq!(differs, None, "{name}");
    assert_eq!(want.lines().count(), got.lines().count(), "{name}");
}

fn neutral(v: &mut Value) {
    match v {
        Value::Array(items) => items.iter_mut().for_each(neutral),
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "pid"
                    | "created_at"
                    | "last_focused_at"
                    | "platform_window_id"
                    | "columns"
                    | "lines"
                    | "env"
                    | "last_cmd_exit_status" => *value = Value::Null,
                    _ => neutral(value),
                }
            }
        }
        _ => {}
    }
}

use crate::support::{eventually, windows_of};
use fake_kitty::FakeKitty;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Paths and types of every field, in the form of the recorded list.
fn fields(path: &str, v: &Value, out: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let mut note = |kind| {
        if !path.is_empty() {
            out.entry(path.to_owned()).or_default().insert(kind);
        }
    };
    match v {
        Value::Null => note("null"),
        Value::Bool(_) => note("bool"),
        Value::String(_) => note("str"),
        Value::Number(n) => note(if n.is_f64() { "float" } else { "int" }),
        Value::Array(items) => {
            out.entry(path.to_owned()).or_default().insert("list");
            items
                .iter()
                .for_each(|i| fields(&format!("{path}[]"), i, out));
        }
        Value::Object(map) => {
            for (k, v) in map {
                // Open objects: any name may stand in them.
                let open = path.ends_with(".env") || path.ends_with(".user_vars");
                let name = if open { "*" } else { k };
                if k != "layout_state" {
                    fields(format!("{path}.{name}").trim_start_matches('.'), v, out);
                }
            }
        }
    }
}

#[test]
fn the_fields_and_their_types_are_the_recorded_ones() {
    let person = Person::new("fields");
    let kitty = FakeKitty::start(person.config()).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    c.call("launch", json!({"args": ["sleep", "100"], "var": ["k=v"]}));
    c.call("launch", json!({"args": ["sleep", "100"], "type": "tab"}));
    let mut got = BTreeMap::new();
    fields("", &c.ls(json!({})), &mut got);
    let recorded = data("ls-field-types.txt");
    let mut seen = 0;
    for line in recorded.lines() {
        let (path, kind) = line.split_once(": ").unwrap();
        let path = path.trim();
        let types = got.remove(path).unwrap_or_else(|| panic!("no {path:?}"));
        assert_eq!(types, BTreeSet::from([kind]), "{path}");
        seen += 1;
    }
    assert_eq!(seen, recorded.lines().count());
    assert_eq!(got, BTreeMap::new(), "nothing more than was recorded");
}

#[test]
fn one_idle_shell_looks_like_the_recorded_one() {
    let person = Person::new("idle");
    let kitty = FakeKitty::start(person.config()).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    eventually("prompt", || kitty.windows()[0].at_prompt);
    let mut got = scrubbed(&person, &mut c);
    // The recorded one had run a command before.
    got[0]["tabs"][0]["windows"][0]["last_reported_cmdline"] = json!("\"/home/user/bin/a b\" 50");
    let want = json::parse(&data("ls-1-shell-at-prompt.json")).unwrap();
    let names = |v: &Value| -> BTreeSet<String> {
        v[0]["tabs"][0]["windows"][0]["env"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let mut missing: BTreeSet<String> = names(&want).difference(&names(&got)).cloned().collect();
    // What the recorded desktop and kitty's window system had.
    for name in [
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
        "LIBGL_ALWAYS_SOFTWARE",
        "XDG_RUNTIME_DIR",
    ] {
        missing.remove(name);
    }
    assert_eq!(missing, BTreeSet::new());
    same_as_capture("ls-1-shell-at-prompt.json", &got);
}

#[test]
fn every_layout_is_listed_as_recorded() {
    let person = Person::new("all-layouts");
    let text = data("save-layouts.kitty-session").replace("/home/user", &person.home());
    let file = person.dir.write("home/user/sessions/l.kitty-session", text);
    let kitty = FakeKitty::start(person.config().session(&file)).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    let (got, want) = (
        c.ls(json!({})),
        json::parse(&data("ls-layouts.json")).unwrap(),
    );
    let tabs = |v: &Value| v[0]["tabs"].as_array().unwrap().clone();
    for (g, w) in tabs(&got).iter().zip(tabs(&want)) {
        for key in [
            "layout",
            "layout_opts",
            "layout_state",
            "groups",
            "enabled_layouts",
            "active_window_history",
        ] {
            assert_eq!(
                json::dumps_pretty(&g[key]),
                json::dumps_pretty(&w[key]),
                "{} {key}",
                w["layout"]
            );
        }
        if w["layout"] == "splits" {
            for key in ["columns", "lines", "neighbors"] {
                let all = |t: &Value| {
                    t["windows"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|w| w[key].clone())
                        .collect::<Vec<_>>()
                };
                assert_eq!(all(g), all(&w), "{key}");
            }
        }
    }
    assert_eq!(tabs(&got).len(), tabs(&want).len());
}

#[test]
fn matches_choose_windows_and_keep_the_rest_of_the_tree_whole() {
    let person = Person::new("matches");
    let kitty = FakeKitty::start(person.config().command(["sleep", "1000"])).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    let h = person.home();
    c.call("launch", json!({"args": ["sleep", "1001"], "var": ["kittymux_id=w-1", "n=x|y"], "cwd": format!("{h}/proj/a")}));
    c.call(
        "launch",
        json!({"args": ["sleep", "1002"], "window_title": "a (b)", "env": ["FOO=bar"]}),
    );
    c.call(
        "launch",
        json!({"args": ["sleep", "1003"], "type": "tab", "keep_focus": true}),
    );
    let mut ids = |expression: &str| -> Vec<u64> {
        let reply = c.call("ls", json!({"match": expression}));
        match reply["data"].as_str() {
            Some(data) => windows_of(&json::parse(data).unwrap())
                .iter()
                .map(|w| w["id"].as_u64().unwrap())
                .collect(),
            None => {
                let none = format!("No matching windows for expression: {expression}");
                assert_eq!(reply["error"], none);
                Vec::new()
            }
        }
    };
    for (expression, want) in [
        ("id:1 or id:2", vec![1, 2]),
        ("id:-1", vec![4]),
        ("all", vec![1, 2, 3, 4]),
        ("", vec![3]),
        ("var:kittymux_id", vec![2]),
        ("not var:kittymux_id", vec![1, 3, 4]),
        ("var:kittymux_id=^w-1$", vec![2]),
        ("var:kittymux_id=w-2", vec![]),
        ("var:\"n=x\\\\|y\"", vec![2]),
        ("title:\"a \\\\(b\\\\)\"", vec![3]),
        ("env:FOO=bar", vec![3]),
        ("cwd:proj/a$", vec![2]),
        ("cmdline:100[13]", vec![2, 4]),
        ("cmdline:1001 or (id:4 and not id:3)", vec![2, 4]),
        ("id:1 id:2", vec![]),
        ("state:active", vec![3, 4]),
        ("state:focused", vec![3]),
        ("state:parent_active and not id:1", vec![2, 3]),
        ("num:0", vec![1]),
        ("recent:0", vec![3]),
        ("recent:1", vec![2]),
        ("neighbor:left", vec![2]),
        ("session:^$", vec![1, 2, 3, 4]),
        ("session:x", vec![]),
    ] {
        assert_eq!(ids(expression), want, "{expression}");
    }
    let tree = c.ls(json!({"match": "id:2"}));
    assert_eq!(tree[0]["tabs"].as_array().unwrap().len(), 1);
    assert_eq!(
        tree[0]["tabs"][0]["groups"].as_array().unwrap().len(),
        3,
        "groups are not filtered"
    );
    // `self` needs the number of a window, as a number or as text.
    for id in ["2", "\"2\""] {
        c.send(&format!(
            r#"{{"cmd":"ls","version":[0,26,0],"kitty_window_id":{id},"payload":{{"self":true}}}}"#
        ));
        let reply: Value =
            serde_json::from_str(&c.receive(Duration::from_secs(10)).unwrap()).unwrap();
        let list = json::parse(reply["data"].as_str().unwrap()).unwrap();
        let own: Vec<_> = windows_of(&list)
            .iter()
            .map(|w| (w["id"].clone(), w["is_self"].clone()))
            .collect();
        assert_eq!(own, [(json!(2), json!(true))]);
    }
    assert_eq!(c.call("ls", json!({"self": true}))["data"], "[]");
    // The environment: only what differs, unless all is asked for.
    let path = |list: &Value| windows_of(list)[0]["env"].get("PATH").is_some();
    assert!(!path(&c.ls(json!({}))));
    assert!(path(&c.ls(json!({"all_env_vars": true}))));
    assert!(
        path(&c.ls(json!({"match": "id:1"}))),
        "one window: everything"
    );
}

#[test]
fn a_session_is_listed_without_foreground_processes() {
    let person = Person::new("output-format");
    let kitty = FakeKitty::start(person.config()).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    eventually("prompt", || kitty.windows()[0].at_prompt);
    kitty.type_text(1, "sleep 100\r").unwrap();
    eventually("sleep", || kitty.windows()[0].last_command == "sleep 100");
    let text = c.call("ls", json!({"output_format": "session"}))["data"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        text.ends_with("launch 'kitty-unserialize-data={\"id\": 1}'\nfocus\n\nfocus_tab 0"),
        "{text}"
    );
}
