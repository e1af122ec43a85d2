//! Looking into a window's processes: what `ls` and the saver both need.

use crate::model::{Window, lock};
use crate::procfs::{self, Groups};
use crate::state::State;
use crate::text;

/// One process of a window's foreground group.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its pid.
    pub pid: i64,
    /// Its arguments, kitty's way.
    pub argv: Vec<String>,
    /// Its directory.
    pub cwd: Option<String>,
}

/// The pids of the foreground group of a window's terminal, ascending.
pub fn foreground_pids(window: &Window, groups: &Groups) -> Vec<i64> {
    let Some(fd) = &window.terminal else {
        return Vec::new();
    };
    match rustix::termios::tcgetpgrp(fd) {
        Ok(group) => groups
            .members(i64::from(group.as_raw_nonzero().get()))
            .to_vec(),
        Err(_) => Vec::new(),
    }
}

/// The foreground processes of a window.
pub fn foreground(window: &Window, groups: &Groups) -> Vec<Process> {
    foreground_pids(window, groups)
        .into_iter()
        .map(|pid| Process {
            pid,
            argv: procfs::command_line(pid),
            cwd: procfs::directory(pid),
        })
        .collect()
}

/// The directory `ls` shows: that of the window's child, else the last one known.
pub fn directory(window: &Window) -> String {
    let now = procfs::directory(window.pid);
    let mut last = lock(&window.last_directory);
    if now.is_some() {
        last.clone_from(&now);
    }
    now.or_else(|| last.clone())
        .unwrap_or_else(|| window.start_directory.clone())
}

/// The raw bytes of the directory the saver uses: what the shell reported at its prompt, else that of the
/// newest foreground process, else that of the child.
pub fn save_directory_bytes(window: &Window, groups: &Groups) -> Vec<u8> {
    let term = lock(&window.term);
    if term.at_prompt()
        && let Some(reported) = &term.reported_directory
    {
        return reported.clone();
    }
    drop(term);
    foreground_pids(window, groups)
        .last()
        .and_then(|pid| procfs::directory_bytes(*pid))
        .or_else(|| procfs::directory_bytes(window.pid))
        .unwrap_or_else(|| text::to_os(&window.start_directory).unwrap_or_default())
}

/// The directory the saver writes.
///
/// # Errors
/// At a prompt kitty decodes the reported directory strictly: its message when that is not UTF-8.
pub fn save_directory(window: &Window, groups: &Groups) -> Result<String, String> {
    let bytes = save_directory_bytes(window, groups);
    let term = lock(&window.term);
    if term.at_prompt() && term.reported_directory.is_some() {
        text::decode_strict(&bytes)?;
    }
    Ok(text::from_os(&bytes))
}

/// kitty's `at_prompt` of a window; its own windows always say true.
pub fn at_prompt(window: &Window) -> bool {
    window.utility || lock(&window.term).at_prompt()
}

/// The environment of a window's child.
pub fn environment(window: &Window) -> Vec<(String, String)> {
    procfs::environment(window.pid)
        .filter(|e| !e.is_empty())
        .unwrap_or_else(|| window.environment.clone())
}

/// All windows of the state, by id.
pub fn windows(state: &State) -> Vec<&Window> {
    state
        .window_ids()
        .into_iter()
        .filter_map(|id| state.windows.get(&id))
        .collect()
}
