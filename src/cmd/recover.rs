//! `sessions recover`: a session file with every conversation that was cut off: its record is open,
//! its process gone, and nobody has it open now.

use std::collections::BTreeSet;

use super::bring_back::{self, Ground, Tab, session_file};
use super::exit::Exit;
use super::history::{is_running, since};
use super::observe;
use super::report::home_text;
use super::save::check_case;
use super::setting;
use super::table::Args;
use crate::keep::assets;
use crate::keep::journal::{self, Session};
use crate::keep::names;
use crate::keep::publish::{Header, publish};
use crate::keep::state::State;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::resume::plan::short;
use crate::resume::prompt::shown_directory;
use crate::resume::record::{Mode, Record};
use crate::sys::clock::{self, rfc3339, span};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json::{self, Object};
use crate::sys::out;
use crate::sys::proc::ProcId;
use crate::sys::token::random_id;

/// The name of the file where none is given.
const NAME: &str = "recovered";

/// How long ago a session was last seen at most, where nothing else is asked for.
const SINCE: u64 = 86_400;

/// Finds what was cut off and writes the file.
///
/// # Errors
/// When it cannot be written; then the old one stands.
pub fn run(args: &Args) -> Outcome<Exit> {
    let name = args.words.first().map_or(NAME, String::as_str);
    if name != NAME
        && let Err(why) = names::check(name)
    {
        out::message(&why);
        return Ok(Exit::UsedWrongly);
    }
    let Some(since) = since(args, Some(SINCE)) else {
        return Ok(Exit::UsedWrongly);
    };
    let secs = since.unwrap_or(SINCE);
    let Some(state) = State::existing()? else {
        say_nothing(args.has("json"), name, secs, 0);
        return Ok(Exit::Done);
    };
    // What was closed meanwhile was not cut off.
    let asked_for = observe::look_and_record(&state).map(|l| l.asked_for);
    let found = look(&state, secs, &asked_for.unwrap_or_default())?;
    if args.has("json") {
        let written = write(&state, name, &found)?;
        out::data(&(as_json(name, &found, written) + "\n"));
        return Ok(Exit::Done);
    }
    if !found.skipped.is_empty() || !found.back.is_empty() {
        out::data(&as_text(&found, &home_text()));
    }
    if found.back.is_empty() {
        say_nothing(false, name, secs, found.older);
        return Ok(Exit::Done);
    }
    write(&state, name, &found)?;
    out::data(&format!(
        "written as {name}; bring them back: kittymux sessions restore {name}\n"
    ));
    Ok(Exit::Done)
}

fn say_nothing(as_json_too: bool, name: &str, secs: u64, older: usize) {
    if as_json_too {
        out::data(&(as_json(name, &Found::default(), false) + "\n"));
        return;
    }
    let mut text = format!(
        "nothing to recover: no conversation of the last {} was cut off\n",
        clock::long_span(secs)
    );
    if older > 0 {
        text.push_str(&format!(
            "  {older} before that: kittymux sessions recover --since 30d\n"
        ));
    }
    out::data(&text);
}

/// What was cut off.
#[derive(Debug, Default)]
struct Found {
    /// What comes back, the last active first.
    back: Vec<(Session, Record)>,
    /// What does not, and why.
    skipped: Vec<(Session, String)>,
    /// How many were last seen before the time that was asked for.
    older: usize,
}

fn look(state: &State, secs: u64, asked_for: &BTreeSet<(String, String)>) -> Outcome<Found> {
    let journal = journal::read(state);
    let now = clock::wall_ns();
    let from = now.saturating_sub(secs * 1_000_000_000);
    let host = clock::host8();
    let cut_off = |s: &&Session| s.open && s.kitty.host == host && !is_running(s);
    let mut list: Vec<&Session> = journal.sessions().filter(cut_off).collect();
    list.sort_by_key(|s| (std::cmp::Reverse(s.last_ns), &s.agent, &s.sid));
    let (list, old): (Vec<&Session>, Vec<&Session>) =
        list.into_iter().partition(|s| s.last_ns >= from);
    let mut found = Found {
        older: old.len(),
        ..Found::default()
    };
    if list.is_empty() {
        return Ok(found);
    }
    let ground = Ground::look(state, asked_for, &journal)?;
    let mut once = BTreeSet::new();
    for session in list {
        if !session.sid.is_empty() && !once.insert((&session.agent, &session.sid)) {
            continue;
        }
        match ground.record(session) {
            Ok(record) => found.back.push((session.clone(), record)),
            Err(why) => found.skipped.push((session.clone(), why)),
        }
    }
    Ok(found)
}

