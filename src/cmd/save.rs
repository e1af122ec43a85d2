//! `sessions save`: look, plan, mark, let kitty save, rewrite, publish.

mod mark;
mod text;

use mark::mark;
use text::make;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::capture::{self, Choice};
use super::desk::{Desk, Ground, gather};
use super::exit::Exit;
use super::look::{Kitties, SeenKitty, look};
use super::report;
use super::setting;
use super::table::Args;
use crate::keep::assets;
use crate::keep::claims::Claims;
use crate::keep::names;
use crate::keep::publish::{Header, publish};
use crate::keep::state::State;
use crate::kitty::tree::{self, OsWindow};
use crate::resume::plan::WindowKey;
use crate::resume::record::Mode;
use crate::resume::rewrite::count_modes;
use crate::resume::window::Runs;
use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::lock::Lock;
use crate::sys::out;
use crate::sys::token::random_id;

/// How long a save waits for another of the same kitty.
const WAIT: Duration = Duration::from_secs(10);

/// Saves.
///
/// # Errors
/// Why nothing was saved; then the old save stands.
pub fn run(args: &Args) -> Outcome<Exit> {
    let name = match args.words.first() {
        Some(name) => {
            if let Err(why) = names::check(name) {
                out::message(&why);
                return Ok(Exit::UsedWrongly);
            }
            name.clone()
        }
        None => names::for_time(&clock::rfc3339(clock::wall_ns())),
    };
    let state = State::open();
    let mut kitties = look(state.as_ref().ok())?;
    let (all, direct) = (args.has("all"), args.has("direct"));
    let saved = state.and_then(|state| {
        save(
            &mut kitties,
            &state,
            &name,
            !args.words.is_empty(),
            all,
            direct,
        )
    });
    report::show(
        &mut kitties,
        saved.as_ref().map(Saved::line).map_err(ToString::to_string),
    );
    let saved = saved?;
    out::data(&saved.text());
    Ok(Exit::Done)
}

/// What was saved.
#[derive(Debug)]
pub struct Saved {
    name: String,
    windows: usize,
    os_windows: usize,
    modes: BTreeMap<Mode, usize>,
    said: Vec<String>,
}

impl Saved {
    /// In one short line, as a title shows it.
    #[must_use]
    pub fn line(&self) -> String {
        let count = |mode: Mode| self.modes.get(&mode).copied().unwrap_or(0);
        let mut parts = vec![format!("saved {}", plural(self.windows, "window"))];
        let known = count(Mode::Exact) + count(Mode::Latest);
        if known > 0 {
            parts.push(plural(known, "conversation"));
        }
        if count(Mode::New) > 0 {
            parts.push(format!("{} new", count(Mode::New)));
        }
        parts.join(" · ")
    }

    fn text(&self) -> String {
        let os_windows = if self.os_windows > 1 {
            format!(" in {} OS windows", self.os_windows)
        } else {
            String::new()
        };
        let mut text = format!("{}{os_windows} as {}\n", self.line(), self.name);
        for line in &self.said {
            text.push_str(&format!("  {line}\n"));
        }
        text.push_str(&format!(
            "  bring it back: kittymux sessions restore {}\n",
            self.name
        ));
        text
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn save(
    kitties: &mut Kitties,
    state: &State,
    name: &str,
    own_name: bool,
    all: bool,
    direct: bool,
) -> Outcome<Saved> {
    state.sweep();
    let sessions = state.sessions()?;
    let there = sessions.names()?;
    check_case(&there, name)?;
    let is_there = |name: &str| there.iter().any(|f| names::stem(f) == Some(name));
    // Two saves without a name in one second are two saves.
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let unnamed = std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|n| !is_there(n));
    let name = &if own_name {
        name.to_owned()
    } else {
        unnamed.unwrap_or_default()
    };
    let replaced = is_there(name);
    let defs = setting::checked_definitions(Some(state));
    let claims = Claims::new(state.claims()?);
    let ground = Ground {
        defs: &defs,
        home: setting::home()?,
        claims: Some(&claims),
        state: Some(state),
    };
    let process = kitties.meant()?.process;
    let at = kitties
        .seen
        .iter()
        .position(|k| k.process == process)
        .unwrap_or(0);
    // What is decided must not be older than the wait for another save.
    let lock_dir = state.dir.sub("locks")?;
    let _lock = Lock::take(&lock_dir, &format!("save-{}", process.pid % 16), WAIT)?;
    let mut desk = gather(&kitties.seen, &ground);
    let own_window = kitties
        .surroundings
        .window
        .filter(|_| kitties.first_is_ours);
    let choice = choose(&kitties.seen[at], all, own_window, &desk)?;
    mark(&mut kitties.seen[at], &desk);
    let header = Header::now(process, &random_id());
    let capture = capture::take(&mut kitties.seen[at], &choice, state)?;
    if changed(&kitties.seen[at].tree, &capture.tree) {
        kitties.seen[at].tree.clone_from(&capture.tree);
        desk = gather(&kitties.seen, &ground);
    }
    let km = setting::own_path(state)?;
    let made = make(
        &capture,
        &choice,
        &desk,
        &ground,
        process,
        direct,
        &header,
        &km,
        &state.text(),
    )?;
    assets::write_shell_files(state)?;
    let records = state.records()?;
    for (name, text) in &made.long {
        records.write(name, text.as_bytes())?;
    }
    publish(
        &sessions,
        &format!("{name}{}", names::ENDING),
        &header,
        &made.text,
    )?;
    let mut said = made.said;
    if replaced {
        said.push("the save of that name before is kept in sessions/.previous".to_owned());
    }
    Ok(Saved {
        name: name.to_owned(),
        windows: made.windows,
        os_windows: choice
            .os_windows
            .as_ref()
            .map_or(capture.tree.len(), Vec::len),
        modes: count_modes(&made.plans),
        said,
    })
}

/// Names are told apart without case: kitty's sessions are file stems.
fn check_case(files: &[String], name: &str) -> Outcome<()> {
    let twin = files
        .iter()
        .filter_map(|f| names::stem(f))
        .find(|s| s.eq_ignore_ascii_case(name) && *s != name);
    match twin {
        Some(twin) => Err(Fault::refused(format!(
            "there is a save \"{twin}\" already, which differs by case only: use that name"
        ))),
        None => Ok(()),
    }
}

/// Which OS windows are saved, and which windows are none of the desk: our own overlays.
fn choose(kitty: &SeenKitty, all: bool, window: Option<u64>, desk: &Desk) -> Outcome<Choice> {
    if kitty.tree.is_empty() {
        return Err(Fault::refused("kitty shows no window; nothing was saved"));
    }
    let skip = tree::windows(&kitty.tree)
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
    if all {
        return Ok(Choice {
            os_windows: None,
            skip,
        });
    }
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
