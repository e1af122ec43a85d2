//! `sessions restored ID`: what a file of ours has kitty run in the background as it loads it. It
//! marks the desk as taken, so that no other kitty offers it, and opens its other sessions.

mod start;

use std::time::Duration;

use super::autosaved;
use super::exit::Exit;
use super::restore::prepare::{others, restore_dir};
use super::table::Args;
use crate::keep::autosaves::STARTUP;
use crate::keep::names::ENDING;
use crate::keep::state::State;
use crate::keep::taken::{Mark, Marks, take};
use crate::kitty::client::Connection;
use crate::kitty::commands;
use crate::kitty::discover::{self, Surroundings};
use crate::resume::rewrite::VAR_SAVE;
use crate::sys::bytes::from_os;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};
use crate::sys::token::is_token;

/// How long kitty is waited for: it may still be loading the file.
const WAIT: Duration = Duration::from_secs(10);

/// Marks the desk and opens what belongs to it.
///
/// # Errors
/// Why not.
pub fn run(args: &Args) -> Outcome<Exit> {
    let Some(windows) = args.words.first().filter(|w| is_token(w)) else {
        out::message("sessions restored needs the id that the windows of a restore carry");
        return Ok(Exit::UsedWrongly);
    };
    let state = State::open()?;
    let kitty = discover::parent()
        .ok_or_else(|| Fault::refused("sessions restored is run by kitty, not in a shell"))?;
    if windows == autosaved::AT_START {
        return start::run(&state, kitty);
    }
    let taken = take_offered(&state, windows, kitty)?;
    let Some(mut connection) = connection_to(&state, kitty)? else {
        return Ok(Exit::Done);
    };
    if taken == Taking::ByAnother {
        step_back(&mut connection, windows)?;
        return Ok(Exit::Done);
    }
    let sessions = state.sessions()?;
    let Ok(Some(dir)) = PrivateDir::existing(&sessions.join(restore_dir(windows))) else {
        return Ok(Exit::Done);
    };
    let names = dir.names()?;
    let first = names.iter().find(|n| n.ends_with(ENDING)).map_or_else(
        || from_os(sessions.join(STARTUP).as_os_str()),
        |name| from_os(dir.join(name).as_os_str()),
    );
    open_others(&mut connection, kitty, &dir, &first)?;
    Ok(Exit::Done)
}

/// The connection to the kitty that started us, where it can be had.
fn connection_to(state: &State, kitty: ProcId) -> Outcome<Option<Connection>> {
    let found = discover::find(&Surroundings::read(), Some(&state.dir))?;
    let ours = found.kitties.into_iter().find(|k| k.process == kitty);
    Ok(ours.map(|k| k.connection))
}

/// Opens the other sessions of a desk, then goes back to `first`, the one that was visible.
fn open_others(
    connection: &mut Connection,
    kitty: ProcId,
    dir: &PrivateDir,
    first: &str,
) -> Outcome<()> {
    let more = others(dir);
    let back = (!more.is_empty()).then(|| first.to_owned());
    for path in more.iter().chain(&back) {
        connection
            .ask(&commands::goto_session(path), WAIT)
            .map_err(|why| Fault::refused(format!("kitty {}: {why}", kitty.pid)))?;
    }
    Ok(())
}

/// Who has a desk now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// This kitty.
    ByUs,
    /// Not this kitty: another one was faster, or it is a panel.
    ByAnother,
    /// It is no desk that was offered.
    Neither,
}

/// Takes the desk whose windows carry `windows` for `kitty`, if it is still the one that is offered.
///
/// # Errors
/// When it cannot be marked.
pub fn take_offered(state: &State, windows: &str, kitty: ProcId) -> Outcome<Taking> {
    let sessions = state.sessions()?;
    let by_windows = Marks::of(state).by_windows(windows);
    if by_windows.is_none() && autosaved::is_offered(&sessions, windows).is_none() {
        return Ok(Taking::Neither);
    }
    if is_panel(kitty) {
        return Ok(Taking::ByAnother);
    }
    let _lock = autosaved::lock(state)?;
    if let Some(offer) = autosaved::is_offered(&sessions, windows) {
        take(state, &offer.header.save, kitty, windows, offer.count)?;
        autosaved::withdraw(state, &sessions)?;
        return Ok(Taking::ByUs);
    }
    Ok(match Marks::of(state).by_windows(windows) {
        Some((_, Mark::Taken(other))) if other == kitty => Taking::ByUs,
        Some((_, Mark::Taken(other))) if proc::is_running(other) => Taking::ByAnother,
        _ => Taking::Neither,
    })
}

/// Whether a kitty was started as a panel, as the quick-access terminal is: it reads `startup_session`
/// too, and is no place for a desk.
fn is_panel(kitty: ProcId) -> bool {
    let words = proc::argv(kitty.pid).found().unwrap_or_default();
    let first: Vec<&str> = words.iter().skip(1).take(3).map(String::as_str).collect();
    matches!(
        first[..],
        ["+kitten", "panel", ..] | ["+", "kitten", "panel"]
    )
}

/// Two kitties started at once and loaded the same desk: the slower one becomes a plain shell, as a
/// panel does.
fn step_back(connection: &mut Connection, windows: &str) -> Outcome<()> {
    let frames = [
        commands::plain_tab(),
        commands::close_by_var(VAR_SAVE, windows),
    ];
    connection
        .ask_all(&frames, WAIT)
        .map(drop)
        .map_err(|why| Fault::refused(why.to_string()))
}
