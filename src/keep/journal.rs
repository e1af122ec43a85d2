//! The journal: which agent sessions there were, what was done in them, and which are still open.
//!
//! `agent-sessions.json`, one record for each agent session. Every kittymux that looks at the desk
//! adds what it saw, under a lock and to what stands in the file then, so counts add up and no stale
//! copy wins. The decisions are pure: [`observe`], [`document`] and [`prune`].

pub mod count;
pub mod document;
pub mod observe;
pub mod prune;
pub mod session;

#[cfg(test)]
mod scene;

use std::time::Duration;

pub use count::{counted_to, progress};
pub use document::Journal;
pub use observe::{Observation, World, absorb, digest, due, observe};
pub use session::{Owner, Progress, Session};

use super::state::State;
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::Outcome;
use crate::sys::lock::Lock;

/// The file.
pub const FILE: &str = "agent-sessions.json";

/// The largest file that is read.
const LIMIT: usize = 16 << 20;

/// How long an update waits for another one.
const WAIT: Duration = Duration::from_secs(2);

/// Whether nothing is to be written down (`KITTYMUX_JOURNAL=0`, or the file `journal-off`).
#[must_use]
pub fn is_off(state: &State) -> bool {
    dirs::var("KITTYMUX_JOURNAL").is_some_and(|v| v == "0") || state.has("journal-off")
}

/// What stands in the journal. No lock is needed: the file is replaced whole. One that cannot be
/// read counts as empty, what is still whole in a broken one is there.
#[must_use]
pub fn read(state: &State) -> Journal {
    match state.dir.read(FILE, LIMIT) {
        Ok(Some(bytes)) => Journal::read(&bytes),
        _ => Journal::default(),
    }
}

/// Changes the journal under its lock. `change` gets what stands in the file and says whether it
/// changed anything; else nothing is written. A broken file is put aside, with what is whole in it
/// carried over.
///
/// # Errors
/// When another process holds the lock for 2 s, or the file cannot be read or written; then it
/// stands as it was.
pub fn update(state: &State, change: impl FnOnce(&mut Journal) -> bool) -> Outcome<()> {
    if is_off(state) {
        return Ok(());
    }
    let locks = state.dir.sub("locks")?;
    let _lock = Lock::take(&locks, "journal", WAIT)?;
    let too_large = std::fs::symlink_metadata(state.dir.join(FILE))
        .is_ok_and(|m| m.is_file() && m.len() > LIMIT as u64);
    let mut journal = if too_large {
        Journal::read(b"")
    } else {
        match state.dir.read(FILE, LIMIT)? {
            Some(bytes) => Journal::read(&bytes),
            None => Journal::default(),
        }
    };
    let now = clock::wall_ns();
    let carried = journal.is_broken();
    if carried {
        put_aside(state, now)?;
    }
    if change(&mut journal) || carried {
        prune::prune(&mut journal, now);
        state.dir.write(FILE, &journal.bytes())?;
    }
    Ok(())
}

/// Renames the file to `agent-sessions.bad-<time>.json`, numbered where that is taken.
fn put_aside(state: &State, now: u64) -> Outcome<()> {
    let digits: String = clock::rfc3339(now)
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    let mut name = format!("agent-sessions.bad-{digits}.json");
    let mut n = 1;
    while !state.dir.put_aside(FILE, &name)? {
        n += 1;
        name = format!("agent-sessions.bad-{digits}-{n}.json");
    }
    Ok(())
}

#[cfg(test)]
#[path = "journal/file_tests.rs"]
mod tests;
