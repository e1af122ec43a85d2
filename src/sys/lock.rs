//! Locks: `flock` on files that are never renamed or removed, freed by the kernel when the holder dies.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{self, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::fault::{Fault, Outcome};
use super::private_file::PrivateDir;

/// A held lock; dropping it lets go. An `exec` lets go too: the file is close-on-exec.
#[derive(Debug)]
pub struct Lock {
    fd: OwnedFd,
}

impl Lock {
    /// Takes the lock `name` in `dir` if nobody holds it.
    ///
    /// # Errors
    /// When the lock file cannot be made.
    pub fn try_take(dir: &PrivateDir, name: &str) -> Outcome<Option<Self>> {
        let path = dir.join(name);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match fs::open(&path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => fd,
            // Without a file of its own (a full disk, a directory that is read only) the directory
            // itself can still be held.
            Err(Errno::ACCESS | Errno::ROFS | Errno::NOSPC | Errno::DQUOT | Errno::PERM) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                fs::open(dir.path(), flags, Mode::empty())
                    .map_err(|e| Fault::file("open the lock", &path, e))?
            }
            Err(e) => return Err(Fault::file("open the lock", &path, e)),
        };
        match fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { fd })),
            Err(e) if e == Errno::WOULDBLOCK || e == Errno::INTR => Ok(None),
            Err(e) => Err(Fault::file("lock", &path, e)),
        }
    }

    /// Dates the lock's file: the moment it was last taken for a purpose that somebody asks about.
    pub fn date(&self) {
        let now = fs::Timestamps {
            last_access: rustix::fs::Timespec {
                tv_sec: 0,
                tv_nsec: fs::UTIME_NOW,
            },
            last_modification: rustix::fs::Timespec {
                tv_sec: 0,
                tv_nsec: fs::UTIME_NOW,
            },
        };
        let _ = fs::futimens(&self.fd, &now);
    }

    /// Takes the lock, waiting at most `wait`.
    ///
    /// # Errors
    /// When the lock file cannot be made or somebody holds it all that time.
    pub fn take(dir: &PrivateDir, name: &str, wait: Duration) -> Outcome<Self> {
        let end = Instant::now() + wait;
        loop {
            if let Some(lock) = Self::try_take(dir, name)? {
                return Ok(lock);
            }
            if Instant::now() >= end {
                return Err(Fault::refused(format!(
                    "another kittymux has held {} for {} s; try again in a moment",
                    super::fault::shown_path(&dir.join(name)),
                    wait.as_secs()
                )));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_dropping_frees_it() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let dir = PrivateDir::open(&top.path().join("s")).expect("open");
        let held = Lock::try_take(&dir, ".lock").expect("lock").expect("free");
        assert!(Lock::try_take(&dir, ".lock").expect("lock").is_none());
        assert!(Lock::take(&dir, ".lock", Duration::from_millis(20)).is_err());
        drop(held);
        assert!(Lock::try_take(&dir, ".lock").expect("lock").is_some());
    }
}
