//! `exit-save FILE`: works up what kitty's watcher wrote as kitty, or one of its OS windows, went.
//!
//! The watcher's file is kitty's own text and window list, written durably before anything else.
//! What is not worked up here (the machine went down, the worker was killed) the next tick does.

mod left;

use std::collections::BTreeSet;
use std::time::Duration;

use left::{Left, groups};

use super::autosaved;
use super::capture::{Capture, Choice};
use super::desk::at_the_end::{self, End};
use super::desk::{Desk, Ground, gather_trees};
use super::exit::Exit;
use super::plans;
use super::save::take;
use super::setting;
use super::table::Args;
use crate::keep::autosaves;
use crate::keep::claims::Claims;
use crate::keep::hook_records;
use crate::keep::publish::Header;
use crate::keep::state::State;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::kitty::tree::OsWindow;
use crate::resume::last_plan::LastPlan;
use crate::resume::rewrite::record_text;
use crate::sys::bytes::to_path;
use crate::sys::clock::{self, Deadline};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::lock::Lock;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};
use crate::sys::token::random_id;

/// How long OS windows that went one by one belong together, nanoseconds.
const TOGETHER_NS: u64 = 10_000_000_000;

/// How long before kitty's own end a window's end is part of it, nanoseconds.
const JUST_BEFORE_NS: u64 = 2_000_000_000;

/// How long a worker that is at it is waited for, where its desk may be the one that is wanted.
pub const WORKER: Duration = Duration::from_secs(3);

/// How long a file that the watcher has not finished writing is left alone, nanoseconds.
const TORN_NS: u64 = 600_000_000_000;

/// How many OS windows that were closed by themselves are kept.
const CLOSED: usize = 5;

