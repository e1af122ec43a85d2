//! The start of the process. What the standard library does before a `main` of its own costs a third
//! of a short run (a stack for overflows, its handlers, its end); of that we do what we need: no closed
//! standard stream (a file of ours would take its place) and no end by a broken pipe.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Takes what the system hands to `main`, and makes the process ready.
///
/// # Safety
/// `argv` must be an array of `argc` C strings that stay as they are.
pub unsafe fn begin(argc: c_int, argv: *const *const c_char) {
    open_streams();
    super::signals::survive_broken_pipes();
    let count = usize::try_from(argc).unwrap_or(0);
    let words = (0..count).map(|n| {
        // SAFETY: within the array, and a C string, as the caller promises.
        let word = unsafe { CStr::from_ptr(*argv.add(n)) };
        OsStr::from_bytes(word.to_bytes()).to_owned()
    });
    let _ = WORDS.set(words.collect());
}

/// The words we were started with, our own name first.
#[must_use]
pub fn words() -> &'static [OsString] {
    WORDS.get().map_or(&[], Vec::as_slice)
}

/// Opens `/dev/null` in place of each standard stream that is closed.
fn open_streams() {
    let streams = [
        rustix::stdio::stdin(),
        rustix::stdio::stdout(),
        rustix::stdio::stderr(),
    ];
    let mut polled = streams.map(|s| PollFd::from_borrowed_fd(s, PollFlags::empty()));
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let known = poll(&mut polled, Some(&now)).is_ok();
    for stream in &polled {
        if known && stream.revents().contains(PollFlags::NVAL) {
            // It gets the lowest free number, which is this stream's.
            let null = open("/dev/null", OFlags::RDWR, Mode::empty());
            // Where even that is not there: what takes the number and can neither be read nor written.
            let dir = || open("/", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty());
            if let Ok(stream) = null.or_else(|_| dir()) {
                std::mem::forget(stream);
            }
        }
    }
}
