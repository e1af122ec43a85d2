//! One conversation is never opened twice: it is open in another process, or two prompts are answered
//! at once. And "resume all", which lets many go one after the other.

mod open_already;
mod resume_all;

use std::time::Duration;

use crate::prompt::Case;
use crate::pty::wake_ups;
use crate::rig::{Kitty, until};
use kittymux::kitty::tree;
use kittymux::sys::proc;

/// Opens a window in which the record of `case` is asked about.
fn prompt_in(kitty: &Kitty, case: &Case) -> u64 {
    let km = case.kittymux().display().to_string();
    let words = [&km, "resume-prompt", "--info", &case.record.text()];
    kitty.launch(&case.rig.home(), &words)
}

/// Waits until the window asks and keys count; gives its screen.
fn asks(kitty: &Kitty, id: u64) -> String {
    kitty.shows(id, "i commands");
    std::thread::sleep(Duration::from_millis(200));
    let pid = kitty.window(id).and_then(|w| w.pid).expect("its process");
    let mut last = None;
    until("it to wait for a key", || {
        let now = Some(wake_ups(pid));
        let same = now == last;
        last = now;
        std::thread::sleep(Duration::from_millis(20));
        same.then_some(())
    });
    kitty.text(id)
}

/// Whether the window still asks.
fn still_asks(kitty: &Kitty, id: u64) -> bool {
    kitty
        .window(id)
        .and_then(|w| proc::argv(w.pid?).found())
        .is_some_and(|argv| argv.get(1).is_some_and(|w| w == "resume-prompt"))
}

/// The window has become the person's shell.
fn is_a_shell(kitty: &Kitty, id: u64) {
    until("a shell", || {
        let argv = proc::argv(kitty.window(id)?.pid?).found()?;
        (argv == ["/bin/bash"]).then_some(())
    });
}

/// The window that has the focus in its OS window and tab.
fn active(kitty: &Kitty) -> Option<u64> {
    let tree = kitty.tree();
    tree::windows(&tree)
        .find(|p| p.os_window.is_active && p.tab.is_active && p.window.is_active)
        .map(|p| p.window.id)
}
