//! A kitty that found nothing to bring back in the file it started with asks once more: the one
//! before it may have ended a moment ago, and no tick has seen that yet.

use std::time::Duration;

use super::{Taking, WAIT, connection_to, open_others, take_offered};
use crate::cmd::autosaved;
use crate::cmd::capture::watch;
use crate::cmd::exit::Exit;
use crate::cmd::exit_save::{self, WORKER};
use crate::cmd::restore::prepare::{can_be_a_stem, restore_dir};
use crate::keep::autosaves::{self, STARTUP};
use crate::keep::names::ENDING;
use crate::keep::publish::{Header, LIMIT};
use crate::keep::state::State;
use crate::keep::taken::give_back;
use crate::kitty::client::Connection;
use crate::kitty::commands;
use crate::kitty::session_file::{Item, Origin, SessionFile};
use crate::kitty::tree::{self, OsWindow, Window};
use crate::resume::parts::parts;
use crate::resume::rewrite::VAR_SAVE;
use crate::sys::bytes::{from_bytes, from_os, to_bytes};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::proc::ProcId;

/// How long the windows of the desk are waited for.
const COME: Duration = Duration::from_secs(5);

/// How long a shell may take to come to its prompt before its window is left where it is.
const SETTLE: Duration = Duration::from_secs(2);

/// Brings back the desk that is to be offered now, if there is one, in place of the window that
/// kitty opened.
///
/// # Errors
/// Why it could not be; then it is offered to the next kitty.
pub(super) fn run(state: &State, kitty: ProcId) -> Outcome<Exit> {
    // It may be the desk of an end that is not worked up yet. That one of them cannot be says nothing
    // against the desk of another.
    let finished = exit_save::finish_left(state, WORKER);
    autosaved::keep_up(state)?;
    let sessions = state.sessions()?;
    let text = from_bytes(&sessions.read(STARTUP, LIMIT)?.unwrap_or_default());
    let Some(offer) = autosaved::offered_by(&text) else {
        return finished.map(|()| Exit::Done);
    };
    let Some(mut connection) = connection_to(state, kitty)? else {
        return Ok(Exit::Done);
    };
    let before = watch(&mut connection, WAIT, |_| true).unwrap_or_default();
    if before.is_empty() {
        return Ok(Exit::Done);
    }
    if take_offered(state, &offer.windows, kitty)? != Taking::ByUs {
        return Ok(Exit::Done);
    }
    let mut file = SessionFile::read(&text, Origin::Person, &[]);
    // The line that would take it: that is done.
    file.lines.retain(
        |l| !matches!(&l.item, Item::Launch(l) if l.option("--type") == Some("background")),
    );
    let name = name_of(&file, &offer.header) + ENDING;
    let copied = sessions
        .sub(&restore_dir(&offer.windows))
        .and_then(|dir| dir.write(&name, &to_bytes(&file.text())).map(|()| dir));
    let dir = match copied {
        Ok(dir) => dir,
        Err(fault) => {
            give_back(state, &offer.header.save)?;
            return Err(fault);
        }
    };
    let first = from_os(dir.join(&name).as_os_str());
    let opened = connection
        .ask(&commands::goto_session(&first), WAIT)
        .map_err(|why| Fault::refused(format!("kitty {}: {why}", kitty.pid)))
        .and_then(|_| open_others(&mut connection, kitty, &dir, &first));
    let is_whole = |t: &[OsWindow]| came(t, &offer.windows) >= offer.count;
    let shown = watch(&mut connection, COME, is_whole);
    if did_not_come(shown.as_deref(), &offer.windows) {
        give_back(state, &offer.header.save)?;
    } else if let (Some(_), [only]) = (shown, &tree::windows(&before).collect::<Vec<_>>()[..]) {
        make_room(&mut connection, only.window.id)?;
    }
    opened.and(finished).map(|()| Exit::Done)
}

/// The name its visible session gets: its own, else that of the save. The window that makes room has
/// the name of the file kitty started with.
fn name_of(file: &SessionFile, header: &Header) -> String {
    let own = parts(file, &can_be_a_stem).into_iter().next();
    own.map(|part| part.session)
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| autosaves::name(&header.boot, header.kitty))
}

/// How many windows of the desk are there.
fn came(tree: &[OsWindow], windows: &str) -> usize {
    tree::windows(tree)
        .filter(|p| p.window.var(VAR_SAVE) == Some(windows))
        .count()
}

/// Whether nothing of the desk is there. Not to have looked is not to have seen none: what a kitty that
/// answers too late still opens is not for another one.
fn did_not_come(shown: Option<&[OsWindow]>, windows: &str) -> bool {
    shown.is_some_and(|tree| came(tree, windows) == 0)
}

/// Closes the window kitty opened with, once its shell waits and as long as nothing was run in it.
fn make_room(connection: &mut Connection, id: u64) -> Outcome<()> {
    let is_fresh = |t: &[OsWindow]| {
        let window = tree::windows(t).find(|p| p.window.id == id);
        window.is_some_and(|p| is_untouched(p.window))
    };
    let shown = watch(connection, SETTLE, is_fresh).unwrap_or_default();
    if is_fresh(&shown) {
        connection
            .ask(&commands::close_window(id), WAIT)
            .map_err(|why| Fault::refused(why.to_string()))?;
    }
    Ok(())
}

/// Whether nothing was run in a window but its own program, which waits.
fn is_untouched(window: &Window) -> bool {
    let front = &window.foreground_processes;
    let typed = window.last_reported_cmdline.as_deref().unwrap_or("");
    typed.is_empty() && front.len() == 1 && front[0].pid == window.pid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kitty_that_does_not_answer_keeps_the_desk() {
        assert!(!did_not_come(None, "w"));
        assert!(did_not_come(Some(&[]), "w"));
    }
}
