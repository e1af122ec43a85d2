//! The saves that were made by themselves, kept up: what is too old goes, and the desk that a kitty
//! that starts now is to offer lies in `sessions/startup.kitty-session`.

use super::restore::prepare::{Loads, prepare};
use super::setting;
use crate::keep::autosaves::{self, Autosave, NOTHING, PREFIX, STARTUP};
use crate::keep::names::ENDING;
use crate::keep::publish::{Header, LIMIT};
use crate::keep::state::State;
use crate::keep::taken::Marks;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::sys::bytes::{from_bytes, to_bytes};
use crate::sys::fault::Outcome;
use crate::sys::lock::Lock;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::ProcId;
use crate::sys::token::{fingerprint as sum, is_token};
use std::time::Duration;

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
    Marks::of(state).sweep(&|id| saves.iter().any(|s| s.header.save == id));
    offer(state, &sessions, autosaves::for_start(&saves))
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
}

/// Which desk is offered now, by the first lines of the file.
#[must_use]
pub fn offered(sessions: &PrivateDir) -> Option<Offered> {
    let head = sessions.read_head(STARTUP, 4096).ok()??;
    let text = from_bytes(&head);
    let header = Header::read(&text)?;
    let windows = text.lines().nth(1)?.strip_prefix(WINDOWS)?;
    is_token(windows).then(|| Offered {
        header,
        windows: windows.to_owned(),
    })
}

/// Empties the file: nothing is offered any more. It is never removed, since kitty.conf names it.
///
/// # Errors
/// When it cannot be written.
pub fn withdraw(sessions: &PrivateDir) -> Outcome<()> {
    let there = sessions.read_head(STARTUP, 4096)?;
    if there.as_deref() == Some(NOTHING.as_bytes()) {
        return Ok(());
    }
    sessions.write(STARTUP, NOTHING.as_bytes())
}

fn offer(state: &State, sessions: &PrivateDir, save: Option<&Autosave>) -> Outcome<()> {
    let Some(save) = save else {
        return withdraw(sessions);
    };
    if offered(sessions).is_some_and(|o| o.header == save.header) {
        return Ok(());
    }
    let bytes = sessions
        .read(&format!("{}{ENDING}", save.name), LIMIT)?
        .unwrap_or_default();
    let file = SessionFile::read(&from_bytes(&bytes), Origin::Person, &[]);
    if file.refusal().is_some() || !file.has_windows() {
        return withdraw(sessions);
    }
    crate::keep::assets::write_shell_files(state)?;
    let km = setting::own_path(state)?;
    let prepared = prepare(state, "startup", &file, &km, Loads::ByItself)?;
    let text = format!(
        "{}{WINDOWS}{}\n{}",
        save.header.line(),
        prepared.windows,
        Header::body(&prepared.first.text())
    );
    sessions.write(STARTUP, &to_bytes(&text))
}

/// The save whose windows carry `windows`, where it is still the one that is offered.
#[must_use]
pub fn is_offered(sessions: &PrivateDir, windows: &str) -> Option<Header> {
    offered(sessions)
        .filter(|o| o.windows == windows)
        .map(|o| o.header)
}

/// Whether a name is that of a save made by itself.
#[must_use]
pub fn is_autosave(name: &str) -> bool {
    name.starts_with(PREFIX)
}
