//! The remote commands.

use crate::config::{Misbehave, RemoteControl};
use crate::engine::{Kitty, Launch, write_all};
use crate::json;
use crate::ls;
use crate::matching::{some_tabs, some_windows};
use crate::model::{State, lock};
use crate::save;
use crate::term;
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
struct Request<'a> {
    kitty: &'a Arc<Kitty>,
    payload: Map<String, Value>,
    me: Option<u64>,
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

    fn text(&self, key: &str) -> Option<&str> {
        self.payload.get(key).and_then(Value::as_str)
    }

    fn flag(&self, key: &str) -> bool {
        truthy(self.payload.get(key))
    }

    fn list(&self, key: &str) -> Vec<String> {
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
    fn targets(&self, state: &State) -> Result<Vec<u64>, String> {
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

    fn set_user_vars(&self) -> Result<Answer, String> {
        let state = lock(&self.kitty.state);
        let vars = self.list("var");
        for id in self.targets(&state)? {
            let Some(w) = state.windows.get(&id) else {
                continue;
            };
            let mut term = lock(&w.term);
            for var in &vars {
                match var.split_once('=') {
                    Some((k, v)) => term.set_user_var(k, Some(&term::without_controls(v))),
                    // A whole string taken apart into characters sets empty variables.
                    None if self.payload.get("var").is_some_and(Value::is_string) => {
                        term.set_user_var(if var == "=" { "" } else { var }, Some(""));
                    }
                    None => term.set_user_var(var, None),
                }
            }
        }
        Ok(Answer::Data(json!("")))
    }

    fn launch(&self) -> Result<Answer, String> {
        let k = self.kitty;
        let mut state = lock(&k.state);
        let kind = self.text("type").unwrap_or("window");
        let text = |key: &str| self.text(key).filter(|t| !t.is_empty()).map(str::to_owned);
        let active = state.active_window().and_then(|w| state.windows.get(&w));
        let cwd = text("cwd");
        // Only a window made from the directory of another belongs to the same session.
        let session = match (cwd.as_deref(), text("add_to_session")) {
            (_, Some(s)) if s != "." => s,
            (Some("current" | "last_reported" | "oldest" | "root"), _) | (_, Some(_)) => {
                active.map(|w| w.session.clone()).unwrap_or_default()
            }
            _ => String::new(),
        };
        let mut argv = self.list("args");
        Kitty::replace_words(&state, &mut argv);
        let launch = Launch {
            argv,
            cwd,
            env: self.list("env"),
            vars: self.list("var"),
            title: text("window_title"),
            hold: self.flag("hold"),
            allow_remote_control: self.flag("allow_remote_control"),
            passwords: self.list("remote_control_password"),
            colors: self.list("color"),
            watchers: self.list("watcher"),
            overlay: match kind {
                "overlay" => Some("overlay"),
                "overlay-main" => Some("overlay-main"),
                _ => None,
            },
            location: self.text("location").unwrap_or_default().to_owned(),
            keep_focus: self.flag("keep_focus"),
            session,
            ..Launch::default()
        };
        if kind == "background" {
            k.run_in_background(&state, &launch)?;
            return Ok(Answer::Data(json!("0")));
        }
        let own = self.me.filter(|_| self.flag("self"));
        let tab = match (self.text("match").filter(|m| !m.is_empty()), own) {
            (Some(m), _) => some_tabs(&state, m, self.me)?.first().copied(),
            (None, Some(me)) => state
                .locate(me)
                .map(|(o, t)| state.os_windows[o].tabs[t].id),
            (None, None) => state.active_tab().map(|t| t.id),
        };
        let mut over = None;
        let before = state.focused_os_window().map(|o| (o.id, o.active_tab));
        let tab = match (kind, tab) {
            ("os-window" | "os-panel", _) | (_, None) => {
                let class = text("os_window_class");
                k.add_os_window(
                    &mut state,
                    class.as_deref(),
                    text("os_window_name").as_deref(),
                )
            }
            ("tab", Some(tab)) => {
                let os = state
                    .os_windows
                    .iter()
                    .find(|o| o.tabs.iter().any(|t| t.id == tab))
                    .map(|o| o.id);
                k.add_tab(&mut state, os.unwrap_or_default())
            }
            (_, Some(tab)) => {
                if launch.overlay.is_some() {
                    over =
                        own.or_else(|| state.tab(tab).and_then(crate::model::Tab::active_window));
                }
                tab
            }
        };
        let keep = launch.keep_focus;
        if let Some(title) = text("tab_title")
            && let Some(t) = state.tab_mut(tab)
        {
            t.title = Some(title);
        }
        let id = k.add_window(&mut state, tab, launch, over)?;
        if keep {
            if let Some((os, tab)) = before {
                state.focus_os_window(os);
                if let Some(o) = state.os_windows.iter_mut().find(|o| o.id == os) {
                    o.activate(tab);
                }
            }
        } else {
            state.focus_window(id, k.now());
        }
        Ok(Answer::Data(json!(id.to_string())))
    }

    fn get_text(&self) -> Result<Answer, String> {
        let state = lock(&self.kitty.state);
        let id = self.targets(&state)?.first().copied();
        let Some(w) = id.and_then(|id| state.windows.get(&id)) else {
            return Ok(Answer::Data(json!("")));
        };
        let mut term = lock(&w.term);
        let text = match self.text("extent").unwrap_or("screen") {
            "all" => term.all_text(),
            "selection" => String::new(),
            _ => term.screen_text(),
        };
        Ok(Answer::Data(json!(text)))
    }

    fn send_text(&self) -> Result<Answer, String> {
        let state = lock(&self.kitty.state);
        let data = self.text("data").unwrap_or_default();
        let bytes = match data.split_once(':') {
            Some(("text", t)) => crate::text::to_os(t)?,
            Some(("base64", b)) => term::decode_base64(b.as_bytes()).ok_or("Incorrect padding")?,
            _ => return Err(format!("Invalid encoding for send-text data: {data}")),
        };
        let ids = if self.flag("all") {
            state.window_ids()
        } else {
            self.targets(&state)?
        };
        let mut terminals = Vec::new();
        for id in ids {
            if self.flag("exclude_active") && state.active_window() == Some(id) {
                continue;
            }
            terminals.extend(state.windows.get(&id).and_then(|w| w.terminal.clone()));
        }
        drop(state);
        for t in terminals {
            let _ = write_all(&t, &bytes);
        }
        Ok(Answer::Done)
    }

    fn focus_window(&self) -> Result<Answer, String> {
        let mut state = lock(&self.kitty.state);
        if let Some(id) = self.targets(&state)?.first() {
            state.focus_window(*id, self.kitty.now());
        }
        Ok(Answer::Done)
    }

    fn tabs(&self, state: &State) -> Result<Vec<u64>, String> {
        match self.text("match").filter(|m| !m.is_empty()) {
            Some(m) => some_tabs(state, m, self.me),
            None => {
                let own = self
                    .me
                    .and_then(|w| state.locate(w))
                    .map(|(o, t)| state.os_windows[o].tabs[t].id);
                Ok(own
                    .or_else(|| state.active_tab().map(|t| t.id))
                    .into_iter()
                    .collect())
            }
        }
    }

    fn focus_tab(&self) -> Result<Answer, String> {
        let mut state = lock(&self.kitty.state);
        let window = self
            .tabs(&state)?
            .first()
            .and_then(|t| state.tab(*t))
            .and_then(|t| t.active_window());
        if let Some(w) = window {
            state.focus_window(w, self.kitty.now());
        }
        Ok(Answer::Done)
    }

    fn set_window_title(&self) -> Result<Answer, String> {
        let mut state = lock(&self.kitty.state);
        let title = term::clean_title(self.text("title").unwrap_or_default());
        for id in self.targets(&state)? {
            let Some(w) = state.windows.get_mut(&id) else {
                continue;
            };
            if self.flag("temporary") {
                w.title = None;
                lock(&w.term).title = Some(title.clone());
            } else {
                w.title = Some(title.clone()).filter(|t| !t.is_empty());
            }
        }
        Ok(Answer::Done)
    }

    fn set_tab_title(&self) -> Result<Answer, String> {
        let mut state = lock(&self.kitty.state);
        let title = self.text("title").unwrap_or_default().to_owned();
        for id in self.tabs(&state)? {
            if let Some(t) = state.tab_mut(id) {
                t.title = Some(title.clone()).filter(|t| !t.is_empty());
            }
        }
        Ok(Answer::Done)
    }

    fn close_window(&self) -> Result<Answer, String> {
        let ids = match self.targets(&lock(&self.kitty.state)) {
            Err(_) if self.flag("ignore_no_match") => Vec::new(),
            ids => ids?,
        };
        for id in ids {
            self.kitty.close_window(id);
        }
        Ok(Answer::Done)
    }

    fn close_tab(&self) -> Result<Answer, String> {
        let state = lock(&self.kitty.state);
        let ids: Vec<u64> = self
            .tabs(&state)?
            .iter()
            .filter_map(|t| state.tab(*t))
            .flat_map(crate::model::Tab::window_ids)
            .collect();
        drop(state);
        for id in ids {
            self.kitty.close_window(id);
        }
        Ok(Answer::Done)
    }

    fn signal_child(&self) -> Result<Answer, String> {
        let state = lock(&self.kitty.state);
        let groups = crate::procfs::Groups::read();
        for id in self.targets(&state)? {
            let Some(w) = state.windows.get(&id) else {
                continue;
            };
            for name in self.list("signals") {
                let signal = signal(&name).ok_or_else(|| format!("Unknown signal: {name}"))?;
                for pid in crate::inspect::foreground_pids(w, &groups) {
                    if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
                        let _ = rustix::process::kill_process(pid, signal);
                    }
                }
            }
        }
        Ok(Answer::Done)
    }
}

/// A signal by its name.
fn signal(name: &str) -> Option<rustix::process::Signal> {
    use rustix::process::Signal;
    Some(match name.trim_start_matches("SIG") {
        "INT" => Signal::INT,
        "TERM" => Signal::TERM,
        "HUP" => Signal::HUP,
        "QUIT" => Signal::QUIT,
        "KILL" => Signal::KILL,
        "STOP" => Signal::STOP,
        "TSTP" => Signal::TSTP,
        "CONT" => Signal::CONT,
        "USR1" => Signal::USR1,
        "USR2" => Signal::USR2,
        "WINCH" => Signal::WINCH,
        _ => return None,
    })
}

/// kitty's answer to a command it does not know: the text of a `KeyError`, quotes included.
pub fn unknown(cmd: &str) -> Answer {
    Answer::Crash(format!("'Unknown kitty remote control command: {cmd}'"))
}

/// How many frames were answered so far; one more.
pub fn count(kitty: &Kitty) -> usize {
    kitty.answered.fetch_add(1, Ordering::Relaxed)
}
