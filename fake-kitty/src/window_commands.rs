//! The remote commands about windows and tabs.

use crate::commands::{Answer, Request};
use crate::engine::{Kitty, write_all};
use crate::launch::Launch;
use crate::matching::some_tabs;
use crate::model::{Tab, lock};
use crate::state::State;
use crate::term;
use serde_json::{Value, json};

impl Request<'_> {
    pub(crate) fn set_user_vars(&self) -> Result<Answer, String> {
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

    pub(crate) fn launch(&self) -> Result<Answer, String> {
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
                    over = own.or_else(|| state.tab(tab).and_then(Tab::active_window));
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

    pub(crate) fn get_text(&self) -> Result<Answer, String> {
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

    pub(crate) fn send_text(&self) -> Result<Answer, String> {
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

    pub(crate) fn focus_window(&self) -> Result<Answer, String> {
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

    pub(crate) fn focus_tab(&self) -> Result<Answer, String> {
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

    pub(crate) fn set_window_title(&self) -> Result<Answer, String> {
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

    pub(crate) fn set_tab_title(&self) -> Result<Answer, String> {
        let mut state = lock(&self.kitty.state);
        let title = self.text("title").unwrap_or_default().to_owned();
        for id in self.tabs(&state)? {
            if let Some(t) = state.tab_mut(id) {
                t.title = Some(title.clone()).filter(|t| !t.is_empty());
            }
        }
        Ok(Answer::Done)
    }

    pub(crate) fn close_window(&self) -> Result<Answer, String> {
        let ids = match self.targets(&lock(&self.kitty.state)) {
            Err(_) if self.flag("ignore_no_match") => Vec::new(),
            ids => ids?,
        };
        for id in ids {
            self.kitty.close_window(id);
        }
        Ok(Answer::Done)
    }

    pub(crate) fn close_tab(&self) -> Result<Answer, String> {
        let state = lock(&self.kitty.state);
        let ids: Vec<u64> = self
            .tabs(&state)?
            .iter()
            .filter_map(|t| state.tab(*t))
            .flat_map(Tab::window_ids)
            .collect();
        drop(state);
        for id in ids {
            self.kitty.close_window(id);
        }
        Ok(Answer::Done)
    }

    pub(crate) fn signal_child(&self) -> Result<Answer, String> {
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
