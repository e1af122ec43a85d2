//! What `ls` answers.

use crate::inspect;
use crate::layout;
use crate::matching;
use crate::model::{OsWindow, Tab, Window, lock};
use crate::procfs::{self, Groups};
use crate::state::State;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// What a listing shows.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Only these windows; `None` is all.
    pub windows: Option<Vec<u64>>,
    /// Also the variables that all windows share.
    pub all_env_vars: bool,
    /// The window that asks.
    pub me: Option<u64>,
}

/// The list of OS windows.
pub fn list(state: &State, wanted: &Wanted) -> Value {
    let groups = Groups::read();
    let shown = |id: u64| wanted.windows.as_ref().is_none_or(|w| w.contains(&id));
    let mut env: HashMap<u64, BTreeMap<String, String>> = state
        .window_ids()
        .into_iter()
        .filter(|id| shown(*id))
        .filter_map(|id| {
            Some((
                id,
                inspect::environment(state.windows.get(&id)?)
                    .into_iter()
                    .collect(),
            ))
        })
        .collect();
    if !wanted.all_env_vars {
        drop_common(&mut env);
    }
    let mut out = Vec::new();
    for os in &state.os_windows {
        let tabs: Vec<Value> = os
            .tabs
            .iter()
            .enumerate()
            .filter(|(_, t)| t.window_ids().any(shown))
            .map(|(i, t)| tab_value(state, os, i, t, &shown, &env, &groups, wanted.me))
            .collect();
        if tabs.is_empty() {
            continue;
        }
        let last = state.focus_order.last() == Some(&os.id);
        out.push(json!({
            "id": os.id,
            "platform_window_id": os.platform_id,
            "is_active": last,
            "is_focused": last && state.has_focus,
            "last_focused": last,
            "wm_class": os.class,
            "wm_name": os.name,
            "background_opacity": 1.0,
            "active_tab_history": os.tab_history,
            "tabs": tabs,
        }));
    }
    Value::Array(out)
}

/// Takes out every variable that has the same value in all windows.
fn drop_common(env: &mut HashMap<u64, BTreeMap<String, String>>) {
    if env.len() < 2 {
        return;
    }
    let Some(first) = env.values().next().cloned() else {
        return;
    };
    let common: Vec<String> = first
        .into_iter()
        .filter(|(k, v)| env.values().all(|e| e.get(k) == Some(v)))
        .map(|(k, _)| k)
        .collect();
    for e in env.values_mut() {
        e.retain(|k, _| !common.contains(k));
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one listing's context, used once"
)]
fn tab_value(
    state: &State,
    os: &OsWindow,
    index: usize,
    tab: &Tab,
    shown: &dyn Fn(u64) -> bool,
    env: &HashMap<u64, BTreeMap<String, String>>,
    groups: &Groups,
    me: Option<u64>,
) -> Value {
    let focused_os = state.has_focus && state.focus_order.last() == Some(&os.id);
    let places = state.places(os, tab);
    let order: Vec<u64> = tab.groups.iter().map(|g| g.id).collect();
    let mut windows = Vec::new();
    for g in &tab.groups {
        for id in g.windows.iter().filter(|id| shown(**id)) {
            let Some(w) = state.windows.get(id) else {
                continue;
            };
            let active = tab.active_window() == Some(*id);
            let neighbors = layout_neighbors(tab, &places, &order, g.id);
            let mut v = window_value(w, groups);
            v.insert("is_active".into(), json!(active));
            v.insert("is_focused".into(), json!(active && focused_os));
            v.insert("is_self".into(), json!(me == Some(*id)));
            v.insert("neighbors".into(), Value::Object(neighbors));
            v.insert("env".into(), json!(env.get(id)));
            windows.push((*id, Value::Object(v)));
        }
    }
    windows.sort_by_key(|(id, _)| *id);
    let windows: Vec<Value> = windows.into_iter().map(|(_, v)| v).collect();
    let top = |g: &u64| {
        tab.groups
            .iter()
            .find(|x| x.id == *g)
            .and_then(|x| x.windows.last().copied())
    };
    let history: Vec<u64> = tab.group_history.iter().filter_map(top).collect();
    let group_list: Vec<Value> = tab
        .groups
        .iter()
        .map(|g| json!({"id": g.id, "windows": g.windows}))
        .collect();
    let is_active = os.active_tab == index;
    json!({
        "id": tab.id,
        "is_active": is_active,
        "is_focused": is_active && focused_os,
        "title": matching::tab_title(state, tab),
        "title_overridden": tab.title.as_ref().is_some_and(|t| !t.is_empty()),
        "layout": tab.layout.name,
        "layout_opts": tab.layout.opts,
        "layout_state": tab.layout_state(),
        "enabled_layouts": tab.enabled_layouts,
        "groups": group_list,
        "active_window_history": history,
        "windows": windows,
    })
}

/// Neighbours as the layout names them: stack knows only the one before and the one after.
fn layout_neighbors(
    tab: &Tab,
    places: &HashMap<u64, layout::Rect>,
    order: &[u64],
    group: u64,
) -> Map<String, Value> {
    if tab.layout.name != "stack" {
        return layout::neighbors(places, order, group);
    }
    let at = order.iter().position(|g| *g == group).unwrap_or(0);
    let before: Vec<u64> = at
        .checked_sub(1)
        .and_then(|i| order.get(i))
        .copied()
        .into_iter()
        .collect();
    let after: Vec<u64> = order.get(at + 1).copied().into_iter().collect();
    let mut map = Map::new();
    for (side, list) in [
        ("left", &before),
        ("top", &before),
        ("right", &after),
        ("bottom", &after),
    ] {
        map.insert(side.into(), json!(list));
    }
    map
}

fn window_value(w: &Window, groups: &Groups) -> Map<String, Value> {
    let processes: Vec<Value> = inspect::foreground(w, groups)
        .into_iter()
        .map(|p| json!({"pid": p.pid, "cmdline": p.argv, "cwd": p.cwd}))
        .collect();
    let cwd = inspect::directory(w);
    let at_prompt = inspect::at_prompt(w);
    let term = lock(&w.term);
    let vars: Map<String, Value> = term
        .user_vars
        .iter()
        .map(|(k, v)| (k.clone(), json!(v)))
        .collect();
    let v = json!({
        "id": w.id,
        "pid": w.pid,
        "cwd": cwd,
        "cmdline": procfs::command_line(w.pid),
        "foreground_processes": processes,
        "created_at": w.created_at,
        "last_focused_at": w.last_focused_at,
        "title": w.title.clone().or_else(|| term.title.clone()).unwrap_or_else(|| w.default_title.clone()),
        "title_overridden": w.title.is_some(),
        "at_prompt": at_prompt,
        "last_reported_cmdline": term.last_command,
        "last_cmd_exit_status": term.last_status,
        "in_alternate_screen": term.in_alternate_screen(),
        "columns": w.size.0,
        "lines": w.size.1,
        "user_vars": vars,
        "session_name": w.session,
        "needs_attention": term.bell,
        "has_activity_since_last_focus": false,
    });
    match v {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
