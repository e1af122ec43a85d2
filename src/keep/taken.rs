//! Marks of desks that were opened again: *taken* by a kitty the moment its file was loaded,
//! *restored* once that kitty has a save of its own that shows the windows.
//!
//! One small file per save, `sessions/.taken/<save id>`; the save itself is never touched.

#![allow(clippy::question_mark)] // in what the derive of DeJson writes

use nanoserde::DeJson;

use super::state::State;
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};
use crate::sys::token::is_token;

const DIR: &str = ".taken";

/// The largest mark we read.
const LIMIT: usize = 4096;

/// How a save stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nobody has it.
    Free,
    /// This kitty, which runs, has opened it and not yet saved it as its own.
    Taken(ProcId),
    /// It lives on in a later save.
    Restored,
}

/// A mark as it is written.
#[derive(Debug, Clone, PartialEq, Eq, DeJson, Default)]
#[nserde(default)]
struct Entry {
    v: u64,
    pid: i32,
    start: u64,
    boot: String,
    host: String,
    windows: String,
    /// How many windows it has.
    count: u64,
    restored: bool,
    /// When it was taken last, on the boot clock of `boot`; 0: never.
    taken: u64,
    /// How often it was taken.
    tries: u64,
    /// Boot, and when on its clock, it was first seen that its kitty is gone.
    ended_boot: String,
    ended: u64,
}

impl Entry {
    fn mark(&self) -> Mark {
        let kitty = ProcId {
            pid: self.pid,
            start: self.start,
        };
        let here = self.host == clock::host8();
        if self.restored {
            Mark::Restored
        } else if self.tries == 0 {
            Mark::Free
        } else if !here || (self.boot == clock::boot8() && proc::is_running(kitty)) {
            // Whether a kitty of another machine runs cannot be seen from here.
            Mark::Taken(kitty)
        } else {
            Mark::Free
        }
    }

    fn text(&self) -> String {
        Object::new()
            .number("v", 1)
            .number("pid", u64::try_from(self.pid).unwrap_or(0))
            .number("start", self.start)
            .text("boot", &self.boot)
            .text("host", &self.host)
            .text("windows", &self.windows)
            .number("count", self.count)
            .flag("restored", self.restored)
            .number("taken", self.taken)
            .number("tries", self.tries)
            .text("ended_boot", &self.ended_boot)
            .number("ended", self.ended)
            .finish()
    }
}

/// The marks.
#[derive(Debug)]
pub struct Marks {
    dir: Option<PrivateDir>,
}

impl Marks {
    /// Those of this state directory.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let path = state.dir.join("sessions").join(DIR);
        Self {
            dir: PrivateDir::existing(&path).ok().flatten(),
        }
    }

    fn entry(&self, save: &str) -> Option<Entry> {
        if !is_token(save) {
            return None;
        }
        let bytes = self.dir.as_ref()?.read(save, LIMIT).ok()??;
        json::decode(&bytes, LIMIT).ok()
    }

    /// How the save of this id stands.
    #[must_use]
    pub fn get(&self, save: &str) -> Mark {
        self.entry(save).map_or(Mark::Free, |e| e.mark())
    }

    /// Who has taken the save whose windows carry `windows`: the save's id, and how it stands.
    #[must_use]
    pub fn by_windows(&self, windows: &str) -> Option<(String, Mark)> {
        let names = self.dir.as_ref()?.names().ok()?;
        names.into_iter().find_map(|save| {
            let entry = self.entry(&save).filter(|e| e.windows == windows)?;
            Some((save, entry.mark()))
        })
    }

    /// The save's windows are shown, all of them, by a save of the kitty that took it: gives the ids
    /// of the saves that became *restored* by this. `count` says how many windows of an id it has.
    pub fn published(&self, kitty: ProcId, count: &dyn Fn(&str) -> usize) -> Vec<String> {
        let mut done = Vec::new();
        let Some(dir) = &self.dir else { return done };
        for save in dir.names().unwrap_or_default() {
            let Some(mut entry) = self.entry(&save) else {
                continue;
            };
            let is_all = count(&entry.windows) as u64 >= entry.count.max(1);
            if entry.mark() == Mark::Taken(kitty) && is_all {
                entry.restored = true;
                if dir.write(&save, entry.text().as_bytes()).is_ok() {
                    done.push(save);
                }
            }
        }
        done
    }

    /// How often a save was taken by kitties that are gone or have it.
    #[must_use]
    pub fn tries(&self, save: &str) -> u64 {
        self.entry(save).map_or(0, |e| e.tries)
    }

    /// Whether the kitty of `save` was seen gone after any other save was taken last. Over a boot it was
    /// not: what was taken in this boot is later.
    #[must_use]
    pub fn ended_after_all(&self, save: &str) -> bool {
        let boot = clock::boot8();
        let Some(dir) = &self.dir else { return true };
        let names = dir.names().unwrap_or_default();
        let others = names.iter().filter(|n| *n != save);
        let taken = others.filter_map(|n| self.entry(n));
        let last = taken
            .filter(|e| e.tries > 0 && e.boot == boot)
            .map(|e| e.taken)
            .max()
            .unwrap_or(0);
        self.entry(save)
            .filter(|e| !e.ended_boot.is_empty())
            .is_none_or(|e| {
                let ended = if e.ended_boot == boot { e.ended } else { 0 };
                last == 0 || ended > last
            })
    }

    /// Removes the marks of saves that are not there any more.
    pub fn sweep(&self, is_there: &dyn Fn(&str) -> bool) {
        let Some(dir) = &self.dir else { return };
        for save in dir.names().unwrap_or_default() {
            if !save.starts_with('.') && !is_there(&save) {
                let _ = dir.remove(&save);
            }
        }
    }
}

