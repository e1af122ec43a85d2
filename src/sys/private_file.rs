//! Private files: 0600 from the first byte, in directories of ours only, replaced whole or not at all.
//!
//! Every system call of a write passes a fault point first, so that a test can stop it anywhere.

mod append;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};

use super::fault::{Fault, Outcome};
use super::fault_point::pass;

const DIR: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

/// A directory that is ours: owned by us, mode 0700, no symbolic link.
#[derive(Debug)]
pub struct PrivateDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl PrivateDir {
    /// Opens `path`, making it (and its parents) when absent.
    ///
    /// # Errors
    /// When it cannot be made, is a link, is no directory, or belongs to somebody else.
    pub fn open(path: &Path) -> Outcome<Self> {
        match Self::existing(path)? {
            Some(dir) => Ok(dir),
            None => {
                make_dirs(path)?;
                Self::existing(path)?.ok_or_else(|| {
                    Fault::file("open", path, io::Error::from(io::ErrorKind::NotFound))
                })
            }
        }
    }

    /// Opens `path` if it is there.
    ///
    /// # Errors
    /// As [`PrivateDir::open`], but absence is `None`.
    pub fn existing(path: &Path) -> Outcome<Option<Self>> {
        match fs::open(path, DIR, Mode::empty()) {
            Ok(fd) => Self::check(fd, path.to_owned()).map(Some),
            Err(e) if e == rustix::io::Errno::NOENT => Ok(None),
            Err(_) if is_link(path) => Err(Fault::refused(format!(
                "{} is a symbolic link; kittymux keeps private files only in a real directory: set KITTYMUX_STATE_DIR to one",
                super::fault::shown_path(path)
            ))),
            Err(e) => Err(Fault::file("open", path, e)),
        }
    }

