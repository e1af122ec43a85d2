//! `tick.json`: what a tick leaves for the next one. It can always be lost: the next look is then
//! the first one again.

#![allow(clippy::question_mark)] // in what the derive of DeJson writes

use nanoserde::DeJson;

use super::autosave::{Set, Watch};
use super::state::State;
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::proc::ProcId;
use crate::sys::written::Written;

const FILE: &str = "tick.json";

/// The largest one we read.
const LIMIT: usize = 4 << 20;

/// What is remembered from tick to tick.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TickState {
    /// When all our processes were last searched for kitties, on the boot clock.
    pub searched: u64,
    /// Fingerprint of what the desk to offer was last chosen from.
    pub offered: u64,
    /// Fingerprint of what the journal was told last, and when, on the boot clock.
    pub journal: (u64, u64),
    /// The steps of the wall clock in this boot (see [`clock::offset_at`]).
    pub steps: Vec<(u64, u64)>,
    /// What the last search for kitties rested on; without a path: search anew.
    pub grounds: Written,
    /// The kitties.
    pub kitties: Vec<Known>,
    /// What went wrong last, and when (RFC 3339); both empty when all is well.
    pub fault: String,
    /// When that was.
    pub fault_at: String,
}

/// What is remembered of one kitty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its process.
    pub process: ProcId,
    /// Its socket.
    pub address: String,
    /// Fingerprint of its last answer, but for what changes without meaning anything.
    pub answer: u64,
    /// When its windows' processes were last looked at, on the boot clock.
    pub looked: u64,
    /// Whether an agent runs in one of its windows.
    pub has_agents: bool,
    /// The agents' own records.
    pub records: Written,
    /// The autosave's memory.
    pub watch: Watch,
    /// Whether it is worth a first save.
    pub is_desk: bool,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct Document {
    v: u64,
    boot: String,
    searched: u64,
    offered: String,
    journal: String,
    journal_at: u64,
    steps: Vec<StepEntry>,
    fault: String,
    fault_at: String,
    grounds: Vec<String>,
    grounds_sum: String,
    kitties: Vec<Entry>,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct Entry {
    pid: i32,
    start: u64,
    address: String,
    answer: String,
    looked: u64,
    has_agents: bool,
    records: Vec<String>,
    records_sum: String,
    windows: String,
    agents: String,
    since: u64,
    saved_windows: String,
    saved_agents: String,
    saved: u64,
    is_desk: bool,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct StepEntry {
    since: u64,
    offset: u64,
}

/// A fingerprint is a text: readers of JSON lose digits of large numbers.
fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap_or(0)
}

impl TickState {
    /// Reads it; that of another boot, or one that cannot be read, is none. The fault stays.
    #[must_use]
    pub fn read(state: &State) -> Self {
        let Ok(Some(bytes)) = state.dir.read(FILE, LIMIT) else {
            return Self::default();
        };
        let Ok(document) = json::decode::<Document>(&bytes, LIMIT) else {
            return Self::default();
        };
        let is_now = document.boot == clock::boot8() && document.v >= 1;
        let known = if is_now { document.kitties } else { Vec::new() };
        Self {
            offered: hex(&document.offered),
            journal: (hex(&document.journal), document.journal_at),
            steps: if is_now {
                document.steps.iter().map(|s| (s.since, s.offset)).collect()
            } else {
                Vec::new()
            },
            searched: if is_now { document.searched } else { 0 },
            grounds: Written {
                paths: if is_now { document.grounds } else { Vec::new() },
                sum: hex(&document.grounds_sum),
            },
            fault: document.fault,
            fault_at: document.fault_at,
            kitties: known.into_iter().map(Entry::known).collect(),
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, state: &State) -> Outcome<()> {
        let kitties = json::list(self.kitties.iter().map(Known::text));
        let steps = json::list(self.steps.iter().map(|(since, offset)| {
            Object::new()
                .number("since", *since)
                .number("offset", *offset)
                .finish()
        }));
        let text = Object::new()
            .number("v", 1)
            .text("boot", &clock::boot8())
            .number("searched", self.searched)
            .text("offered", &format!("{:016x}", self.offered))
            .text("journal", &format!("{:016x}", self.journal.0))
            .number("journal_at", self.journal.1)
            .raw("steps", &steps)
            .texts("grounds", &self.grounds.paths)
            .text("grounds_sum", &format!("{:016x}", self.grounds.sum))
            .text("fault", &self.fault)
            .text("fault_at", &self.fault_at)
            .raw("kitties", &kitties)
            .finish();
        state.dir.write_unsynced(FILE, text.as_bytes())
    }

    /// Notes by how much wall time is ahead of the boot clock, where that changed by a step.
    pub fn note_step(&mut self, boot: u64, wall: u64) {
        const STEP_NS: u64 = 2_000_000_000;
        const MOST: usize = 32;
        let offset = wall.saturating_sub(boot);
        match self.steps.last() {
            Some((_, last)) if last.abs_diff(offset) < STEP_NS => {}
            Some(_) => self.steps.push((boot, offset)),
            // What ran before the first look is taken to have had the same clock.
            None => self.steps.push((0, offset)),
        }
        if self.steps.len() > MOST {
            self.steps.remove(1);
        }
    }

    /// What is remembered of a kitty.
    #[must_use]
    pub fn of(&self, kitty: ProcId) -> Option<&Known> {
        self.kitties.iter().find(|k| k.process == kitty)
    }
}

impl Entry {
    fn known(self) -> Known {
        let saved = (self.saved > 0).then(|| {
            (
                Set {
                    windows: hex(&self.saved_windows),
                    agents: hex(&self.saved_agents),
                },
                self.saved,
            )
        });
        Known {
            process: ProcId {
                pid: self.pid,
                start: self.start,
            },
            address: self.address,
            answer: hex(&self.answer),
            looked: self.looked,
            has_agents: self.has_agents,
            records: Written {
                paths: self.records,
                sum: hex(&self.records_sum),
            },
            watch: Watch {
                set: Set {
                    windows: hex(&self.windows),
                    agents: hex(&self.agents),
                },
                since: self.since,
                saved,
            },
            is_desk: self.is_desk,
        }
    }
}

impl Known {
    fn text(&self) -> String {
        let hex = |n: u64| format!("{n:016x}");
        let mut object = Object::new()
            .number("pid", u64::try_from(self.process.pid).unwrap_or(0))
            .number("start", self.process.start)
            .text("address", &self.address)
            .text("answer", &hex(self.answer))
            .number("looked", self.looked)
            .flag("has_agents", self.has_agents)
            .texts("records", &self.records.paths)
            .text("records_sum", &hex(self.records.sum))
            .text("windows", &hex(self.watch.set.windows))
            .text("agents", &hex(self.watch.set.agents))
            .number("since", self.watch.since)
            .flag("is_desk", self.is_desk);
        if let Some((set, at)) = self.watch.saved {
            object = object
                .text("saved_windows", &hex(set.windows))
                .text("saved_agents", &hex(set.agents))
                .number("saved", at);
        }
        object.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::private_file::PrivateDir;

    #[test]
    fn it_comes_back_as_it_was_and_a_damaged_one_is_none() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let state = State {
            dir: PrivateDir::open(&top.path().join("s")).expect("open"),
        };
        assert_eq!(TickState::read(&state), TickState::default());
        let set = Set {
            windows: u64::MAX,
            agents: 7,
        };
        let written = TickState {
            searched: 5,
            offered: 6,
            journal: (8, 9),
            steps: vec![(0, 5), (7, 1_796_000_000_123_456_789)],
            grounds: Written {
                paths: vec!["/run/user/1".into(), "/h/\u{1f}".into()],
                sum: 1,
            },
            kitties: vec![Known {
                process: ProcId { pid: 42, start: 9 },
                address: "unix:/run/k".into(),
                answer: u64::MAX - 1,
                looked: 12_345_678_901_234_567,
                has_agents: true,
                records: Written {
                    paths: vec!["/h/.claude/sessions/7.json".into()],
                    sum: u64::MAX - 2,
                },
                watch: Watch {
                    set,
                    since: 3,
                    saved: Some((set, 4)),
                },
                is_desk: true,
            }],
            fault: "no \u{2028}space".into(),
            fault_at: "2026-11-30T08:04:09Z".into(),
        };
        written.write(&state).expect("written");
        assert_eq!(TickState::read(&state), written);
        let text = String::from_utf8(state.dir.read(FILE, LIMIT).expect("read").expect("there"))
            .expect("text");
        let other_boot = text.replace(&clock::boot8(), "ffffffff");
        std::fs::write(state.dir.join(FILE), other_boot).expect("written");
        let after = TickState::read(&state);
        assert_eq!((after.kitties.len(), after.fault), (0, written.fault));
        for bad in ["", "{", "[]", "{\"v\":1,\"kitties\":[{\"pid\":\"x\"}]}"] {
            std::fs::write(state.dir.join(FILE), bad).expect("written");
            assert_eq!(TickState::read(&state), TickState::default(), "{bad}");
        }
    }
}
