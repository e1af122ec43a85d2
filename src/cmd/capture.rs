//! Taking kitty's own text of its windows: by our kitten inside kitty, else by its save action
//! (parts 8 and 5 of `docs/kitty-facts.md`).

#![allow(clippy::question_mark)] // in what the derive of DeJson writes

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nanoserde::DeJson;

use super::look::SeenKitty;
use crate::keep::assets;
use crate::keep::state::State;
use crate::kitty::client::{Connection, Silence};
use crate::kitty::commands;
use crate::kitty::tree::{self, OsWindow};
use crate::kitty::wire::{MAX_REQUEST, Reply};
use crate::sys::bytes::{from_bytes, from_os};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json;
use crate::sys::out;
use crate::sys::private_file::PrivateDir;

/// How long a save is waited for: kitty's saver takes over a second with 300 shells.
const WAIT: Duration = Duration::from_secs(10);

/// How long a window list is waited for at least.
const LIST: Duration = Duration::from_secs(2);

/// The largest text of a capture.
const LIMIT: usize = 32 << 20;

/// What is to be saved.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The OS windows; `None`: all.
    pub os_windows: Option<Vec<u64>>,
    /// Windows to leave out.
    pub skip: Vec<u64>,
}

/// kitty's text and the window list of the same moment.
#[derive(Debug)]
pub struct Capture {
    /// The text as kitty's saver wrote it.
    pub text: String,
    /// The windows.
    pub tree: Vec<OsWindow>,
    /// How it was taken, for a person.
    pub how: &'static str,
    /// Why our kitten did not serve; empty when it did.
    pub why_not_kitten: String,
    /// Whether kitty wrote it just now: then its `focus_tab` counts windows that were left out too.
    pub is_kittys: bool,
}

#[derive(DeJson)]
#[nserde(default)]
#[derive(Default)]
struct Answer {
    v: u64,
    text: Option<String>,
    error: Option<String>,
}

/// Takes the text. A kitty that does not know the kitten, or fails in it, saves by its own action.
///
/// # Errors
/// Why there is no text; nothing was written that stays.
pub fn take(kitty: &mut SeenKitty, choice: &Choice, state: &State) -> Outcome<Capture> {
    let own = super::setting::own_path(state).ok();
    let files = assets::write_kitty_files(state, own.as_deref())?;
    match by_kitten(kitty, choice, &files.capture) {
        Ok(capture) => Ok(capture),
        Err(Stop::Final(fault)) => Err(fault),
        Err(Stop::Fallback(why)) => by_action(kitty, choice, state).map(|capture| Capture {
            why_not_kitten: why,
            ..capture
        }),
    }
}

/// Why the first way gave nothing.
enum Stop {
    /// Try the other way.
    Fallback(String),
    /// There is no other way.
    Final(Fault),
}

fn by_kitten(kitty: &mut SeenKitty, choice: &Choice, kitten: &str) -> Result<Capture, Stop> {
    let carrier = tree::windows(&kitty.tree).next().map(|p| p.window.id);
    let frame = commands::capture(kitten, choice.os_windows.as_deref(), &choice.skip, carrier);
    if frame.len() > MAX_REQUEST {
        return Err(Stop::Fallback("too many windows to name".to_owned()));
    }
    let data = match kitty.connection.ask(&frame, WAIT) {
        Ok(Reply::Ok(data)) => data,
        Ok(Reply::Refused(why)) => return Err(Stop::Fallback(why)),
        Err(Silence::TimedOut) => {
            return Err(Stop::Final(Fault::refused(format!(
                "kitty did not answer within {} s; nothing was saved",
                WAIT.as_secs()
            ))));
        }
        Err(why) => {
            return Err(Stop::Final(Fault::refused(format!(
                "{why}; nothing was saved"
            ))));
        }
    };
    let fallback = |why: String| Stop::Fallback(why);
    let guarded = json::guard(data.as_bytes(), LIMIT).map_err(|e| fallback(e.to_string()))?;
    let answer: Answer = json::decode_guarded(&guarded).map_err(|e| fallback(e.to_string()))?;
    if let Some(error) = answer.error {
        return Err(fallback(error));
    }
    let members = json::members(&guarded).unwrap_or_default();
    let ls = members
        .iter()
        .find(|m| m.name == "ls")
        .map(|m| &guarded[m.value.clone()]);
    let (1, Some(text), Some(ls)) = (answer.v, answer.text, ls) else {
        return Err(fallback("the kitten's answer is not complete".to_owned()));
    };
    let tree = json::decode_guarded(ls).map_err(|e| fallback(e.to_string()))?;
    Ok(Capture {
        text,
        tree,
        how: "kitten",
        why_not_kitten: String::new(),
        is_kittys: true,
    })
}