    /// Opens the directory `name` inside this one, making it when absent.
    ///
    /// # Errors
    /// As [`PrivateDir::open`].
    pub fn sub(&self, name: &str) -> Outcome<Self> {
        let path = self.path.join(name);
        let open = || fs::openat(&self.fd, name, DIR, Mode::empty());
        let mut opened = open();
        if matches!(opened, Err(rustix::io::Errno::NOENT)) {
            match fs::mkdirat(&self.fd, name, Mode::RWXU) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(e) => return Err(Fault::file("create", &path, e)),
            }
            opened = open();
        }
        match opened {
            Ok(fd) => Self::check(fd, path),
            Err(e) => Err(Fault::file("open", &path, e)),
        }
    }

    /// Opens the directory `name` inside this one if it is there.
    ///
    /// # Errors
    /// As [`PrivateDir::existing`].
    pub fn existing_sub(&self, name: &str) -> Outcome<Option<Self>> {
        match fs::openat(&self.fd, name, DIR, Mode::empty()) {
            Ok(fd) => Self::check(fd, self.join(name)).map(Some),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            // What is wrong with it is told as for any other.
            Err(_) => Self::existing(&self.join(name)),
        }
    }

    fn check(fd: OwnedFd, path: PathBuf) -> Outcome<Self> {
        let stat = fs::fstat(&fd).map_err(|e| Fault::file("look at", &path, e))?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(Fault::refused(format!(
                "{} belongs to another user; set KITTYMUX_STATE_DIR to a directory of your own",
                super::fault::shown_path(&path)
            )));
        }
        if stat.st_mode & 0o077 != 0 {
            fs::fchmod(&fd, Mode::RWXU).map_err(|e| Fault::file("make private", &path, e))?;
        }
        Ok(Self { fd, path })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `name` in it.
    #[must_use]
    pub fn join(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    /// Reads `name`, at most `limit` bytes; `None` when it is not there. A looser mode is tightened.
    ///
    /// # Errors
    /// When it is a link, no regular file, somebody else's, too large or unreadable.
    pub fn read(&self, name: &str, limit: usize) -> Outcome<Option<Vec<u8>>> {
        let Some((fd, size)) = self.open_own(name)? else {
            return Ok(None);
        };
        read_limited(fd, size, limit)
            .map(Some)
            .map_err(|e| Fault::file("read", &self.join(name), e))
    }

    /// The file and its size.
    fn open_own(&self, name: &str) -> Outcome<Option<(OwnedFd, usize)>> {
        let path = self.join(name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = match fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(e) => return Err(Fault::file("read", &path, e)),
        };
        let stat = fs::fstat(&fd).map_err(|e| Fault::file("look at", &path, e))?;
        if !is_own_file(&stat) {
            return Err(Fault::refused(format!(
                "{} is not a regular file of yours; it is left alone",
                super::fault::shown_path(&path)
            )));
        }
        if stat.st_mode & 0o077 != 0 {
            let _ = fs::fchmod(&fd, Mode::RUSR | Mode::WUSR);
        }
        Ok(Some((fd, usize::try_from(stat.st_size).unwrap_or(0))))
    }

    /// The first `most` bytes of `name` at most; `None` when it is not there.
    ///
    /// # Errors
    /// As [`PrivateDir::read`].
    pub fn read_head(&self, name: &str, most: usize) -> Outcome<Option<Vec<u8>>> {
        use std::io::Read;
        let Some((fd, _)) = self.open_own(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        std::fs::File::from(fd)
            .take(u64::try_from(most).unwrap_or(u64::MAX))
            .read_to_end(&mut bytes)
            .map_err(|e| Fault::file("read", &self.join(name), e))?;
        Ok(Some(bytes))
    }

    /// Writes `name` whole: a new temporary file, synced, renamed over the old one.
    ///
    /// # Errors
    /// On any failure the old file stands and nothing is left behind.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Outcome<()> {
        self.replace(name, bytes, None)
    }

    /// As [`PrivateDir::write`], without waiting for the disk: for what may be lost in a power cut.
    ///
    /// # Errors
    /// On any failure the old file stands and nothing is left behind.
    pub fn write_unsynced(&self, name: &str, bytes: &[u8]) -> Outcome<()> {
        let temp = temp_name();
        let path = self.join(name);
        let done = self.make_temp(&temp, bytes).and_then(|_| {
            fs::renameat(&self.fd, &temp, &self.fd, name)
                .map_err(|e| Fault::file("replace", &path, e))
        });
        if done.is_err() {
            let _ = fs::unlinkat(&self.fd, &temp, AtFlags::empty());
        }
        done
    }

    /// As [`PrivateDir::write`], keeping what `name` was under the same name in `previous`.
    ///
    /// # Errors
    /// On any failure the old file stands and nothing is left behind.
    pub fn replace(&self, name: &str, bytes: &[u8], previous: Option<&Self>) -> Outcome<()> {
        let temp = temp_name();
        let done = self.write_temp(&temp, bytes).and_then(|()| {
            if let Some(previous) = previous {
                self.link_into(name, previous, name)?;
            }
            let path = self.join(name);
            pass("rename")
                .and_then(|()| Ok(fs::renameat(&self.fd, &temp, &self.fd, name)?))
                .map_err(|e| Fault::file("replace", &path, e))
        });
        if done.is_err() {
            let _ = fs::unlinkat(&self.fd, &temp, AtFlags::empty());
            return done;
        }
        pass("sync directory")
            .and_then(|()| Ok(fs::fsync(&self.fd)?))
            .map_err(|e| Fault::file("sync", &self.path, e))
    }

    fn write_temp(&self, temp: &str, bytes: &[u8]) -> Outcome<()> {
        let fd = self.make_temp(temp, bytes)?;
        pass("sync")
            .and_then(|()| Ok(sync_file(&fd)?))
            .map_err(|e| Fault::file("sync", &self.join(temp), e))
    }

    fn make_temp(&self, temp: &str, bytes: &[u8]) -> Outcome<OwnedFd> {
        let path = self.join(temp);
        let fault = |op| move |e: io::Error| Fault::file(op, &self.join(temp), e);
        pass("create").map_err(fault("create"))?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = fs::openat(&self.fd, temp, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|e| Fault::file("create", &path, e))?;
        write_all(fd.as_fd(), bytes).map_err(fault("write"))?;
        Ok(fd)
    }

    /// Links what `name` is now into `other` as `to`, atomically over an older one there; absence of
    /// `name` is no error.
    ///
    /// # Errors
    /// When it cannot be linked.
    pub fn link_into(&self, name: &str, other: &Self, to: &str) -> Outcome<()> {
        let temp = temp_name();
        let (previous, path) = (other, other.join(to));
        let fault = |e: io::Error| Fault::file("keep the old file as", &path, e);
        pass("link").map_err(fault)?;
        match fs::linkat(&self.fd, name, &previous.fd, &temp, AtFlags::empty()) {
            Ok(()) => {}
            Err(rustix::io::Errno::NOENT) => return Ok(()),
            Err(e) => return Err(fault(e.into())),
        }
        let moved = pass("rename previous")
            .and_then(|()| Ok(fs::renameat(&previous.fd, &temp, &previous.fd, to)?));
        // Renaming a link over another link of the same file leaves both: take the spare one away.
        let _ = fs::unlinkat(&previous.fd, &temp, AtFlags::empty());
        moved.map_err(fault)
    }

    /// Renames `name` to `to` within the directory.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn put_away(&self, name: &str, to: &str) -> Outcome<()> {
        fs::renameat(&self.fd, name, &self.fd, to)
            .map_err(|e| Fault::file("put aside", &self.join(name), e))
    }

    /// Removes `name`; absence is no error.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove(&self, name: &str) -> Outcome<()> {
        match fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(e) => Err(Fault::file("remove", &self.join(name), e)),
        }
    }

    /// Removes the empty directory `name`; absence is no error.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove_dir(&self, name: &str) -> Outcome<()> {
        match fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(e) => Err(Fault::file("remove", &self.join(name), e)),
        }
    }

    /// The names in it, sorted, without `.` and `..`; names that are not UTF-8 are none of ours.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn names(&self) -> Outcome<Vec<String>> {
        let fault = |e: rustix::io::Errno| Fault::file("list", &self.path, e);
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            if let Ok(name) = entry.file_name().to_str()
                && name != "."
                && name != ".."
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// When `name` was last written, in nanoseconds of wall time.
    #[must_use]
    pub fn written_ns(&self, name: &str) -> Option<u64> {
        let stat = fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let secs = u64::try_from(stat.st_mtime).ok()?;
        Some(secs * 1_000_000_000 + stat.st_mtime_nsec as u64)
    }

    /// Removes temporary files of writers that are gone.
    pub fn sweep(&self) {
        for name in self.names().unwrap_or_default() {
            let Some(rest) = name.strip_prefix(".tmp-") else {
                continue;
            };
            let pid = rest.split('-').next().and_then(|p| p.parse::<i32>().ok());
            if pid.is_some_and(|p| !super::proc::is_alive(p)) {
                let _ = self.remove(&name);
            }
        }
    }
}

