//! Asking an installed agent for its help: a foreign program, so nothing of it is trusted.
//!
//! It gets no input, no terminal, no way to our kitty, an empty directory and a time limit; what it
//! prints is bounded; and all that it started in its group ends with it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::agents::definitions::Definition;
use crate::sys::fault::plain_cause;
use crate::sys::{detach, dirs};

/// How long a program may take.
pub const LIMIT: Duration = Duration::from_secs(8);

/// How much of each of its two streams is kept, in bytes.
pub const MOST: usize = 256 << 10;

/// How much it may print in all before it is ended.
const FLOOD: usize = 64 << 20;

/// How long a program that is being written is waited for.
const BUSY: Duration = Duration::from_secs(1);

/// How long after its end what still holds its output open is listened to.
const AFTER: Duration = Duration::from_millis(250);

/// What asking gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// What it printed: standard output, then standard error.
    Text {
        /// The bytes.
        bytes: Vec<u8>,
        /// Whether it printed more than is kept.
        cut: bool,
    },
    /// It was not done in time.
    TooSlow,
    /// It could not be started; why.
    NotStarted(String),
    /// It printed nothing; how it ended.
    Silent(String),
}

/// Where the program of an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// Here.
    At(PathBuf),
    /// Here, but it cannot be executed.
    NotExecutable(PathBuf),
    /// Nowhere on PATH.
    No,
}

/// Looks for the program of an agent on PATH, under any of its names.
#[must_use]
pub fn find(def: &Definition) -> Installed {
    let names = || def.names.iter().map(Path::new);
    if let Some(path) = names().find_map(dirs::find_program) {
        return Installed::At(path);
    }
    let path = dirs::var("PATH").unwrap_or_default();
    let twin = std::env::split_paths(&path)
        .filter(|d| d.is_absolute())
        .find_map(|d| names().map(|n| d.join(n)).find(|p| p.is_file()));
    twin.map_or(Installed::No, Installed::NotExecutable)
}

/// Runs `program` with `args` in `dir`, at most for `limit`.
#[must_use]
pub fn ask(program: &Path, args: &[String], dir: &Path, limit: Duration) -> Answer {
    let end = Instant::now() + limit;
    let mut child = match start(program, args, dir) {
        Ok(child) => child,
        Err(e) => return Answer::NotStarted(plain_cause(&e)),
    };
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        end_group(&mut child);
        return Answer::NotStarted("it has no output".to_owned());
    };
    let mut streams = [Stream::new(out.into()), Stream::new(err.into())];
    let in_time = listen(&child, &mut streams, end);
    let status = end_group(&mut child);
    if !in_time {
        return Answer::TooSlow;
    }
    let [out, err] = streams;
    let cut = out.cut || err.cut;
    let mut bytes = out.kept;
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes.extend(err.kept);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Answer::Silent(status.map(|s| s.to_string()).unwrap_or_default());
    }
    Answer::Text { bytes, cut }
}

fn start(program: &Path, args: &[String], dir: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(args.iter().map(|a| crate::sys::bytes::to_os(a)))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // The person's environment finds interpreters and settings; but it shall neither paint, page,
    // look for updates, nor reach the kitty we run in.
    for (name, _) in std::env::vars_os() {
        let of_kitty = name.as_encoded_bytes().starts_with(b"KITTY");
        if of_kitty || name == "FORCE_COLOR" || name == "CLICOLOR_FORCE" {
            command.env_remove(&name);
        }
    }
    command
        .env("TERM", "dumb")
        .env("NO_COLOR", "1")
        .env("PAGER", "cat")
        .env("COLUMNS", "120")
        .env("CI", "1")
        .env("NO_UPDATE_NOTIFIER", "1")
        .env("PWD", dir);
    detach::in_own_session(&mut command);
    let end = Instant::now() + BUSY;
    loop {
        match command.spawn() {
            // Somebody is writing it, an update most likely.
            Err(e)
                if e.kind() == std::io::ErrorKind::ExecutableFileBusy && Instant::now() < end =>
            {
                std::thread::sleep(Duration::from_millis(20));
            }
            done => return done,
        }
    }
}

/// One of the two streams.
struct Stream {
    fd: Option<OwnedFd>,
    kept: Vec<u8>,
    seen: usize,
    cut: bool,
}

impl Stream {
    fn new(fd: OwnedFd) -> Self {
        let fd = rustix::io::ioctl_fionbio(&fd, true).is_ok().then_some(fd);
        Self {
            fd,
            kept: Vec::new(),
            seen: 0,
            cut: false,
        }
    }

    /// Reads what is there; more than is kept is read and forgotten, so that nobody blocks.
    fn read(&mut self) {
        let mut buf = [0; 16 << 10];
        while let Some(fd) = &self.fd {
            match rustix::io::read(fd, &mut buf) {
                Ok(0) => self.fd = None,
                Ok(n) => {
                    self.seen += n;
                    let room = MOST - self.kept.len();
                    self.kept.extend(&buf[..n.min(room)]);
                    self.cut |= n > room;
                    if self.seen > FLOOD {
                        return;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => self.fd = None,
            }
        }
    }
}

/// Reads both streams until the program has ended; whether that was in time.
fn listen(child: &Child, streams: &mut [Stream; 2], end: Instant) -> bool {
    let mut ended: Option<Instant> = None;
    loop {
        let now = Instant::now();
        if streams.iter().any(|s| s.seen > FLOOD) {
            // What was kept is judged; nobody needs the rest of it.
            return true;
        }
        let open = streams.iter().any(|s| s.fd.is_some());
        match ended {
            Some(_) if !open => return true,
            Some(at) if now >= at + AFTER => return true,
            None if now >= end => return false,
            _ => {}
        }
        let fds: Vec<BorrowedFd<'_>> = streams
            .iter()
            .filter_map(|s| s.fd.as_ref().map(AsFd::as_fd))
            .collect();
        let mut polled: Vec<PollFd<'_>> = fds
            .iter()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
            .collect();
        // The end of the program shows in no stream: look for it now and then.
        let wait = Timespec {
            tv_sec: 0,
            tv_nsec: if open { 20_000_000 } else { 2_000_000 },
        };
        let _ = poll(&mut polled, Some(&wait));
        drop(polled);
        for stream in streams.iter_mut() {
            stream.read();
        }
        if ended.is_none() && has_ended(child) {
            ended = Some(Instant::now());
        }
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// Whether it has ended; it stays a zombie, so that its number is nobody else's yet.
fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    pid_of(child).is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
}

/// Ends all that is left of its group, and the program.
fn end_group(child: &mut Child) -> Option<std::process::ExitStatus> {
    if let Some(pid) = pid_of(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    child.wait().ok()
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
