//! The settings file of an agent: read, replaced with its original kept, given back.

use std::fs;
use std::path::{Path, PathBuf};

use super::beside::{Manner, make, replace_so, with_ending};
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::private_file::read_foreign;

/// What the original is called, beside the file.
pub const ORIGINAL: &str = ".before-kittymux";

/// Where a settings file is: of `places` (`~/path`, or `NAME/path` with a variable's name) the first
/// whose directory is known.
///
/// # Errors
/// When there is no home directory.
pub fn place(places: &[String]) -> Outcome<PathBuf> {
    for place in places {
        let (head, rest) = place.split_once('/').unwrap_or((place, ""));
        let dir = match head {
            "~" => Some(dirs::home()?),
            name => dirs::var(name).map(PathBuf::from),
        };
        if let Some(dir) = dir.filter(|d| d.is_absolute()) {
            return Ok(dir.join(rest));
        }
    }
    Err(Fault::refused("it is not known where its settings are"))
}

/// The file's bytes; `None`: it is not there.
///
/// # Errors
/// When it cannot be read, is no regular file, is larger than `limit`, or is a link to nothing.
pub fn read(path: &Path, limit: usize) -> Outcome<Option<Vec<u8>>> {
    match read_foreign(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(fault) if !fault.is_absent() => Err(fault),
        Err(_) if fs::symlink_metadata(path).is_ok() => Err(Fault::refused(format!(
            "{} is a link that leads nowhere; it is left alone",
            shown_path(path)
        ))),
        Err(_) => Ok(None),
    }
}

/// Writes `new` where `old` is. `first`: nothing of ours is in `old`, so it is kept as the original;
/// one of an earlier time gets a number.
///
/// # Errors
/// When it is not the person's own, was changed meanwhile, or cannot be written.
pub fn write(path: &Path, old: Option<&[u8]>, new: &[u8], first: bool) -> Outcome<()> {
    match old {
        None => make(path, new),
        Some(old) => {
            if first {
                set_aside(path, old)?;
            }
            let manner = Manner {
                keep: first.then_some(ORIGINAL),
                mode: true,
            };
            replace_so(path, old, new, manner).map(|_| ())
        }
    }
}

/// Gives an original that is not `old` a number: what goes back is what stood there this time.
fn set_aside(path: &Path, old: &[u8]) -> Outcome<()> {
    let Ok(real) = path.canonicalize() else {
        return Ok(());
    };
    let kept = with_ending(&real, ORIGINAL);
    let is_file = fs::symlink_metadata(&kept).is_ok_and(|m| m.is_file());
    if !is_file || read_foreign(&kept, old.len()).is_ok_and(|kept| kept == old) {
        return Ok(());
    }
    let aside = (1..)
        .map(|n: u32| with_ending(&kept, &format!(".{n}")))
        .find(|p| fs::symlink_metadata(p).is_err())
        .unwrap_or_else(|| kept.clone());
    fs::rename(&kept, &aside).map_err(|e| Fault::file("rename", &kept, e))
}

/// What the file was before us, if that is kept, and where.
#[must_use]
pub fn original(path: &Path, limit: usize) -> Option<(PathBuf, Vec<u8>)> {
    let kept = with_ending(&path.canonicalize().ok()?, ORIGINAL);
    // Only a file that is there by itself: a link could lead anywhere.
    let is_file = fs::symlink_metadata(&kept).is_ok_and(|m| m.is_file());
    let bytes = is_file.then(|| read_foreign(&kept, limit).ok()).flatten()?;
    Some((kept, bytes))
}

/// Removes a file that holds `old`; a link stays, and what it leads to becomes `instead`.
///
/// # Errors
/// When it was changed meanwhile, or cannot be removed.
pub fn remove(path: &Path, old: &[u8], instead: &[u8]) -> Outcome<()> {
    if fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink()) {
        return write(path, Some(old), instead, false);
    }
    if read_foreign(path, old.len()).is_ok_and(|now| now == old) {
        return fs::remove_file(path).map_err(|e| Fault::file("remove", path, e));
    }
    Err(Fault::refused(format!(
        "{} was changed meanwhile; it is left alone",
        shown_path(path)
    )))
}
