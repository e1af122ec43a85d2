//! The state of a kitty, and how it changes.

use crate::layout::{Layout, Rect};
use crate::model::{Group, OsWindow, Tab, Window, lock};
use crate::spawn;
use std::collections::HashMap;

/// Where a new window goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// A group of its own; the word is that of `--location`.
    Beside(&'a str),
    /// On top of the group of this window.
    Over(u64),
}

/// Everything kitty knows.
#[derive(Default)]
pub struct State {
    /// OS windows in the order they were made.
    pub os_windows: Vec<OsWindow>,
    /// Windows by id.
    pub windows: HashMap<u64, Window>,
    /// OS windows by focus, the focused one last.
    pub focus_order: Vec<u64>,
    /// Whether the focused OS window really has the focus of the desktop.
    pub has_focus: bool,
    /// Sessions by the time they were last switched to, the latest last.
    pub session_history: Vec<String>,
    /// Size of an OS window in cells.
    pub size: (u16, u16),
    last_window: u64,
    last_group: u64,
    last_tab: u64,
    last_os_window: u64,
}

impl State {
    /// An empty state with OS windows of `size` cells.
    pub fn new(size: (u16, u16)) -> State {
        State {
            size,
            has_focus: true,
            ..State::default()
        }
    }

    /// The next window id.
    pub fn next_window_id(&mut self) -> u64 {
        self.last_window += 1;
        self.last_window
    }

    /// Adds an empty OS window, which gets the focus.
    pub fn add_os_window(&mut self, class: &str, name: &str) -> u64 {
        self.last_os_window += 1;
        let id = self.last_os_window;
        self.os_windows.push(OsWindow {
            id,
            class: class.to_owned(),
            name: name.to_owned(),
            tabs: Vec::new(),
            active_tab: 0,
            tab_history: Vec::new(),
            platform_id: 0x0080_0000 + id * 13,
        });
        self.focus_os_window(id);
        id
    }

    /// Adds an empty tab at the end of an OS window; `activate` makes it the active one.
    pub fn add_tab(
        &mut self,
        os_window: u64,
        layout: Layout,
        enabled: Vec<String>,
        activate: bool,
    ) -> Option<u64> {
        self.last_tab += 1;
        let id = self.last_tab;
        let os = self.os_windows.iter_mut().find(|o| o.id == os_window)?;
        os.tabs.push(Tab {
            id,
            title: None,
            layout,
            enabled_layouts: enabled,
            groups: Vec::new(),
            active_group: 0,
            group_history: Vec::new(),
        });
        if activate {
            os.activate(os.tabs.len() - 1);
        }
        Some(id)
    }

    /// Puts a window into a tab and makes it active there (unless told to keep the focus).
    pub fn add_window(
        &mut self,
        tab: u64,
        window: Window,
        place: Place<'_>,
        keep_focus: bool,
    ) -> Option<u64> {
        let id = window.id;
        let stack_over = match place {
            Place::Over(w) => Some(w),
            Place::Beside(_) => None,
        };
        let group_id = self.last_group + 1;
        let tab = self.tab_mut(tab)?;
        let over = stack_over.and_then(|w| tab.groups.iter().position(|g| g.windows.contains(&w)));
        if let Some(at) = over {
            tab.groups[at].windows.push(id);
            if !keep_focus {
                tab.activate(at);
            }
        } else {
            let location = match place {
                Place::Beside(l) => l,
                Place::Over(_) => "",
            };
            let active = tab.active_group;
            let beside = tab.groups.get(active).map(|g| g.id);
            let at = match location {
                "first" => 0,
                "before" => active,
                "after" | "neighbor" | "vsplit" | "hsplit" | "split" => active + 1,
                "last" => tab.groups.len(),
                _ if tab.layout.adds_beside_active() => active + 1,
                _ => tab.groups.len(),
            };
            let at = at.min(tab.groups.len());
            tab.groups.insert(
                at,
                Group {
                    id: group_id,
                    windows: vec![id],
                },
            );
            tab.layout.add(group_id, beside, location);
            if tab.groups.len() == 1 {
                tab.group_history = vec![group_id];
                tab.active_group = 0;
            } else {
                if at <= active {
                    tab.active_group += 1;
                }
                if !keep_focus {
                    tab.activate(at);
                }
            }
            self.last_group = group_id;
        }
        self.windows.insert(id, window);
        self.arrange();
        Some(id)
    }

    /// Takes a window out; empty groups, tabs and OS windows go with it.
    pub fn remove_window(&mut self, id: u64) -> Option<Window> {
        let window = self.windows.remove(&id)?;
        for os in &mut self.os_windows {
            for tab in &mut os.tabs {
                let Some(at) = tab.groups.iter().position(|g| g.windows.contains(&id)) else {
                    continue;
                };
                tab.groups[at].windows.retain(|w| *w != id);
                if tab.groups[at].windows.is_empty() {
                    let gone = tab.groups.remove(at).id;
                    tab.layout.remove(gone);
                    tab.group_history.retain(|g| *g != gone);
                    if at < tab.active_group {
                        tab.active_group -= 1;
                    } else if at == tab.active_group {
                        let back = tab.group_history.pop();
                        tab.active_group = back
                            .and_then(|g| tab.groups.iter().position(|x| x.id == g))
                            .unwrap_or_else(|| at.min(tab.groups.len().saturating_sub(1)));
                    }
                }
            }
            if let Some(at) = os.tabs.iter().position(|t| t.groups.is_empty()) {
                let gone = os.tabs.remove(at).id;
                os.tab_history.retain(|t| *t != gone);
                if at < os.active_tab {
                    os.active_tab -= 1;
                } else if at == os.active_tab {
                    let back = os.tab_history.pop();
                    os.active_tab = back
                        .and_then(|t| os.tabs.iter().position(|x| x.id == t))
                        .unwrap_or_else(|| at.min(os.tabs.len().saturating_sub(1)));
                }
            }
        }
        self.os_windows.retain(|o| !o.tabs.is_empty());
        let alive: Vec<u64> = self.os_windows.iter().map(|o| o.id).collect();
        self.focus_order.retain(|o| alive.contains(o));
        self.arrange();
        Some(window)
    }

