//! The kitties: reachable, new enough, with our watcher in them.

use std::time::Duration;

use super::Finding;
use crate::cmd::look::{Kitties, SeenKitty};
use crate::keep::state::State;
use crate::kitty::commands;
use crate::kitty::tree;
use crate::kitty::wire::Reply;
use crate::sys::clock;
use crate::sys::json;
use crate::sys::look::Look;
use crate::sys::out;
use crate::sys::proc;

/// The first kitty that has sessions.
const SESSIONS: (u32, u32) = (0, 43);

/// The first kitty that tells its watchers of a quit.
const QUIT: (u32, u32) = (0, 46);

pub(super) fn findings(kitties: &mut Kitties, state: Option<&State>) -> Vec<Finding> {
    let mut found = Vec::new();
    if kitties.seen.is_empty() && kitties.deaf.is_empty() && kitties.unseen.is_empty() {
        found.push(Finding::warning(
            "no kitty is running",
            "start one, then look again",
        ));
        let conf = crate::kitty::conf::read();
        if !conf.listens() {
            found.push(Finding::problem(
                "kitty.conf gives kitty no socket for kittymux",
                mend(),
            ));
        }
    }
    for unseen in &kitties.unseen {
        let mend = if unseen.contains("Remote control is") {
            mend()
        } else {
            "look whether its window is frozen".to_owned()
        };
        found.push(Finding::problem(out::visible(unseen), mend));
    }
    for pid in &kitties.deaf {
        found.push(Finding::problem(
            format!(
                "kitty (pid {pid}) has no socket that kittymux can use: it is saved only as it ends"
            ),
            mend(),
        ));
    }
    for kitty in &mut kitties.seen {
        found.extend(one(kitty, state));
    }
    found
}

/// What gives kitty a socket.
fn mend() -> String {
    let conf = crate::kitty::conf::read();
    if conf.listens() {
        return "restart kitty: its configuration has what is needed, and is read at its start"
            .to_owned();
    }
    match conf.forbids() {
        // What the person sets wins over what setup includes.
        Some(line) => {
            format!(
                "put into kitty.conf in place of \"{line}\", then restart kitty:\n  allow_remote_control socket-only"
            )
        }
        None => "kittymux setup, then restart kitty".to_owned(),
    }
}

fn one(kitty: &mut SeenKitty, state: Option<&State>) -> Vec<Finding> {
    let pid = kitty.process.pid;
    let mut found = Vec::new();
    let windows = tree::windows(&kitty.tree).count();
    let what = format!(
        "kitty (pid {pid}) answers: {windows} window{}",
        if windows == 1 { "" } else { "s" }
    );
    match version(kitty, state) {
        Some((text, number)) => {
            found.push(Finding::ok(format!(
                "{what}, version {}",
                out::visible(&text)
            )));
            if number < SESSIONS {
                found.push(Finding::problem(
                    format!(
                        "this kitty is too old to save sessions: {}",
                        out::visible(&text)
                    ),
                    "install kitty 0.43 or newer (0.48 is what kittymux is tested with)",
                ));
            } else if number < QUIT {
                found.push(Finding::warning(
                    "this kitty does not say that it quits: only ticks save it",
                    "install kitty 0.46 or newer",
                ));
            }
        }
        None => found.push(Finding::ok(what)),
    }
    if matches!(proc::exe(pid), Look::Found(exe) if exe.ends_with(" (deleted)")) {
        found.push(Finding::warning(
            format!("kitty (pid {pid}) was replaced by another version while it runs"),
            "restart kitty when it suits you",
        ));
    }
    let name = format!("{}-{pid}-{}", clock::boot8(), kitty.process.start);
    let watched = state.is_some_and(|s| s.dir.join("kitties").join(name).exists());
    if !watched && cfg!(target_os = "linux") {
        found.push(Finding::warning(
            format!("kitty (pid {pid}) has not loaded our watcher: quitting it saves nothing"),
            "kittymux setup, then restart kitty",
        ));
    }
    found
}

/// The version kitty says it has, by our capture kitten asked for nothing.
fn version(kitty: &mut SeenKitty, state: Option<&State>) -> Option<(String, (u32, u32))> {
    let kitten = state?.dir.join("kitty/kittymux_capture.py");
    let carrier = tree::windows(&kitty.tree).next().map(|p| p.window.id);
    let path = crate::sys::bytes::from_os(kitten.as_os_str());
    let frame = commands::capture(&path, Some(&[]), &[], carrier);
    let Ok(Reply::Ok(data)) = kitty.connection.ask(&frame, Duration::from_secs(2)) else {
        return None;
    };
    let value = json::parse(data.as_bytes(), 16 << 20).ok()?;
    let text = json::text_at(&value, "kitty")?.to_owned();
    let mut parts = text.split('.').map(|p| p.parse::<u32>().ok());
    let number = (parts.next()??, parts.next()??);
    Some((text, number))
}
