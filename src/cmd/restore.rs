//! `sessions restore`: hand kitty a private copy, then count what really came back.

mod list;
mod open;
pub(super) mod prepare;
mod show;
mod source;

use list::list;
pub(super) use open::goto;
use open::{anew, into};
use prepare::{Loads, prepare, write_first};
use show::{describe, show, window_lines};
use source::Source;

use std::collections::BTreeSet;

use super::autosaved;
use super::exit::Exit;
use super::exit_save::{self, WORKER};
use super::look::{Kitties, look};
use super::report;
use super::setting;
use super::table::Args;
use crate::keep::assets;
use crate::keep::autosaves;
use crate::keep::state::State;
use crate::keep::taken::{Mark, Marks, give_back, take};
use crate::kitty::launch_line::LaunchLine;
use crate::kitty::session_file::{Line, SessionFile};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json::{self, Object};
use crate::sys::out;
use crate::sys::proc::ProcId;

/// Restores, or lists what there is.
///
/// # Errors
/// Why nothing was restored.
pub fn run(args: &Args) -> Outcome<Exit> {
    let state = State::open()?;
    let as_json = args.has("json");
    // The newest desk may be of an end that no worker has finished, or none yet.
    if let Err(fault) = exit_save::finish_left(&state, WORKER) {
        out::message(&fault.to_string());
    }
    let saves = autosaves::all(&state)?;
    let sessions = state.sessions()?;
    let free = autosaves::free(&saves, &|name| autosaves::loads(&sessions, name));
    let wanted = match args.words.first().map(String::as_str) {
        // One desk waits and nothing else could be meant.
        None if free.len() == 1 && !as_json => free[0].name.clone(),
        None => return list(&state, &saves, as_json),
        Some(word @ ("last" | "previous")) => {
            let at = usize::from(word == "previous");
            let Some(save) = free.get(at) else {
                let why = format!("there is no {word} desk to bring back");
                if let Ok(mut kitties) = look(Some(&state)) {
                    report::show(&mut kitties, Err(why.clone()));
                }
                out::message(&format!(
                    "{why}: no kitty that is gone left one, or each was opened again"
                ));
                list(&state, &saves, as_json)?;
                return Ok(Exit::CouldNot);
            };
            save.name.clone()
        }
        Some(name) => name.to_owned(),
    };
    let source = Source::find(&state, &wanted)?;
    let file = source.read()?;
    if args.has("dry-run") {
        show(&file, as_json);
        return Ok(Exit::Done);
    }
    if let Some(save) = saves.iter().find(|s| s.name == source.stem) {
        match save.mark {
            Mark::Taken(kitty) => out::message(&format!(
                "note: this desk is open in kitty {} already; a conversation is opened once",
                kitty.pid
            )),
            Mark::Restored => out::message("note: this desk was brought back before"),
            Mark::Free => {}
        }
    }
    let mut kitties = look(Some(&state))?;
    let named = args.words.first().is_some_and(|w| *w == wanted);
    let how = How {
        new_window: args.has("new-window"),
        only_free: !named,
    };
    let opened = open(&state, &mut kitties, &source, &file, how);
    let shown = match &opened {
        Ok(report) if report.is_whole() => Ok(report.line()),
        Ok(report) => Err(report.line()),
        Err(fault) => Err(fault.to_string()),
    };
    report::show(&mut kitties, shown);
    Ok(finish(&opened?, &file, as_json))
}

/// Opens the save of this name where a restore would; gives what came of it in one line.
///
/// # Errors
/// Why nothing was opened.
pub(super) fn by_name(state: &State, kitties: &mut Kitties, name: &str) -> Outcome<String> {
    let source = Source::find(state, name)?;
    let file = source.read()?;
    let report = open(state, kitties, &source, &file, How::default())?;
    if report.is_whole() {
        Ok(report.line())
    } else {
        Err(Fault::refused(report.line()))
    }
}

/// How a save is opened.
#[derive(Debug, Clone, Copy, Default)]
struct How {
    /// Its first OS window as a new one.
    new_window: bool,
    /// Only if nobody has it: it was not named.
    only_free: bool,
}