/// Writes all of `bytes`, each `write` behind a fault point.
fn write_all(fd: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        pass("write")?;
        match rustix::io::write(&fd, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// Reads a file of some `size`, at most `limit` bytes; more is an error, not a cut.
///
/// # Errors
/// On a failed read, or when there is more than `limit`.
fn read_limited(fd: OwnedFd, size: usize, limit: usize) -> io::Result<Vec<u8>> {
    use std::io::Read;
    // With room for all of it at once: otherwise a small file is read in ever larger pieces.
    let mut bytes = Vec::with_capacity(size.min(limit) + 1);
    let max = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    std::fs::File::from(fd).take(max).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(io::Error::other(format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// Reads a file that is not ours to keep private (a person's configuration, an agent's store).
///
/// # Errors
/// When it is not a regular file, unreadable, or larger than `limit`.
pub fn read_foreign(path: &Path, limit: usize) -> Outcome<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let fd = fs::open(path, flags, Mode::empty()).map_err(|e| Fault::file("read", path, e))?;
    let stat = fs::fstat(&fd).map_err(|e| Fault::file("look at", path, e))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Fault::file(
            "read",
            path,
            io::Error::other("not a regular file"),
        ));
    }
    let size = usize::try_from(stat.st_size).unwrap_or(0);
    read_limited(fd, size, limit).map_err(|e| Fault::file("read", path, e))
}

fn sync_file(fd: &OwnedFd) -> rustix::io::Result<()> {
    #[cfg(target_os = "macos")]
    return fs::fcntl_fullfsync(fd);
    #[cfg(not(target_os = "macos"))]
    fs::fsync(fd)
}

fn is_own_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_uid == rustix::process::geteuid().as_raw()
}

fn is_link(path: &Path) -> bool {
    fs::lstat(path).is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Symlink)
}

fn temp_name() -> String {
    format!(
        ".tmp-{}-{}",
        rustix::process::getpid().as_raw_nonzero(),
        super::token::random_id()
    )
}

/// Makes `path` and its missing parents, each 0700.
fn make_dirs(path: &Path) -> Outcome<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|e| Fault::file("create", path, e))
}

#[cfg(test)]
#[path = "private_file_tests.rs"]
mod tests;
