//! `sessions reopen`: the conversation that was closed last, in a new tab of this kitty.

use std::time::Duration;

use super::bring_back::{self, Ground, Tab, session_file};
use super::exit::Exit;
use super::history::is_running;
use super::look::Kitties;
use super::observe::{self, Looked};
use super::report::{self, home_text};
use super::setting;
use super::table::Args;
use crate::keep::assets;
use crate::keep::journal::{self, Journal, Session};
use crate::keep::state::State;
use crate::kitty::commands;
use crate::resume::plan::short;
use crate::resume::prompt::shown_directory;
use crate::resume::record::Record;
use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::proc::ProcId;
use crate::sys::token::random_id;

/// How many conversations are named where one is to be chosen.
const NAMED: usize = 8;

/// Opens it.
///
/// # Errors
/// What stands in the way.
pub fn run(args: &Args) -> Outcome<Exit> {
    let state = State::open()?;
    let mut looked = observe::look_and_record(&state)?;
    let key = args.words.first().map(String::as_str);
    let opened = reopen(&state, &mut looked, key);
    report::show(
        &mut looked.kitties,
        opened.as_ref().cloned().map_err(ToString::to_string),
    );
    out::data(&(opened? + "\n"));
    Ok(Exit::Done)
}

fn reopen(state: &State, looked: &mut Looked, key: Option<&str>) -> Outcome<String> {
    let kitties = &mut looked.kitties;
    if !kitties.first_is_ours && kitties.deaf_parent.is_none() && kitties.ours_silent.is_none() {
        return Err(Fault::refused(
            "a conversation is reopened in a tab of the kitty you are in: run this inside kitty",
        ));
    }
    kitties.meant()?;
    let journal = journal::read(state);
    let ground = Ground::look(state, &looked.asked_for, &journal)?;
    let (session, record) = match key {
        Some(key) => {
            let session = by_key(&journal, key)?;
            if session.open && session.process.pid == 0 {
                return Err(refused(session, "it was opened just now"));
            }
            let record = ground
                .record(session)
                .map_err(|why| refused(session, &why))?;
            (session, record)
        }
        None => {
            let mut closed: Vec<&Session> = journal
                .sessions()
                .filter(|s| !s.open && !is_running(s))
                .collect();
            // What was only left inside its agent comes after what was closed.
            closed.sort_by_key(|s| (s.left, std::cmp::Reverse(s.closed_ns), &s.sid));
            let first = closed
                .into_iter()
                .find_map(|s| Some((s, ground.record(s).ok()?)));
            let Some(first) = first else {
                return Ok("nothing to reopen: no conversation was closed".to_owned());
            };
            first
        }
    };
    launch(state, kitties, session, record)?;
    Ok(format!(
        "reopened {} {} in {}",
        out::visible(&session.agent),
        name_of(session),
        out::clip(&shown_directory(&session.cwd, &home_text()), 50)
    ))
}

fn name_of(session: &Session) -> String {
    if session.sid.is_empty() {
        "(latest)".to_owned()
    } else {
        out::visible(short(&session.sid))
    }
}

fn refused(session: &Session, why: &str) -> Fault {
    Fault::refused(format!(
        "{} {} cannot be reopened: {}",
        session.agent,
        name_of(session),
        out::visible(why)
    ))
}

/// The session whose id begins with `key`.
fn by_key<'a>(journal: &'a Journal, key: &str) -> Outcome<&'a Session> {
    let mut list: Vec<&Session> = journal.sessions().filter(|s| !s.sid.is_empty()).collect();
    list.sort_by_key(|s| std::cmp::Reverse(s.closed_ns.max(s.last_ns)));
    let fits: Vec<&Session> = list
        .iter()
        .copied()
        .filter(|s| !key.is_empty() && s.sid.starts_with(key))
        .collect();
    let shown = out::clip(&out::visible(key), 40);
    let name = |list: &[&Session]| {
        let names: Vec<String> = list
            .iter()
            .take(NAMED)
            .map(|s| {
                let long = out::clip(&out::visible(&s.sid), 40);
                let sid = if s.sid == key { long } else { unique(list, s) };
                format!("{} {sid}", out::visible(&s.agent))
            })
            .collect();
        names.join(", ")
    };
    match fits.as_slice() {
        [one] => Ok(one),
        // The whole id of one may be the beginning of another's.
        several if several.iter().filter(|s| s.sid == key).count() == 1 => Ok(several
            .iter()
            .find(|s| s.sid == key)
            .copied()
            .unwrap_or(several[0])),
        [] if list.is_empty() => Err(Fault::refused("the journal knows no session yet")),
        [] => Err(Fault::refused(format!(
            "no session id begins with \"{shown}\"; there is: {}",
            name(&list)
        ))),
        several => Err(Fault::refused(format!(
            "several session ids begin with \"{shown}\": {}",
            name(several)
        ))),
    }
}

/// As much of an id as tells it from all others, eight characters at least.
fn unique(list: &[&Session], session: &Session) -> String {
    let long = |n: usize| session.sid.chars().take(n).collect::<String>();
    let alone = |start: &str| list.iter().filter(|s| s.sid.starts_with(start)).count() == 1;
    let n = (8..session.sid.chars().count()).find(|n| alone(&long(*n)));
    out::visible(&long(n.unwrap_or(40).min(40)))
}

/// Opens a tab with the person's shell, which resumes the conversation without asking.
fn launch(
    state: &State,
    kitties: &mut Kitties,
    session: &Session,
    mut record: Record,
) -> Outcome<()> {
    record.direct = true;
    let km = setting::own_path(state)?;
    let state_text = state.text();
    let save = random_id();
    let cwd = record.cwd.clone();
    let tab = Tab::of(session, record);
    let title = tab.title.clone();
    let (file, long) = session_file(vec![tab], bring_back::setting(&km, &state_text, &save));
    assets::write_shell_files(state)?;
    let records = state.records()?;
    for (name, text) in &long {
        records.write(name, text.as_bytes())?;
    }
    let Some(line) = file.launches().next() else {
        return Err(Fault::refused("there is no line to launch"));
    };
    let frame = commands::launch_tab(line, &cwd, title.as_deref());
    let kitty = kitties.meant()?;
    let process = kitty.process;
    let id = kitty
        .connection
        .ask(&frame, Duration::from_secs(5))
        .map_err(|why| Fault::refused(format!("kitty {}: {why}", process.pid)))?
        .into_data()
        .map_err(|why| Fault::refused(format!("kitty opened no tab: {}", out::visible(&why))))?;
    // Until its agent is there, the window stands for it: asked again, the one before comes next.
    let window = id.trim().parse().unwrap_or(0);
    let (agent, sid) = (session.agent.clone(), session.sid.clone());
    let old = (session.kitty.clone(), session.window, session.process);
    let _ = journal::update(state, |journal| {
        let is_it = |s: &Session| {
            s.agent == agent
                && s.sid == sid
                && (!sid.is_empty() || (s.kitty.clone(), s.window, s.process) == old)
        };
        let Some(session) = journal.find_mut(is_it) else {
            return false;
        };
        session.open = true;
        session.left = false;
        session.closed_ns = 0;
        session.last_ns = clock::wall_ns();
        session.kitty = observe::owner(process);
        session.window = window;
        session.process = ProcId { pid: 0, start: 0 };
        true
    });
    Ok(())
}
