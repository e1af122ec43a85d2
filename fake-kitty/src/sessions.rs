//! Opening session files.

use crate::engine::Kitty;
use crate::launch::{Launch, Startup};
use crate::layout::Layout;
use crate::matching;
use crate::query;
use crate::session_file::{self, Context, OsWindowSpec, TabSpec, WindowSpec};
use crate::state::State;
use crate::text;
use serde_json::Value;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

/// Why a session could not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The file is not there.
    Missing,
    /// The file is refused as a whole.
    Parse(String),
    /// A window in it cannot be started; kitty itself ends over this at its start.
    Launch(String),
}

impl Kitty {
    /// A session path as kitty takes it: `~` and variables expanded, relative to the configuration directory.
    pub(crate) fn session_path(&self, path: &str) -> String {
        let path = text::expand_user(path, &self.config.home());
        let path = text::expand_path_vars(&path, &|n| self.var(n));
        if path.starts_with('/') {
            return path;
        }
        let dir = text::from_os(self.config.config_dir.as_os_str().as_bytes());
        text::join_path(&dir, &path)
    }

    /// Reads and parses a session file.
    ///
    /// # Errors
    /// [`Failure::Missing`] or [`Failure::Parse`].
    pub(crate) fn read_session(&self, path: &str) -> Result<Vec<OsWindowSpec>, Failure> {
        let file = OsString::from_vec(text::to_os(path).map_err(Failure::Parse)?);
        let raw = std::fs::read(file).map_err(|_| Failure::Missing)?;
        let base = path
            .rsplit_once('/')
            .map_or("/", |(d, _)| if d.is_empty() { "/" } else { d });
        let home = self.config.home();
        let cx = Context {
            lookup: &|n| self.var(n),
            home: &home,
            base,
            enabled_layouts: &self.config.enabled_layouts,
        };
        session_file::parse(&raw, &cx).map_err(Failure::Parse)
    }

    /// Opens a parsed session. With `into_active` (goto_session) the tabs of the first OS window go into the
    /// active one and OS windows without `launch` lines are skipped.
    ///
    /// # Errors
    /// [`Failure::Launch`].
    pub(crate) fn open_session(
        self: &Arc<Self>,
        state: &mut State,
        specs: &[OsWindowSpec],
        name: &str,
        into_active: bool,
    ) -> Result<(), Failure> {
        for spec in specs.iter().filter(|s| !into_active || s.defined > 0) {
            for tab in &spec.tabs {
                check_tab(tab).map_err(Failure::Launch)?;
            }
        }
        let before = state.active_window();
        let mut specs = specs.to_vec();
        if into_active {
            for tab in specs.iter_mut().flat_map(|o| &mut o.tabs) {
                for w in &mut tab.windows {
                    Kitty::replace_words(state, &mut w.launch.words);
                }
            }
        }
        let mut failed = Vec::new();
        let mut focus = None;
        for (i, spec) in specs.iter().enumerate() {
            if into_active && spec.defined == 0 {
                continue;
            }
            let active = state
                .focused_os_window()
                .map(|o| o.id)
                .filter(|_| into_active && i == 0);
            let os = active.unwrap_or_else(|| {
                self.add_bare_os_window(state, spec.class.as_deref(), spec.name.as_deref())
            });
            let first = state
                .os_windows
                .iter()
                .find(|o| o.id == os)
                .map_or(0, |o| o.tabs.len());
            for tab in &spec.tabs {
                self.open_tab(state, os, tab, name, &mut failed)
                    .map_err(Failure::Launch)?;
            }
            let made = state
                .os_windows
                .iter()
                .find(|o| o.id == os)
                .map_or(0, |o| o.tabs.len())
                - first;
            let wanted = self
                .tab_to_focus(state, os, spec, first, made)
                .map_err(Failure::Launch)?;
            if let Some(o) = state.os_windows.iter_mut().find(|o| o.id == os) {
                o.activate(wanted);
            }
            if spec.focus {
                focus = Some(os);
            }
        }
        if let Some(os) = focus {
            state.focus_os_window(os);
        }
        for error in failed {
            match before.filter(|_| into_active) {
                Some(over) => {
                    let title = "Failed to run background process";
                    self.show_over(state, over, "__show_error__", title, &error);
                }
                None => self.log(error),
            }
        }
        if !name.is_empty() {
            state.session_history.retain(|s| s != name);
            state.session_history.push(name.to_owned());
        }
        state.arrange();
        Ok(())
    }

