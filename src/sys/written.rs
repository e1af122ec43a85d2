//! Whether files and directories are as they were, told by a look at their outside.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::bytes::{from_os, to_path};
use super::clock;
use super::token::mixed;

/// How old a directory's last change must be to be told from the next one: a kernel dates in steps of
/// some milliseconds.
const SETTLED_NS: u64 = 100_000_000;

/// Files and directories as they were: when each was written, and its size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// Where they are.
    pub paths: Vec<String>,
    /// Of the dates and sizes of all.
    pub sum: u64,
}

impl Written {
    /// Adds a file as it is now; gives whether it is there.
    pub fn add(&mut self, path: &Path) -> bool {
        let outside = look(path);
        self.take(path, outside);
        outside != ABSENT
    }

    /// Adds a directory as it is before its names are read. One that changed just now is never as it
    /// was, since a further change may carry the same date.
    pub fn add_directory(&mut self, dir: &Path) {
        let outside = look(dir);
        let is_settled = outside == ABSENT || clock::wall_ns().abs_diff(outside.0) > SETTLED_NS;
        self.take(dir, if is_settled { outside } else { NEVER });
    }

    fn take(&mut self, path: &Path, outside: (u64, u64)) {
        self.sum = with(self.sum, outside);
        self.paths.push(from_os(path.as_os_str()));
    }

    /// Whether all of them are as they were.
    #[must_use]
    pub fn is_same(&self) -> bool {
        let looked = self.paths.iter().map(|path| look(&to_path(path)));
        looked.fold(0, with) == self.sum
    }
}

/// Date and size of what is not there.
const ABSENT: (u64, u64) = (0, 0);

/// A date and size that nothing has.
const NEVER: (u64, u64) = (1, u64::MAX);

fn with(sum: u64, (at, size): (u64, u64)) -> u64 {
    mixed(mixed(sum, at), size)
}

/// When it was written, in nanoseconds of wall time, and its size.
fn look(path: &Path) -> (u64, u64) {
    let Ok(meta) = std::fs::metadata(path) else {
        return ABSENT;
    };
    let at = meta.mtime().saturating_mul(1_000_000_000) + meta.mtime_nsec();
    (u64::try_from(at).unwrap_or(0), meta.size())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_comes_or_goes_is_not_as_it_was() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let (file, other) = (top.path().join("f"), top.path().join("g"));
        let now = || {
            let mut written = Written::default();
            let there = written.add(&file);
            (written.clone(), there, written.add(&other), written)
        };
        let (absent, is_there, _, _) = now();
        assert!(absent.is_same() && !is_there);
        std::fs::write(&file, "1").expect("write");
        let (there, is_there, is_other, both) = now();
        assert!(!absent.is_same() && there.is_same() && is_there && !is_other);
        std::fs::write(&other, "12").expect("write");
        assert!(there.is_same() && !both.is_same());
        std::fs::write(&file, "12").expect("write");
        assert!(!there.is_same());
        std::fs::remove_file(&file).expect("remove");
        assert!(!there.is_same());
        assert!(Written::default().is_same());
    }

    #[test]
    fn a_directory_that_changes_just_now_is_not_relied_on() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let now = || {
            let mut written = Written::default();
            written.add_directory(top.path());
            written
        };
        assert!(!now().is_same());
        let old = rustix::fs::Timespec {
            tv_sec: 1_000_000,
            tv_nsec: 0,
        };
        let dir = std::fs::File::open(top.path()).expect("open");
        let times = rustix::fs::Timestamps {
            last_access: old,
            last_modification: old,
        };
        rustix::fs::futimens(&dir, &times).expect("dated");
        let settled = now();
        assert!(settled.is_same());
        std::fs::write(top.path().join("new"), "").expect("write");
        assert!(!settled.is_same());
    }
}
