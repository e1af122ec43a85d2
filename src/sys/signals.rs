//! The three signals a waiting prompt cares about, turned into bytes on a pipe; and the one that no
//! command of ours is to die of.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use rustix::pipe::pipe;

const SIGHUP: c_int = 1;
const SIGTERM: c_int = 15;
const SIGWINCH: c_int = 28;

static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Each signal and what it did before us: a terminal started by `nohup` ignores its end.
static HEARD: [(c_int, AtomicUsize); 3] = [
    (SIGHUP, AtomicUsize::new(0)),
    (SIGTERM, AtomicUsize::new(0)),
    (SIGWINCH, AtomicUsize::new(0)),
];

unsafe extern "C" {
    fn signal(signum: c_int, handler: usize) -> usize;
    fn write(fd: c_int, buf: *const u8, n: usize) -> isize;
}

extern "C" fn note(signum: c_int) {
    let byte = signum as u8;
    // SAFETY: write(2) is async-signal-safe; the descriptor stays open for the life of the process.
    unsafe {
        write(PIPE.load(Ordering::Relaxed), &raw const byte, 1);
    }
}

/// What a byte on the pipe means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The window changed its size.
    Resized,
    /// The terminal is going away, or somebody asked us to end.
    End,
}

/// The reading end of the pipe; the handlers are in place from here on.
///
/// # Errors
/// When no pipe can be made.
pub fn listen() -> std::io::Result<OwnedFd> {
    let (reader, writer) = pipe()?;
    for end in [&reader, &writer] {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(end, true)?;
    }
    PIPE.store(writer.as_raw_fd(), Ordering::Relaxed);
    std::mem::forget(writer);
    for (signum, before) in &HEARD {
        // SAFETY: `note` does nothing but one async-signal-safe call.
        let was = unsafe { signal(*signum, note as *const () as usize) };
        before.store(was, Ordering::Relaxed);
    }
    Ok(reader)
}

/// Gives the signals back what they did before us, as a program about to `exec` must.
pub fn forget() {
    for (signum, before) in &HEARD {
        // SAFETY: what `signal` itself gave: this program sets no other handlers for them.
        unsafe {
            signal(*signum, before.load(Ordering::Relaxed));
        }
    }
}

/// A reader that goes away is an error of the write, and not the end of the process.
pub fn survive_broken_pipes() {
    const SIGPIPE: c_int = 13;
    const IGNORE: usize = 1;
    // SAFETY: no handler of ours is set.
    unsafe {
        signal(SIGPIPE, IGNORE);
    }
}

/// Reads what has been noted.
#[must_use]
pub fn drain(reader: &OwnedFd) -> Option<Signal> {
    let mut buf = [0; 64];
    let n = rustix::io::read(reader, &mut buf).unwrap_or(0);
    let got = &buf[..n];
    if got
        .iter()
        .any(|b| matches!(c_int::from(*b), SIGHUP | SIGTERM))
    {
        Some(Signal::End)
    } else if n > 0 {
        Some(Signal::Resized)
    } else {
        None
    }
}
