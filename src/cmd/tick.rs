//! `--tick`: one short look at all kitties, started by a timer. It remembers what runs, saves what is
//! due, finishes what an end of kitty left over, and keeps the desk to offer up to date.
//!
//! It never starts a process and says nothing: what goes wrong is remembered for a person to find.

mod meaning;
mod saving;
mod see;

use std::mem::ManuallyDrop;
use std::time::Duration;

use see::{Raw, answers};

use super::autosaved;
use super::desk::{Desk, Ground, gather};
use super::exit::Exit;
use super::exit_save;
use super::look::SeenKitty;
use super::observe;
use super::plans;
use super::setting;
use crate::keep::autosave::{Due, View, step};
use crate::keep::autosaves;
use crate::keep::claims::Claims;
use crate::keep::state::State;
use crate::keep::tick_state::{Known, TickState};
use crate::kitty::address::Address;
use crate::kitty::discover;
use crate::kitty::tree;
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::lock::Lock;
use crate::sys::proc;
use crate::sys::written::Written;

/// How far two passes over all our processes lie apart at least, nanoseconds.
const SEARCH_NS: u64 = 60_000_000_000;

/// How far two looks at all agents lie apart at most while nothing else changes, nanoseconds.
const LOOK_NS: u64 = 55_000_000_000;

/// Runs one tick.
///
/// # Errors
/// When the state directory cannot be used; then nothing can be remembered either.
pub fn run() -> Outcome<Exit> {
    let state = State::open()?;
    let locks = state.dir.sub("locks")?;
    let Some(lock) = Lock::try_take(&locks, "tick")? else {
        return Ok(Exit::Done);
    };
    // So that it can be told whether the timer runs.
    lock.date();
    // The process ends with this: what it remembers need not be given back.
    let before = ManuallyDrop::new(TickState::read(&state));
    let mut memory = before.clone();
    memory.note_step(clock::boot_ns(), clock::wall_ns());
    clock::know_steps(memory.steps.clone());
    let fault = tick(&state, &mut memory).err().map(|f| f.to_string());
    let fault = fault.unwrap_or_default();
    if fault != memory.fault {
        memory.fault_at = if fault.is_empty() {
            String::new()
        } else {
            clock::rfc3339(clock::wall_ns())
        };
        memory.fault = fault;
    }
    if memory != before {
        // A full disk is no reason to end otherwise: the next tick looks anew.
        let _ = memory.write(&state);
    }
    Ok(Exit::Done)
}

fn tick(state: &State, memory: &mut TickState) -> Outcome<()> {
    let now = clock::boot_ns();
    let everywhere = memory.searched == 0 || now.saturating_sub(memory.searched) >= SEARCH_NS;
    if everywhere {
        memory.searched = now;
    }
    let address = |k: &Known| Some((Address::parse(&k.address)?, k.process));
    let known: Vec<_> = memory.kitties.iter().filter_map(address).collect();
    let grounds = &mut memory.grounds;
    let found = discover::all(&state.dir, &known, grounds, everywhere);
    let found_pids: Vec<i32> = found.iter().map(|k| k.process.pid).collect();
    let mut refused = Ok(());
    let mut raw = answers(found);
    // One that refuses is no reason to look into the others.
    raw.retain(|r| match r.refusal() {
        Some(fault) if memory.of(r.process).is_none() => {
            refused = Err(fault);
            false
        }
        _ => true,
    });
    let answered: Vec<_> = raw.iter().map(|r| r.process).collect();
    let mut result = exit_save::finish_left(state, Duration::ZERO).and(refused);
    if raw.iter().all(|r| is_quiet(r, memory, state, now)) {
        // As above: to give a large answer back costs more than to read it.
        std::mem::forget(raw);
    } else {
        let looked = look(state, memory, raw, now);
        if looked.is_err() {
            // What was not done is done by the next tick, though nothing happens.
            for kitty in &mut memory.kitties {
                kitty.answer = 0;
            }
        }
        result = looked.and(result);
    }
    // One that did not answer in time is not forgotten.
    memory
        .kitties
        .retain(|k| answered.contains(&k.process) || proc::is_running(k.process));
    let alive: Vec<_> = memory.kitties.iter().map(|k| k.process).collect();
    if !found_pids
        .iter()
        .all(|pid| alive.iter().any(|k| k.pid == *pid))
    {
        // One that was too busy to answer, or would not, is no known one: it must be found again.
        memory.grounds = Written::default();
    }
    let chosen_from = autosaved::fingerprint(state, &alive);
    if everywhere || chosen_from != memory.offered {
        let kept_up = autosaved::keep_up(state);
        memory.offered = match kept_up {
            Ok(()) => autosaved::fingerprint(state, &alive),
            Err(_) => 0,
        };
        result = kept_up.and(result);
        for kitty in &mut memory.kitties {
            // A save that somebody removed is made again.
            if !autosaves::is_there(state, kitty.process) {
                kitty.watch.saved = None;
            }
        }
    }
    result
}

