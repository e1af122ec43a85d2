//! One save of one kitty: look again under its lock, mark, let kitty write, rewrite, publish.

use std::collections::BTreeSet;
use std::time::Duration;

use super::mark::mark;
use super::text::{Made, Source, make};
use crate::cmd::capture::{self, Capture, Choice};
use crate::cmd::desk::{Desk, Ground, gather};
use crate::cmd::look::SeenKitty;
use crate::cmd::setting;
use crate::keep::assets;
use crate::keep::names::ENDING;
use crate::keep::publish::{Header, publish, publish_over};
use crate::keep::state::State;
use crate::kitty::tree::{self, OsWindow};
use crate::resume::plan::WindowKey;
use crate::resume::window::Runs;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::lock::Lock;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::ProcId;
use crate::sys::token::random_id;

/// How long a save waits for another of the same kitty.
const WAIT: Duration = Duration::from_secs(10);

/// What of a kitty is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// Everything.
    All,
    /// The windows of this kitty session.
    Session(&'a str),
    /// The OS window of this window, else the one a person means.
    OsWindowOf(Option<u64>),
}

/// A save that is ready to be published; its kitty's lock is held until then.
#[derive(Debug)]
pub struct Taken {
    /// Its first line.
    pub header: Header,
    /// Its text, and what goes with it.
    pub made: Made,
    /// What it holds.
    pub choice: Choice,
    /// The windows of that moment.
    pub tree: Vec<OsWindow>,
    /// What ran in all windows then.
    pub desk: Desk,
    _lock: Lock,
}

/// Takes the lock under which a kitty is saved.
///
/// # Errors
/// When somebody holds it all the time.
pub fn lock(state: &State, kitty: ProcId) -> Outcome<Lock> {
    let dir = state.dir.sub("locks")?;
    Lock::take(&dir, &format!("save-{}", kitty.pid % 16), WAIT)
}

/// Takes a save of `seen[at]`: all kitties count for which conversation is whose.
///
/// # Errors
/// Why there is none; nothing was written that stays.
pub fn take(
    seen: &mut [SeenKitty],
    at: usize,
    ground: &Ground<'_>,
    state: &State,
    which: Which<'_>,
    direct: bool,
) -> Outcome<Taken> {
    let process = seen[at].process;
    // What is decided must not be older than the wait for another save.
    let lock = lock(state, process)?;
    let mut desk = gather(seen, ground);
    let choice = choose(&seen[at], which, &desk)?;
    mark(&mut seen[at], &desk);
    let header = Header::now(process, &random_id());
    let capture = capture::take(&mut seen[at], &choice, state)?;
    if changed(&seen[at].tree, &capture.tree) {
        seen[at].tree.clone_from(&capture.tree);
        desk = gather(seen, ground);
    }
    let made = make_of(&capture, &choice, &desk, ground, state, &header, direct)?;
    Ok(Taken {
        header,
        made,
        choice,
        tree: capture.tree,
        desk,
        _lock: lock,
    })
}

/// The text of a save out of kitty's own text and what was seen.
///
/// # Errors
/// When the result would not load, or holds no window.
pub fn make_of(
    capture: &Capture,
    choice: &Choice,
    desk: &Desk,
    ground: &Ground<'_>,
    state: &State,
    header: &Header,
    direct: bool,
) -> Outcome<Made> {
    let km = setting::own_path(state)?;
    make(
        capture,
        desk,
        ground,
        Source {
            choice,
            header,
            direct,
            km: &km,
            state: &state.text(),
        },
    )
}

impl Taken {
    /// Publishes it as `name`.
    ///
    /// # Errors
    /// When it cannot be written; then the old one stands.
    pub fn publish(&self, state: &State, sessions: &PrivateDir, name: &str) -> Outcome<()> {
        store(state, sessions, name, &self.header, &self.made)
    }
}

/// Publishes a text with all it needs: the shells' start-up files, the records too long for a line.
///
/// # Errors
/// When something cannot be written; then the old save stands.
pub fn store(
    state: &State,
    sessions: &PrivateDir,
    name: &str,
    header: &Header,
    made: &Made,
) -> Outcome<()> {
    write_beside(state, made)?;
    publish(sessions, &format!("{name}{ENDING}"), header, &made.text)
}

/// As [`store`]; the save it replaces is not kept.
///
/// # Errors
/// As [`store`].
pub fn store_over(
    state: &State,
    sessions: &PrivateDir,
    name: &str,
    header: &Header,
    made: &Made,
) -> Outcome<()> {
    write_beside(state, made)?;
    publish_over(sessions, &format!("{name}{ENDING}"), header, &made.text)
}

fn write_beside(state: &State, made: &Made) -> Outcome<()> {
    assets::write_shell_files(state)?;
    let records = state.records()?;
    for (name, text) in &made.long {
        records.write(name, text.as_bytes())?;
    }
    Ok(())
}

/// Which OS windows are saved, and which windows are none of the desk: our own overlays.
fn choose(kitty: &SeenKitty, which: Which<'_>, desk: &Desk) -> Outcome<Choice> {
    if kitty.tree.is_empty() {
        return Err(Fault::refused("kitty shows no window; nothing was saved"));
    }
    let skip: Vec<u64> = tree::windows(&kitty.tree)
        .filter(|p| p.window.is_utility())
        // Anything that a window prints can set that mark: it never hides an agent.
        .filter(|p| {
            let key = WindowKey {
                kitty: kitty.process,
                window: p.window.id,
            };
            desk.windows
                .get(&key)
                .is_none_or(|seen| seen.runs == Runs::Other)
        })
        .map(|p| p.window.id)
        .collect();
    let window = match which {
        Which::OsWindowOf(window) => window,
        Which::All => {
            return Ok(Choice {
                os_windows: None,
                skip,
            });
        }
        Which::Session(name) => {
            let others = tree::windows(&kitty.tree)
                .filter(|p| p.window.session_name.as_deref() != Some(name))
                .map(|p| p.window.id);
            let skip: BTreeSet<u64> = skip.into_iter().chain(others).collect();
            return Ok(Choice {
                os_windows: None,
                skip: skip.into_iter().collect(),
            });
        }
    };
    let os_window = tree::meant(&kitty.tree, window).ok_or_else(|| {
        Fault::refused(
            "no OS window has the focus: run this inside the one you mean, or save with --all",
        )
    })?;
    if os_window
        .tabs
        .iter()
        .all(|t| t.windows.iter().all(crate::kitty::tree::Window::is_utility))
    {
        return Err(Fault::refused("that OS window holds nothing to save"));
    }
    Ok(Choice {
        os_windows: Some(vec![os_window.id]),
        skip,
    })
}

/// Whether any window, or what is in front in it, differs.
fn changed(before: &[OsWindow], now: &[OsWindow]) -> bool {
    let facts = |tree: &[OsWindow]| -> BTreeSet<(u64, Option<i32>, Vec<Option<i32>>)> {
        tree::windows(tree)
            .map(|p| {
                (
                    p.window.id,
                    p.window.pid,
                    p.window
                        .foreground_processes
                        .iter()
                        .map(|f| f.pid)
                        .collect(),
                )
            })
            .collect()
    };
    facts(before) != facts(now)
}
