//! From a look at the desk to the journal.

use std::collections::BTreeSet;

use super::desk::{Desk, Ground, gather};
use super::look::{Kitties, SeenKitty, look};
use super::setting;
use crate::agents::window::State as JobState;
use crate::keep::claims::Claims;
use crate::keep::hook_records::{self, HookFile};
use crate::keep::journal::{self, Observation, Owner, World, absorb, counted_to};
use crate::keep::state::State;
use crate::kitty::tree;
use crate::resume::plan::WindowKey;
use crate::resume::record::{Mode, Record};
use crate::resume::rewrite::{VAR_AGENT, VAR_ASKED, VAR_SAVE, VAR_SID};
use crate::resume::window::Runs;
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::proc::{self, ProcId};
use crate::sys::token::fingerprint;

/// A kitty of this boot and machine, as the journal names it.
#[must_use]
pub fn owner(kitty: ProcId) -> Owner {
    Owner {
        pid: kitty.pid,
        start: kitty.start,
        boot: clock::boot8(),
        host: clock::host8(),
    }
}

/// What was seen of each agent window.
#[must_use]
pub fn observations(kitties: &[SeenKitty], desk: &Desk) -> Vec<Observation> {
    let mut seen = Vec::new();
    for kitty in kitties {
        let owner = owner(kitty.process);
        for place in tree::windows(&kitty.tree) {
            let key = WindowKey {
                kitty: kitty.process,
                window: place.window.id,
            };
            let Some(Runs::Agent(agent)) = desk.windows.get(&key).map(|s| &s.runs) else {
                continue;
            };
            let Some((process, job)) = desk.processes.get(&key) else {
                continue;
            };
            let choice = &agent.choice;
            // By its own word also one in which nothing was said yet: the one before was left.
            let sid = match desk.open.get(&key) {
                Some(sid) => sid.clone(),
                None if choice.mode == Mode::Exact => choice.sid.clone(),
                None => String::new(),
            };
            seen.push(Observation {
                agent: agent.agent.clone(),
                sid,
                cwd: choice.cwd.clone().unwrap_or_else(|| agent.cwd.clone()),
                tab: place
                    .tab
                    .title
                    .clone()
                    .filter(|_| place.tab.title_overridden)
                    .unwrap_or_default(),
                argv: agent.fresh.clone(),
                env: agent.env.clone(),
                exe: agent.exe.clone(),
                kitty: owner.clone(),
                window: place.window.id,
                process: *process,
                stopped: *job == JobState::Stopped,
                events: desk.events.get(&key).cloned().unwrap_or_default(),
            });
        }
    }
    seen
}

/// The restored windows that have not come to their agent yet: our prompt waits there, or its shell
/// still starts.
fn opening(kitties: &[SeenKitty], desk: &Desk) -> BTreeSet<(Owner, u64)> {
    let mut found = BTreeSet::new();
    for kitty in kitties {
        for place in tree::windows(&kitty.tree) {
            let window = place.window;
            let key = WindowKey {
                kitty: kitty.process,
                window: window.id,
            };
            let runs = desk.windows.get(&key).map(|s| &s.runs);
            let begins = || window.var(VAR_SAVE).is_some() && window.var(VAR_ASKED).is_none();
            if matches!(runs, Some(Runs::Waiting { .. }))
                || (matches!(runs, Some(Runs::Other)) && begins())
            {
                found.insert((owner(kitty.process), window.id));
            }
        }
    }
    found
}

/// What a look found beside the journal.
#[derive(Debug)]
pub struct Looked {
    /// The kitties.
    pub kitties: Kitties,
    /// The conversations, by agent and id, that a restored window asks for or is about to.
    pub asked_for: BTreeSet<(String, String)>,
}

fn asked_for(kitties: &[SeenKitty], desk: &Desk) -> BTreeSet<(String, String)> {
    let begins = opening(kitties, desk);
    let mut found = BTreeSet::new();
    for kitty in kitties {
        for place in tree::windows(&kitty.tree) {
            let window = place.window;
            let key = WindowKey {
                kitty: kitty.process,
                window: window.id,
            };
            if let Some(Runs::Waiting { record, .. }) = desk.windows.get(&key).map(|s| &s.runs) {
                found.extend(Record::read(record).map(|r| (r.agent, r.sid)));
            } else if begins.contains(&(owner(kitty.process), window.id))
                && let (Some(agent), Some(sid)) = (window.var(VAR_AGENT), window.var(VAR_SID))
            {
                found.insert((agent.to_owned(), sid.to_owned()));
            }
        }
    }
    found
}

