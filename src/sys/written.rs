//! Whether files and directories are as they were, told by a look at their outside.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::bytes::{from_os, to_path};
use super::clock;
use super::token::mixed;

/// What a date may be off, nanoseconds: kernels date in steps of some milliseconds, and some file
/// systems by the second alone.
const STEP_NS: u64 = 100_000_000;
const COARSE_NS: u64 = 2_000_000_000;

/// How far ahead of now a file that is written now may be dated, nanoseconds.
const AHEAD_NS: u64 = 1_000_000_000;

/// Files and directories as they were: which they were, when they were written, their sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// Where they are.
    pub paths: Vec<String>,
    /// Of what is told of all.
    pub sum: u64,
}

impl Written {
    /// Adds a file or directory that was, or will be, read after the moment `since` (wall time,
    /// nanoseconds). One that was written about then, or later, is never as it was: what was read may
    /// be older, and a further change may carry the same date.
    pub fn add(&mut self, path: &Path, since: u64) {
        let outside = look(path);
        let is_settled = outside.as_ref().is_none_or(|o| o.is_settled(since));
        let word = if is_settled { sum(outside) } else { NEVER };
        self.sum = mixed(self.sum, word);
        self.paths.push(from_os(path.as_os_str()));
    }

    /// Whether all of them are as they were.
    #[must_use]
    pub fn is_same(&self) -> bool {
        let looked = self.paths.iter().map(|path| sum(look(&to_path(path))));
        looked.fold(0, mixed) == self.sum
    }
}

/// What is seen of a file without reading it.
struct Outside {
    /// When it was written, in nanoseconds of wall time.
    written: u64,
    rest: [u64; 4],
}

impl Outside {
    fn is_settled(&self, since: u64) -> bool {
        let step = match self.written % 1_000_000_000 {
            0 => COARSE_NS,
            _ => STEP_NS,
        };
        let unsettled = since.saturating_sub(step)..=clock::wall_ns().saturating_add(AHEAD_NS);
        !unsettled.contains(&self.written)
    }
}

/// The sum of what is not there, and one that nothing has.
const ABSENT: u64 = 0;
const NEVER: u64 = 1;

fn sum(outside: Option<Outside>) -> u64 {
    outside.map_or(ABSENT, |o| {
        o.rest.into_iter().fold(o.written, mixed).max(NEVER + 1)
    })
}

fn look(path: &Path) -> Option<Outside> {
    let meta = std::fs::metadata(path).ok()?;
    let nanos = |seconds: i64, nanos: i64| {
        let at = seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        u64::try_from(at).unwrap_or(0)
    };
    let modified = nanos(meta.mtime(), meta.mtime_nsec());
    let changed = nanos(meta.ctime(), meta.ctime_nsec());
    Some(Outside {
        // One that was renamed to its place keeps the earlier date.
        written: modified.max(changed),
        rest: [modified, meta.size(), meta.ino(), meta.dev()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_AGO: u64 = 1_000_000_000_000_000_001;

    /// Of a file or directory that was written `at`, and read since a moment. That its date is set now
    /// is a change, so the moment is a later one.
    fn dated(path: &Path, at: u64, since: u64) -> Written {
        let file = std::fs::File::open(path).expect("it opens");
        let moment = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(at);
        file.set_modified(moment).expect("dated");
        of(&[path], since)
    }

    fn of(paths: &[&Path], since: u64) -> Written {
        let mut written = Written::default();
        for path in paths {
            written.add(path, since);
        }
        written
    }

    #[test]
    fn what_is_written_comes_or_goes_is_not_as_it_was() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let (file, other) = (top.path().join("f"), top.path().join("g"));
        let now = clock::wall_ns() + COARSE_NS;
        let absent = of(&[&file], now);
        assert!(absent.is_same() && Written::default().is_same());
        std::fs::write(&file, "1").expect("write");
        assert!(!absent.is_same());
        let there = dated(&file, LONG_AGO, now);
        assert!(there.is_same());
        let both = of(&[&file, &other], now);
        std::fs::write(&other, "12").expect("write");
        assert!(there.is_same() && !both.is_same());
        std::fs::write(&file, "12").expect("write");
        assert!(!there.is_same());
        let there = dated(&file, LONG_AGO, now);
        // Another one in its place, of the same date and size.
        assert_ne!(dated(&other, LONG_AGO, now).sum, there.sum);
        std::fs::rename(&other, &file).expect("rename");
        assert!(!there.is_same());
        std::fs::remove_file(&file).expect("remove");
        assert!(!there.is_same());
    }

    #[test]
    fn what_was_written_about_when_it_was_read_is_not_relied_on() {
        let (now, second) = (clock::wall_ns(), 1_000_000_000);
        let whole = now / second * second;
        for (written, since, is_relied_on) in [
            (now, now, false),
            (now - 50_000_000, now, false),
            (now - 3 * second, now, true),
            // Written while it was read, or between the reading and now.
            (now - second - 1, now - 2 * second, false),
            // Dated by the second.
            (whole - second, now, false),
            (whole - 4 * second, now, true),
            // The clock was set back since.
            (now + 3600 * second + 1, now, true),
        ] {
            let outside = Outside {
                written,
                rest: [0; 4],
            };
            assert_eq!(
                outside.is_settled(since),
                is_relied_on,
                "{written} {since} {now}"
            );
        }
        let top = tempfile::tempdir().expect("a temporary directory");
        assert!(!of(&[top.path()], now).is_same(), "made just now");
        let now = now + COARSE_NS;
        let settled = dated(top.path(), LONG_AGO, now);
        std::fs::write(top.path().join("new"), "").expect("write");
        assert!(!settled.is_same());
    }
}
