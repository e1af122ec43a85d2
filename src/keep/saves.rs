//! The saves there are.

use super::names;
use super::state::State;
use crate::sys::fault::Outcome;

/// A save on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    /// Its name.
    pub name: String,
    /// When it was written, nanoseconds of wall time.
    pub written_ns: u64,
}

/// The saves there are, newest first; `startup`, which only offers one of them, is none.
///
/// # Errors
/// When the directory is not ours.
pub fn saves(state: &State) -> Outcome<Vec<Save>> {
    let sessions = state.sessions()?;
    let mut found: Vec<Save> = sessions
        .names()?
        .iter()
        .filter_map(|file| {
            let name = names::stem(file)?.to_owned();
            if name == "startup" {
                return None;
            }
            Some(Save {
                written_ns: sessions.written_ns(file)?,
                name,
            })
        })
        .collect();
    found.sort_by_key(|s| (std::cmp::Reverse(s.written_ns), s.name.clone()));
    Ok(found)
}
