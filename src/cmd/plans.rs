//! `plan.json`: the last plan of each kitty, kept for when its processes are gone.

use std::time::Duration;

use super::desk::Desk;
use super::look::SeenKitty;
use crate::agents::window::State as JobState;
use crate::keep::state::State;
use crate::kitty::tree::{self, OsWindow};
use crate::resume::last_plan::{self, LIMIT, LastPlan, LastWindow};
use crate::resume::plan::WindowKey;
use crate::resume::window::{Runs, Seen};
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::lock::Lock;
use crate::sys::proc::{self, ProcId};

const FILE: &str = "plan.json";

/// How many plans of kitties that are gone stay: what their end left may still be worked up.
const GONE: usize = 6;

/// The last plan of each kitty of this boot.
#[must_use]
pub fn read(state: &State) -> Vec<LastPlan> {
    of_boot(state, &clock::boot8())
}

/// Those of a boot; none where what is there is of another.
#[must_use]
pub fn of_boot(state: &State, boot: &str) -> Vec<LastPlan> {
    let Ok(Some(bytes)) = state.dir.read(FILE, LIMIT) else {
        return Vec::new();
    };
    last_plan::read(&bytes, boot).unwrap_or_default()
}

/// Remembers what was just seen of these kitties.
///
/// # Errors
/// When it cannot be written.
pub fn remember(state: &State, kitties: &[SeenKitty], desk: &Desk) -> Outcome<()> {
    let locks = state.dir.sub("locks")?;
    let _lock = Lock::take(&locks, "plan", Duration::from_secs(2))?;
    let now = clock::boot_ns();
    let before = read(state);
    let mut plans: Vec<LastPlan> = kitties
        .iter()
        .map(|k| of_kitty(k.process, &k.tree, desk, now))
        .collect();
    let unseen = before
        .iter()
        .filter(|p| kitties.iter().all(|k| k.process != p.kitty));
    let (running, mut gone): (Vec<&LastPlan>, Vec<&LastPlan>) =
        unseen.partition(|p| proc::is_running(p.kitty));
    gone.sort_by_key(|p| std::cmp::Reverse(p.up));
    plans.extend(
        running
            .into_iter()
            .chain(gone.into_iter().take(GONE))
            .cloned(),
    );
    let same = |a: &LastPlan, b: &LastPlan| a.kitty == b.kitty && a.windows == b.windows;
    if plans.len() == before.len() && plans.iter().all(|p| before.iter().any(|b| same(p, b))) {
        return Ok(());
    }
    let text = last_plan::text(&clock::boot8(), &plans);
    state.dir.write_unsynced(FILE, text.as_bytes())
}

fn of_kitty(kitty: ProcId, tree: &[OsWindow], desk: &Desk, up: u64) -> LastPlan {
    let windows = tree::windows(tree).filter_map(|place| {
        let key = WindowKey {
            kitty,
            window: place.window.id,
        };
        let pid = place.window.pid?;
        Some(LastWindow {
            window: place.window.id,
            child: proc::start(pid).map(|start| ProcId { pid, start }),
            agent: desk
                .processes
                .get(&key)
                .map(|(process, job)| (*process, *job == JobState::Stopped)),
            open: desk.open.get(&key).cloned(),
            seen: seen(desk.windows.get(&key)?),
        })
    });
    LastPlan {
        kitty,
        up,
        windows: windows.collect(),
    }
}

/// What is kept of what was seen: not what an agent was called with, which may hold secrets.
fn seen(seen: &Seen) -> Seen {
    let mut seen = seen.clone();
    if seen.runs != Runs::Other {
        seen.foreground = None;
    }
    seen
}
