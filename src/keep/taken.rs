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
    restored: bool,
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
        } else if !here || (self.boot == clock::boot8() && proc::is_same(kitty)) {
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
            .flag("restored", self.restored)
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

    /// The save's windows are shown by a save of the kitty that took it: gives the ids of the saves
    /// that became *restored* by this. `shows` says whether that kitty has a window of an id.
    pub fn published(&self, kitty: ProcId, shows: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut done = Vec::new();
        let Some(dir) = &self.dir else { return done };
        for save in dir.names().unwrap_or_default() {
            let Some(mut entry) = self.entry(&save) else {
                continue;
            };
            if entry.mark() == Mark::Taken(kitty) && shows(&entry.windows) {
                entry.restored = true;
                if dir.write(&save, entry.text().as_bytes()).is_ok() {
                    done.push(save);
                }
            }
        }
        done
    }

    /// Whether this kitty has taken a save that is not restored yet.
    #[must_use]
    pub fn waiting(&self, kitty: ProcId) -> bool {
        self.dir.as_ref().is_some_and(|dir| {
            let names = dir.names().unwrap_or_default();
            names.iter().any(|s| self.get(s) == Mark::Taken(kitty))
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

/// Marks the save as taken by `kitty`, whose windows of it carry the id `windows`.
///
/// # Errors
/// When the mark cannot be written.
pub fn take(state: &State, save: &str, kitty: ProcId, windows: &str) -> Outcome<()> {
    let entry = Entry {
        v: 1,
        pid: kitty.pid,
        start: kitty.start,
        boot: clock::boot8(),
        host: clock::host8(),
        windows: windows.to_owned(),
        restored: false,
    };
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
        take(&state, "aaa", me, "w1").expect("taken");
        take(&state, "bbb", dead, "w2").expect("taken");
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
        assert!(marks.waiting(me) && !marks.waiting(dead));
        assert_eq!(marks.published(me, &|w| w == "other"), Vec::<String>::new());
        assert_eq!(marks.published(me, &|w| w == "w1"), ["aaa"]);
        assert_eq!(marks.get("aaa"), Mark::Restored);
        assert!(!marks.waiting(me));
        std::fs::write(state.dir.join("sessions/.taken/ddd"), "{broken").expect("written");
        assert_eq!(marks.get("ddd"), Mark::Free);
        marks.sweep(&|save| save == "aaa");
        let names = marks.dir.as_ref().expect("there").names().expect("names");
        assert_eq!(names, ["aaa"]);
    }
}
