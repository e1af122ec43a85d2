//! Arguments → command → exit code; nothing else.

use std::process::exit;

use kittymux::cmd;

#[cfg(target_env = "musl")]
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() {
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    // A restored window must never end in a usage error: its prompt is taken before all parsing.
    if words.first().is_some_and(|w| w == "resume-prompt") {
        words.remove(0);
        exit(cmd::resume_prompt::run(&words));
    }
    exit(cmd::table::dispatch(words).code());
}
