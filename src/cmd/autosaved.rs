//! The saves that were made by themselves, kept up: what is too old goes, and the desk that a kitty
//! that starts now is to offer lies in `sessions/startup.kitty-session`.

use super::restore::prepare::{Loads, prepare, remove_copies, restore_dir};
use super::setting;
use crate::keep::autosaves::{self, Autosave, NOTHING, STARTUP};
use crate::keep::names::ENDING;
use crate::keep::publish::{Header, LIMIT};
use crate::keep::state::State;
use crate::keep::taken::{Marks, ended};
use crate::kitty::session_file::{Origin, SessionFile};
use crate::kitty::tree::{self, OsWindow};
use crate::kitty::words::quote;
use crate::resume::rewrite::VAR_SAVE;
use crate::sys::bytes::{from_bytes, to_bytes};
use crate::sys::fault::Outcome;
use crate::sys::lock::Lock;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::ProcId;
use crate::sys::token::{fingerprint as sum, is_token};
use std::time::Duration;

/// What kitty runs has this in place of the id of a desk when it started with nothing to bring back.
pub const AT_START: &str = "startup";

/// Its second line, before the id its windows carry.
const WINDOWS: &str = "# windows ";

/// What the choice of the desk to offer rests on, cheaply: changes of the directories, and which
/// kitties run.
#[must_use]
pub fn fingerprint(state: &State, alive: &[ProcId]) -> u64 {
    let mut text = String::new();
    for name in ["sessions", "sessions/.taken"] {
        let at = state.dir.written_ns(name).unwrap_or(0);
        text.push_str(&format!("{at} "));
    }
    for kitty in alive {
        text.push_str(&format!("{}-{} ", kitty.pid, kitty.start));
    }
    sum(text.as_bytes())
}

/// Removes what is kept no longer and brings the desk to offer up to date.
///
/// # Errors
/// When something cannot be written.
pub fn keep_up(state: &State) -> Outcome<()> {
    let sessions = state.sessions()?;
    let _lock = lock(state)?;
    let mut saves = autosaves::all(state)?;
    let outdated: Vec<String> = autosaves::outdated(&saves)
        .into_iter()
        .map(str::to_owned)
        .collect();
    for name in &outdated {
        sessions.remove(&format!("{name}{ENDING}"))?;
    }
    saves.retain(|s| !outdated.contains(&s.name));
    autosaves::sweep_history(&sessions, &saves);
    for save in saves.iter().filter(|s| !s.runs) {
        ended(state, &save.header.save)?;
    }
    let marks = Marks::of(state);
    marks.sweep(&|id| saves.iter().any(|s| s.header.save == id));
    state.sweep();
    let loads = |name: &str| autosaves::loads(&sessions, name);
    // Who wants nothing saved by itself wants nothing brought back by itself either.
    let wanted = !state.has("autosave-off");
    let desk = autosaves::for_start(&saves, &marks, &loads).filter(|_| wanted);
    offer(state, &sessions, desk)
}

/// The lock under which desks are taken and the one to offer is chosen.
///
/// # Errors
/// When somebody holds it for 2 s.
pub fn lock(state: &State) -> Outcome<Lock> {
    Lock::take(&state.dir.sub("locks")?, "startup", Duration::from_secs(2))
}

/// The desk that is offered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Its first line, with the id of its save.
    pub header: Header,
    /// The id its windows carry.
    pub windows: String,
    /// How many windows it has.
    pub count: usize,
    /// Fingerprint of the path of kittymux that it starts.
    kittymux: String,
}

/// Which desk is offered now, by the first lines of the file.
#[must_use]
pub fn offered(sessions: &PrivateDir) -> Option<Offered> {
    let head = sessions.read_head(STARTUP, 4096).ok()??;
    offered_by(&from_bytes(&head))
}

/// Which desk a text of that file offers.
#[must_use]
pub fn offered_by(text: &str) -> Option<Offered> {
    let header = Header::read(text)?;
    let mut words = text.lines().nth(1)?.strip_prefix(WINDOWS)?.split(' ');
    let windows = words.next()?;
    let count = words.next()?.strip_prefix("count=")?.parse().ok()?;
    let kittymux = words.next()?.strip_prefix("kittymux=")?.to_owned();
    is_token(windows).then(|| Offered {
        header,
        windows: windows.to_owned(),
        count,
        kittymux,
    })
}