    fn open_tab(
        self: &Arc<Self>,
        state: &mut State,
        os: u64,
        spec: &TabSpec,
        name: &str,
        failed: &mut Vec<String>,
    ) -> Result<(), String> {
        let layout = Layout::new(&spec.layout);
        let tab = state
            .add_tab(os, layout, spec.enabled_layouts.clone(), true)
            .ok_or("no such OS window")?;
        if let Some(t) = state.tab_mut(tab)
            && !spec.title.is_empty()
        {
            t.title = Some(spec.title.clone());
        }
        let mut saved_ids: HashMap<String, u64> = HashMap::new();
        let mut windows: Vec<Option<u64>> = Vec::new();
        for w in &spec.windows {
            let mut launch = Launch::from_options(&w.launch);
            launch.cwd.clone_from(&w.cwd);
            launch.title = launch.title.or_else(|| w.title.clone());
            if w.launch.get("--type") == Some("background") {
                if let Err(e) = self.run_in_background(state, &launch) {
                    // kitty then closes its end of the socket twice.
                    if launch.allow_remote_control {
                        return Err("[Errno 9] Bad file descriptor".to_owned());
                    }
                    failed.push(format!("Failed to run background process with error: {e}"));
                }
                windows.push(None);
                continue;
            }
            launch.session = name.to_owned();
            launch.startup = startup(w)?;
            let over = launch
                .overlay
                .and_then(|_| windows.iter().rev().flatten().next().copied());
            if over.is_none() {
                launch.overlay = None;
            }
            let id = self.add_window(state, tab, launch, over)?;
            saved_ids.insert(w.id.to_string(), id);
            windows.push(Some(id));
        }
        if windows.iter().all(Option::is_none) {
            // A tab of background programs only would have no window: it is not made.
            if let Some(o) = state.os_windows.iter_mut().find(|o| o.id == os) {
                o.tabs.retain(|t| t.id != tab);
                o.active_tab = o.active_tab.min(o.tabs.len().saturating_sub(1));
            }
            return Ok(());
        }
        if let Some(saved) = &spec.layout_state {
            restore_layout(state, tab, saved, &saved_ids);
        }
        let focused = spec.active.and_then(|i| windows.get(i).copied().flatten());
        if let (Some(w), Some(t)) = (focused, state.tab_mut(tab))
            && let Some(g) = t.groups.iter().position(|g| g.windows.contains(&w))
        {
            t.active_group = g;
        }
        Ok(())
    }

    /// Which tab of an OS window is shown after opening: `focus_tab` as a number or an expression.
    fn tab_to_focus(
        &self,
        state: &State,
        os: u64,
        spec: &OsWindowSpec,
        first: usize,
        made: usize,
    ) -> Result<usize, String> {
        let Some(wanted) = &spec.focus_tab else {
            return Ok(first);
        };
        let wanted = text::strip(wanted);
        if let Ok(n) = wanted.parse::<usize>() {
            return Ok(first + n.min(made.saturating_sub(1)));
        }
        query::parse(wanted, query::TAB)?;
        let hits = matching::some_tabs(state, wanted, None).unwrap_or_default();
        let tabs = state
            .os_windows
            .iter()
            .find(|o| o.id == os)
            .map(|o| o.tabs.as_slice())
            .unwrap_or_default();
        Ok(tabs
            .iter()
            .position(|t| hits.contains(&t.id))
            .unwrap_or(first))
    }
}

/// The checked command of a window.
fn startup(w: &WindowSpec) -> Result<Option<Startup>, String> {
    Ok(match &w.startup {
        session_file::Startup::None => None,
        session_file::Startup::Line(l) => Some(Startup::Line(l.clone())),
        session_file::Startup::Words(words) => {
            let all: Option<Vec<String>> = words
                .iter()
                .map(|v| v.as_str().map(str::to_owned))
                .collect();
            Some(Startup::Words(
                all.ok_or("string tuple must have only strings")?,
            ))
        }
    })
}

