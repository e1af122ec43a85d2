//! The mark by which a start-up file's second question knows that an agent failed at once.

use crate::keep::state::State;
use crate::sys::clock;
use crate::sys::json::{self, Object};
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};

/// How soon a failure is a failure to start.
const AT_ONCE_NS: u64 = 3_000_000_000;

const PREFIX: &str = ".start-";

/// Notes that the agent starts now, for the shell above us. A window's own process has none.
pub fn note_start(state: &State) {
    let Some(shell) = shell_above() else { return };
    let Ok(dir) = state.claims() else { return };
    forget_gone(&dir);
    let text = Object::new()
        .number("v", 1)
        .number("at", clock::boot_ns())
        .finish();
    let _ = dir.write(&name_of(shell), text.as_bytes());
}

/// How long the agent lasted that the shell above us ran, when it failed within moments; seconds.
#[must_use]
pub fn failed_at_once(state: Option<&State>, status: i32) -> Option<f64> {
    let dir = state?.claims().ok()?;
    let name = name_of(shell_above()?);
    let bytes = dir.read(&name, 4096).ok()??;
    let _ = dir.remove(&name);
    // Ended by a signal, or by the person: nothing failed.
    if status == 0 || status > 128 {
        return None;
    }
    let value = json::parse(&bytes, 4096).ok()?;
    let at = json::number_at(&value, "at")?;
    #[allow(clippy::cast_precision_loss)]
    // nanoseconds since boot: exact to a microsecond for years
    let lasted = clock::boot_ns() as f64 - at;
    #[allow(clippy::cast_precision_loss)]
    let soon = lasted >= 0.0 && lasted < AT_ONCE_NS as f64;
    soon.then_some(lasted / 1e9)
}

/// Removes the marks of shells that are gone.
fn forget_gone(dir: &PrivateDir) {
    for name in dir.names().unwrap_or_default() {
        let shell = name.strip_prefix(PREFIX).and_then(|rest| {
            let (pid, start) = rest.split_once('-')?;
            Some(ProcId {
                pid: pid.parse().ok()?,
                start: start.parse().ok()?,
            })
        });
        if shell.is_some_and(|id| !proc::is_same(id)) {
            let _ = dir.remove(&name);
        }
    }
}

fn name_of(shell: ProcId) -> String {
    format!("{PREFIX}{}-{}", shell.pid, shell.start)
}

fn shell_above() -> Option<ProcId> {
    let me = proc::stat(proc::me().pid)?;
    if me.session == me.id.pid {
        return None;
    }
    proc::start(me.parent).map(|start| ProcId {
        pid: me.parent,
        start,
    })
}