/// Empties the file: nothing is offered any more. It is never removed, since kitty.conf names it.
///
/// # Errors
/// When it cannot be written.
pub fn withdraw(state: &State, sessions: &PrivateDir) -> Outcome<()> {
    let text = to_bytes(&nothing(state));
    let there = sessions.read_head(STARTUP, 4096)?;
    if there.as_ref() == Some(&text) {
        return Ok(());
    }
    sessions.write(STARTUP, &text)
}

/// What the file holds while nothing is offered: kitty's own first window, and a line that asks once
/// more, since a kitty may have ended a moment ago.
fn nothing(state: &State) -> String {
    setting::own_path(state).map_or_else(
        |_| NOTHING.to_owned(),
        |km| format!("{NOTHING}launch\n{}\n", taking(&km, AT_START)),
    )
}

/// The line that kitty runs as it loads a file of ours. A kitty that starts ends at once when such a
/// program is not there, and ours may have been removed or moved: the shell looks first.
#[must_use]
pub fn taking(km: &str, windows: &str) -> String {
    let km = quote(km);
    format!(
        "launch --type=background --allow-remote-control /bin/sh -c {IF_THERE} {km} sessions restored {windows}"
    )
}

/// Becomes the program that is named, if it is there.
const IF_THERE: &str = r#"'[ ! -x "$0" ] || exec "$0" "$@"'"#;

/// A save of this kitty shows these windows: what it had taken lives on in it, once all of it is
/// there.
pub fn shown(state: &State, kitty: ProcId, tree: &[OsWindow]) {
    let count = |id: &str| {
        tree::windows(tree)
            .filter(|p| p.window.var(VAR_SAVE) == Some(id))
            .count()
    };
    Marks::of(state).published(kitty, &count);
}

fn offer(state: &State, sessions: &PrivateDir, save: Option<&Autosave>) -> Outcome<()> {
    let before = offered(sessions);
    let Some(save) = save else {
        withdraw(state, sessions)?;
        forget_copies(state, sessions, before.as_ref());
        return Ok(());
    };
    let km = setting::own_path(state)?;
    // Where kittymux is belongs to it: one that moved could not be started by what was written.
    let same = before.as_ref().is_some_and(|o| {
        o.header == save.header
            && o.kittymux == fingerprint_of(&km)
            && sessions.join(restore_dir(&o.windows)).is_dir()
    });
    if same {
        return Ok(());
    }
    let bytes = sessions
        .read(&format!("{}{ENDING}", save.name), LIMIT)?
        .unwrap_or_default();
    let file = SessionFile::read(&from_bytes(&bytes), Origin::Person, &[]);
    crate::keep::assets::write_shell_files(state)?;
    let prepared = prepare(state, "startup", &file, &km, Loads::ByItself)?;
    let text = format!(
        "{}{WINDOWS}{} count={} kittymux={}\n{}",
        save.header.line(),
        prepared.windows,
        prepared.count,
        fingerprint_of(&km),
        Header::body(&prepared.first.text())
    );
    sessions.write(STARTUP, &to_bytes(&text))?;
    forget_copies(state, sessions, before.as_ref());
    Ok(())
}

fn fingerprint_of(km: &str) -> String {
    format!("{:016x}", sum(km.as_bytes()))
}

/// Removes the private copies of an offer that nobody has taken.
fn forget_copies(state: &State, sessions: &PrivateDir, offer: Option<&Offered>) {
    let Some(offer) = offer else { return };
    let now = offered(sessions).map(|o| o.windows);
    let taken = Marks::of(state).by_windows(&offer.windows).is_some();
    if now.as_ref() != Some(&offer.windows) && !taken {
        remove_copies(sessions, &offer.windows);
    }
}

/// The save whose windows carry `windows`, where it is still the one that is offered.
#[must_use]
pub fn is_offered(sessions: &PrivateDir, windows: &str) -> Option<Offered> {
    offered(sessions).filter(|o| o.windows == windows)
}

/// Whether a name is that of a save made by itself.
#[must_use]
pub fn is_autosave(name: &str) -> bool {
    autosaves::is_name(name)
}
