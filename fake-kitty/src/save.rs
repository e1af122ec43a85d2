//! kitty's saver: the text of a session file, faults included.

use crate::inspect;
use crate::json;
use crate::model::{OsWindow, Tab, Window, lock};
use crate::procfs::{self, Groups};
use crate::state::State;
use crate::text;
use crate::words;
use std::collections::HashMap;

/// What is saved, and how.
#[derive(Debug, Default)]
pub struct Wanted {
    /// `--use-foreground-process`.
    pub foreground: bool,
    /// Only these windows; `None` is all.
    pub windows: Option<Vec<u64>>,
    /// Directories that stand in for those kitty would read, by window.
    pub directories: HashMap<u64, String>,
    /// With `--relocatable`: the directory the file will lie in.
    pub relative_to: Option<String>,
}

impl Wanted {
    fn has(&self, id: u64) -> bool {
        self.windows.as_ref().is_none_or(|w| w.contains(&id))
    }
}

/// The whole file: OS windows in the saver's order, each but the first begun by `new_os_window` — also when
/// nothing was left of the first.
///
/// # Errors
/// kitty's message when a directory at a prompt is not UTF-8.
pub fn desk(state: &State, wanted: &Wanted) -> Result<String, String> {
    let groups = Groups::read();
    let mut lines = Vec::new();
    for (i, os) in state.in_save_order().into_iter().enumerate() {
        lines.extend(os_window(state, os, wanted, &groups, i == 0)?);
    }
    Ok(lines.join("\n"))
}

/// The lines of one OS window, none when nothing in it is wanted.
///
/// # Errors
/// As [`desk`].
pub fn os_window(
    state: &State,
    os: &OsWindow,
    wanted: &Wanted,
    groups: &Groups,
    first: bool,
) -> Result<Vec<String>, String> {
    let mut tabs = Vec::new();
    for tab in &os.tabs {
        tabs.extend(tab_lines(state, tab, wanted, groups)?);
    }
    if tabs.is_empty() {
        return Ok(tabs);
    }
    let mut out: Vec<String> = Vec::new();
    if !first {
        out.extend([String::new(), String::new(), "new_os_window".into()]);
    }
    if os.class != "kitty" {
        out.push(format!("os_window_class {}", os.class));
    }
    if os.name != "kitty" {
        out.push(format!("os_window_name {}", os.name));
    }
    out.extend(tabs);
    out.push(String::new());
    out.push(format!("focus_tab {}", os.active_tab));
    Ok(out)
}

fn tab_lines(
    state: &State,
    tab: &Tab,
    wanted: &Wanted,
    groups: &Groups,
) -> Result<Vec<String>, String> {
    // The directory of every window is asked for before any is left out, so one bad one fails all.
    let mut directories: HashMap<u64, String> = HashMap::new();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for id in tab.window_ids() {
        let Some(w) = state.windows.get(&id) else {
            continue;
        };
        let dir = match wanted.directories.get(&id) {
            Some(given) => given.clone(),
            None => inspect::save_directory(w, groups)?,
        };
        match counts.iter_mut().find(|(d, _)| *d == dir) {
            Some((_, n)) => *n += 1,
            None => counts.push((dir.clone(), 1)),
        }
        directories.insert(id, dir);
    }
    let mut common: Option<&(String, usize)> = None;
    for entry in &counts {
        if common.is_none_or(|c| entry.1 > c.1) {
            common = Some(entry);
        }
    }
    let common = common.map(|(d, _)| d.clone()).unwrap_or_default();

    let mut windows = Vec::new();
    for (i, g) in tab.groups.iter().enumerate() {
        let before = windows.len();
        for w in g
            .windows
            .iter()
            .filter(|id| wanted.has(**id))
            .filter_map(|id| state.windows.get(id))
        {
            if !w.utility {
                windows.push(launch_line(w, &directories[&w.id], &common, wanted, groups));
            }
        }
        if i == tab.active_group && windows.len() > before {
            windows.push("focus".into());
        }
    }
    if windows.is_empty() {
        return Ok(windows);
    }
    let title = tab.title.as_deref().unwrap_or_default();
    let mut out = vec![String::new()];
    out.push(text::strip_end(&format!("new_tab {title}")).to_owned());
    out.push(format!("layout {}", tab.layout.name));
    out.push(format!("enabled_layouts {}", tab.enabled_layouts.join(",")));
    out.push(format!(
        "set_layout_state {}",
        json::dumps(&tab.layout_state())
    ));
    out.push(format!("cd {}", relocated(&common, wanted)));
    out.push(String::new());
    out.extend(windows);
    Ok(out)
}

