//! What the product's capture kitten, run inside kitty, answers.

use crate::actions::python_error;
use crate::commands::Answer;
use crate::config::Misbehave;
use crate::engine::Kitty;
use crate::inspect;
use crate::json;
use crate::ls;
use crate::model::lock;
use crate::procfs::Groups;
use crate::save;
use crate::text;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

/// The file name of the only kitten the emulator can stand in for.
pub const NAME: &str = "kittymux_capture.py";

/// What a call of the kitten asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// OS windows by id; `None` is all.
    pub os_windows: Option<Vec<u64>>,
    /// Windows to leave out.
    pub skip: Vec<u64>,
}

/// What stops a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// kitty's own error: no such file, or another kitten.
    Kitty(String),
    /// What the kitten raised; it says so in its answer.
    Kitten(String),
}

impl Stop {
    /// The answer: the kitten's own errors come as data.
    pub fn answer(self) -> Answer {
        match self {
            Stop::Kitty(e) => Answer::Error(e),
            Stop::Kitten(e) => Answer::Data(json!(json::dumps(&json!({"v": 1, "error": e})))),
        }
    }
}

/// Checks the path and the arguments of a call.
///
/// # Errors
/// What stops it.
pub fn check(path: &str, args: &[String]) -> Result<Wanted, Stop> {
    std::fs::read(path).map_err(|e| Stop::Kitty(python_error(&e, path)))?;
    if path.rsplit('/').next() != Some(NAME) {
        return Err(Stop::Kitty(format!("No kitten named {path}")));
    }
    let [.., version, wanted] = args else {
        let e = "ValueError: not enough values to unpack (expected 2, got 1)";
        return Err(Stop::Kitten(e.into()));
    };
    if version != "1" {
        let e = format!("ValueError: contract version {version} is not known");
        return Err(Stop::Kitten(e));
    }
    let wanted = json::parse(wanted).map_err(|e| Stop::Kitten(format!("JSONDecodeError: {e}")))?;
    let ids = |key: &str| -> Result<Option<Vec<u64>>, Stop> {
        match wanted.get(key) {
            None => Err(Stop::Kitten(format!("KeyError: '{key}'"))),
            Some(v) => Ok(v
                .as_array()
                .map(|a| a.iter().filter_map(Value::as_u64).collect())),
        }
    };
    Ok(Wanted {
        os_windows: ids("os_windows")?,
        skip: ids("skip")?.unwrap_or_default(),
    })
}

/// The answer as the kitten writes it: nobody's environment in the listing, only surrogates that stand for
/// bytes, none in the text.
pub fn document(text: &str, mut list: Value, directories: Value) -> Answer {
    for os in list.as_array_mut().into_iter().flatten() {
        for tab in os["tabs"].as_array_mut().into_iter().flatten() {
            for w in tab["windows"].as_array_mut().into_iter().flatten() {
                w["env"] = json!({});
            }
        }
    }
    readable(&mut list);
    let text: String = text
        .chars()
        .map(|c| {
            if text::surrogate_of(c).is_some() {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    let document =
        json!({"v": 1, "kitty": "0.48.2", "text": text, "ls": list, "cwds": directories});
    Answer::Data(json!(json::dumps(&document)))
}

/// Replaces lone surrogates that stand for no byte.
fn readable(v: &mut Value) {
    let clean = |s: &str| -> String {
        let foreign =
            |c: char| text::surrogate_of(c).is_some_and(|u| !(0xDC80..=0xDCFF).contains(&u));
        s.chars()
            .map(|c| if foreign(c) { '\u{fffd}' } else { c })
            .collect()
    };
    match v {
        Value::String(s) => *s = clean(s),
        Value::Array(items) => items.iter_mut().for_each(readable),
        Value::Object(map) => {
            let old = std::mem::take(map);
            for (k, mut v) in old {
                readable(&mut v);
                map.insert(clean(&k), v);
            }
        }
        _ => {}
    }
}

/// Runs the kitten.
///
/// # Errors
/// That of a kitty the kitten does not run in.
pub fn run(kitty: &Arc<Kitty>, path: &str, args: &[String]) -> Result<Answer, String> {
    if kitty.is(&Misbehave::NoKitten) {
        return Err(
            "cannot import name 'parse_save_as_options_spec_args' from 'kitty.session'".into(),
        );
    }
    if kitty.is(&Misbehave::Old) {
        return Err("No module named 'kitty.session'".into());
    }
    let wanted = match check(path, args) {
        Ok(wanted) => wanted,
        Err(stop) => return Ok(stop.answer()),
    };
    let state = lock(&kitty.state);
    let windows =
        crate::actions::chosen_windows(&state, wanted.os_windows.as_deref(), &wanted.skip);
    let groups = Groups::read();
    let mut directories = HashMap::new();
    let mut raw = Map::new();
    for w in inspect::windows(&state) {
        let bytes = inspect::save_directory_bytes(w, &groups);
        directories.insert(w.id, nearest_text_parent(&bytes));
        if std::str::from_utf8(&bytes).is_err() {
            let hex = bytes.iter().fold(String::new(), |mut s, b| {
                let _ = write!(s, "{b:02x}");
                s
            });
            raw.insert(w.id.to_string(), json!(hex));
        }
    }
    let options = save::Wanted {
        foreground: true,
        windows: Some(windows),
        directories,
        ..save::Wanted::default()
    };
    let mut lines: Vec<String> = Vec::new();
    for os in state.in_save_order() {
        let first = lines.is_empty();
        lines.extend(save::os_window(&state, os, &options, &groups, first)?);
    }
    let mut list = ls::list(&state, &ls::Wanted::default());
    drop(state);
    if kitty.is(&Misbehave::EmptyLs) {
        list = json!([]);
    }
    let text = if kitty.is(&Misbehave::EmptyFile) {
        String::new()
    } else {
        lines.join("\n")
    };
    Ok(document(&text, list, Value::Object(raw)))
}

/// The directory itself when it is UTF-8, else the nearest parent that is.
fn nearest_text_parent(bytes: &[u8]) -> String {
    let mut dir = bytes;
    while std::str::from_utf8(dir).is_err() {
        let cut = dir.iter().rposition(|b| *b == b'/').unwrap_or(0);
        dir = &dir[..cut];
    }
    if dir.is_empty() {
        "/".into()
    } else {
        text::from_os(dir)
    }
}
