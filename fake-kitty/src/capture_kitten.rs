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

/// Checks the path and the arguments of a call.
///
/// # Errors
/// What kitty would answer: a missing file, another kitten, arguments the kitten refuses.
pub fn check(path: &str, args: &[String]) -> Result<Wanted, String> {
    std::fs::read(path).map_err(|e| python_error(&e, path))?;
    if path.rsplit('/').next() != Some(NAME) {
        return Err(format!("No kitten named {path}"));
    }
    let [version, wanted, ..] = args else {
        return Err("list index out of range".into());
    };
    if version != "1" {
        return Err(format!("unknown version {version}"));
    }
    let wanted = json::parse(wanted)?;
    let ids = |v: &Value| {
        v.as_array()
            .map(|a| a.iter().filter_map(Value::as_u64).collect::<Vec<_>>())
    };
    Ok(Wanted {
        os_windows: wanted.get("os_windows").and_then(ids),
        skip: wanted.get("skip").and_then(ids).unwrap_or_default(),
    })
}

/// Runs the kitten.
///
/// # Errors
/// As [`check`].
pub fn run(kitty: &Arc<Kitty>, path: &str, args: &[String]) -> Result<Answer, String> {
    if kitty.is(&Misbehave::NoKitten) {
        return Err(
            "cannot import name 'parse_save_as_options_spec_args' from 'kitty.session'".into(),
        );
    }
    if kitty.is(&Misbehave::Old) {
        return Err("No module named 'kitty.session'".into());
    }
    let wanted = check(path, args)?;
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
    if kitty.is(&Misbehave::Huge) {
        crate::misbehave::blow_up(&mut list);
    }
    let text = if kitty.is(&Misbehave::EmptyFile) {
        String::new()
    } else {
        lines.join("\n")
    };
    let document = json!({"v": 1, "kitty": "0.48.2", "text": text, "ls": list, "cwds": raw});
    Ok(Answer::Data(json!(json::dumps(&document))))
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
