//! The parser of session files against kitty's own verdict on every recorded input.

use crate::support::data;
use fake_kitty::session_file::{Context, OsWindowSpec, Startup, WindowSpec, parse};
use fake_kitty::{json, text, words};
use serde_json::{Value, json};

const LAYOUTS: [&str; 7] = [
    "fat",
    "grid",
    "horizontal",
    "splits",
    "stack",
    "tall",
    "vertical",
];

fn parse_file(raw: &[u8]) -> Result<Vec<OsWindowSpec>, String> {
    let lookup = |name: &str| match name {
        "HOME" => Some("/home/user".to_owned()),
        "USER" => Some("user".to_owned()),
        _ => None,
    };
    let enabled: Vec<String> = LAYOUTS.iter().map(|l| (*l).to_owned()).collect();
    let cx = Context {
        lookup: &lookup,
        home: "/home/user",
        base: "/home/user/sessions",
        enabled_layouts: &enabled,
    };
    parse(raw, &cx)
}

fn window(w: &WindowSpec) -> Value {
    let startup = match &w.startup {
        Startup::None => json!([]),
        Startup::Line(l) => json!(l),
        Startup::Words(w) => json!(w),
    };
    let list = |key: &'static str| w.launch.all(key).collect::<Vec<_>>();
    json!({
        "id": w.id,
        "cmd_at_shell_startup": startup,
        "argv": w.launch.words,
        "title": w.launch.get("--title").or(w.title.as_deref()),
        "cwd": w.cwd,
        "env": list("--env"),
        "vars": list("--var"),
        "hold": w.launch.flag("--hold"),
    })
}

fn shape(oses: &[OsWindowSpec]) -> Value {
    let tab = |t: &fake_kitty::session_file::TabSpec| {
        json!({
            "title": t.title,
            "layout": t.layout,
            "enabled_layouts": t.enabled_layouts,
            "layout_state": t.layout_state,
            "cwd": t.cwd,
            "active_window_idx": t.active.map_or(-1, |a| a as i64),
            "windows": t.windows.iter().map(window).collect::<Vec<_>>(),
        })
    };
    let os = |o: &OsWindowSpec| {
        json!({
            "class": o.class,
            "name": o.name,
            "focus_os_window": o.focus,
            "focus_tab": o.focus_tab,
            "num_of_windows_in_definition": o.defined,
            "tabs": o.tabs.iter().map(tab).collect::<Vec<_>>(),
        })
    };
    Value::Array(oses.iter().map(os).collect())
}

/// What kitty reported, cut down to what [`shape`] tells. The shell kitty puts into an empty tab has argv
/// `/bin/bash` there and none here.
fn recorded(oses: &Value) -> Value {
    let pick = |v: &Value, keys: &[&str]| -> serde_json::Map<String, Value> {
        keys.iter()
            .map(|k| ((*k).to_owned(), v[*k].clone()))
            .collect()
    };
    let windows = |t: &Value| -> Vec<Value> {
        let keys = [
            "id",
            "cmd_at_shell_startup",
            "argv",
            "title",
            "cwd",
            "env",
            "vars",
            "hold",
        ];
        let one = |w: &Value| {
            let mut w2 = pick(w, &keys);
            if w["implicit"] == true {
                w2.insert("argv".into(), json!([]));
            }
            Value::Object(w2)
        };
        t["windows"].as_array().unwrap().iter().map(one).collect()
    };
    let tabs = |o: &Value| -> Vec<Value> {
        let keys = [
            "title",
            "layout",
            "enabled_layouts",
            "layout_state",
            "cwd",
            "active_window_idx",
        ];
        let one = |t: &Value| {
            let mut t2 = pick(t, &keys);
            t2.insert("windows".into(), Value::Array(windows(t)));
            Value::Object(t2)
        };
        o["tabs"].as_array().unwrap().iter().map(one).collect()
    };
    let keys = [
        "class",
        "name",
        "focus_os_window",
        "focus_tab",
        "num_of_windows_in_definition",
    ];
    let one = |o: &Value| {
        let mut o2 = pick(o, &keys);
        o2.insert("tabs".into(), Value::Array(tabs(o)));
        Value::Object(o2)
    };
    Value::Array(oses.as_array().unwrap().iter().map(one).collect())
}

#[test]
fn odd_lines_get_the_verdict_and_the_result_kitty_gave() {
    let cases = json::parse(&data("parser-odd-lines.json")).unwrap();
    let mut seen = 0;
    for (name, case) in cases.as_object().unwrap() {
        let input = case["input"].as_str().unwrap();
        let raw: Vec<u8> = match name.as_str() {
            "long-1MB" => long_line(1_048_594),
            "long-10MB" => long_line(10_485_778),
            _ => input
                .chars()
                .map(|c| u8::try_from(c as u32).expect("latin-1"))
                .collect(),
        };
        let want = &case["result"];
        let got = parse_file(&raw);
        assert_eq!(want["ok"], got.is_ok(), "{name}: {got:?}");
        match got {
            Err(e) if want["type"] == "JSONDecodeError" => assert_eq!(want["error"], e, "{name}"),
            Err(e) => assert_eq!(want["error"], e, "{name}"),
            Ok(oses) if want.get("os_windows").is_some() => {
                let (got, want) = (shape(&oses), recorded(&want["os_windows"]));
                assert_eq!(want, got, "{name}");
            }
            Ok(_) => {}
        }
        seen += 1;
    }
    assert_eq!(seen, 85);
}

/// A file of one `launch` line of that many bytes.
fn long_line(bytes: usize) -> Vec<u8> {
    let head = b"launch /bin/true ";
    let mut line = head.to_vec();
    line.resize(bytes - 1, b'x');
    line.push(b'\n');
    line
}

