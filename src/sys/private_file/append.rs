//! Files that only grow, and files that are put aside.

use std::io::{self, Read, Seek, SeekFrom};

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::{PrivateDir, is_own_file};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::fault_point::pass;

impl PrivateDir {
    /// Appends `bytes` to `name` in one write, making the file when absent: writers beside each
    /// other do not mix. Nothing is synced.
    ///
    /// # Errors
    /// When it is no regular file of ours, or not all of it could be written.
    pub fn append(&self, name: &str, bytes: &[u8]) -> Outcome<()> {
        let path = self.join(name);
        let fault = |e: io::Error| Fault::file("append to", &path, e);
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::APPEND
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK;
        pass("append").map_err(fault)?;
        let fd = fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|e| fault(e.into()))?;
        if !is_own_file(&fs::fstat(&fd).map_err(|e| fault(e.into()))?) {
            return Err(fault(io::Error::other("not a regular file of yours")));
        }
        let n = rustix::io::retry_on_intr(|| rustix::io::write(&fd, bytes))
            .map_err(|e| fault(e.into()))?;
        if n == bytes.len() {
            return Ok(());
        }
        // Half a line must not run into the next one.
        let _ = rustix::io::write(&fd, b"\n");
        Err(fault(io::ErrorKind::WriteZero.into()))
    }

    /// The last `limit` bytes of `name`, and at which byte of the file they begin; `None` when it is
    /// not there.
    ///
    /// # Errors
    /// When it is no regular file of ours or cannot be read.
    pub fn read_tail(&self, name: &str, limit: u64) -> Outcome<Option<(u64, Vec<u8>)>> {
        let path = self.join(name);
        let fault = |e: io::Error| Fault::file("read", &path, e);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = match fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(e) => return Err(fault(e.into())),
        };
        let stat = fs::fstat(&fd).map_err(|e| fault(e.into()))?;
        if !is_own_file(&stat) {
            return Err(fault(io::Error::other("not a regular file of yours")));
        }
        let begin = u64::try_from(stat.st_size)
            .unwrap_or(0)
            .saturating_sub(limit);
        let mut file = std::fs::File::from(fd);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(begin))
            .and_then(|_| file.take(limit).read_to_end(&mut bytes))
            .map_err(fault)?;
        Ok(Some((begin, bytes)))
    }

    /// Renames `name` to `to`, unless that is there; whether it did.
    ///
    /// # Errors
    /// When it cannot be renamed; then it stands as it was.
    pub fn put_aside(&self, name: &str, to: &str) -> Outcome<bool> {
        let path = self.join(name);
        // A link first: unlike a rename it never takes the place of another file.
        match fs::linkat(&self.fd, name, &self.fd, to, AtFlags::empty()) {
            Ok(()) => self.remove(name).map(|()| true),
            Err(rustix::io::Errno::EXIST) => Ok(false),
            Err(e) => Err(Fault::file("put aside", &path, e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_grow_line_by_line_and_are_read_from_their_end() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let dir = PrivateDir::open(&top.path().join("s")).expect("open");
        assert_eq!(dir.read_tail("log", 10).expect("read"), None);
        for line in ["one\n", "two\n", "three\n"] {
            dir.append("log", line.as_bytes()).expect("appended");
        }
        let tail = dir.read_tail("log", 7).expect("read").expect("there");
        assert_eq!(tail, (7, b"\nthree\n"[..].to_vec()));
        let all = dir.read_tail("log", 100).expect("read").expect("there");
        assert_eq!(all, (0, b"one\ntwo\nthree\n"[..].to_vec()));
        let mode = std::fs::metadata(dir.join("log")).expect("there");
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777,
            0o600
        );
    }

    #[test]
    fn links_and_directories_are_not_written_to() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let dir = PrivateDir::open(&top.path().join("s")).expect("open");
        let elsewhere = top.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, dir.join("link")).expect("a link");
        assert!(dir.append("link", b"x").is_err());
        assert!(!elsewhere.exists());
        dir.sub("sub").expect("a directory");
        assert!(dir.append("sub", b"x").is_err());
        assert!(dir.read_tail("sub", 10).is_err());
    }

    #[test]
    fn what_is_put_aside_takes_nobodys_place() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let dir = PrivateDir::open(&top.path().join("s")).expect("open");
        dir.write("a", b"1").expect("written");
        dir.write("b", b"2").expect("written");
        assert!(!dir.put_aside("a", "b").expect("looked"));
        assert!(dir.put_aside("a", "c").expect("put aside"));
        assert_eq!(dir.names().expect("names"), ["b", "c"]);
        assert!(dir.put_aside("a", "d").is_err());
    }
}
