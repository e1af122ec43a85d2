//! One run of a program: how long it took and what it used.
#![allow(unsafe_code)] // wait4 and the terminal of a child are not in std

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Usage) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn setsid() -> c_int;
    fn ioctl(fd: c_int, request: usize, ...) -> c_int;
}

/// `struct rusage` of 64-bit Linux, with room for what a C library keeps behind it.
#[repr(C)]
struct Usage {
    user: [i64; 2],
    system: [i64; 2],
    peak_kib: i64,
    rest: [i64; 29],
}

/// What one run took.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// From just before the start to the end.
    pub wall: Duration,
    /// User and system time of the process.
    pub cpu: Duration,
    /// Its largest resident size, KiB. Never less than the largest of the program that started it.
    pub peak_kib: u64,
    /// Whether it ended with exit code 0.
    pub ok: bool,
}

/// Runs a program to its end, without input and with its output thrown away.
///
/// # Errors
/// When it cannot be started.
pub fn run(command: &mut Command) -> io::Result<Run> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    measured(command)
}

/// Runs a program to its end on a terminal of its own, as agents are. For a command that is run once.
///
/// # Errors
/// When there is no terminal, or it cannot be started.
pub fn run_on_terminal(mut command: Command) -> io::Result<Run> {
    let (_ours, _theirs) = on_terminal(&mut command)?;
    measured(&mut command)
}

fn measured(command: &mut Command) -> io::Result<Run> {
    let begin = Instant::now();
    let child = command.spawn()?;
    let (ok, usage) = wait(pid_of(child.id()))?;
    let wall = begin.elapsed();
    let span = |[seconds, micros]: [i64; 2]| {
        Duration::from_micros(u64::try_from(seconds * 1_000_000 + micros).unwrap_or(0))
    };
    Ok(Run {
        wall,
        cpu: span(usage.user) + span(usage.system),
        peak_kib: u64::try_from(usage.peak_kib).unwrap_or(0),
        ok,
    })
}

fn pid_of(id: u32) -> c_int {
    c_int::try_from(id).unwrap_or(0)
}

fn wait(pid: c_int) -> io::Result<(bool, Usage)> {
    let mut status = 0;
    let mut usage = Usage {
        user: [0; 2],
        system: [0; 2],
        peak_kib: 0,
        rest: [0; 29],
    };
    loop {
        // SAFETY: both pointers are to live values of at least the size the kernel writes.
        if unsafe { wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            return Ok((status == 0, usage));
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

/// Requests to a terminal: make it ours, let its other side be opened, tell its number.
const TAKE: usize = 0x540e;
const UNLOCK: usize = 0x4004_5431;
const NUMBER: usize = 0x8004_5430;

/// A new terminal: our side, and the path of the program's side.
fn terminal() -> io::Result<(File, String)> {
    let ours = File::options().read(true).write(true).open("/dev/ptmx")?;
    let (mut unlocked, mut number): (c_int, c_int) = (0, 0);
    let fd = ours.as_raw_fd();
    // SAFETY: both requests take a pointer to a live int.
    let done = unsafe {
        ioctl(fd, UNLOCK, (&raw mut unlocked).cast::<c_void>()) == 0
            && ioctl(fd, NUMBER, (&raw mut number).cast::<c_void>()) == 0
    };
    if done {
        Ok((ours, format!("/dev/pts/{number}")))
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Puts what the command will start on a terminal of its own; gives both sides, which must stay open
/// until it was started.
fn on_terminal(command: &mut Command) -> io::Result<(File, File)> {
    let (ours, path) = terminal()?;
    let theirs = File::options().read(true).write(true).open(path)?;
    let fd = theirs.as_raw_fd();
    command
        .stdin(theirs.try_clone()?)
        .stdout(theirs.try_clone()?)
        .stderr(theirs.try_clone()?);
    // SAFETY: only system calls between fork and exec; the descriptor is open until after spawn.
    unsafe {
        command.pre_exec(move || {
            if setsid() < 0 || ioctl(fd, TAKE, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    Ok((ours, theirs))
}

/// Starts a program on a terminal of its own and ends it once it has printed `text`; gives the time
/// from just before the start to that moment.
///
/// # Errors
/// When there is no terminal, or the program ends or is silent before it prints it.
pub fn time_to_text(command: &mut Command, text: &str) -> io::Result<Duration> {
    let (mut ours, theirs) = on_terminal(command)?;
    let begin = Instant::now();
    let child = command.spawn()?;
    drop(theirs);
    // The command keeps the program's side open; without it our side sees the program's end.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    let found = loop {
        let Ok(n @ 1..) = ours.read(&mut buffer) else {
            break None;
        };
        seen.extend_from_slice(&buffer[..n]);
        if seen.windows(text.len()).any(|w| w == text.as_bytes()) {
            break Some(begin.elapsed());
        }
    };
    let pid = pid_of(child.id());
    // SAFETY: the process is our child and not waited for yet, so the pid is its.
    unsafe { kill(pid, 9) };
    wait(pid)?;
    found.ok_or_else(|| {
        io::Error::other(format!(
            "it never printed {text:?}: {:?}",
            String::from_utf8_lossy(&seen)
        ))
    })
}
