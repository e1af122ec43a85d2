//! A kitty that is nothing but a saved `ls` answer and a saved session text.

use crate::actions;
use crate::capture_kitten;
use crate::commands::{Answer, unknown};
use crate::config::Misbehave;
use crate::engine::Kitty;
use crate::json;
use crate::options;
use crate::query::{self, Query, found, found_pair};
use crate::text;
use crate::words;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// The saved answers.
#[derive(Debug)]
pub struct Saved {
    list: Mutex<Value>,
    text: String,
}

impl Saved {
    /// Takes the decoded `data` of an `ls` reply and the text of a session file.
    ///
    /// # Errors
    /// When the listing is not JSON.
    pub fn new(list: &str, text: &str) -> Result<Saved, String> {
        Ok(Saved {
            list: Mutex::new(json::parse(list)?),
            text: text.to_owned(),
        })
    }

    /// Answers a command from what was saved.
    pub fn run(
        &self,
        kitty: &Arc<Kitty>,
        cmd: &str,
        payload: &Map<String, Value>,
        me: Option<u64>,
    ) -> Answer {
        let mut list = crate::model::lock(&self.list);
        let text = |key: &str| payload.get(key).and_then(Value::as_str);
        match cmd {
            "ls" if kitty.is(&Misbehave::EmptyLs) => Answer::Data(json!("[]")),
            "ls" => {
                let mut shown = list.clone();
                if let Some(expression) = text("match") {
                    match hits(&shown, expression, me) {
                        Ok(ids) if ids.is_empty() => {
                            return Answer::Error(format!(
                                "No matching windows for expression: {expression}"
                            ));
                        }
                        Ok(ids) => keep(&mut shown, &|w| ids.contains(&id_of(w))),
                        Err(e) => return Answer::Error(e),
                    }
                } else if payload.get("self").and_then(Value::as_bool) == Some(true) {
                    keep(&mut shown, &|w| me == Some(id_of(w)));
                }
                if kitty.is(&Misbehave::Huge) {
                    crate::misbehave::blow_up(&mut shown);
                }
                if kitty.is(&Misbehave::Old) {
                    crate::misbehave::age(&mut shown);
                }
                Answer::Data(json!(json::dumps_pretty(&shown)))
            }
            "set-user-vars" => {
                let expression = text("match").unwrap_or_default();
                let ids = match hits(&list, expression, me) {
                    Ok(ids) if ids.is_empty() => {
                        return Answer::Error(format!(
                            "No matching windows for expression: {expression}"
                        ));
                    }
                    Ok(ids) => ids,
                    Err(e) => return Answer::Error(e),
                };
                let vars = payload
                    .get("var")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                each_window(&mut list, &mut |w| {
                    if ids.contains(&id_of(w)) {
                        for var in vars.iter().filter_map(Value::as_str) {
                            set_var(w, var);
                        }
                    }
                });
                Answer::Data(json!(""))
            }
            "kitten" if kitty.is(&Misbehave::NoKitten) || kitty.is(&Misbehave::Old) => {
                Answer::Error("No module named 'kitty.session'".into())
            }
            "kitten" => {
                let args: Vec<String> = payload
                    .get("args")
                    .and_then(Value::as_array)
                    .map(|a| {
                        a.iter()
                            .filter_map(|v| v.as_str().map(str::to_owned))
                            .collect()
                    })
                    .unwrap_or_default();
                match capture_kitten::check(text("kitten").unwrap_or_default(), &args) {
                    Err(stop) => stop.answer(),
                    Ok(_) => capture_kitten::document(&self.text, list.clone(), json!({})),
                }
            }
            "action" => self.action(kitty, text("action").unwrap_or_default()),
            "get-text" => Answer::Data(json!("")),
            "launch" => Answer::Error("nothing can be launched in a saved kitty".into()),
            "focus-window" | "focus-tab" | "send-text" | "set-window-title" | "set-tab-title" => {
                Answer::Done
            }
            _ => unknown(cmd),
        }
    }