/// The faults kitty finds only when it launches what it parsed.
fn check_tab(tab: &TabSpec) -> Result<(), String> {
    for w in &tab.windows {
        check_window(w)?;
    }
    match &tab.layout_state {
        Some(Value::Array(items)) if !items.is_empty() => {
            Err("'list' object has no attribute 'get'".into())
        }
        Some(Value::String(s)) if !s.is_empty() => {
            Err("'str' object has no attribute 'get'".into())
        }
        Some(Value::Object(map)) => {
            let class = Layout::new(&tab.layout).class();
            if map.get("class").and_then(Value::as_str) == Some(&class)
                && !map.contains_key("all_windows")
            {
                return Err("'all_windows'".into());
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn check_window(w: &WindowSpec) -> Result<(), String> {
    const NAME: usize = "KITTY_SI_RUN_COMMAND_AT_STARTUP=".len();
    if let Some(command) = startup(w)? {
        let text = match command {
            Startup::Line(l) => l,
            Startup::Words(w) => crate::words::join(&w),
        };
        // The position counts the variable's name.
        if let Some(e) = text::encode_error(&format!("{}{text}", "x".repeat(NAME))) {
            return Err(e);
        }
    }
    let o = &w.launch;
    if o.get("--type") == Some("background") && o.words.is_empty() {
        return Err("The cmd to run must be specified when running a background process".into());
    }
    if o.flag("--hold-after-ssh")
        && !matches!(o.get("--cwd"), Some("current" | "last_reported" | "oldest"))
    {
        return Err(
            "--hold-after-ssh can only be supplied if --cwd=current or similar is also supplied"
                .into(),
        );
    }
    for spacing in o.all("--spacing") {
        let (name, value) = spacing.split_once('=').unwrap_or((spacing, ""));
        let sided = name
            .strip_prefix("padding")
            .or_else(|| name.strip_prefix("margin"));
        let good_side = |s: &str| {
            matches!(
                s,
                "" | "-left" | "-right" | "-top" | "-bottom" | "-h" | "-v"
            )
        };
        if !sided.is_some_and(good_side) || !(value == "default" || value.parse::<f64>().is_ok()) {
            return Err(format!("{spacing} is not a valid setting"));
        }
    }
    for key in ["--next-to", "--source-window"] {
        if let Some(expression) = o.get(key).filter(|e| !e.is_empty()) {
            query::parse(expression, query::WINDOW)?;
        }
    }
    if let Some(expression) = w.focus_matching.as_deref().filter(|e| !e.is_empty()) {
        query::parse(expression, query::WINDOW)?;
    }
    Ok(())
}

/// Takes over a saved layout state: order of groups, tree, active group, history.
fn restore_layout(state: &mut State, tab: u64, saved: &Value, ids: &HashMap<String, u64>) {
    let Some(t) = state.tab_mut(tab) else { return };
    if saved.get("class").and_then(Value::as_str) != Some(&t.layout.class()) {
        return;
    }
    let Some(all) = saved.get("all_windows") else {
        return;
    };
    let mut map: HashMap<u64, u64> = HashMap::new();
    let mut order: Vec<u64> = Vec::new();
    for g in all
        .get("window_groups")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let windows = g
            .get("window_ids")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let now = windows
            .filter_map(|w| ids.get(&w.to_string()))
            .find_map(|w| {
                t.groups
                    .iter()
                    .find(|g| g.windows.contains(w))
                    .map(|g| g.id)
            });
        if let (Some(old), Some(now)) = (g.get("id").and_then(Value::as_u64), now) {
            map.insert(old, now);
            if !order.contains(&now) {
                order.push(now);
            }
        }
    }
    t.groups
        .sort_by_key(|g| order.iter().position(|o| *o == g.id).unwrap_or(usize::MAX));
    let present: Vec<u64> = t.groups.iter().map(|g| g.id).collect();
    t.layout.restore(saved, &map, &present);
    if let Some(i) = all.get("active_group_idx").and_then(Value::as_u64) {
        t.active_group = (i as usize).min(t.groups.len().saturating_sub(1));
    }
    if let Some(history) = all.get("active_group_history").and_then(Value::as_array) {
        t.group_history = history
            .iter()
            .filter_map(Value::as_u64)
            .filter_map(|g| map.get(&g).copied())
            .collect();
    }
}