/// A path as seen from the directory of the file, with `--relocatable`.
fn relocated(path: &str, wanted: &Wanted) -> String {
    let Some(base) = &wanted.relative_to else {
        return path.to_owned();
    };
    let split = |p: &str| {
        p.split('/')
            .filter(|s| !s.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (from, to) = (split(base), split(path));
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut parts = vec!["..".to_owned(); from.len() - same];
    parts.extend(to[same..].iter().cloned());
    if parts.is_empty() {
        ".".into()
    } else {
        parts.join("/")
    }
}

fn launch_line(
    w: &Window,
    directory: &str,
    common: &str,
    wanted: &Wanted,
    groups: &Groups,
) -> String {
    let c = &w.created;
    let mut data = format!("{{\"id\": {}", w.id);
    if wanted.foreground
        && c.command.is_none()
        && let Some(startup) = startup(w, groups)
    {
        data.push_str(&format!(", \"cmd_at_shell_startup\": {startup}"));
    }
    data.push('}');
    let mut line = vec![
        "launch".to_owned(),
        format!("kitty-unserialize-data={data}"),
    ];
    if directory != common {
        line.push(format!("--cwd={}", relocated(directory, wanted)));
    }
    if c.allow_remote_control {
        line.push("--allow-remote-control".into());
        line.extend(
            c.passwords
                .iter()
                .map(|p| format!("--remote-control-password={p}")),
        );
    }
    line.extend(c.env.iter().map(|(k, v)| {
        let v = v.as_deref().unwrap_or("_delete_this_env_var_");
        format!("--env={k}={v}")
    }));
    line.extend(c.colors.iter().map(|v| format!("--color={v}")));
    line.extend(c.watchers.iter().map(|v| format!("--watcher={v}")));
    if c.hold {
        line.push("--hold".into());
    }
    line.extend(
        lock(&w.term)
            .user_vars
            .iter()
            .map(|(k, v)| format!("--var={k}={v}")),
    );
    if let Some(title) = &w.title {
        line.push(format!("--title={title}"));
    }
    if let Some(overlay) = c.overlay {
        line.push(format!("--type={overlay}"));
    }
    line.extend(c.command.iter().flatten().cloned());
    words::join(&line)
}

/// `cmd_at_shell_startup` as JSON: the reported line while a command runs; where nothing was reported, the
/// arguments of the last foreground process unless that is the shell itself.
fn startup(w: &Window, groups: &Groups) -> Option<String> {
    let term = lock(&w.term);
    if term.at_prompt() {
        return None;
    }
    let pids = inspect::foreground_pids(w, groups);
    let other = pids.last().is_some_and(|p| *p != w.pid);
    if w.integrated && !term.last_command.is_empty() {
        // A process kitty cannot see in the group (its name has a blank) runs all the same.
        return (other || pids.is_empty()).then(|| json::quote(&term.last_command));
    }
    drop(term);
    let pid = *pids.last().filter(|_| other)?;
    let mut argv = procfs::command_line(pid);
    let first = argv.first_mut()?;
    if !first.starts_with('/')
        && let Some(file) = procfs::program(pid)
    {
        *first = file;
    }
    Some(json::dumps(&serde_json::json!(argv)))
}
