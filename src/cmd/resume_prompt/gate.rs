//! "Resume all": the other prompts of one restore go one after the other, with a gap, for two
//! minutes. And the mark by which a start-up file's second question knows that an agent failed at once.

use std::time::Duration;

use nanoserde::DeJson;

use crate::keep::state::State;
use crate::sys::clock;
use crate::sys::json::{self, Object};
use crate::sys::lock::Lock;
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

const FILE: &str = "resume-all-until";

/// How long the permission lasts, nanoseconds of the boot clock.
const LASTS_NS: u64 = 120_000_000_000;

/// How soon a failure is a failure to start.
const AT_ONCE_NS: u64 = 3_000_000_000;

#[derive(DeJson)]
struct Permission {
    save: String,
    kitty: i32,
    boot: String,
    until: u64,
}

/// Permits all prompts of this save in this kitty, and wakes those that wait.
pub fn open(state: &State, save: &str) {
    let text = Object::new()
        .number("v", 1)
        .text("save", save)
        .number(
            "kitty",
            u64::try_from(kitty_of(proc::me().pid)).unwrap_or(0),
        )
        .text("boot", &clock::boot8())
        .number("until", clock::boot_ns() + LASTS_NS)
        .finish();
    if state.dir.write(FILE, text.as_bytes()).is_err() {
        return;
    }
    // A size change is a signal that no program minds: one that became its agent meanwhile ignores it.
    for pid in proc::own_pids() {
        let Look::Found(argv) = proc::argv(pid) else {
            continue;
        };
        if argv.get(1).is_some_and(|w| w == "resume-prompt")
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::WINCH);
        }
    }
}

/// Whether this prompt may go without being asked.
#[must_use]
pub fn is_open(state: &State, save: &str) -> bool {
    let Ok(Some(bytes)) = state.dir.read(FILE, 4096) else {
        return false;
    };
    let Ok(p) = json::decode::<Permission>(&bytes, 4096) else {
        return false;
    };
    let now = clock::boot_ns();
    p.save == save
        && !save.is_empty()
        && p.boot == clock::boot8()
        && p.until > now
        && p.until <= now + LASTS_NS
        && p.kitty == kitty_of(proc::me().pid)
}

/// The kitty a process runs in: the one among its ancestors, else what its environment says.
fn kitty_of(pid: i32) -> i32 {
    let above = proc::ancestors(pid)
        .into_iter()
        .find(|s| s.comm == "kitty")
        .map(|s| s.id.pid);
    above
        .or_else(|| {
            let set = proc::environ(pid, &["KITTY_PID"]).found()?;
            set.first()?.1.parse().ok()
        })
        .unwrap_or(0)
}

/// The turn of one prompt among those that were permitted together; held until `exec`.
#[derive(Debug)]
pub struct Gate {
    _lock: Lock,
}

impl Gate {
    /// Waits for our turn, and then the gap, while a permission for this save is open.
    #[must_use]
    pub fn pass(state: &State, save: &str) -> Option<Self> {
        if !is_open(state, save) {
            return None;
        }
        let dir = state.dir.sub("locks").ok()?;
        let lock = Lock::take(&dir, "resume-all", Duration::from_secs(120)).ok()?;
        std::thread::sleep(Duration::from_millis(fastrand::u64(300..=700)));
        Some(Self { _lock: lock })
    }
}

/// Notes that the agent starts now, for the shell above us.
pub fn note_start(state: &State) {
    let Some(shell) = shell_above() else { return };
    let text = Object::new()
        .number("v", 1)
        .number("at", clock::boot_ns())
        .finish();
    if let Ok(dir) = state.claims() {
        let _ = dir.write(&start_name(shell), text.as_bytes());
    }
}

/// How long the agent lasted that the shell above us ran, when it failed within moments; seconds.
#[must_use]
pub fn failed_at_once(state: Option<&State>, status: i32) -> Option<f64> {
    let dir = state?.claims().ok()?;
    let name = start_name(shell_above()?);
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

fn start_name(shell: ProcId) -> String {
    format!(".start-{}-{}", shell.pid, shell.start)
}

fn shell_above() -> Option<ProcId> {
    let parent = proc::stat(proc::me().pid)?.parent;
    proc::start(parent).map(|start| ProcId { pid: parent, start })
}