/// Looks at all kitties and brings the journal up to date.
///
/// # Errors
/// When `KITTYMUX_TARGET` names a kitty that does not answer, or there is no home directory. A
/// journal that cannot be written is none: what it knew is still there.
pub fn look_and_record(state: &State) -> Outcome<Looked> {
    let kitties = look(Some(state))?;
    let defs = setting::checked_definitions(Some(state));
    let claims = state.claims().ok().map(Claims::new);
    let ground = Ground {
        defs: &defs,
        home: setting::home()?,
        claims: claims.as_ref(),
        state: Some(state),
    };
    let desk = gather(&kitties.seen, &ground);
    let _ = record(state, &kitties.seen, &desk);
    Ok(Looked {
        asked_for: asked_for(&kitties.seen, &desk),
        kitties,
    })
}

/// Reads more of what an agent told where the newest events are not all that were not counted yet.
fn fill_in(state: &State, seen: &mut [Observation]) {
    let is_cut = |o: &Observation| o.events.first().is_some_and(|e| e.begin > 0);
    if !seen.iter().any(is_cut) {
        return;
    }
    let journal = journal::read(state);
    for o in seen {
        let to = counted_to(&journal, &o.kitty, o.process);
        let Some(first) = o.events.first().filter(|e| e.begin > to) else {
            continue;
        };
        let (tty, agent) = (first.tty, first.agent.clone());
        if let Some(mut all) = hook_records::for_process(state, o.process).found() {
            all.retain(|e| e.tty == tty && e.agent == agent);
            o.events = all;
        }
    }
}

/// A number that changes whenever [`record`] would have something new to write but the time: while
/// it stays, one call a minute is enough.
#[must_use]
pub fn digest(state: &State, kitties: &[SeenKitty], desk: &Desk) -> u64 {
    let seen = observations(kitties, desk);
    let mut text = format!("{:016x}", journal::digest(&seen, &world(kitties, desk)));
    for file in hook_records::files(state) {
        if hook_records::is_gone(state, &file) {
            text.push_str(&file.name);
        }
    }
    fingerprint(text.as_bytes())
}

fn world(kitties: &[SeenKitty], desk: &Desk) -> World<'static> {
    World {
        kitties_alive: kitties
            .iter()
            .map(|k| {
                let windows: BTreeSet<u64> = tree::windows(&k.tree).map(|p| p.window.id).collect();
                (owner(k.process), windows)
            })
            .collect(),
        boot: clock::boot8(),
        host: clock::host8(),
        opening: opening(kitties, desk),
        alive: &proc::is_running,
    }
}

/// Brings the journal up to date with what was seen, counts what agents told that are gone since,
/// and removes their files.
///
/// # Errors
/// When the journal cannot be written, or another process holds it; nothing is lost then.
pub fn record(state: &State, kitties: &[SeenKitty], desk: &Desk) -> Outcome<()> {
    if journal::is_off(state) {
        // Switched off for everybody, nobody will count what was told.
        if state.has("journal-off") {
            hook_records::sweep(state, &|_| false);
        }
        return Ok(());
    }
    let mut seen = observations(kitties, desk);
    fill_in(state, &mut seen);
    let now = clock::wall_ns();
    let files: Vec<HookFile> = hook_records::files(state)
        .into_iter()
        .filter(|file| hook_records::is_gone(state, file))
        .collect();
    let world = world(kitties, desk);
    journal::update(state, |journal| {
        let mut changed = false;
        for file in &files {
            if let Some(events) = hook_records::of_file(state, file).found() {
                changed |= absorb(journal, file.process, &file.boot, &events);
            }
        }
        journal::observe(journal, &seen, &world, now) || changed
    })?;
    if !files.is_empty() {
        let counted: BTreeSet<ProcId> = files.iter().map(|f| f.process).collect();
        hook_records::sweep(state, &|process| !counted.contains(&process));
    }
    Ok(())
}