/// Whether nothing happened in this kitty and nothing is due: then its answer is not even read.
fn is_quiet(raw: &Raw, memory: &TickState, state: &State, now: u64) -> bool {
    let Some(known) = memory.of(raw.process) else {
        return false;
    };
    let view = View {
        set: known.watch.set,
        is_desk: known.is_desk,
    };
    known.answer == raw.fingerprint
        && !(known.has_agents && now.saturating_sub(known.looked) >= LOOK_NS)
        && (step(Some(known.watch), view, now).1 == Due::Nothing || is_off(state))
        && known.records.is_same()
}

/// Looks into every window, remembers, and saves what is due.
fn look(state: &State, memory: &mut TickState, raw: Vec<Raw>, now: u64) -> Outcome<()> {
    let defs = setting::quiet_definitions()
        .0
        .with_checks(crate::keep::checks::read(state));
    let claims = Claims::new(state.claims()?);
    let ground = Ground {
        defs: &defs,
        home: setting::home()?,
        claims: Some(&claims),
        state: Some(state),
    };
    // What is written from here on may not be in what is read below.
    let begin = clock::wall_ns();
    let mut result = Ok(());
    let mut seen: Vec<SeenKitty> = Vec::new();
    let mut fingerprints = Vec::new();
    for kitty in raw {
        let fingerprint = kitty.fingerprint;
        match kitty.read() {
            Ok(None) => {}
            Ok(Some(kitty)) => {
                seen.push(kitty);
                fingerprints.push(fingerprint);
            }
            Err(fault) => result = Err(fault),
        }
    }
    let desk = gather(&seen, &ground);
    result = plans::remember(state, &seen, &desk).and(result);
    let told = observe::digest(state, &seen, &desk);
    if told != memory.journal.0 || now.saturating_sub(memory.journal.1) >= LOOK_NS {
        match observe::record(state, &seen, &desk) {
            Ok(()) => memory.journal = (told, now),
            Err(fault) => result = Err(fault),
        }
    }
    let mut kitties = Vec::new();
    for (kitty, answer) in seen.iter().zip(&fingerprints) {
        let before = memory.of(kitty.process);
        let view = saving::view(kitty.process, &kitty.tree, &desk);
        let (watch, _) = step(before.map(|k| k.watch), view, now);
        kitties.push(Known {
            process: kitty.process,
            address: kitty.connection.address().to_string(),
            answer: *answer,
            looked: now,
            has_agents: has_agents(kitty, &desk),
            records: see::records(kitty, &desk, state, begin),
            watch,
            // A panel is never saved.
            is_desk: view.is_desk && !tree::is_panel(&kitty.tree),
        });
    }
    // One with the pid of another that answered is gone.
    let unseen = |k: &Known| kitties.iter().all(|now| now.process.pid != k.process.pid);
    let unseen: Vec<Known> = memory
        .kitties
        .iter()
        .filter(|k| unseen(k))
        .cloned()
        .collect();
    kitties.extend(unseen);
    memory.kitties = kitties;
    if is_off(state) {
        return result;
    }
    for at in 0..seen.len() {
        let known = memory.kitties[at].clone();
        let view = View {
            set: known.watch.set,
            is_desk: known.is_desk,
        };
        let due = step(Some(known.watch), view, now).1;
        if due == Due::Nothing {
            continue;
        }
        match saving::save(state, &mut seen, at, &ground, &desk, due, known.watch) {
            Ok(set) => memory.kitties[at].watch.saved = Some((set, now)),
            Err(fault) => result = Err(fault),
        }
    }
    result
}

/// Whether saving by itself is switched off.
fn is_off(state: &State) -> bool {
    state.has("autosave-off")
        || crate::sys::dirs::var("KITTYMUX_AUTOSAVE").is_some_and(|v| v == "0")
}

fn has_agents(kitty: &SeenKitty, desk: &Desk) -> bool {
    tree::windows(&kitty.tree).any(|p| {
        let key = crate::resume::plan::WindowKey {
            kitty: kitty.process,
            window: p.window.id,
        };
        desk.processes.contains_key(&key)
    })
}
