//! `notice`: a message that stays until a key is pressed, for overlays of ours.

use super::exit::Exit;
use super::table::Args;
use crate::sys::fault::Outcome;
use crate::sys::{out, tty};

/// Shows the message and waits for a key.
///
/// # Errors
/// Never; without a terminal it only prints.
pub fn run(args: &Args) -> Outcome<Exit> {
    let text = args.words.first().map_or("", String::as_str);
    let shown: Vec<String> = text.lines().map(out::visible).collect();
    out::data(&(shown.join("\n") + "\n\npress a key to close this\n"));
    if let Ok(raw) = tty::Raw::open() {
        let _ = tty::wait_readable([std::os::fd::AsFd::as_fd(&raw)], None);
        let _ = raw.read();
    }
    Ok(Exit::Done)
}