/// Works up FILE and what belongs to it.
///
/// # Errors
/// Why it could not be; the file stays for the next tick.
pub fn run(args: &Args) -> Outcome<Exit> {
    let state = State::open()?;
    let Some(path) = args.words.first().map(|w| to_path(w)) else {
        crate::sys::out::message("exit-save needs the file that kitty's watcher wrote");
        return Ok(Exit::UsedWrongly);
    };
    let exits = exits(&state)?;
    let name = path
        .file_name()
        .map(crate::sys::bytes::from_os)
        .unwrap_or_default();
    let group = left::group_of(&name)
        .filter(|_| exits.join(&name) == path)
        .ok_or_else(|| {
            Fault::refused(format!(
                "{} is no file of kitty's watcher: they lie in {}",
                crate::sys::fault::shown_path(&path),
                crate::sys::fault::shown_path(exits.path())
            ))
        })?;
    let Some(_lock) = lock(&state, &group)? else {
        // Another one is at it and takes this file along.
        tell_watcher();
        return Ok(Exit::Done);
    };
    // Its plan now: a later tick may have forgotten a kitty that is gone. And what its agents are at,
    // of those that have not ended yet.
    let plan = plan_of(&state, &group);
    let early = look_early(&state, &left::read(&exits, &group));
    tell_watcher();
    let ends = loop {
        let left = left::read(&exits, &group);
        if is_ready(&left) {
            break left.iter().any(Left::is_desk);
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let done = work_up(&state, &exits, &group, plan.as_ref(), early.as_ref());
    // Its desk is offered to the next kitty only once this one is gone, which takes a moment more.
    let gone = || left::kitty_of(&group).is_none_or(|(boot, kitty)| !runs(&boot, kitty));
    let begin = clock::boot_ns();
    while ends && !gone() && clock::boot_ns().saturating_sub(begin) < TOGETHER_NS {
        std::thread::sleep(Duration::from_millis(50));
    }
    autosaved::keep_up(&state).and(done)?;
    Ok(Exit::Done)
}

/// Kitty stands still until the programs of its windows were looked at, for a moment at most. That it
/// does not wait (any more) is nothing to us.
fn tell_watcher() {
    let _ = rustix::io::write(rustix::stdio::stdout(), b"\n");
}

/// Finishes what no worker has finished. One that is at it is waited for as long as `wait`; a group
/// whose worker waits itself is left to it.
///
/// # Errors
/// What could not be finished.
pub fn finish_left(state: &State, wait: Duration) -> Outcome<()> {
    let Some(exits) = state.dir.existing_sub("sessions/.exit")? else {
        return Ok(());
    };
    let end = Deadline::after(wait);
    for torn in exits.names()?.iter().filter(|n| n.starts_with('.')) {
        let at = exits.written_ns(torn).unwrap_or(u64::MAX);
        if clock::wall_ns().saturating_sub(at) > TORN_NS {
            exits.remove(torn)?;
        }
    }
    let mut result = Ok(());
    for group in groups(&exits) {
        if !is_ready(&left::read(&exits, &group)) {
            continue;
        }
        let mut ours = lock(state, &group)?;
        while ours.is_none() && !end.is_over() {
            std::thread::sleep(Duration::from_millis(20));
            ours = lock(state, &group)?;
        }
        if let Some(_lock) = ours {
            let plan = plan_of(state, &group);
            result = work_up(state, &exits, &group, plan.as_ref(), None).and(result);
        }
    }
    result
}

/// What the agents of a kitty that goes are at, as far as they still run.
fn look_early(state: &State, left: &[Left]) -> Option<Desk> {
    let kitty = left.first()?.kitty;
    let tree: Vec<OsWindow> = left.iter().flat_map(|l| l.tree.iter().cloned()).collect();
    let defs = setting::quiet_definitions()
        .0
        .with_checks(crate::keep::checks::read(state));
    let claims = state.claims().ok().map(Claims::new);
    let ground = Ground {
        defs: &defs,
        home: setting::home().ok()?,
        claims: claims.as_ref(),
        state: Some(state),
    };
    Some(gather_trees(&[(kitty, tree.as_slice())], &ground))
}

fn exits(state: &State) -> Outcome<PrivateDir> {
    state.sessions()?.sub(".exit")
}

fn lock(state: &State, group: &str) -> Outcome<Option<Lock>> {
    let slot = crate::sys::token::fingerprint(group.as_bytes()) % 16;
    Lock::try_take(&state.dir.sub("locks")?, &format!("exit-{slot}"))
}

fn plan_of(state: &State, group: &str) -> Option<LastPlan> {
    let (boot, kitty) = left::kitty_of(group)?;
    plans::of_boot(state, &boot)
        .into_iter()
        .find(|p| p.kitty == kitty)
}

/// Whether it is known how these belong together: kitty is gone, it said so itself, or nothing more
/// has come for a while.
fn is_ready(left: &[Left]) -> bool {
    let newest = left.iter().map(|l| l.up).max().unwrap_or(0);
    left.iter().any(|l| l.is_desk() || !is_running(l))
        || clock::boot_ns().saturating_sub(newest) >= TOGETHER_NS
}

fn work_up(
    state: &State,
    exits: &PrivateDir,
    group: &str,
    plan: Option<&LastPlan>,
    early: Option<&Desk>,
) -> Outcome<()> {
    let (whole, broken) = left::read_all(exits, group);
    for name in broken {
        exits.put_away(&name, &format!("bad-{name}"))?;
    }
    let Some(last) = whole.last() else {
        return Ok(());
    };
    let mut parts: Vec<&Left> = Vec::new();
    if let Some(desk) = whole.iter().rev().find(|l| l.is_desk()) {
        parts.push(desk);
        // As a person's session ends, windows whose programs are told first go a moment before kitty.
        let just_before =
            |l: &&Left| !l.is_desk() && l.up <= desk.up && desk.up - l.up < JUST_BEFORE_NS;
        parts.extend(whole.iter().filter(just_before).rev());
    } else if !is_running(last) {
        // Those that went together, in the order in which they stood: the last one went first.
        let together = |l: &&Left| last.up.saturating_sub(l.up) < TOGETHER_NS;
        parts.extend(whole.iter().filter(together).rev());
    }
    // No window comes back twice, whatever the files say.
    let mut ids = BTreeSet::new();
    parts.retain(|part| {
        let own: Vec<u64> = part.window_ids();
        let new = own.iter().all(|id| !ids.contains(id));
        ids.extend(own);
        new
    });
    let mut result = Ok(());
    if parts.is_empty() {
        for closed in &whole {
            result = keep_closed(state, closed, plan, early).and(result);
        }
    } else {
        let joined = Left::join(&parts);
        result = publish_desk(state, &joined, plan, early);
    }
    if result.is_ok() {
        for done in &whole {
            exits.remove(&done.name)?;
        }
    }
    result
}

/// The desk of a kitty that is gone becomes its save, unless it was one bare shell.
fn publish_desk(
    state: &State,
    left: &Left,
    plan: Option<&LastPlan>,
    early: Option<&Desk>,
) -> Outcome<()> {
    let Some((header, made)) = make(state, left, plan, early)? else {
        return Ok(());
    };
    let sessions = state.sessions()?;
    let name = autosaves::name(&left.boot, left.kitty);
    autosaves::put_aside(&sessions, &name, &made.text)?;
    match take::store_over(state, &sessions, &name, &header, &made) {
        Ok(()) => {
            // What this kitty had opened lives on in this save.
            autosaved::shown(state, left.kitty, &left.tree);
            Ok(())
        }
        // A newer save stands there: that is as good.
        Err(Fault::Refused(_)) => Ok(()),
        other => other,
    }
}

/// An OS window that its owner closed while kitty went on: it is kept for a while, and is no desk.
fn keep_closed(
    state: &State,
    left: &Left,
    plan: Option<&LastPlan>,
    early: Option<&Desk>,
) -> Outcome<()> {
    let Some((header, made)) = make(state, left, plan, early)? else {
        return Ok(());
    };
    let closed = state.sessions()?.sub(".closed")?;
    let name = format!("closed-{:020}-{}", left.up, left.kitty.pid);
    take::store_over(state, &closed, &name, &header, &made)?;
    let mut names: Vec<(u64, String)> = closed
        .names()?
        .into_iter()
        .filter_map(|n| Some((closed.written_ns(&n)?, n)))
        .collect();
    names.sort();
    for (_, name) in names.iter().rev().skip(CLOSED) {
        closed.remove(name)?;
    }
    Ok(())
}

/// The save of what was left; none of one plain window.
fn make(
    state: &State,
    left: &Left,
    plan: Option<&LastPlan>,
    early: Option<&Desk>,
) -> Outcome<Option<(Header, super::save::text::Made)>> {
    let defs = setting::quiet_definitions()
        .0
        .with_checks(crate::keep::checks::read(state));
    let ground = Ground {
        defs: &defs,
        home: setting::home()?,
        claims: None,
        state: Some(state),
    };
    let end = End {
        kitty: left.kitty,
        tree: &left.tree,
        processes: &left.processes,
        plan,
        early,
        hooked: &|process| {
            let events = hook_records::recent(state, process).found()?;
            let (sid, cwd) = hook_records::latest_sid(&events)?;
            Some((sid, Some(cwd).filter(|c| !c.is_empty())))
        },
    };
    let desk = at_the_end::desk(&end, &ground);
    let header = Header {
        captured: clock::rfc3339(left.at),
        boot: left.boot.clone(),
        up: left.up,
        kitty: left.kitty,
        save: random_id(),
        host: clock::host8(),
    };
    let utility = crate::kitty::tree::windows(&left.tree)
        .filter(|p| p.window.is_utility())
        .map(|p| p.window.id)
        .collect();
    let choice = Choice {
        os_windows: None,
        skip: utility,
    };
    let capture = Capture {
        text: left.text.clone(),
        tree: left.tree.clone(),
        how: "the watcher",
        why_not_kitten: String::new(),
        is_kittys: true,
    };
    let mut made = take::make_of(&capture, &choice, &desk, &ground, state, &header, false)?;
    if left.how == "last" {
        made.text = without_typed(&made.text);
    }
    Ok((!is_bare(&made.text, left)).then_some((header, made)))
}

/// A text without the lines that were typed in its plain windows: those windows ended by themselves,
/// and the line may be the one that ended them.
fn without_typed(text: &str) -> String {
    let mut file = SessionFile::read(text, Origin::Person, &[]);
    for launch in file.launches_mut().filter(|l| record_text(l).is_none()) {
        launch.set_startup(None);
    }
    file.text()
}

/// Whether a text holds one plain window and nothing else. Where the last windows ended by
/// themselves, what was typed there is what ended them: one window without an agent is plain then.
fn is_bare(text: &str, left: &Left) -> bool {
    let file = SessionFile::read(text, Origin::Person, &[]);
    let mut windows = file.launches();
    match (windows.next(), windows.next()) {
        (Some(only), None) => {
            let idle = only.startup().is_none() && only.program().is_empty();
            record_text(only).is_none() && (idle || left.how == "last")
        }
        (None, _) => true,
        _ => false,
    }
}

/// Whether the kitty of a file still runs.
fn is_running(left: &Left) -> bool {
    runs(&left.boot, left.kitty)
}

fn runs(boot: &str, kitty: ProcId) -> bool {
    boot == clock::boot8() && proc::is_running(kitty)
}
