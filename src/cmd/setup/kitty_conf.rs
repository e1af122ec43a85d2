//! The one line in kitty.conf.

use std::path::{Path, PathBuf};

use super::{Group, Status, Step, shown};
use crate::keep::settings_file;
use crate::kitty::conf;
use crate::sys::bytes::{from_bytes, from_os, to_bytes};
use crate::sys::fault::Outcome;
use crate::sys::private_file::read_foreign;

pub(super) const NAME: &str = "kitty.conf";

/// The largest kitty.conf that is edited.
const LIMIT: usize = 4 << 20;

fn file() -> Option<PathBuf> {
    conf::directory().map(|d| d.join("kitty.conf"))
}

fn line(state: &Path) -> String {
    format!(
        "include {}",
        from_os(state.join("kitty/kittymux.conf").as_os_str())
    )
}

pub(super) fn step(state: &Path, keep: bool) -> Step {
    let Some(path) = file() else {
        return Step {
            name: NAME,
            group: Group::Conf,
            does: "the line that includes our file".to_owned(),
            status: Status::Left("there is no home directory".to_owned()),
            act: Box::new(|| Ok(())),
        };
    };
    let wanted = line(state);
    let status = if is_included(state) {
        Status::Done
    } else if keep {
        Status::Left("you put this line at its top yourself: --keep-conf".to_owned())
    } else {
        Status::ToDo
    };
    let backup = if path.exists() {
        "; backup: FILE.before-kittymux"
    } else {
        ""
    };
    let does = format!(
        "{}: at its top, for socket and keys\n{wanted}\n(what you set below it wins{backup})",
        shown(&path)
    );
    let state = state.to_owned();
    Step {
        name: NAME,
        group: Group::Conf,
        does,
        status,
        act: Box::new(move || put_in(&path, &line(&state))),
    }
}

/// Whether kitty.conf has the line.
pub(super) fn is_included(state: &Path) -> bool {
    let wanted = line(state);
    let bytes = file().and_then(|f| read_foreign(&f, LIMIT).ok());
    bytes.is_some_and(|b| from_bytes(&b).lines().any(|l| l.trim() == wanted))
}

fn put_in(path: &Path, line: &str) -> Outcome<()> {
    let old = settings_file::read(path, LIMIT)?;
    let mut new = to_bytes(&format!("{line}\n"));
    new.extend_from_slice(old.as_deref().unwrap_or_default());
    settings_file::write(path, old.as_deref(), &new, true)
}

/// Takes our line out; where nothing else changed since, the file is as it was to the byte.
pub(super) fn take_out(state: &Path) -> Outcome<()> {
    let Some(path) = file() else { return Ok(()) };
    let Some(old) = settings_file::read(&path, LIMIT)? else {
        return Ok(());
    };
    let wanted = line(state);
    let kept: String = from_bytes(&old)
        .split_inclusive('\n')
        .filter(|l| l.trim() != wanted)
        .collect();
    let new = to_bytes(&kept);
    let original = settings_file::original(&path, LIMIT);
    // Ours alone: there was none before.
    if new.is_empty() && original.is_none() {
        return settings_file::remove(&path, &old, b"");
    }
    settings_file::write(&path, Some(&old), &new, false)?;
    match original {
        Some((original, bytes)) if bytes == new => settings_file::remove(&original, &bytes, b""),
        _ => Ok(()),
    }
}