/// Marks the save as taken by `kitty`, in which `count` windows of it carry the id `windows`.
///
/// # Errors
/// When the mark cannot be written.
pub fn take(state: &State, save: &str, kitty: ProcId, windows: &str, count: usize) -> Outcome<()> {
    let before = Marks::of(state).entry(save).unwrap_or_default();
    let entry = Entry {
        v: 1,
        pid: kitty.pid,
        start: kitty.start,
        boot: clock::boot8(),
        host: clock::host8(),
        windows: windows.to_owned(),
        count: count as u64,
        restored: false,
        taken: clock::boot_ns(),
        tries: before.tries + 1,
        ..before
    };
    write(state, save, &entry)
}

/// Takes the mark of [`take`] back: nothing came of it.
///
/// # Errors
/// When the mark cannot be written.
pub fn give_back(state: &State, save: &str) -> Outcome<()> {
    let Some(entry) = Marks::of(state).entry(save) else {
        return Ok(());
    };
    let entry = Entry {
        tries: entry.tries.saturating_sub(1),
        pid: 0,
        ..entry
    };
    write(state, save, &entry)
}

/// Remembers that the kitty of `save` is gone, the first time that is seen.
///
/// # Errors
/// When the mark cannot be written.
pub fn ended(state: &State, save: &str) -> Outcome<()> {
    let entry = Marks::of(state).entry(save).unwrap_or_default();
    if !entry.ended_boot.is_empty() {
        return Ok(());
    }
    let entry = Entry {
        v: 1,
        ended_boot: clock::boot8(),
        ended: clock::boot_ns(),
        ..entry
    };
    write(state, save, &entry)
}

fn write(state: &State, save: &str, entry: &Entry) -> Outcome<()> {
    state
        .sessions()?
        .sub(DIR)?
        .write(save, entry.text().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_is_taken_then_restored_and_free_again_when_its_kitty_died_before() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let state = State {
            dir: PrivateDir::open(&top.path().join("s")).expect("open"),
        };
        assert_eq!(Marks::of(&state).get("aaa"), Mark::Free);
        let (me, dead) = (proc::me(), ProcId { pid: 1, start: 77 });
        take(&state, "aaa", me, "w1", 2).expect("taken");
        take(&state, "bbb", dead, "w2", 1).expect("taken");
        let marks = Marks::of(&state);
        assert_eq!(
            [
                marks.get("aaa"),
                marks.get("bbb"),
                marks.get("ccc"),
                marks.get("../x")
            ],
            [Mark::Taken(me), Mark::Free, Mark::Free, Mark::Free]
        );
        assert_eq!(
            marks.by_windows("w1"),
            Some(("aaa".into(), Mark::Taken(me)))
        );
        let shows = |count| move |w: &str| if w == "w1" { count } else { 0 };
        assert_eq!(marks.published(me, &shows(1)), Vec::<String>::new());
        assert_eq!(marks.published(me, &shows(2)), ["aaa"]);
        assert_eq!(marks.get("aaa"), Mark::Restored);
        assert_eq!((marks.tries("bbb"), marks.tries("none")), (1, 0));
        // One whose kitty ended after the last taking of another is still to be offered.
        ended(&state, "eee").expect("noted");
        assert!(marks.ended_after_all("eee") && marks.ended_after_all("unseen"));
        take(&state, "aaa", me, "w1", 2).expect("taken");
        assert!(!marks.ended_after_all("eee"));
        give_back(&state, "aaa").expect("given back");
        assert_eq!(marks.get("aaa"), Mark::Free);
        std::fs::write(state.dir.join("sessions/.taken/ddd"), "{broken").expect("written");
        assert_eq!(marks.get("ddd"), Mark::Free);
        marks.sweep(&|save| save == "aaa");
        let names = marks.dir.as_ref().expect("there").names().expect("names");
        assert_eq!(names, ["aaa"]);
    }
}
