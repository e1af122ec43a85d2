//! Processes on Linux, from /proc.

//! A process is read through a handle of its directory: that stays with this very process, and has
//! nothing to say once it ended, also when its pid was given to another one. Plain system calls into
//! buffers of our own: a window costs a handful of these files, and a look has hundreds of windows.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, open, openat, readlinkat, statat};
use rustix::io::{Errno, read, retry_on_intr};

use super::{ProcId, Process, Stat};
use crate::sys::bytes::from_bytes;
use crate::sys::look::Look;

/// What most files below /proc fit into, in bytes.
const SMALL: usize = 4096;

/// Room for one file.
struct Room {
    small: [u8; SMALL],
    large: Vec<u8>,
}

impl Room {
    fn new() -> Self {
        Self {
            small: [0; SMALL],
            large: Vec::new(),
        }
    }

    /// Reads a file of one short line, which the kernel hands over in one piece.
    fn line(&mut self, dir: BorrowedFd<'_>, path: &str) -> Result<&[u8], Errno> {
        let fd = openat(dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let used = retry_on_intr(|| read(&fd, &mut self.small[..]))?;
        Ok(&self.small[..used])
    }

    /// Reads a whole file.
    fn read(&mut self, dir: BorrowedFd<'_>, path: &str) -> Result<&[u8], Errno> {
        let fd = openat(dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut used = 0;
        while used < SMALL {
            match retry_on_intr(|| read(&fd, &mut self.small[used..]))? {
                0 => return Ok(&self.small[..used]),
                n => used += n,
            }
        }
        self.large = self.small.to_vec();
        loop {
            let used = self.large.len();
            self.large.resize(2 * used, 0);
            let n = retry_on_intr(|| read(&fd, &mut self.large[used..]))?;
            self.large.truncate(used + n);
            if n == 0 {
                return Ok(&self.large);
            }
        }
    }
}

/// A handle of one process.
#[derive(Debug)]
pub struct Held(OwnedFd);

impl Held {
    pub fn open(pid: i32) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        open(format!("/proc/{pid}"), flags, Mode::empty())
            .ok()
            .map(Self)
    }

    pub fn stat(&self) -> Option<Stat> {
        parse_stat(Room::new().line(self.0.as_fd(), "stat").ok()?)
    }

    pub fn process(&self, stat: &Stat) -> Option<Process> {
        let at = self.0.as_fd();
        let process = Process {
            stat: stat.clone(),
            argv: argv_at(at, "cmdline"),
            exe: exe_at(at, "exe"),
            cwd: link(at, "cwd").map(|bytes| from_bytes(&bytes)),
        };
        // A process has nothing to say when it ended meanwhile, and few others have nothing.
        let silent = process.argv == Look::Nothing
            || process.exe == Look::Nothing
            || process.cwd == Look::Nothing;
        (!silent || self.stat().is_some()).then_some(process)
    }

    pub fn children(&self, pid: i32) -> Vec<i32> {
        children_at(self.0.as_fd(), "task", pid)
    }
}

pub fn stat(pid: i32) -> Option<Stat> {
    parse_stat(Room::new().line(CWD, &format!("/proc/{pid}/stat")).ok()?)
}

/// The name may hold blanks and `)`: the fields begin after the last `)`.
fn parse_stat(line: &[u8]) -> Option<Stat> {
    let open = line.iter().position(|b| *b == b'(')?;
    let close = line.iter().rposition(|b| *b == b')')?;
    let pid = std::str::from_utf8(&line[..open])
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let comm = from_bytes(line.get(open + 1..close)?);
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    Some(Stat {
        comm,
        state,
        parent: number()?,
        group: number()?,
        session: number()?,
        tty: number()?,
        foreground: number()?,
        id: ProcId {
            pid,
            start: fields.nth(13)?.parse().ok()?,
        },
    })
}

/// A process that went away is *nothing*; anything else that fails is *could not look*.
fn gone_or_unknown<T>(e: Errno) -> Look<T> {
    if matches!(e, Errno::NOENT | Errno::SRCH) {
        Look::Nothing
    } else {
        Look::Unknown(crate::sys::fault::plain_cause(&io::Error::from(e)))
    }
}

pub fn argv(pid: i32) -> Look<Vec<String>> {
    argv_at(CWD, &format!("/proc/{pid}/cmdline"))
}

fn argv_at(dir: BorrowedFd<'_>, path: &str) -> Look<Vec<String>> {
    match Room::new().read(dir, path) {
        Ok([]) => Look::Nothing,
        Ok(bytes) => Look::Found(super::words(bytes)),
        Err(e) => gone_or_unknown(e),
    }
}

fn link(dir: BorrowedFd<'_>, path: &str) -> Look<Vec<u8>> {
    match readlinkat(dir, path, Vec::new()) {
        Ok(target) => Look::Found(target.into_bytes()),
        Err(e) => gone_or_unknown(e),
    }
}

pub fn exe(pid: i32) -> Look<String> {
    exe_at(CWD, &format!("/proc/{pid}/exe"))
}

fn exe_at(dir: BorrowedFd<'_>, path: &str) -> Look<String> {
    link(dir, path).map(|bytes| {
        from_bytes(
            bytes
                .strip_suffix(b" (deleted)")
                .unwrap_or(bytes.as_slice()),
        )
    })
}

pub fn cwd(pid: i32) -> Look<String> {
    link(CWD, &format!("/proc/{pid}/cwd")).map(|bytes| from_bytes(&bytes))
}

pub fn environ(pid: i32, names: &[&str]) -> Look<Vec<(String, String)>> {
    match Room::new().read(CWD, &format!("/proc/{pid}/environ")) {
        Ok(bytes) => Look::Found(
            bytes
                .split(|b| *b == 0)
                .filter_map(|entry| {
                    let at = entry.iter().position(|b| *b == b'=')?;
                    let name = std::str::from_utf8(&entry[..at]).ok()?;
                    names
                        .contains(&name)
                        .then(|| (name.to_owned(), from_bytes(&entry[at + 1..])))
                })
                .collect(),
        ),
        Err(e) => gone_or_unknown(e),
    }
}

/// Calls `each` for the entries of a directory whose names are numbers, by that number.
fn numbers(dir: BorrowedFd<'_>, mut each: impl FnMut(i32)) -> Result<(), Errno> {
    let mut room = [MaybeUninit::uninit(); SMALL];
    let mut entries = RawDir::new(dir, &mut room);
    while let Some(entry) = entries.next() {
        if let Some(number) = entry?
            .file_name()
            .to_str()
            .ok()
            .and_then(|n| n.parse().ok())
        {
            each(number);
        }
    }
    Ok(())
}

fn directory(dir: BorrowedFd<'_>, path: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(dir, path, flags, Mode::empty())
}

pub fn open_files(pid: i32) -> Look<Vec<String>> {
    let dir = match directory(CWD, &format!("/proc/{pid}/fd")) {
        Ok(dir) => dir,
        Err(e) => return gone_or_unknown(e),
    };
    let mut paths = Vec::new();
    let listed = numbers(dir.as_fd(), |fd| {
        if let Look::Found(path) = link(dir.as_fd(), &fd.to_string())
            && path.starts_with(b"/")
        {
            paths.push(from_bytes(&path));
        }
    });
    listed.map_or_else(gone_or_unknown, |()| Look::Found(paths))
}

pub fn children(pid: i32) -> Vec<i32> {
    children_at(CWD, &format!("/proc/{pid}/task"), pid)
}

/// The children are listed by the thread that made them.
fn children_at(dir: BorrowedFd<'_>, tasks: &str, pid: i32) -> Vec<i32> {
    let mut room = Room::new();
    let mut found = Vec::new();
    let mut of_thread = |thread: i32| {
        let text = room.read(dir, &format!("{tasks}/{thread}/children"));
        let text = text.ok().and_then(|t| std::str::from_utf8(t).ok());
        let pids = text.unwrap_or("").split_ascii_whitespace();
        found.extend(pids.filter_map(|p| p.parse::<i32>().ok()));
    };
    // The directory's links are itself, its parent's name for it, and one for each thread.
    match statat(dir, tasks, AtFlags::empty()) {
        Ok(stat) if stat.st_nlink == 3 => of_thread(pid),
        _ => {
            if let Ok(tasks) = directory(dir, tasks) {
                let _ = numbers(tasks.as_fd(), of_thread);
            }
        }
    }
    found.sort_unstable();
    found
}

pub fn own_pids() -> Vec<i32> {
    own(|_, _| true)
}

pub fn own_named(is: &dyn Fn(&[u8]) -> bool) -> Vec<i32> {
    let mut room = Room::new();
    own(|dir, pid| {
        let name = room.line(dir, &format!("{pid}/comm")).unwrap_or_default();
        is(name.strip_suffix(b"\n").unwrap_or(name))
    })
}

/// Our own processes that `keep` wants, by rising pid; it gets /proc as the directory.
fn own(mut keep: impl FnMut(BorrowedFd<'_>, i32) -> bool) -> Vec<i32> {
    let me = rustix::process::geteuid().as_raw();
    let mut pids = Vec::new();
    if let Ok(proc) = directory(CWD, "/proc") {
        let dir = proc.as_fd();
        let _ = numbers(dir, |pid| {
            let stat = statat(dir, pid.to_string(), AtFlags::SYMLINK_NOFOLLOW);
            if stat.is_ok_and(|s| s.st_uid == me) && keep(dir, pid) {
                pids.push(pid);
            }
        });
    }
    pids.sort_unstable();
    pids
}

pub fn started_wall_ns(id: ProcId) -> Option<u64> {
    // Wall time minus the boot clock is finer than btime, which has whole seconds only.
    let ticks = rustix::param::clock_ticks_per_second();
    let began = id.start.checked_mul(1_000_000_000)? / ticks.max(1);
    Some(crate::sys::clock::offset_at(began) + began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_brackets_is_no_trap() {
        let line = b"42 (tmux: a) b) T 1 40 41 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987 1 1 1";
        let stat = parse_stat(line).expect("a stat line");
        assert_eq!(
            (stat.id.pid, stat.id.start, stat.comm.as_str(), stat.state),
            (42, 987, "tmux: a) b", 'T')
        );
        assert_eq!(
            (
                stat.parent,
                stat.group,
                stat.session,
                stat.tty,
                stat.foreground
            ),
            (1, 40, 41, 34816, -1)
        );
        for bad in [&b""[..], b"42", b"42 (x", b"42 (x) S 1 2"] {
            assert!(parse_stat(bad).is_none());
        }
    }
}
