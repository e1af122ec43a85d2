//! Which windows and tabs an expression means.

use crate::inspect;
use crate::layout;
use crate::model::{Tab, Window, lock};
use crate::query::{self, Query, found, found_pair};
use crate::state::State;

/// The windows `expression` means, in order. `all` is everything; an empty expression the active window.
///
/// # Errors
/// kitty's text for a bad expression; no hit is an empty list.
pub fn windows(state: &State, expression: &str, me: Option<u64>) -> Result<Vec<u64>, String> {
    let ids = state.window_ids();
    match expression {
        "all" => return Ok(ids),
        "" => return Ok(state.active_window().into_iter().collect()),
        _ => {}
    }
    let query = query::parse(expression, query::WINDOW)?;
    filter(state, &query, ids, me)
}

/// As [`windows`], but no hit is kitty's error.
///
/// # Errors
/// kitty's text.
pub fn some_windows(state: &State, expression: &str, me: Option<u64>) -> Result<Vec<u64>, String> {
    let found = windows(state, expression, me)?;
    if found.is_empty() {
        return Err(format!("No matching windows for expression: {expression}"));
    }
    Ok(found)
}

fn filter(
    state: &State,
    query: &Query,
    ids: Vec<u64>,
    me: Option<u64>,
) -> Result<Vec<u64>, String> {
    let mut out = Vec::new();
    for id in ids {
        if let Some(w) = state.windows.get(&id)
            && query.test(&|location, value| window_matches(state, w, location, value, me))?
        {
            out.push(id);
        }
    }
    Ok(out)
}

/// A session pattern: `.` is the session of the active window, `~` also the last one switched to.
fn session_matches(state: &State, session: &str, pattern: &str) -> Result<bool, String> {
    let active = || {
        state
            .active_window()
            .and_then(|w| state.windows.get(&w))
            .map(|w| w.session.clone())
    };
    Ok(match pattern {
        "." => active().is_some_and(|a| a == session),
        "~" => {
            let now = active().filter(|a| !a.is_empty());
            let wanted = now.or_else(|| state.session_history.last().cloned());
            wanted.is_some_and(|a| a == session)
        }
        p => found(p, session)?,
    })
}

fn window_matches(
    state: &State,
    w: &Window,
    location: &str,
    value: &str,
    me: Option<u64>,
) -> Result<bool, String> {
    let place = state.locate(w.id);
    let tab = place.map(|(o, t)| &state.os_windows[o].tabs[t]);
    let focused = |o: usize| state.focus_order.last() == Some(&state.os_windows[o].id);
    Ok(match location {
        "id" => match value.parse::<i64>() {
            Ok(n) if n < 0 => {
                let mut ids = state.window_ids();
                ids.sort_unstable();
                ids.iter().rev().nth((-n - 1) as usize) == Some(&w.id)
            }
            _ => value == w.id.to_string(),
        },
        "pid" => value == w.pid.to_string(),
        "title" => found(value, &w.shown_title())?,
        "cwd" => found(value, &inspect::directory(w))?,
        "cmdline" => {
            let mut hit = false;
            for word in crate::procfs::command_line(w.pid) {
                hit |= found(value, &word)?;
            }
            hit
        }
        "env" => {
            let env = inspect::environment(w);
            found_pair(value, env.iter().map(|(k, v)| (k.as_str(), v.as_str())))?
        }
        "var" => {
            let term = lock(&w.term);
            found_pair(
                value,
                term.user_vars.iter().map(|(k, v)| (k.as_str(), v.as_str())),
            )?
        }
        "session" => session_matches(state, &w.session, value)?,
        "num" => {
            let active = state.active_tab();
            active.is_some_and(|t| {
                value
                    .parse()
                    .ok()
                    .and_then(|n: usize| t.groups.get(n))
                    .is_some_and(|g| g.windows.contains(&w.id))
            })
        }
        "recent" => value.parse().ok().and_then(|n| recent_window(state, n)) == Some(w.id),
        "neighbor" => neighbor(state, value) == Some(w.id),
        "state" => {
            let Some((o, t)) = place else {
                return Ok(false);
            };
            let os = &state.os_windows[o];
            let active = tab.and_then(Tab::active_window) == Some(w.id);
            match value {
                "active" => active,
                "focused" => active && focused(o) && os.active_tab == t && state.has_focus,
                "needs_attention" => lock(&w.term).bell,
                "parent_active" => os.active_tab == t,
                "parent_focused" => os.active_tab == t && focused(o) && state.has_focus,
                "focused_os_window" => focused(o),
                "self" => me == Some(w.id),
                "overlay_parent" => tab.is_some_and(|t| {
                    me.is_some_and(|m| {
                        t.groups.iter().any(|g| {
                            let at = |id| g.windows.iter().position(|x| *x == id);
                            matches!((at(w.id), at(m)), (Some(a), Some(b)) if a + 1 == b)
                        })
                    })
                }),
                _ => false,
            }
        }
        _ => false,
    })
}

