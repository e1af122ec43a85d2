//! What a tick asks of the kitties, and how it tells that nothing happened.

use std::time::Duration;

use super::meaning::meaning;
use crate::cmd::desk::Desk;
use crate::cmd::look::SeenKitty;
use crate::keep::state::State;
use crate::kitty::client::{Connection, Exchange, Silence, drive};
use crate::kitty::commands;
use crate::kitty::discover::Kitty;
use crate::kitty::tree;
use crate::kitty::wire::{Reply, read_reply};
use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::proc::ProcId;
use crate::sys::written::Written;

/// How long all kitties together are waited for.
const WAIT: Duration = Duration::from_millis(1000);

/// The longest answer that may be a refusal, in bytes: one window takes more.
const REFUSAL: usize = 1024;

/// A kitty's answer, not read yet.
pub struct Raw {
    connection: Connection,
    /// Its process, as far as its pid tells.
    pub process: ProcId,
    answer: Vec<u8>,
    /// Of the answer, but for what changes without meaning anything.
    pub fingerprint: u64,
}

/// Asks all of them at once; those that do not answer are left out.
pub fn answers(kitties: Vec<Kitty>) -> Vec<Raw> {
    let (mut connections, processes): (Vec<Connection>, Vec<ProcId>) = kitties
        .into_iter()
        .map(|k| (k.connection, k.process))
        .unzip();
    let ask = [commands::ls(None)];
    let mut exchanges: Vec<Exchange<'_>> = connections
        .iter_mut()
        .map(|c| Exchange::new(c, &ask))
        .collect();
    drive(&mut exchanges, WAIT);
    let answers: Vec<Result<Vec<Vec<u8>>, Silence>> =
        exchanges.into_iter().map(Exchange::bodies).collect();
    let mut raw = Vec::new();
    for ((connection, process), answer) in connections.into_iter().zip(processes).zip(answers) {
        if let Some(answer) = answer.ok().and_then(|mut bodies| bodies.pop()) {
            raw.push(Raw {
                fingerprint: meaning(&answer),
                connection,
                process,
                answer,
            });
        }
    }
    raw
}

impl Raw {
    /// Why it gave no window list, in kitty's own words.
    pub fn refusal(&self) -> Option<Fault> {
        // A list is long, and looked at where something changed.
        if self.answer.len() > REFUSAL {
            return None;
        }
        let refused = read_reply(&self.answer).and_then(Reply::into_data);
        refused.err().map(|why| self.fault(&why))
    }

    fn fault(&self, why: &str) -> Fault {
        Fault::refused(format!("kitty {}: {why}", self.process.pid))
    }

    /// Reads the answer, and makes sure whose it is; nothing when that kitty is gone by now.
    ///
    /// # Errors
    /// When it is no window list.
    pub fn read(self) -> Outcome<Option<SeenKitty>> {
        let Some(process) = self.connection.process() else {
            return Ok(None);
        };
        let tree = read_reply(&self.answer)
            .and_then(Reply::into_data)
            .and_then(|data| tree::read(&data))
            .map_err(|why| self.fault(&why))?;
        Ok(Some(SeenKitty {
            connection: self.connection,
            process,
            tree,
        }))
    }
}

/// The files in which the agents of these windows say which conversation they have, and the directory
/// in which hooks make new ones. They were read after the moment `since`.
pub fn records(kitty: &SeenKitty, desk: &Desk, state: &State, since: u64) -> Written {
    let boot = clock::boot8();
    let hooks = state.dir.join("hooks");
    let mut records = Written::default();
    records.add(&hooks, since);
    // What agents are known by.
    records.add(&state.dir.join(crate::keep::checks::FILE), since);
    if let Some(own) = crate::cmd::setting::own_definitions() {
        records.add(&own, since);
    }
    for place in tree::windows(&kitty.tree) {
        let key = crate::resume::plan::WindowKey {
            kitty: kitty.process,
            window: place.window.id,
        };
        let Some((processes, files)) = desk.records.get(&key) else {
            continue;
        };
        for file in files {
            records.add(file, since);
        }
        for process in processes {
            let hook = hooks.join(format!("{boot}-{}-{}.jsonl", process.pid, process.start));
            if hook.exists() {
                records.add(&hook, since);
            }
        }
    }
    records
}
