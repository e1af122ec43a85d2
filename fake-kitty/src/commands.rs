//! The remote commands.

use crate::config::{Misbehave, RemoteControl};
use crate::engine::Kitty;
use crate::json;
use crate::ls;
use crate::matching::{some_tabs, some_windows};
use crate::model::lock;
use crate::save;
use crate::state::State;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// kitty's refusal.
const DISABLED: &str = "Remote control is disabled. Add allow_remote_control to your kitty.conf";
/// kitty's answer to clients of a later version.
const NEWER: &str = "The kitty client you are using to send remote commands is newer than this kitty instance. This is not supported.";

/// What a command answers: data, or an error with or without a traceback.
#[derive(Debug)]
pub enum Answer {
    /// `ok` without data.
    Done,
    /// `ok` with data.
    Data(Value),
    /// An error text.
    Error(String),
    /// An error kitty did not expect: with a traceback.
    Crash(String),
}

impl Answer {
    fn to_json(&self) -> String {
        let v = match self {
            Answer::Done => json!({"ok": true}),
            Answer::Data(d) => json!({"ok": true, "data": d}),
            Answer::Error(e) => json!({"ok": false, "error": e}),
            Answer::Crash(e) => {
                let tb = format!(
                    "Traceback (most recent call last):\n  File \"kitty/boss.py\", line 837, in _execute_remote_command\n{e}\n"
                );
                json!({"ok": false, "error": e, "tb": tb})
            }
        };
        json::dumps(&v)
    }
}

impl From<Result<Answer, String>> for Answer {
    fn from(r: Result<Answer, String>) -> Answer {
        r.unwrap_or_else(Answer::Error)
    }
}

/// One request.
pub struct Request<'a> {
    pub(crate) kitty: &'a Arc<Kitty>,
    pub(crate) payload: Map<String, Value>,
    pub(crate) me: Option<u64>,
}

/// Handles the inside of a frame that came over a socket; the reply, if there is one. With `refused` the
/// connection needs a password the emulator does not know.
pub fn over_socket(kitty: &Arc<Kitty>, raw: &[u8], refused: bool) -> Option<String> {
    let refused = refused || kitty.config.remote_control == RemoteControl::Password;
    handle(kitty, raw, None, refused.then_some(DISABLED))
}

/// The same for a `fd:N` connection, which is always allowed.
pub fn over_pair(kitty: &Arc<Kitty>, raw: &[u8], refused: bool) -> Option<String> {
    handle(kitty, raw, None, refused.then_some(DISABLED))
}

/// The same for a frame a program wrote to its terminal. `own`: its window was launched with
/// `--allow-remote-control`.
pub fn over_terminal(kitty: &Arc<Kitty>, raw: &[u8], window: u64, own: bool) -> Option<String> {
    let refused = match kitty.config.remote_control {
        _ if own => None,
        RemoteControl::Yes => None,
        RemoteControl::SocketOnly => Some("Remote control is allowed over a socket only"),
        RemoteControl::No | RemoteControl::Password => Some("Remote control is disabled"),
    };
    handle(kitty, raw, Some(window), refused)
}

fn handle(
    kitty: &Arc<Kitty>,
    raw: &[u8],
    window: Option<u64>,
    refused: Option<&str>,
) -> Option<String> {
    let text = String::from_utf8_lossy(raw).into_owned();
    lock(&kitty.requests).push(text);
    let parsed = std::str::from_utf8(raw)
        .ok()
        .and_then(|s| json::parse(s).ok());
    let Some(value) = parsed else {
        kitty.log("Failed to parse JSON payload of remote command, ignoring it");
        return None;
    };
    let Some(frame) = value.as_object().filter(|f| f.contains_key("version")) else {
        kitty.log(
            "JSON payload of remote command is invalid, must be an object with a version field",
        );
        return None;
    };
    let quiet = truthy(frame.get("no_response"));
    if let Some(why) = refused {
        return (!quiet).then(|| Answer::Error(why.into()).to_json());
    }
    match newer(kitty, &frame["version"]) {
        Ok(false) => {}
        Ok(true) => return (!quiet).then(|| Answer::Error(NEWER.into()).to_json()),
        Err(e) => return (!quiet).then(|| Answer::Crash(e).to_json()),
    }
    let Some(cmd) = frame.get("cmd").and_then(Value::as_str) else {
        return Some(Answer::Crash("'cmd'".into()).to_json());
    };
    let me = window.or_else(|| window_of(frame.get("kitty_window_id")));
    let payload = match frame.get("payload") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) => map.clone(),
        Some(_) => {
            let e = "list indices must be integers or slices, not str";
            return (!quiet).then(|| Answer::Crash(e.into()).to_json());
        }
    };
    let request = Request { kitty, payload, me };
    let answer = request.run(cmd);
    let unknown =
        matches!(&answer, Answer::Crash(e) if e.contains("Unknown kitty remote control command"));
    (!quiet || unknown).then(|| answer.to_json())
}

fn truthy(v: Option<&Value>) -> bool {
    match v {
        None | Some(Value::Null) => false,
        Some(Value::Bool(b)) => *b,
        Some(Value::Number(n)) => n.as_f64() != Some(0.0),
        Some(Value::String(s)) => !s.is_empty(),
        Some(Value::Array(a)) => !a.is_empty(),
        Some(Value::Object(o)) => !o.is_empty(),
    }
}