fn by_action(kitty: &mut SeenKitty, choice: &Choice, state: &State) -> Outcome<Capture> {
    let sessions = state.sessions()?;
    sweep_pending(&sessions);
    let name = format!(".pending-{}", crate::sys::token::random_id());
    let pending = sessions.sub(&name)?;
    let path = from_os(pending.join("save").as_os_str());
    let matching = left_out(&kitty.tree, choice);
    let frame = commands::save_as_session(&path, matching.as_deref());
    if frame.len() > MAX_REQUEST {
        let _ = sessions.remove_dir(&name);
        return Err(Fault::refused(
            "too many windows to leave out at once: save with --all",
        ));
    }
    let text = match kitty.connection.ask(&frame, WAIT) {
        Ok(Reply::Ok(_)) => pending.read("save", LIMIT),
        Ok(Reply::Refused(why)) => Err(Fault::refused(refusal(&why, &kitty.tree))),
        // kitty may still write there: the directory stays, and is swept later.
        Err(why) => return Err(Fault::refused(format!("{why}; nothing was saved"))),
    };
    pending.remove("save")?;
    let _ = sessions.remove_dir(&name);
    let bytes = text?.filter(|b| !b.is_empty()).ok_or_else(|| {
        Fault::refused("kitty said it saved and wrote nothing; look for a dialog in its window, then try again")
    })?;
    let tree = list_again(&mut kitty.connection, LIST).unwrap_or_else(|| kitty.tree.clone());
    Ok(Capture {
        text: from_bytes(&bytes),
        tree,
        how: "save_as_session",
        why_not_kitten: String::new(),
        is_kittys: true,
    })
}

/// A negative match: windows that open between the look and the save stay in.
fn left_out(tree: &[OsWindow], choice: &Choice) -> Option<String> {
    let mut out: BTreeSet<u64> = choice.skip.iter().copied().collect();
    if let Some(chosen) = &choice.os_windows {
        out.extend(
            tree::windows(tree)
                .filter(|p| !chosen.contains(&p.os_window.id))
                .map(|p| p.window.id),
        );
    }
    if out.is_empty() {
        return None;
    }
    let ids: Vec<u64> = out.into_iter().collect();
    Some(format!("not ({})", commands::match_ids(&ids)))
}

fn list_again(connection: &mut Connection, wait: Duration) -> Option<Vec<OsWindow>> {
    let reply = connection.ask(&commands::ls(None), wait).ok()?;
    tree::read(&reply.into_data().ok()?).ok()
}

/// kitty's own refusal in words that help.
fn refusal(why: &str, tree: &[OsWindow]) -> String {
    if commands::is_too_old(why) {
        return "this kitty is too old to save sessions: kitty 0.43 or newer is needed".to_owned();
    }
    if why.contains("codec can't") {
        let window = tree::windows(tree).find(|p| {
            p.window
                .cwd
                .as_deref()
                .is_some_and(crate::sys::bytes::is_raw)
                || p.window
                    .user_vars
                    .values()
                    .any(|v| crate::sys::bytes::is_raw(v))
        });
        let which = window.map_or_else(
            || "a window".to_owned(),
            |p| format!("window {}", p.window.id),
        );
        return format!(
            "kitty cannot save while {which} is in a directory (or has a variable) that is not UTF-8: leave that directory, then save again"
        );
    }
    if why.contains("Remote control is") {
        return format!("{why}\n{}", super::look::conf_lines());
    }
    format!("kitty could not save: {}", out::visible(why))
}

/// Removes what broken-off captures left, never within ten minutes of their request.
fn sweep_pending(sessions: &PrivateDir) {
    let now = crate::sys::clock::wall_ns();
    for name in sessions
        .names()
        .unwrap_or_default()
        .iter()
        .filter(|n| n.starts_with(".pending-"))
    {
        let old = sessions
            .written_ns(name)
            .is_some_and(|w| now.saturating_sub(w) > 600_000_000_000);
        if old && let Ok(dir) = sessions.sub(name) {
            for file in dir.names().unwrap_or_default() {
                let _ = dir.remove(&file);
            }
            let _ = sessions.remove_dir(name);
        }
    }
}

/// Reads kitty's window list until `enough` says so or `wait` is over; gives the last one.
pub fn watch(
    connection: &mut Connection,
    wait: Duration,
    enough: impl Fn(&[OsWindow]) -> bool,
) -> Option<Vec<OsWindow>> {
    let end = Instant::now() + wait;
    loop {
        // A kitty that opens many windows answers late.
        let left = end.saturating_duration_since(Instant::now());
        let tree = list_again(connection, left.max(LIST))?;
        if enough(&tree) || Instant::now() >= end {
            return Some(tree);
        }
        std::thread::sleep(Duration::from_millis(30));
    }
}