/// The window of the active tab that was active `n` changes ago.
fn recent_window(state: &State, n: usize) -> Option<u64> {
    let tab = state.active_tab()?;
    if n == 0 {
        return tab.active_window();
    }
    let group = tab.group_history.iter().rev().nth(n - 1)?;
    tab.groups
        .iter()
        .find(|g| g.id == *group)?
        .windows
        .last()
        .copied()
}

fn neighbor(state: &State, side: &str) -> Option<u64> {
    let os = state.focused_os_window()?;
    let tab = os.active()?;
    let places = state.places(os, tab);
    let order: Vec<u64> = tab.groups.iter().map(|g| g.id).collect();
    let active = tab.groups.get(tab.active_group)?.id;
    let group = layout::neighbors(&places, &order, active)
        .get(side)?
        .get(0)?
        .as_u64()?;
    tab.groups
        .iter()
        .find(|g| g.id == group)?
        .windows
        .last()
        .copied()
}

/// The tabs an expression means.
///
/// # Errors
/// kitty's text for a bad expression or no hit.
pub fn some_tabs(state: &State, expression: &str, me: Option<u64>) -> Result<Vec<u64>, String> {
    let all: Vec<&Tab> = state.os_windows.iter().flat_map(|o| &o.tabs).collect();
    if expression == "all" {
        return Ok(all.iter().map(|t| t.id).collect());
    }
    let query = query::parse(expression, query::TAB)?;
    let mut out = Vec::new();
    for tab in all {
        if query.test(&|location, value| tab_matches(state, tab, location, value, me))? {
            out.push(tab.id);
        }
    }
    if out.is_empty() {
        return Err(format!("No matching tabs for expression: {expression}"));
    }
    Ok(out)
}

/// The title people see on a tab.
pub fn tab_title(state: &State, tab: &Tab) -> String {
    let shown = || {
        tab.active_window()
            .and_then(|w| state.windows.get(&w))
            .map(Window::shown_title)
    };
    tab.title.clone().or_else(shown).unwrap_or_default()
}

fn tab_matches(
    state: &State,
    tab: &Tab,
    location: &str,
    value: &str,
    me: Option<u64>,
) -> Result<bool, String> {
    let os = state
        .os_windows
        .iter()
        .find(|o| o.tabs.iter().any(|t| t.id == tab.id));
    let index = os
        .and_then(|o| o.tabs.iter().position(|t| t.id == tab.id))
        .unwrap_or(0);
    let any = |location: &str| -> Result<bool, String> {
        for id in tab.window_ids() {
            if let Some(w) = state.windows.get(&id)
                && window_matches(state, w, location, value, me)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    };
    Ok(match location {
        "id" => value == tab.id.to_string(),
        "index" => {
            let count = os.map_or(0, |o| o.tabs.len()) as i64;
            value
                .parse::<i64>()
                .is_ok_and(|n| if n < 0 { count + n } else { n } == index as i64)
        }
        "title" => found(value, &tab_title(state, tab))?,
        "window_id" => any("id")?,
        "window_title" => any("title")?,
        "recent" => {
            let Some(os) = state.focused_os_window() else {
                return Ok(false);
            };
            let wanted = match value.parse::<usize>() {
                Ok(0) => os.active().map(|t| t.id),
                Ok(n) => os.tab_history.iter().rev().nth(n - 1).copied(),
                Err(_) => None,
            };
            wanted == Some(tab.id)
        }
        "state" => {
            let active = os.is_some_and(|o| o.active_tab == index);
            let focused = active && os.map(|o| o.id) == state.focus_order.last().copied();
            match value {
                "active" => active,
                "focused" => focused && state.has_focus,
                "parent_focused" => os.map(|o| o.id) == state.focus_order.last().copied(),
                "self" => me.is_some_and(|m| tab.window_ids().any(|w| w == m)),
                "needs_attention" => any("state")?,
                _ => false,
            }
        }
        other => any(other)?,
    })
}
