//! What a look at the desk changes in the journal: a decision over values.

use std::collections::BTreeSet;

use super::count::{add_up, count, end_work};
use super::document::Journal;
use super::session::{Owner, Progress, Session, can_be_kept};
use crate::agents::hooks::{Ending, Event};
use crate::keep::hook_records::HookEvent;
use crate::sys::proc::ProcId;
use crate::sys::token::fingerprint;

/// How old the last time of a running session may become before it is written down anew.
const EVERY_NS: u64 = 60_000_000_000;

/// An agent in a window, as it was just seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// The agent.
    pub agent: String,
    /// Its session id; empty: not known.
    pub sid: String,
    /// Its directory.
    pub cwd: String,
    /// The title of its tab, where that was set by hand: another may hold what was typed.
    pub tab: String,
    /// Its command without prompt, selectors and secrets.
    pub argv: Vec<String>,
    /// `NAME=value` of its configuration directory.
    pub env: Vec<String>,
    /// The file of its program.
    pub exe: String,
    /// Its kitty.
    pub kitty: Owner,
    /// Its window there.
    pub window: u64,
    /// Its process.
    pub process: ProcId,
    /// Whether it is stopped.
    pub stopped: bool,
    /// What it told our hook: at least all that was not counted yet.
    pub events: Vec<HookEvent>,
}

/// What else is known at the moment of a look.
pub struct World<'a> {
    /// The kitties that were looked at, with the windows they have.
    pub kitties_alive: Vec<(Owner, BTreeSet<u64>)>,
    /// This boot.
    pub boot: String,
    /// This machine.
    pub host: String,
    /// Windows in which an agent was asked for and is not there yet.
    pub opening: BTreeSet<(Owner, u64)>,
    /// Whether a process of this boot and machine is there.
    pub alive: &'a dyn Fn(ProcId) -> bool,
}

/// Whether a session that runs is to be written down anew.
#[must_use]
pub fn due(last_ns: u64, now_ns: u64) -> bool {
    last_ns > now_ns || now_ns - last_ns >= EVERY_NS
}

/// A number that changes with everything in a look that could change the journal, but the time.
#[must_use]
pub fn digest(seen: &[Observation], world: &World<'_>) -> u64 {
    let mut text = String::new();
    for o in seen {
        let told = o.events.last().map_or(0, |e| e.end);
        let what = (&o.agent, &o.sid, &o.cwd, &o.tab, &o.exe, &o.argv, &o.env);
        let place = (&o.kitty, o.window, o.process);
        text.push_str(&format!("{what:?} {place:?} {told}\n"));
    }
    text.push_str(&format!("{:?} {:?}", world.kitties_alive, world.opening));
    fingerprint(text.as_bytes())
}

/// Brings the journal up to date; whether that is worth writing: a state changed, or a session that
/// runs was last written a minute ago.
#[must_use]
pub fn observe(
    journal: &mut Journal,
    seen: &[Observation],
    world: &World<'_>,
    now_ns: u64,
) -> bool {
    let mut changed = false;
    for observation in seen {
        changed |= note(journal, observation, seen, now_ns);
    }
    for session in journal.sessions_mut().filter(|s| s.open) {
        if !seen.iter().any(|o| is_of(session, o)) && is_closed_now(session, world) {
            close(session, now_ns);
            changed = true;
        }
    }
    let is_running = |s: &Session| s.open && seen.iter().any(|o| is_of(s, o));
    if changed
        || journal
            .sessions()
            .any(|s| is_running(s) && due(s.last_ns, now_ns))
    {
        for session in journal.sessions_mut().filter(|s| is_running(s)) {
            session.last_ns = now_ns;
        }
        return true;
    }
    false
}

/// Whether a record is bound to the process of an observation.
fn is_bound(session: &Session, o: &Observation) -> bool {
    session.agent == o.agent
        && session.kitty == o.kitty
        && session.window == o.window
        && session.process == o.process
}

/// Whether an observation shows this very session.
fn is_of(session: &Session, o: &Observation) -> bool {
    is_bound(session, o) && (o.sid.is_empty() || session.sid.is_empty() || session.sid == o.sid)
}

/// Writes down one observation.
fn note(journal: &mut Journal, o: &Observation, seen: &[Observation], now_ns: u64) -> bool {
    let mut changed = false;
    if o.sid.is_empty() {
        // A look that missed the id is no other session.
        let known = |s: &Session| s.open && !s.sid.is_empty() && is_bound(s, o);
        let is_named = journal.sessions().any(known);
        let is_it = |s: &Session| known(s) || (!is_named && s.sid.is_empty() && is_bound(s, o));
        return match journal.find_mut(is_it) {
            Some(session) => bring_up_to_date(session, o, now_ns),
            None => add(journal, o, now_ns),
        };
    }
    for session in journal.sessions_mut() {
        if session.open && !session.sid.is_empty() && session.sid != o.sid && is_bound(session, o) {
            count(session, o.process, &o.kitty.boot, &o.events);
            close(session, now_ns);
            session.left = true;
            changed = true;
        }
    }
    // What was written down before the id was known belongs to it.
    let unnamed = journal.take(|s| s.sid.is_empty() && is_bound(s, o));
    let is_it = |s: &Session| s.agent == o.agent && s.sid == o.sid;
    changed |= unnamed.is_some();
    match (journal.find_mut(is_it), unnamed) {
        (Some(session), unnamed) => {
            if let Some(unnamed) = unnamed {
                add_up(session, unnamed);
            }
            let held_by_another = !is_bound(session, o) && seen.iter().any(|o| is_of(session, o));
            if held_by_another {
                // Two processes with one conversation: it stays with the first, both count.
                return count(session, o.process, &o.kitty.boot, &o.events) || changed;
            }
            bring_up_to_date(session, o, now_ns) || changed
        }
        (None, Some(mut session)) => {
            session.sid.clone_from(&o.sid);
            bring_up_to_date(&mut session, o, now_ns);
            journal.add(session);
            true
        }
        (None, None) => add(journal, o, now_ns),
    }
}