/// Reads a string back from a parsed file.
type Read = fn(&[OsWindowSpec]) -> Option<String>;

/// One position a string can stand in: how the file is written, and what is read back from it.
fn place(position: &str, s: &str) -> (String, Read) {
    let q = |s: &str| words::quote(s);
    let dollars = s.replace('$', "$$");
    fn first(o: &[OsWindowSpec]) -> &WindowSpec {
        &o[0].tabs[0].windows[0]
    }
    fn after_equals(v: Option<&str>) -> Option<String> {
        v.and_then(|v| v.split_once('=')).map(|(_, v)| v.to_owned())
    }
    match position {
        "arg" => (format!("launch /bin/true {} end", q(s)), |o| {
            Some(first(o).launch.words[1].clone())
        }),
        "arg_last" => (format!("launch /bin/true {}", q(s)), |o| {
            Some(first(o).launch.words[1].clone())
        }),
        "arg0" => (format!("launch -- {}", q(s)), |o| {
            Some(first(o).launch.words[0].clone())
        }),
        "var_raw" => (
            format!("launch {} /bin/true", q(&format!("--var=k={s}"))),
            |o| after_equals(first(o).launch.get("--var")),
        ),
        "var_esc" => (
            format!("launch {} /bin/true", q(&format!("--var=k={dollars}"))),
            |o| after_equals(first(o).launch.get("--var")),
        ),
        "env_esc" => (
            format!("launch {} /bin/true", q(&format!("--env=K={dollars}"))),
            |o| after_equals(first(o).launch.get("--env")),
        ),
        "title_esc" => (
            format!("launch {} /bin/true", q(&format!("--title={dollars}"))),
            |o| first(o).launch.get("--title").map(str::to_owned),
        ),
        "cwd_esc" => (
            format!("launch {} /bin/true", q(&format!("--cwd={dollars}"))),
            |o| first(o).launch.get("--cwd").map(str::to_owned),
        ),
        "cd_esc" => (format!("cd /base/{dollars}\nlaunch /bin/true"), |o| {
            o[0].tabs[0].cwd.as_deref().map(|c| {
                c.strip_prefix("/base")
                    .unwrap()
                    .trim_start_matches('/')
                    .to_owned()
            })
        }),
        "new_tab_esc" => (format!("new_tab {dollars}\nlaunch /bin/true"), |o| {
            Some(o[0].tabs[0].title.clone())
        }),
        "title_line_esc" => (format!("title {dollars}\nlaunch /bin/true"), |o| {
            first(o).title.clone()
        }),
        "json_str" => {
            let line = format!(
                "kitty-unserialize-data={{\"id\": 1, \"cmd_at_shell_startup\": {}}}",
                json::quote(s)
            );
            (format!("launch {}", q(&line)), |o| {
                match &first(o).startup {
                    Startup::Line(l) => Some(l.clone()),
                    Startup::None => Some(String::new()),
                    Startup::Words(_) => None,
                }
            })
        }
        "json_list" => {
            let line = format!(
                "kitty-unserialize-data={{\"id\": 1, \"cmd_at_shell_startup\": [\"p\", {}]}}",
                json::quote(s)
            );
            (format!("launch {}", q(&line)), |o| {
                match &first(o).startup {
                    Startup::Words(w) => w[1].as_str().map(str::to_owned),
                    _ => None,
                }
            })
        }
        other => panic!("unknown position {other}"),
    }
}

#[test]
fn nasty_strings_come_back_as_kitty_gave_them_back() {
    let cases = json::parse(&data("parser-nasty-strings.json")).unwrap();
    let mut seen = 0;
    for (name, case) in cases.as_object().unwrap() {
        let s = match name.as_str() {
            "100k" => "x".repeat(100_000),
            "130k" => "x".repeat(131_000),
            "200k" => "x".repeat(200_000),
            _ => case["string"].as_str().unwrap().to_owned(),
        };
        for (position, want) in case["result"].as_object().unwrap() {
            let want = want.as_str().unwrap();
            let (line, read) = place(position, &s);
            // A lone surrogate cannot be written; its byte can. U+D800 has none: its WTF-8 form is as bad.
            let raw = text::to_os(&line).unwrap_or_else(|_| vec![0xed, 0xa0, 0x80]);
            let got = match parse_file(&raw) {
                Err(_) => "ERR".to_owned(),
                Ok(oses) => match read(&oses) {
                    Some(v) if v == s => "ok".to_owned(),
                    Some(v) => format!("DIFF:{}", python_repr(&v)),
                    None => "DIFF:None".to_owned(),
                },
            };
            let want = if want.starts_with("ERR:") {
                "ERR"
            } else {
                want
            };
            assert_eq!(want, got, "{name} as {position}");
            seen += 1;
        }
    }
    assert_eq!(seen, cases.as_object().unwrap().len() * 13);
}

fn python_repr(s: &str) -> String {
    let body: String = s
        .chars()
        .map(|c| match c {
            ' '..='~' => c.to_string(),
            c => format!("\\u{:04x}", c as u32),
        })
        .collect();
    format!("'{body}'")
}

#[test]
fn saved_files_parse_unless_kitty_refuses_its_own() {
    let refused = [
        "save-launch-options.kitty-session",
        "save-tab-titles.kitty-session",
    ];
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut seen = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".kitty-session") {
            let got = parse_file(data(&name).as_bytes());
            assert_eq!(
                got.is_err(),
                refused.contains(&name.as_str()),
                "{name}: {got:?}"
            );
            seen += 1;
        }
    }
    assert!(seen > 30);
}
