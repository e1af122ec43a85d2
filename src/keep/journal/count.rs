//! What agents tell of a session, counted once: its state, its finished runs, its work.

use super::document::Journal;
use super::session::{Counted, Owner, Progress, Session};
use crate::agents::hooks::{Ending, Event};
use crate::keep::hook_records::HookEvent;
use crate::sys::proc::ProcId;

/// The longest work that is counted as one: a machine may sleep over it.
const LONGEST_MS: u64 = 24 * 3600 * 1000;

/// Of how many processes of one session it is known how far their events were counted.
const PROCESSES: usize = 8;

/// Counts the events of one process of the session that were not counted yet; whether there were any.
pub(super) fn count(
    session: &mut Session,
    process: ProcId,
    boot: &str,
    events: &[HookEvent],
) -> bool {
    let key = |c: &Counted| c.pid == process.pid && c.start == process.start && c.boot == boot;
    let known = session.counted.iter().position(key);
    let mut counted = known.map_or_else(
        || Counted {
            pid: process.pid,
            start: process.start,
            boot: boot.to_owned(),
            ..Counted::default()
        },
        |at| session.counted[at].clone(),
    );
    let before = counted.end;
    // An event without an id belongs to the conversation that was named last, or first.
    let own = session.sid.clone();
    let mut current = events
        .iter()
        .find(|e| !e.sid.is_empty())
        .map_or(own.as_str(), |e| &e.sid);
    for event in events {
        if !event.sid.is_empty() {
            current = &event.sid;
        }
        if current == own && event.end > counted.end {
            let first = counted.end == 0;
            step(session, &mut counted, event, first);
            counted.end = event.end;
        }
    }
    if counted.end == before {
        return false;
    }
    if let Some(at) = known {
        session.counted.remove(at);
    }
    session.counted.push(counted);
    let over = session.counted.len().saturating_sub(PROCESSES);
    session.counted.drain(..over);
    true
}

/// What one event changes.
fn step(session: &mut Session, counted: &mut Counted, event: &HookEvent, first: bool) {
    let up_ms = (event.up_ns / 1_000_000).max(1);
    if event.event != Event::Start && event.event != Event::Prompt && counted.since_up_ms > 0 {
        let ms = up_ms.saturating_sub(counted.since_up_ms);
        session.work_ms += ms.min(LONGEST_MS);
        counted.since_up_ms = 0;
    }
    match event.event {
        // Within a process it says that the conversation was made shorter, or is another one.
        Event::Start => {
            if first && matches!(session.state, Progress::Working | Progress::Waiting) {
                session.state = Progress::Seen;
            }
        }
        Event::Prompt => {
            counted.since_up_ms = up_ms;
            counted.since_ns = event.at_wall_ns;
            session.state = Progress::Working;
        }
        Event::Done => {
            session.runs += u64::from(session.state != Progress::Done);
            session.state = Progress::Done;
        }
        // Idle, an agent also says that it waits for a message.
        Event::Waiting if matches!(session.state, Progress::Working | Progress::Waiting) => {
            session.state = Progress::Waiting;
            session.waiting_for = event.detail.replace('\0', "");
            return;
        }
        Event::Waiting => {}
        // One that is cut off died in the middle of its work.
        Event::End => {
            if event.ending != Ending::Cut
                && matches!(session.state, Progress::Working | Progress::Waiting)
            {
                session.state = Progress::Seen;
            }
        }
    }
    session.waiting_for.clear();
}

/// Up to where in its file the events of a process were counted, in the record that is open for it.
#[must_use]
pub fn counted_to(journal: &Journal, kitty: &Owner, process: ProcId) -> u64 {
    let its = |s: &&Session| s.open && s.process == process && s.kitty == *kitty;
    let ends = journal.sessions().filter(its).filter_map(|s| {
        let is =
            |c: &&Counted| c.pid == process.pid && c.start == process.start && c.boot == kitty.boot;
        s.counted.iter().find(is).map(|c| c.end)
    });
    ends.max().unwrap_or(0)
}

/// What the events of a process say of a conversation now, and what it waits for.
#[must_use]
pub fn progress(events: &[HookEvent], sid: &str) -> (Progress, String) {
    let mut session = Session {
        sid: sid.to_owned(),
        ..Session::default()
    };
    count(&mut session, ProcId::default(), "", events);
    (session.state, session.waiting_for)
}

/// Counts the work that nobody told the end of, up to the last time the session was seen.
pub(super) fn end_work(session: &mut Session, now_ns: u64) {
    let until = session.last_ns.min(now_ns);
    for counted in &mut session.counted {
        if counted.since_up_ms > 0 {
            let ms = until.saturating_sub(counted.since_ns) / 1_000_000;
            session.work_ms += ms.min(LONGEST_MS);
            counted.since_up_ms = 0;
        }
    }
}

/// The history of a record whose id was not known becomes that of the id.
pub(super) fn add_up(session: &mut Session, other: Session) {
    session.first_ns = session.first_ns.min(other.first_ns);
    session.last_ns = session.last_ns.max(other.last_ns);
    session.runs += other.runs;
    session.work_ms += other.work_ms;
    let known = |c: &Counted| {
        let mut all = session.counted.iter();
        all.any(|k| (k.pid, k.start, &k.boot) == (c.pid, c.start, &c.boot))
    };
    let new: Vec<Counted> = other.counted.into_iter().filter(|c| !known(c)).collect();
    session.counted.extend(new);
}

#[cfg(test)]
#[path = "count_tests.rs"]
mod tests;