fn add(journal: &mut Journal, o: &Observation, now_ns: u64) -> bool {
    let mut session = Session {
        agent: o.agent.clone(),
        sid: o.sid.clone(),
        first_ns: now_ns,
        last_ns: now_ns,
        ..Session::default()
    };
    bring_up_to_date(&mut session, o, now_ns);
    journal.add(session);
    true
}

/// Takes over what was seen. An empty value never takes the place of a known one.
fn bring_up_to_date(session: &mut Session, o: &Observation, now_ns: u64) -> bool {
    let mut changed = !session.open;
    if !is_bound(session, o) {
        // What another process was at is over.
        end_work(session, now_ns);
        if matches!(session.state, Progress::Working | Progress::Waiting) {
            session.state = Progress::Seen;
            session.waiting_for.clear();
        }
        session.kitty.clone_from(&o.kitty);
        session.window = o.window;
        session.process = o.process;
        changed = true;
    }
    session.open = true;
    session.left = false;
    session.closed_ns = 0;
    let mut text = |of: &mut String, new: &String| {
        if !new.is_empty() && of != new && can_be_kept(new) {
            of.clone_from(new);
            changed = true;
        }
    };
    // The kernel names a directory that cannot be reached in another way.
    if o.cwd.starts_with('/') {
        text(&mut session.cwd, &o.cwd);
    }
    text(&mut session.exe, &o.exe);
    text(&mut session.tab, &o.tab);
    let mut words = |of: &mut Vec<String>, new: &Vec<String>| {
        if !new.is_empty() && of != new && new.iter().all(|w| can_be_kept(w)) {
            of.clone_from(new);
            changed = true;
        }
    };
    words(&mut session.argv, &o.argv);
    words(&mut session.env, &o.env);
    changed | count(session, o.process, &o.kitty.boot, &o.events)
}

/// Whether an open session that was not seen has been closed. A kitty that is gone took its sessions
/// along; one that was not looked at says nothing.
fn is_closed_now(session: &Session, world: &World<'_>) -> bool {
    let kitty = world
        .kitties_alive
        .iter()
        .find(|(kitty, _)| *kitty == session.kitty);
    let Some((_, windows)) = kitty else {
        return false;
    };
    if !windows.contains(&session.window) {
        return true;
    }
    if session.process.pid == 0 {
        return !world
            .opening
            .contains(&(session.kitty.clone(), session.window));
    }
    // One that was working died in the middle; one that lives stands behind another.
    session.state != Progress::Working && !(world.alive)(session.process)
}

fn close(session: &mut Session, now_ns: u64) {
    end_work(session, now_ns);
    session.open = false;
    session.closed_ns = now_ns;
    session.waiting_for.clear();
}

/// Counts what a process that is gone told before, in the records of its conversations, and closes
/// those that the person ended; one that no look ever saw is written down now. Whether anything
/// changed.
#[must_use]
pub fn absorb(journal: &mut Journal, process: ProcId, boot: &str, events: &[HookEvent]) -> bool {
    let mut changed = false;
    let named: BTreeSet<(&str, &str)> = events
        .iter()
        .filter(|e| !e.sid.is_empty() && !e.agent.is_empty() && can_be_kept(&e.agent))
        .map(|e| (e.agent.as_str(), e.sid.as_str()))
        .collect();
    for (agent, sid) in named {
        let its = || events.iter().filter(|e| e.sid == sid && e.agent == agent);
        let ended = its()
            .rfind(|e| matches!(e.event, Event::Start | Event::End))
            .filter(|e| e.event == Event::End && e.ending != Ending::Cut);
        let is_it = |s: &Session| s.agent == agent && s.sid == sid;
        if let Some(session) = journal.find_mut(is_it) {
            changed |= count(session, process, boot, events);
            let is_its = session.process == process && session.kitty.boot == boot;
            if let (true, true, Some(ended)) = (session.open, is_its, ended) {
                close(session, ended.at_wall_ns);
                session.left = ended.ending == Ending::Left;
                changed = true;
            }
            continue;
        }
        // Nothing was said in it: there is nothing to come back to.
        if !its().any(|e| e.event == Event::Prompt) {
            continue;
        }
        let (Some(first), Some(last)) = (its().next(), its().next_back()) else {
            continue;
        };
        let mut session = Session {
            agent: agent.to_owned(),
            sid: sid.to_owned(),
            first_ns: first.at_wall_ns,
            last_ns: last.at_wall_ns,
            open: ended.is_none(),
            closed_ns: ended.map_or(0, |e| e.at_wall_ns),
            left: ended.is_some_and(|e| e.ending == Ending::Left),
            kitty: Owner {
                boot: boot.to_owned(),
                host: last.host.clone(),
                ..Owner::default()
            },
            process,
            ..Session::default()
        };
        let cwd = its()
            .map(|e| &e.cwd)
            .rfind(|c| c.starts_with('/') && can_be_kept(c));
        session.cwd = cwd.cloned().unwrap_or_default();
        let argv = its()
            .map(|e| &e.argv)
            .rfind(|a| !a.is_empty() && a.iter().all(|w| can_be_kept(w)));
        session.argv = argv.cloned().unwrap_or_default();
        count(&mut session, process, boot, events);
        journal.add(session);
        changed = true;
    }
    changed
}

#[cfg(test)]
#[path = "observe_tests.rs"]
mod tests;