/// Opens it in the kitty we are in, else in a new one.
fn open(
    state: &State,
    kitties: &mut Kitties,
    source: &Source,
    file: &SessionFile,
    how: How,
) -> Outcome<Report> {
    let How {
        new_window,
        only_free,
    } = how;
    let loads = if kitties.first_is_ours {
        Loads::Us
    } else {
        Loads::NewKitty
    };
    let km = setting::own_path(state)?;
    let mut prepared = prepare(state, &source.stem, file, &km, loads)?;
    if new_window {
        prepared.first.lines.insert(0, Line::new("new_os_window"));
    }
    assets::write_shell_files(state)?;
    let copy = write_first(&prepared)?;
    let desk = source.desk.as_deref();
    // The desk is taken before it is opened, and by one kitty only.
    let mut turn = Some(autosaved::lock(state)?);
    if let (Some(save), true) = (desk, only_free)
        && let Mark::Taken(other) = Marks::of(state).get(save)
    {
        return Err(Fault::refused(format!(
            "kitty {} has opened this desk just now",
            other.pid
        )));
    }
    let mut take_it = |kitty: ProcId| {
        let done = desk.map_or(Ok(()), |save| {
            take(state, save, kitty, &prepared.windows, prepared.count)
        });
        drop(turn.take());
        done
    };
    let opened = if kitties.first_is_ours {
        let marked = take_it(kitties.seen[0].process);
        into(&mut kitties.seen[0], &prepared, &copy).map(|report| (report, marked))
    } else {
        anew(state, &copy, &prepared, &mut take_it)
    };
    let nothing = match &opened {
        Ok((report, _)) => report.counted && report.there.is_empty(),
        Err(_) => true,
    };
    if let (Some(save), true) = (desk, nothing) {
        give_back(state, save)?;
    }
    let (mut report, marked) = opened?;
    // The windows are open: what cannot be remembered of that is said, and no more.
    if let Err(fault) = marked.and_then(|()| autosaved::keep_up(state)) {
        report
            .said
            .push(format!("{fault}; so this desk may be offered again"));
    }
    if !report.switched {
        report.said.splice(..0, std::mem::take(&mut prepared.said));
    }
    Ok(report)
}

fn expected(file: &SessionFile) -> Vec<&LaunchLine> {
    file.launches()
        .filter(|l| l.option("--type") != Some("background"))
        .collect()
}

/// What a restore brought.
struct Report {
    /// Windows of this restore that exist, by their place in the file.
    there: BTreeSet<usize>,
    /// How many there should be.
    wanted: usize,
    /// What else to say.
    said: Vec<String>,
    /// Whether the windows could be counted at all.
    counted: bool,
    /// The session was open already: kitty only switched to it.
    switched: bool,
}

impl Report {
    /// Whether nothing is known to be missing.
    fn is_whole(&self) -> bool {
        self.switched || !self.counted || self.there.len() >= self.wanted
    }

    /// In one short line, as a title shows it.
    fn line(&self) -> String {
        if self.switched && self.there.is_empty() {
            "its session was open already".to_owned()
        } else {
            format!("{} of {} windows came back", self.there.len(), self.wanted)
        }
    }
}

fn finish(report: &Report, file: &SessionFile, as_json: bool) -> Exit {
    let came = report.there.len();
    let whole = report.is_whole();
    let is_there = |place: usize| {
        let known = report.counted && !report.switched;
        known.then(|| report.there.contains(&place))
    };
    if as_json {
        let lines = json::list(expected(file).iter().enumerate().map(|(place, l)| {
            let object = describe(l);
            match is_there(place) {
                Some(there) => object.flag("there", there).finish(),
                None => object.finish(),
            }
        }));
        let text = Object::new()
            .number("version", 1)
            .number("wanted", report.wanted as u64)
            .number("there", came as u64)
            .flag("counted", report.counted)
            .flag("switched", report.switched)
            .raw("windows", &lines)
            .finish();
        out::data(&(text + "\n"));
    } else if report.switched && came == 0 {
        out::data("its session was open already: kitty went to it, nothing new was opened\n");
    } else if report.counted {
        out::data(&format!("{came} of {} windows came back\n", report.wanted));
        out::data(&window_lines(file, &|place| is_there(place) == Some(false)));
    }
    for said in &report.said {
        out::message(said);
    }
    if !whole {
        out::message(&format!(
            "{} did not come back: look for an error in kitty's window; the save is as it was",
            match report.wanted - came {
                1 => "1 window".to_owned(),
                n => format!("{n} windows"),
            }
        ));
        return Exit::CouldNot;
    }
    Exit::Done
}
