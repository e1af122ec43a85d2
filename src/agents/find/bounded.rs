//! Bounded reading of files that are not ours.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

use crate::sys::bytes::from_os;
use crate::sys::look::Look;

/// How many entries of one directory are looked at.
const MOST_ENTRIES: usize = 50_000;

/// How much is read at once of what ends at a line.
const PIECE: usize = 32 << 10;

/// A regular file: its size and when it was last written (wall time, nanoseconds).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since the epoch.
    pub touched_ns: u64,
}

/// What is known of the regular file at `path`; *Nothing* when there is none (links are followed).
pub fn facts(path: &Path) -> Look<Facts> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(e) if is_absence(&e) => return Look::Nothing,
        Err(e) => return Err(e).into(),
    };
    if !meta.is_file() {
        return Look::Nothing;
    }
    let touched = meta.modified().ok();
    let touched = touched.and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    Look::Found(Facts {
        size: meta.len(),
        touched_ns: touched.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)),
    })
}

/// Absent, below a file, a circle of links, a name that is too long: there is nothing to be read.
fn is_absence(e: &std::io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NAMETOOLONG]
        .iter()
        .any(|n| e.raw_os_error() == Some(n.raw_os_error()))
}

/// The first `limit` bytes of a regular file; pipes and devices are never opened for reading.
pub fn head(path: &Path, limit: usize) -> Look<Vec<u8>> {
    let read = |file: &mut dyn Read, bytes: &mut Vec<u8>| file.read_to_end(bytes);
    read_with(path, limit, read)
}

/// The first line of a regular file with its end, or what there is of it in the first `limit` bytes: a
/// transcript may be large.
pub fn first_line(path: &Path, limit: usize) -> Look<Vec<u8>> {
    let read = |file: &mut dyn Read, bytes: &mut Vec<u8>| {
        BufReader::with_capacity(PIECE, file).read_until(b'\n', bytes)
    };
    read_with(path, limit, read)
}

fn read_with(
    path: &Path,
    limit: usize,
    read_into: impl Fn(&mut dyn Read, &mut Vec<u8>) -> std::io::Result<usize>,
) -> Look<Vec<u8>> {
    let read = || -> std::io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let max = u64::try_from(limit).unwrap_or(u64::MAX);
        read_into(&mut std::fs::File::from(fd).take(max), &mut bytes)?;
        Ok(Some(bytes))
    };
    match read() {
        Ok(Some(bytes)) => Look::Found(bytes),
        Ok(None) => Look::Nothing,
        Err(e) if is_absence(&e) => Look::Nothing,
        Err(e) => Err(e).into(),
    }
}

/// The names in a directory, sorted; *Nothing* when there is no such directory.
pub fn names(dir: &Path) -> Look<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if is_absence(&e) => return Look::Nothing,
        Err(e) => return Err(e).into(),
    };
    let mut names = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => names.push(from_os(&entry.file_name())),
            Err(e) => return Err(e).into(),
        }
        if names.len() > MOST_ENTRIES {
            return Look::Unknown(format!("more than {MOST_ENTRIES} entries in one directory"));
        }
    }
    names.sort();
    Look::Found(names)
}

/// When a file or directory was last written (wall time, nanoseconds).
pub fn written_ns(path: &Path) -> Option<u64> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    let written = meta.modified().ok()?;
    let since = written.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
