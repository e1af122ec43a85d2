//! `sessions restore`: hand kitty a private copy, then count what really came back.

mod list;
pub(super) mod prepare;
mod show;
mod source;

use list::list;
use prepare::{Loads, Prepared, prepare, write_first};
use show::{describe, show, window_lines};
use source::Source;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::autosaved;
use super::capture::watch;
use super::exit::Exit;
use super::look::{Kitties, SeenKitty, look};
use super::report;
use super::setting;
use super::table::Args;
use crate::keep::assets;
use crate::keep::autosaves;
use crate::keep::names::ENDING;
use crate::keep::state::State;
use crate::keep::taken::{Mark, take};
use crate::kitty::commands;
use crate::kitty::discover::{self, Surroundings};
use crate::kitty::launch_line::LaunchLine;
use crate::kitty::session_file::{Line, SessionFile};
use crate::kitty::tree::{self, OsWindow};
use crate::resume::rewrite::{VAR_PLACE, VAR_SAVE};
use crate::sys::bytes::from_bytes;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json::{self, Object};
use crate::sys::out;
use crate::sys::proc::{self, ProcId};

/// How long windows in a running kitty are waited for, and in a new one.
const WAIT: Duration = Duration::from_secs(5);
const WAIT_NEW: Duration = Duration::from_secs(15);

/// Restores, or lists what there is.
///
/// # Errors
/// Why nothing was restored.
pub fn run(args: &Args) -> Outcome<Exit> {
    let state = State::open()?;
    let as_json = args.has("json");
    let saves = autosaves::all(&state)?;
    let free = autosaves::free(&saves);
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
    let opened = open(&state, &mut kitties, &source, &file, args.has("new-window"));
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
    let report = open(state, kitties, &source, &file, false)?;
    if report.is_whole() {
        Ok(report.line())
    } else {
        Err(Fault::refused(report.line()))
    }
}

