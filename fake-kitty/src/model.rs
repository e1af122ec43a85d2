//! What a kitty consists of: windows in groups in tabs in OS windows.

use crate::layout::Layout;
use crate::term::Term;
use serde_json::{Value, json};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic elsewhere.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a window was created: what the saver writes again.
#[derive(Debug, Clone, Default)]
pub struct Created {
    /// The program, when it is not exactly kitty's shell; its file name looked up.
    pub command: Option<Vec<String>>,
    /// `--allow-remote-control`.
    pub allow_remote_control: bool,
    /// `--remote-control-password`, in order.
    pub passwords: Vec<String>,
    /// `--env` after expansion; `None` removes the variable.
    pub env: Vec<(String, Option<String>)>,
    /// `--color`, in order.
    pub colors: Vec<String>,
    /// `--watcher`, in order.
    pub watchers: Vec<String>,
    /// `--hold`.
    pub hold: bool,
    /// `overlay` or `overlay-main`.
    pub overlay: Option<&'static str>,
}

/// A window.
pub struct Window {
    /// Its id, never used again.
    pub id: u64,
    /// How it was made.
    pub created: Created,
    /// The child process.
    pub pid: i64,
    /// The master side of its terminal.
    pub terminal: Option<Arc<OwnedFd>>,
    /// What it shows.
    pub term: Arc<Mutex<Term>>,
    /// Nanoseconds since the epoch.
    pub created_at: u64,
    /// Seconds since kitty started.
    pub last_focused_at: f64,
    /// A title set by hand.
    pub title: Option<String>,
    /// The session it came from.
    pub session: String,
    /// The directory it was started in.
    pub start_directory: String,
    /// The file name of the program it was started with: the title until another is set.
    pub default_title: String,
    /// The environment it was started with, for when it cannot be read any more.
    pub environment: Vec<(String, String)>,
    /// One of kitty's own windows (error, question): never saved.
    pub utility: bool,
    /// Whether kitty's shell integration was put into it.
    pub integrated: bool,
    /// Its size in cells.
    pub size: (u16, u16),
    /// Last directory seen, for when it is gone.
    pub last_directory: Mutex<Option<String>>,
}

impl Window {
    /// The title people see.
    pub fn shown_title(&self) -> String {
        self.title
            .clone()
            .or_else(|| lock(&self.term).title.clone())
            .unwrap_or_else(|| self.default_title.clone())
    }
}

/// Windows on top of each other: a base and its overlays, the topmost last.
#[derive(Debug, Clone)]
pub struct Group {
    /// Its id.
    pub id: u64,
    /// Its windows.
    pub windows: Vec<u64>,
}

/// A tab.
#[derive(Debug, Clone)]
pub struct Tab {
    /// Its id.
    pub id: u64,
    /// A title set by hand.
    pub title: Option<String>,
    /// The layout in use.
    pub layout: Layout,
    /// The layouts that may be used.
    pub enabled_layouts: Vec<String>,
    /// The groups, in order.
    pub groups: Vec<Group>,
    /// Which group is active.
    pub active_group: usize,
    /// Groups that were active before, the latest last.
    pub group_history: Vec<u64>,
}

impl Tab {
    /// The ids of all windows, group by group.
    pub fn window_ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.groups.iter().flat_map(|g| g.windows.iter().copied())
    }

    /// The active window: the topmost of the active group.
    pub fn active_window(&self) -> Option<u64> {
        self.groups.get(self.active_group)?.windows.last().copied()
    }

    /// Makes a group the active one.
    pub fn activate(&mut self, index: usize) {
        if let Some(now) = self.groups.get(self.active_group).map(|g| g.id)
            && index != self.active_group
        {
            self.group_history.retain(|g| *g != now);
            self.group_history.push(now);
        }
        self.active_group = index.min(self.groups.len().saturating_sub(1));
    }

    /// The part about windows of a saved layout state.
    pub fn all_windows(&self) -> Value {
        let groups: Vec<Value> = self
            .groups
            .iter()
            .map(|g| json!({"id": g.id, "window_ids": g.windows}))
            .collect();
        json!({
            "active_group_idx": self.active_group,
            "active_group_history": self.group_history,
            "window_groups": groups,
        })
    }

    /// The layout's state as kitty saves it.
    pub fn layout_state(&self) -> Value {
        self.layout.state(self.all_windows())
    }
}

/// An OS window.
#[derive(Debug, Clone)]
pub struct OsWindow {
    /// Its id.
    pub id: u64,
    /// Its class.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its tabs, in order.
    pub tabs: Vec<Tab>,
    /// Which tab is active.
    pub active_tab: usize,
    /// Tabs that were active before, the latest last.
    pub tab_history: Vec<u64>,
    /// The window system's number.
    pub platform_id: u64,
}

impl OsWindow {
    /// The active tab.
    pub fn active(&self) -> Option<&Tab> {
        self.tabs.get(self.active_tab)
    }

    /// Makes a tab the active one.
    pub fn activate(&mut self, index: usize) {
        if let Some(now) = self.active().map(|t| t.id)
            && index != self.active_tab
        {
            self.tab_history.retain(|t| *t != now);
            self.tab_history.push(now);
        }
        self.active_tab = index.min(self.tabs.len().saturating_sub(1));
    }
}
