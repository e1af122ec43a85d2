//! "Resume all": the other prompts of one restore go one after the other, with a gap, for two
//! minutes.

use std::time::Duration;

use nanoserde::DeJson;

use crate::keep::state::State;
use crate::sys::clock;
use crate::sys::json::{self, Object};
use crate::sys::lock::Lock;
use crate::sys::look::Look;
use crate::sys::proc;

const FILE: &str = "resume-all-until";

/// How long the permission lasts, nanoseconds of the boot clock.
const LASTS_NS: u64 = 120_000_000_000;

#[derive(DeJson)]
struct Permission {
    save: String,
    kitty: i32,
    boot: String,
    until: u64,
}

/// Permits all prompts of this save in this kitty, and wakes those that wait. Whoever permits goes
/// first: gives that turn.
pub fn open(state: &State, save: &str) -> Option<Lock> {
    let turn = try_turn(state);
    let kitty = kitty_of(proc::me().pid);
    let text = Object::new()
        .number("v", 1)
        .text("save", save)
        .number("kitty", u64::try_from(kitty).unwrap_or(0))
        .text("boot", &clock::boot8())
        .number("until", clock::boot_ns() + LASTS_NS)
        .finish();
    if state.dir.write(FILE, text.as_bytes()).is_ok() {
        wake_prompts();
    }
    turn
}

/// A size change is a signal that no program minds: one that became its agent meanwhile ignores it.
fn wake_prompts() {
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

/// The turn among the prompts that were permitted together, when it is free; held until `exec`.
#[must_use]
pub fn try_turn(state: &State) -> Option<Lock> {
    let dir = state.dir.sub("locks").ok()?;
    Lock::try_take(&dir, "resume-all").ok()?
}

/// How long to wait before the next one starts.
#[must_use]
pub fn gap() -> Duration {
    Duration::from_millis(300 + crate::sys::token::random() % 401)
}
