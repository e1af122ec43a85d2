//! `sessions save`: look, plan, mark, let kitty save, rewrite, publish.

mod mark;
pub(super) mod take;
pub(super) mod text;

use take::{Taken, Which, take};

use std::collections::BTreeMap;

use super::desk::Ground;
use super::exit::Exit;
use super::look::{Kitties, look};
use super::observe;
use super::report;
use super::setting;
use super::table::Args;
use crate::keep::claims::Claims;
use crate::keep::names;
use crate::keep::state::State;
use crate::resume::record::Mode;
use crate::resume::rewrite::count_modes;
use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;

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
    let own_window = kitties
        .surroundings
        .window
        .filter(|_| kitties.first_is_ours);
    let which = if all {
        Which::All
    } else {
        Which::OsWindowOf(own_window)
    };
    let taken = take(&mut kitties.seen, at, &ground, state, which, direct)?;
    taken.publish(state, &sessions, name)?;
    let Taken {
        made,
        choice,
        tree,
        desk,
        ..
    } = taken;
    let mut said = made.said;
    if let Err(fault) = observe::record(state, &kitties.seen, &desk) {
        said.push(format!("the journal was not brought up to date: {fault}"));
    }
    if replaced {
        said.push("the save of that name before is kept in sessions/.previous".to_owned());
    }
    Ok(Saved {
        name: name.to_owned(),
        windows: made.windows,
        os_windows: choice.os_windows.as_ref().map_or(tree.len(), Vec::len),
        modes: count_modes(&made.plans),
        said,
    })
}

/// Names are told apart without case: kitty's sessions are file stems.
pub(super) fn check_case(files: &[String], name: &str) -> Outcome<()> {
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