    fn action(&self, kitty: &Kitty, line: &str) -> Answer {
        let (name, rest) = text::split_word(text::strip(line));
        if name != "save_as_session" || kitty.is(&Misbehave::Old) {
            return Answer::Error(format!("Unknown action: {name}"));
        }
        let path = words::split(&text::expand_vars(rest, &|n| kitty.var(n)), false)
            .and_then(|w| options::save(&w))
            .map(|o| o.words.first().cloned());
        match path {
            Err(e) => Answer::Error(e),
            Ok(Some(path)) if !kitty.is(&Misbehave::NoFile) => {
                let text = if kitty.is(&Misbehave::EmptyFile) {
                    ""
                } else {
                    &self.text
                };
                actions::write_file(&path, text).map_or_else(Answer::Error, |()| Answer::Done)
            }
            Ok(_) => Answer::Done,
        }
    }
}

fn id_of(w: &Value) -> u64 {
    w.get("id").and_then(Value::as_u64).unwrap_or_default()
}

fn each_window(list: &mut Value, f: &mut dyn FnMut(&mut Value)) {
    for os in list.as_array_mut().into_iter().flatten() {
        for tab in os
            .get_mut("tabs")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            tab.get_mut("windows")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
                .for_each(&mut *f);
        }
    }
}

fn keep(list: &mut Value, wanted: &dyn Fn(&Value) -> bool) {
    let Some(oses) = list.as_array_mut() else {
        return;
    };
    for os in oses.iter_mut() {
        let Some(tabs) = os.get_mut("tabs").and_then(Value::as_array_mut) else {
            continue;
        };
        for tab in tabs.iter_mut() {
            if let Some(windows) = tab.get_mut("windows").and_then(Value::as_array_mut) {
                windows.retain(wanted);
            }
        }
        tabs.retain(|t| t.pointer("/windows/0").is_some());
    }
    oses.retain(|o| o.pointer("/tabs/0").is_some());
}

fn set_var(w: &mut Value, var: &str) {
    let Some(vars) = w.get_mut("user_vars").and_then(Value::as_object_mut) else {
        return;
    };
    match var.split_once('=') {
        Some((k, v)) => drop(vars.insert(k.to_owned(), json!(crate::term::without_controls(v)))),
        None => drop(vars.remove(var)),
    }
}

/// Ids of the windows an expression means; empty for the active one.
fn hits(list: &Value, expression: &str, me: Option<u64>) -> Result<Vec<u64>, String> {
    let mut windows = Vec::new();
    each_window(&mut list.clone(), &mut |w| windows.push(w.clone()));
    let active = |w: &Value| w.get("is_active").and_then(Value::as_bool) == Some(true);
    let query = match expression {
        "all" => return Ok(windows.iter().map(id_of).collect()),
        "" => {
            return Ok(windows
                .iter()
                .filter(|w| active(w))
                .map(id_of)
                .take(1)
                .collect());
        }
        e => query::parse(e, query::WINDOW)?,
    };
    let mut out = Vec::new();
    for w in &windows {
        if test(&query, w, me)? {
            out.push(id_of(w));
        }
    }
    Ok(out)
}

fn test(query: &Query, w: &Value, me: Option<u64>) -> Result<bool, String> {
    let text = |key: &str| w.get(key).and_then(Value::as_str).unwrap_or_default();
    let pairs = |key: &str| -> Vec<(String, String)> {
        let map = w.get(key).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())))
            .collect()
    };
    query.test(&|location, value| {
        Ok(match location {
            "id" => value == id_of(w).to_string(),
            "pid" => w.get("pid").and_then(Value::as_i64) == value.parse().ok(),
            "title" => found(value, text("title"))?,
            "cwd" => found(value, text("cwd"))?,
            "session" => found(value, text("session_name"))?,
            "env" => found_pair(
                value,
                pairs("env").iter().map(|(k, v)| (k.as_str(), v.as_str())),
            )?,
            "var" => found_pair(
                value,
                pairs("user_vars")
                    .iter()
                    .map(|(k, v)| (k.as_str(), v.as_str())),
            )?,
            "cmdline" => {
                let mut hit = false;
                for word in w
                    .get("cmdline")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    hit |= found(value, word.as_str().unwrap_or_default())?;
                }
                hit
            }
            "state" => match value {
                "self" => me == Some(id_of(w)),
                "active" => w.get("is_active") == Some(&json!(true)),
                "focused" => w.get("is_focused") == Some(&json!(true)),
                "needs_attention" => w.get("needs_attention") == Some(&json!(true)),
                _ => false,
            },
            _ => false,
        })
    })
}