/// Opens it in the kitty we are in, else in a new one.
fn open(
    state: &State,
    kitties: &mut Kitties,
    source: &Source,
    file: &SessionFile,
    new_window: bool,
) -> Outcome<Report> {
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
    let wanted_ids = expected(file).len();
    let mut report = if kitties.first_is_ours {
        into(&mut kitties.seen[0], &prepared, &copy, wanted_ids)?
    } else {
        anew(state, &copy, &prepared.windows, wanted_ids)?
    };
    if let (Some(save), Some(kitty)) = (&source.desk, report.kitty)
        && !report.switched
    {
        // The windows are open: what cannot be remembered of that is said, and no more.
        let marked = take(state, save, kitty, &prepared.windows);
        if let Err(fault) = marked.and_then(|()| autosaved::keep_up(state)) {
            report
                .said
                .push(format!("{fault}; so this desk may be offered again"));
        }
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
    /// The kitty it was opened in.
    kitty: Option<ProcId>,
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

/// The windows of this restore that exist, by their place in the file.
fn of_save(tree: &[OsWindow], save: &str) -> BTreeSet<usize> {
    tree::windows(tree)
        .filter(|p| p.window.var(VAR_SAVE) == Some(save))
        .filter_map(|p| p.window.var(VAR_PLACE)?.parse().ok())
        .collect()
}

/// Opens it in a running kitty: the session that was visible, the others, and back to the first.
fn into(kitty: &mut SeenKitty, prepared: &Prepared, copy: &str, wanted: usize) -> Outcome<Report> {
    let is_open = |stem: &str| {
        tree::windows(&kitty.tree).any(|p| p.window.session_name.as_deref() == Some(stem))
    };
    let mut report = Report {
        there: BTreeSet::new(),
        wanted,
        said: Vec::new(),
        counted: true,
        switched: is_open(&prepared.stem),
        kitty: Some(kitty.process),
    };
    for other in &prepared.others {
        let stem = stem_of(other);
        if is_open(&stem) {
            report.said.push(format!(
                "the session \"{}\" was open already: its windows were not opened again",
                out::visible(&stem)
            ));
        }
    }
    goto(kitty, copy)?;
    for other in &prepared.others {
        goto(kitty, other)?;
    }
    if !prepared.others.is_empty() {
        goto(kitty, copy)?;
    }
    if report.switched && prepared.others.is_empty() {
        return Ok(report);
    }
    // kitty answers ok whatever happened: only the windows themselves count.
    let save = &prepared.windows;
    let tree = watch(&mut kitty.connection, WAIT, |t| {
        of_save(t, save).len() >= wanted
    });
    match tree {
        Some(tree) => report.there = of_save(&tree, save),
        // Not to have looked is not to have seen none.
        None => {
            report.counted = false;
            report.said.push(
                "kitty did not answer in time, so the windows could not be counted".to_owned(),
            );
        }
    }
    Ok(report)
}

fn stem_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(ENDING).unwrap_or(file).to_owned()
}

/// Goes to a session by the path of its file; kitty says ok whatever comes of it.
///
/// # Errors
/// When kitty does not answer, or knows no sessions.
pub(super) fn goto(kitty: &mut SeenKitty, path: &str) -> Outcome<()> {
    let answer = kitty
        .connection
        .ask(&commands::goto_session(path), Duration::from_secs(10));
    let reply =
        answer.map_err(|why| Fault::refused(format!("kitty {}: {why}", kitty.process.pid)))?;
    let done = reply.into_data().map_err(|why| {
        Fault::refused(if commands::is_too_old(&why) {
            "this kitty is too old for sessions: kitty 0.43 or newer is needed".to_owned()
        } else {
            format!("kitty could not open the session: {}", out::visible(&why))
        })
    });
    done.map(drop)
}

/// Opens it in a new kitty.
fn anew(state: &State, copy: &str, save: &str, wanted: usize) -> Outcome<Report> {
    let program = dirs::find_program(Path::new("kitty")).ok_or_else(|| {
        Fault::refused("kitty is not on PATH: run this inside kitty, or put kitty on PATH")
    })?;
    let log_dir = state.dir.sub("log")?;
    log_dir.write("new-kitty.log", b"")?;
    let log = std::fs::OpenOptions::new()
        .append(true)
        .open(log_dir.join("new-kitty.log"))
        .map_err(|e| Fault::file("open", &log_dir.join("new-kitty.log"), e))?;
    let mut command = Command::new(&program);
    command
        .arg("--session")
        .arg(crate::sys::bytes::to_os(copy))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    for name in [
        "KITTY_LISTEN_ON",
        "KITTY_WINDOW_ID",
        "KITTY_PID",
        "KITTY_PUBLIC_KEY",
    ] {
        command.env_remove(name);
    }
    // Its own process group: ^C in this shell is not for that kitty.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|e| Fault::file("start", &program, e))?;
    let pid = i32::try_from(child.id()).unwrap_or(0);
    let end = Instant::now() + WAIT_NEW;
    let mut report = Report {
        there: BTreeSet::new(),
        wanted,
        said: Vec::new(),
        counted: false,
        switched: false,
        kitty: proc::start(pid).map(|start| ProcId { pid, start }),
    };
    let listens = crate::kitty::conf::read().listens();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            let log = log_dir
                .read("new-kitty.log", 1 << 20)
                .ok()
                .flatten()
                .unwrap_or_default();
            let last = from_bytes(&log)
                .lines()
                .rev()
                .find(|l| !l.trim().is_empty())
                .map(out::visible)
                .unwrap_or_default();
            return Err(Fault::refused(format!(
                "the new kitty ended at once ({status}): {}",
                if last.is_empty() {
                    "it said nothing"
                } else {
                    &last
                }
            )));
        }
        let found = discover::find(&Surroundings::default(), Some(&state.dir))?;
        if let Some(mut kitty) = found.kitties.into_iter().find(|k| k.process.pid == pid) {
            report.counted = true;
            let left = end.saturating_duration_since(Instant::now());
            let tree = watch(&mut kitty.connection, left.min(WAIT), |t| {
                of_save(t, save).len() >= wanted
            });
            match tree {
                Some(tree) => report.there = of_save(&tree, save),
                None => {
                    report.counted = false;
                    report.said.push(format!(
                        "the new kitty (pid {pid}) did not answer in time, so its windows could not be counted"
                    ));
                }
            }
            break;
        }
        if Instant::now() >= end
            || (!listens
                && end.saturating_duration_since(Instant::now())
                    < WAIT_NEW.saturating_sub(Duration::from_secs(2)))
        {
            report.said.push(format!(
                "the new kitty (pid {pid}) has no socket, so its windows could not be counted\n{}",
                super::look::conf_lines()
            ));
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(report)
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
