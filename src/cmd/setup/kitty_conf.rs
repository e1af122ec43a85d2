//! The one line in kitty.conf.

use std::path::{Path, PathBuf};

use super::{Group, Status, Step, shown};
use crate::keep::beside;
use crate::kitty::conf;
use crate::sys::bytes::{from_bytes, from_os, to_bytes};
use crate::sys::fault::{Fault, Outcome};
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
        "; backup: kitty.conf.bak"
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
    let old = match read_foreign(path, LIMIT) {
        Ok(old) => old,
        Err(fault) if fault.is_absent() => {
            let dir = path.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(dir).map_err(|e| Fault::file("create", dir, e))?;
            return std::fs::write(path, to_bytes(&format!("{line}\n")))
                .map_err(|e| Fault::file("write", path, e));
        }
        Err(fault) => return Err(fault),
    };
    let mut new = to_bytes(&format!("{line}\n"));
    new.extend_from_slice(&old);
    put(path, &old, &new)
}

/// Takes our line out; where nothing else changed since, the file is as it was to the byte.
pub(super) fn take_out(state: &Path) -> Outcome<()> {
    let Some(path) = file() else { return Ok(()) };
    let old = read_foreign(&path, LIMIT)?;
    let wanted = line(state);
    let kept: String = from_bytes(&old)
        .split_inclusive('\n')
        .filter(|l| l.trim() != wanted)
        .collect();
    let new = to_bytes(&kept);
    let original = path.with_file_name(format!("kitty.conf{}", beside::ENDING));
    // Ours alone: there was none before.
    if new.is_empty() && !original.exists() {
        return std::fs::remove_file(&path).map_err(|e| Fault::file("remove", &path, e));
    }
    put(&path, &old, &new)?;
    let same = read_foreign(&original, LIMIT).is_ok_and(|o| o == new);
    if same {
        let _ = std::fs::remove_file(&original);
    }
    Ok(())
}

/// Replaces the file, which keeps its mode.
fn put(path: &Path, old: &[u8], new: &[u8]) -> Outcome<()> {
    let mode = std::fs::metadata(path).map(|m| m.permissions());
    beside::replace(path, old, new)?;
    if let Ok(mode) = mode {
        std::fs::set_permissions(path, mode)
            .map_err(|e| Fault::file("set the mode of", path, e))?;
    }
    Ok(())
}
