//! What every verb starts from: the state directory, the definitions, where we are.

use std::path::PathBuf;

use crate::agents::definitions::{Definitions, SHIPPED, load};
use crate::keep::checks;
use crate::keep::state::{State, note_self_path};
use crate::sys::bytes::from_os;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::out;
use crate::sys::private_file::read_foreign;

/// The person's definitions are no larger than this.
const LIMIT: usize = 4 << 20;

/// The definitions that apply; what is wrong in the person's own is said, and theirs is left out.
#[must_use]
pub fn definitions() -> Definitions {
    let (defs, problems) = quiet_definitions();
    for problem in problems {
        out::message(&problem);
    }
    defs
}

/// As [`definitions`], with what earlier checks found of the installed agents; nothing is started.
#[must_use]
pub fn checked_definitions(state: Option<&State>) -> Definitions {
    definitions().with_checks(state.map(checks::read).unwrap_or_default())
}

/// Where the person's own definitions are.
#[must_use]
pub fn own_definitions() -> Option<std::path::PathBuf> {
    Some(dirs::config().ok()?.join("resume.json"))
}

/// As [`definitions`], with the problems as lines.
#[must_use]
pub fn quiet_definitions() -> (Definitions, Vec<String>) {
    let Some(path) = own_definitions() else {
        return (load(SHIPPED, None).0, Vec::new());
    };
    let (bytes, mut said) = match read_foreign(&path, LIMIT) {
        Ok(bytes) => (Some(bytes), Vec::new()),
        Err(fault) if fault.is_absent() => (None, Vec::new()),
        Err(fault) => (
            None,
            vec![format!("{fault}; the shipped definitions are used")],
        ),
    };
    let (defs, problems) = load(SHIPPED, bytes.as_deref());
    said.extend(
        problems
            .iter()
            .map(|p| format!("{} {p}", shown_path(&path))),
    );
    (defs, said)
}

/// The path of kittymux that saved files are to name.
///
/// # Errors
/// When it cannot be told.
pub fn own_path(state: &State) -> Outcome<String> {
    note_self_path(state)
        .map(|p| from_os(p.as_os_str()))
        .ok_or_else(|| {
            Fault::refused("cannot tell where kittymux is: start it by its full path once")
        })
}

/// The home directory.
///
/// # Errors
/// When there is none.
pub fn home() -> Outcome<PathBuf> {
    dirs::home()
}