/// Whether the client is newer: only the first two numbers count.
fn newer(kitty: &Kitty, version: &Value) -> Result<bool, String> {
    let Value::Array(list) = version else {
        return Err("'>' not supported between instances of 'str' and 'int'".into());
    };
    let mine: [i64; 2] = if kitty.is(&Misbehave::Old) {
        [0, 26]
    } else {
        [0, 48]
    };
    let theirs: Vec<i64> = list
        .iter()
        .take(2)
        .map(|v| v.as_i64().unwrap_or(0))
        .collect();
    Ok(theirs.as_slice() > &mine[..])
}

fn window_of(v: Option<&Value>) -> Option<u64> {
    match v? {
        Value::Number(n) => n.as_u64(),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    }
}

impl Kitty {
    /// Whether a misbehaviour is switched on.
    pub(crate) fn is(&self, how: &Misbehave) -> bool {
        self.config.misbehave.contains(how)
    }
}

impl Request<'_> {
    fn run(&self, cmd: &str) -> Answer {
        let k = self.kitty;
        if k.is(&Misbehave::WrongOk) && cmd != "ls" {
            return Answer::Done;
        }
        if k.is(&Misbehave::Old) && cmd == "set-user-vars" {
            return unknown(cmd);
        }
        if let Some(saved) = &k.capture {
            return saved.run(k, cmd, &self.payload, self.me);
        }
        match cmd {
            "ls" => self.ls(),
            "action" => self.action(),
            "kitten" => self.kitten(),
            "set-user-vars" => self.set_user_vars().into(),
            "launch" => self.launch().into(),
            "get-text" => self.get_text().into(),
            "send-text" => self.send_text().into(),
            "focus-window" => self.focus_window().into(),
            "focus-tab" => self.focus_tab().into(),
            "set-window-title" => self.set_window_title().into(),
            "set-tab-title" => self.set_tab_title().into(),
            "close-window" => self.close_window().into(),
            "close-tab" => self.close_tab().into(),
            "signal-child" => self.signal_child().into(),
            _ => unknown(cmd),
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.payload.get(key).and_then(Value::as_str)
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        truthy(self.payload.get(key))
    }

    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        match self.payload.get(key) {
            Some(Value::Array(items)) => items
                .iter()
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect(),
            // A string is a list of its characters.
            Some(Value::String(s)) => s.chars().map(String::from).collect(),
            _ => Vec::new(),
        }
    }

    /// The windows meant by `match`; without one the window that asks (with `self`) or the active one.
    pub(crate) fn targets(&self, state: &State) -> Result<Vec<u64>, String> {
        match self.text("match").filter(|m| !m.is_empty()) {
            Some(m) => some_windows(state, m, self.me),
            None if self.flag("self") && self.me.is_some() => Ok(self.me.into_iter().collect()),
            None => Ok(state.active_window().into_iter().collect()),
        }
    }

    fn ls(&self) -> Answer {
        let k = self.kitty;
        if k.is(&Misbehave::EmptyLs) {
            return Answer::Data(json!("[]"));
        }
        let state = lock(&k.state);
        if self.text("output_format") == Some("session") {
            return match save::desk(&state, &save::Wanted::default()) {
                Ok(text) => Answer::Data(json!(text)),
                Err(e) => Answer::Error(e),
            };
        }
        let windows = if let Some(m) = self.text("match") {
            match some_windows(&state, m, self.me) {
                Ok(w) => Some(w),
                Err(e) => return Answer::Error(e),
            }
        } else if let Some(m) = self.text("match_tab").filter(|m| !m.is_empty()) {
            match some_tabs(&state, m, self.me) {
                Ok(tabs) => Some(
                    tabs.iter()
                        .filter_map(|t| state.tab(*t))
                        .flat_map(crate::model::Tab::window_ids)
                        .collect(),
                ),
                Err(e) => return Answer::Error(e),
            }
        } else if self.flag("self") {
            Some(self.me.into_iter().collect())
        } else {
            None
        };
        let wanted = ls::Wanted {
            windows,
            all_env_vars: self.flag("all_env_vars"),
            me: self.me,
        };
        let mut list = ls::list(&state, &wanted);
        drop(state);
        if k.is(&Misbehave::Old) {
            crate::misbehave::age(&mut list);
        }
        if k.is(&Misbehave::Huge) {
            crate::misbehave::blow_up(&mut list);
        }
        Answer::Data(json!(json::dumps_pretty(&list)))
    }

    fn action(&self) -> Answer {
        let action = self.text("action").unwrap_or_default();
        crate::actions::run(self.kitty, action, self.me)
    }

    fn kitten(&self) -> Answer {
        let path = self.text("kitten").unwrap_or_default();
        crate::capture_kitten::run(self.kitty, path, &self.list("args")).into()
    }
}

/// kitty's answer to a command it does not know: the text of a `KeyError`, quotes included.
pub fn unknown(cmd: &str) -> Answer {
    Answer::Crash(format!("'Unknown kitty remote control command: {cmd}'"))
}

/// How many frames were answered so far; one more.
pub fn count(kitty: &Kitty) -> usize {
    kitty.answered.fetch_add(1, Ordering::Relaxed)
}
