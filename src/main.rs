//! Arguments → command → exit code; nothing else.
#![no_main]
#![allow(unsafe_code)] // the C `main`

use std::ffi::{c_char, c_int};
use std::process::exit;

use kittymux::cmd;
use kittymux::sys::start;

#[cfg(target_env = "musl")]
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// What the C library calls first.
#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: the system hands over its own array, which stays as it is.
    unsafe { start::begin(argc, argv) };
    let words = start::words().get(1..).unwrap_or_default();
    // A restored window must never end in a usage error: its prompt is taken before all parsing.
    if words.first().is_some_and(|w| w == "resume-prompt") {
        exit(cmd::resume_prompt::run(&words[1..]));
    }
    exit(cmd::table::dispatch(words).code())
}
