//! The processes of one window, as the kernel has them now.

use std::collections::HashSet;

use crate::sys::proc::{Held, Process};

/// How many processes of one window are looked at.
const MOST: usize = 512;

/// The processes of the session that `window_pid` leads: the process itself, what descends from it,
/// and the terminal's foreground group, the window's own first.
///
/// kitty lists the foreground group only, so a stopped agent is missing there; a pass over all of
/// `/proc` would cost too much.
#[must_use]
pub fn processes(window_pid: i32) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut seen = HashSet::new();
    let mut due = vec![window_pid];
    while let Some(pid) = due.pop() {
        if found.len() == MOST || pid <= 0 || !seen.insert(pid) {
            continue;
        }
        let Some(held) = Held::open(pid).filter(|h| h.stat().session == window_pid) else {
            continue;
        };
        if let Some(process) = held.process() {
            // A job whose parent is gone is no descendant any more, but may still be in front.
            due.push(process.stat.foreground);
            due.extend(held.children());
            found.push(process);
        }
    }
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::sys::proc;

    #[test]
    fn a_process_that_leads_no_session_has_none() {
        let me = proc::me().pid;
        let session = proc::stat(me).expect("a stat").session;
        let found = processes(session);
        assert!(found.iter().all(|p| p.stat.session == session));
        assert!(processes(999_999_999).is_empty());
        if session != me {
            assert!(processes(me).is_empty());
        }
    }
}
