//! Fault points: a debug build can be made to fail, or to die, at the n-th one.
//!
//! `KITTYMUX_FAULT_AT=N` fails the N-th point of the process with "no space left on device";
//! `KITTYMUX_FAULT_AT=N:kill` ends the process there as `kill -9` would, `N:panic` panics there. A
//! release build has none of it.

use std::io;

/// How many points one write with a kept predecessor passes.
#[cfg(test)]
pub const STEPS: usize = 7;

#[cfg(debug_assertions)]
mod armed {
    use std::cell::Cell;
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    thread_local! { static LEFT: Cell<Option<usize>> = const { Cell::new(None) }; }
    static PASSED: AtomicUsize = AtomicUsize::new(0);

    pub fn arm(step: Option<usize>) {
        LEFT.set(step);
    }

    pub fn pass(_point: &'static str) -> io::Result<()> {
        let full = || Err(io::Error::from(rustix::io::Errno::NOSPC));
        match LEFT.get() {
            Some(0) => {
                LEFT.set(None);
                return full();
            }
            Some(n) => LEFT.set(Some(n - 1)),
            None => {}
        }
        let Ok(at) = std::env::var("KITTYMUX_FAULT_AT") else {
            return Ok(());
        };
        let (number, how) = at.split_once(':').unwrap_or((&at, ""));
        let here = PASSED.fetch_add(1, Ordering::Relaxed);
        if number.parse() != Ok(here) {
            return Ok(());
        }
        assert!(how != "panic", "told to panic at a fault point");
        if how == "kill" {
            let me = rustix::process::getpid();
            let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
        }
        full()
    }
}

/// Fails the `step`-th point from now on this thread (`None`: never).
#[cfg(debug_assertions)]
pub fn arm(step: Option<usize>) {
    armed::arm(step);
}

/// Passes the point, unless this is the one that was to fail.
///
/// # Errors
/// Only when armed.
#[cfg(debug_assertions)]
pub fn pass(point: &'static str) -> io::Result<()> {
    armed::pass(point)
}

/// Passes the point.
///
/// # Errors
/// Never.
#[cfg(not(debug_assertions))]
#[inline]
pub fn pass(_point: &'static str) -> io::Result<()> {
    Ok(())
}