/// Writes the file; whether there was anything to write.
fn write(state: &State, name: &str, found: &Found) -> Outcome<bool> {
    if found.back.is_empty() {
        return Ok(false);
    }
    let sessions = state.sessions()?;
    check_case(&sessions.names()?, name)?;
    let km = setting::own_path(state)?;
    let state_text = state.text();
    let none = ProcId { pid: 0, start: 0 };
    let header = Header::now(none, &random_id());
    let tabs = found
        .back
        .iter()
        .map(|(session, record)| Tab::of(session, record.clone()))
        .collect();
    let setting = bring_back::setting(&km, &state_text, &header.save);
    let (file, long) = session_file(tabs, setting);
    let text = file.text();
    let proof = SessionFile::read(&text, Origin::Person, &[]);
    if let Some((line, why)) = proof.refusal() {
        return Err(Fault::refused(format!(
            "the file would not load (line {line}: {why}); nothing was written"
        )));
    }
    assets::write_shell_files(state)?;
    let records = state.records()?;
    for (name, text) in &long {
        records.write(name, text.as_bytes())?;
    }
    publish(
        &sessions,
        &format!("{name}{}", names::ENDING),
        &header,
        &text,
    )?;
    Ok(true)
}

fn line(session: &Session, home: &str, last: &str) -> String {
    let sid = if session.sid.is_empty() {
        "latest"
    } else {
        short(&session.sid)
    };
    format!(
        "  {}  {}  {}  {last}\n",
        out::pad(&out::clip(&out::visible(&session.agent), 10), 8),
        out::pad(&out::visible(sid), 8),
        out::clip(&shown_directory(&session.cwd, home), 40)
    )
}

fn as_text(found: &Found, home: &str) -> String {
    let now = clock::wall_ns();
    let mut text = String::new();
    for (session, _) in &found.back {
        let age = span(now.saturating_sub(session.last_ns) / 1_000_000_000);
        text.push_str(&line(session, home, &format!("{age} ago")));
    }
    if !found.skipped.is_empty() {
        text.push_str("not among them:\n");
    }
    for (session, why) in &found.skipped {
        text.push_str(&line(session, home, ""));
        text.push_str(&format!("      {}\n", out::clip(&out::visible(why), 72)));
    }
    text.lines()
        .map(|l| l.trim_end().to_owned() + "\n")
        .collect()
}

fn as_json(name: &str, found: &Found, written: bool) -> String {
    let object = |s: &Session| {
        Object::new()
            .text("agent", &s.agent)
            .maybe("session_id", (!s.sid.is_empty()).then_some(s.sid.as_str()))
            .text("cwd", &s.cwd)
            .text("tab", &s.tab)
            .text("last", &rfc3339(s.last_ns))
    };
    let back = found.back.iter().map(|(session, record)| {
        let mode = if record.mode == Mode::Exact {
            Mode::Exact
        } else {
            Mode::Latest
        };
        object(session)
            .text("mode", mode.word())
            .texts("command", &record.resume)
            .finish()
    });
    let skipped = found
        .skipped
        .iter()
        .map(|(session, why)| object(session).text("why", why).finish());
    Object::new()
        .number("version", 1)
        .text("name", name)
        .flag("written", written)
        .raw("sessions", &json::list(back))
        .raw("skipped", &json::list(skipped))
        .number("older", found.older as u64)
        .finish()
}