    /// Gives an OS window the focus.
    pub fn focus_os_window(&mut self, id: u64) {
        self.focus_order.retain(|o| *o != id);
        self.focus_order.push(id);
    }

    /// Gives a window, its tab and its OS window the focus.
    pub fn focus_window(&mut self, id: u64, at: f64) -> bool {
        let Some((o, t)) = self.locate(id) else {
            return false;
        };
        let os = &mut self.os_windows[o];
        os.activate(t);
        let tab = &mut os.tabs[t];
        if let Some(g) = tab.groups.iter().position(|g| g.windows.contains(&id)) {
            tab.activate(g);
            // The window asked for comes to the top of its group.
            let windows = &mut tab.groups[g].windows;
            if windows.last() != Some(&id) {
                windows.retain(|w| *w != id);
                windows.push(id);
            }
        }
        let os_id = os.id;
        self.focus_os_window(os_id);
        if let Some(w) = self.windows.get_mut(&id) {
            w.last_focused_at = at;
            lock(&w.term).bell = false;
        }
        true
    }

    /// The positions of the OS window and tab of a window.
    pub fn locate(&self, window: u64) -> Option<(usize, usize)> {
        self.os_windows.iter().enumerate().find_map(|(o, os)| {
            let t = os
                .tabs
                .iter()
                .position(|t| t.window_ids().any(|w| w == window))?;
            Some((o, t))
        })
    }

    /// A tab by id.
    pub fn tab(&self, id: u64) -> Option<&Tab> {
        self.os_windows
            .iter()
            .flat_map(|o| &o.tabs)
            .find(|t| t.id == id)
    }

    /// A tab by id, to change it.
    pub fn tab_mut(&mut self, id: u64) -> Option<&mut Tab> {
        self.os_windows
            .iter_mut()
            .flat_map(|o| &mut o.tabs)
            .find(|t| t.id == id)
    }

    /// The OS window that has, or last had, the focus.
    pub fn focused_os_window(&self) -> Option<&OsWindow> {
        let id = self.focus_order.last()?;
        self.os_windows.iter().find(|o| o.id == *id)
    }

    /// The active tab of the focused OS window.
    pub fn active_tab(&self) -> Option<&Tab> {
        self.focused_os_window()?.active()
    }

    /// The active window.
    pub fn active_window(&self) -> Option<u64> {
        self.active_tab()?.active_window()
    }

    /// Ids of all windows: OS windows, tabs and groups in order.
    pub fn window_ids(&self) -> Vec<u64> {
        self.os_windows
            .iter()
            .flat_map(|o| &o.tabs)
            .flat_map(Tab::window_ids)
            .collect()
    }

    /// OS windows as the saver sorts them: by creation, the one focused before next to last, the focused last.
    pub fn in_save_order(&self) -> Vec<&OsWindow> {
        let n = self.focus_order.len();
        let weight = |id: u64| match self.focus_order.iter().position(|o| *o == id) {
            Some(at) if at + 1 == n => 2,
            Some(at) if at + 2 == n => 1,
            _ => 0,
        };
        let mut all: Vec<&OsWindow> = self.os_windows.iter().collect();
        all.sort_by_key(|o| weight(o.id));
        all
    }

    /// The area of a tab's groups; a tab bar takes one line when there are two tabs.
    pub fn places(&self, os: &OsWindow, tab: &Tab) -> HashMap<u64, Rect> {
        let groups: Vec<u64> = tab.groups.iter().map(|g| g.id).collect();
        let bar = u16::from(os.tabs.len() > 1);
        tab.layout
            .place(&groups, self.size.0, self.size.1.saturating_sub(bar).max(1))
    }

    /// Gives every window the size its place has now.
    pub fn arrange(&mut self) {
        let mut sizes = Vec::new();
        for os in &self.os_windows {
            for tab in &os.tabs {
                let places = self.places(os, tab);
                for g in &tab.groups {
                    if let Some(r) = places.get(&g.id) {
                        sizes.extend(g.windows.iter().map(|w| (*w, (r.w.max(1), r.h.max(1)))));
                    }
                }
            }
        }
        for (id, size) in sizes {
            let Some(w) = self.windows.get_mut(&id).filter(|w| w.size != size) else {
                continue;
            };
            w.size = size;
            lock(&w.term).resize(size.0, size.1);
            if let Some(fd) = &w.terminal {
                let _ = spawn::set_size(fd, size);
            }
        }
    }

    /// The size a new window in `tab` would have at most.
    pub fn first_size(&self) -> (u16, u16) {
        self.size
    }
}
