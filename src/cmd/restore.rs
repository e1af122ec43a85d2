//! `sessions restore`: hand kitty a private copy, then count what really came back.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::capture::watch;
use super::exit::Exit;
use super::look::{SeenKitty, look};
use super::report::home_text;
use super::setting;
use super::table::Args;
use crate::keep::assets;
use crate::keep::names::{self, ENDING};
use crate::keep::publish::{Header, LIMIT};
use crate::keep::state::State;
use crate::kitty::commands;
use crate::kitty::discover::{self, Surroundings};
use crate::kitty::launch_line::LaunchLine;
use crate::kitty::session_file::{Item, Line, Origin, SessionFile};
use crate::kitty::tree::{self, OsWindow};
use crate::resume::prompt::{command, shown_directory};
use crate::resume::record::Record;
use crate::resume::rewrite::{self, VAR_SAVE, record_text};
use crate::sys::bytes::{from_bytes, from_os, to_bytes, to_path};
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::json::{self, Object};
use crate::sys::out;
use crate::sys::private_file::{PrivateDir, read_foreign};
use crate::sys::token::random_id;

/// How long windows in a running kitty are waited for, and in a new one.
const WAIT: Duration = Duration::from_secs(5);
const WAIT_NEW: Duration = Duration::from_secs(15);

/// How long a private copy stays: kitty reads a session's file again when it is opened again.
const KEEP_COPY_NS: u64 = 7 * 86_400 * 1_000_000_000;

/// A save on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    /// Its name.
    pub name: String,
    /// When it was written, nanoseconds of wall time.
    pub written_ns: u64,
}

/// The saves there are, newest first.
///
/// # Errors
/// When the directory is not ours.
pub fn saves(state: &State) -> Outcome<Vec<Save>> {
    let sessions = state.sessions()?;
    let mut found: Vec<Save> = sessions
        .names()?
        .iter()
        .filter_map(|file| {
            let name = names::stem(file)?.to_owned();
            Some(Save {
                written_ns: sessions.written_ns(file)?,
                name,
            })
        })
        .collect();
    found.sort_by_key(|s| (std::cmp::Reverse(s.written_ns), s.name.clone()));
    Ok(found)
}

/// Restores, or lists what there is.
///
/// # Errors
/// Why nothing was restored.
pub fn run(args: &Args) -> Outcome<Exit> {
    let state = State::open()?;
    let Some(wanted) = args.words.first() else {
        return list(&state, args.has("json"));
    };
    let source = Source::find(&state, wanted)?;
    let mut file = source.read()?;
    if args.has("dry-run") {
        show(&file, args.has("json"));
        return Ok(Exit::Done);
    }
    let save = random_id();
    refresh(&mut file, &save, &setting::own_path(&state)?, &state.text());
    if args.has("new-window") {
        file.lines.insert(0, Line::new("new_os_window"));
    }
    assets::write_shell_files(&state)?;
    let copy = private_copy(&state, &source.stem, &file)?;
    let wanted_ids = expected(&file);
    let mut kitties = look(Some(&state))?;
    let report = if kitties.first_is_ours {
        into(
            &mut kitties.seen[0],
            &source.stem,
            &copy,
            &save,
            wanted_ids.len(),
        )?
    } else {
        anew(&state, &copy, &save, wanted_ids.len())?
    };
    Ok(finish(&report, &file, args.has("json")))
}

/// The file that is restored.
struct Source {
    path: PathBuf,
    stem: String,
    dir: Option<PrivateDir>,
}

impl Source {
    fn find(state: &State, wanted: &str) -> Outcome<Self> {
        if wanted.contains('/') || wanted.ends_with(ENDING) {
            let path = std::path::absolute(to_path(wanted))
                .map_err(|e| Fault::file("find", &to_path(wanted), e))?;
            let file = path.file_name().map(from_os).unwrap_or_default();
            let stem = file.strip_suffix(ENDING).unwrap_or(&file).to_owned();
            return Ok(Self {
                path,
                stem,
                dir: None,
            });
        }
        let sessions = state.sessions()?;
        let file = format!("{wanted}{ENDING}");
        let known = saves(state)?;
        if known.iter().all(|s| s.name != wanted) {
            let shown = out::clip(&out::visible(wanted), 40);
            let near: Vec<String> = known.iter().take(5).map(|s| s.name.clone()).collect();
            let there = if near.is_empty() {
                "nothing is saved yet: kittymux sessions save NAME".to_owned()
            } else {
                format!("there is: {}", near.join(", "))
            };
            return Err(Fault::refused(format!(
                "no save is called \"{shown}\"; {there}"
            )));
        }
        Ok(Self {
            path: sessions.join(&file),
            stem: wanted.to_owned(),
            dir: Some(sessions),
        })
    }

    /// Reads it; a file kitty would refuse is refused here, before kitty is asked.
    fn read(&self) -> Outcome<SessionFile> {
        let bytes = match &self.dir {
            Some(dir) => dir
                .read(&format!("{}{ENDING}", self.stem), LIMIT)?
                .unwrap_or_default(),
            None => {
                let bytes = read_foreign(&self.path, LIMIT)?;
                // A session file is a list of commands to run: somebody else's is not run by its name.
                let owner = std::os::unix::fs::MetadataExt::uid(
                    &std::fs::metadata(&self.path)
                        .map_err(|e| Fault::file("look at", &self.path, e))?,
                );
                if owner != rustix::process::geteuid().as_raw() && owner != 0 {
                    return Err(Fault::refused(format!(
                        "{} belongs to another user: copy it and look into it first",
                        shown_path(&self.path)
                    )));
                }
                bytes
            }
        };
        let file = SessionFile::read(&from_bytes(&bytes), Origin::Person, &[]);
        if let Some((line, why)) = file.refusal() {
            return Err(Fault::refused(format!(
                "kitty would refuse {} for line {line}: {why}",
                shown_path(&self.path)
            )));
        }
        if !file.has_windows() {
            return Err(Fault::refused(format!(
                "{} holds no window",
                shown_path(&self.path)
            )));
        }
        Ok(file)
    }
}

/// Gives every window the id of this restore, and our own path as it is now.
fn refresh(file: &mut SessionFile, save: &str, km: &str, state: &str) {
    let setting = rewrite::Setting {
        kittymux: km,
        state,
        save,
        fish: assets::fish_line(),
    };
    for launch in file
        .launches_mut()
        .filter(|l| l.option("--type") != Some("background"))
    {
        launch.set_pair("--var", VAR_SAVE, Some(save));
        rewrite::refresh(launch, setting);
    }
}

fn expected(file: &SessionFile) -> Vec<&LaunchLine> {
    file.launches()
        .filter(|l| l.option("--type") != Some("background"))
        .collect()
}

/// Writes the copy that kitty gets, under the same stem: the stem is the session's name.
fn private_copy(state: &State, stem: &str, file: &SessionFile) -> Outcome<String> {
    let sessions = state.sessions()?;
    let now = clock::wall_ns();
    for old in sessions
        .names()?
        .iter()
        .filter(|n| n.starts_with(".restore-"))
    {
        if sessions
            .written_ns(old)
            .is_some_and(|w| now.saturating_sub(w) > KEEP_COPY_NS)
            && let Ok(dir) = sessions.sub(old)
        {
            for name in dir.names().unwrap_or_default() {
                let _ = dir.remove(&name);
            }
            let _ = sessions.remove_dir(old);
        }
    }
    let dir = sessions.sub(&format!(".restore-{}", random_id()))?;
    let name = format!("{stem}{ENDING}");
    dir.write(&name, &to_bytes(&file.text()))?;
    Ok(from_os(dir.join(&name).as_os_str()))
}

/// What a restore brought.
struct Report {
    /// Windows of this restore that exist: ids in kitty's order.
    there: Vec<u64>,
    /// How many there should be.
    wanted: usize,
    /// What else to say.
    said: Vec<String>,
    /// Whether the windows could be counted at all.
    counted: bool,
    /// The session was open already: kitty only switched to it.
    switched: bool,
}

fn of_save(tree: &[OsWindow], save: &str) -> Vec<u64> {
    tree::windows(tree)
        .filter(|p| p.window.var(VAR_SAVE) == Some(save))
        .map(|p| p.window.id)
        .collect()
}

/// Opens it in a running kitty.
fn into(
    kitty: &mut SeenKitty,
    stem: &str,
    copy: &str,
    save: &str,
    wanted: usize,
) -> Outcome<Report> {
    let open = tree::windows(&kitty.tree).any(|p| p.window.session_name.as_deref() == Some(stem));
    let answer = kitty
        .connection
        .ask(&commands::goto_session(copy), Duration::from_secs(10));
    let reply =
        answer.map_err(|why| Fault::refused(format!("kitty {}: {why}", kitty.process.pid)))?;
    reply.into_data().map_err(|why| {
        Fault::refused(if why.starts_with("Unknown action") {
            "this kitty is too old for sessions: kitty 0.43 or newer is needed".to_owned()
        } else {
            format!("kitty could not open the session: {}", out::visible(&why))
        })
    })?;
    if open {
        return Ok(Report {
            there: Vec::new(),
            wanted,
            said: Vec::new(),
            counted: true,
            switched: true,
        });
    }
    // kitty answers ok whatever happened: only the windows themselves count.
    let tree = watch(&mut kitty.connection, WAIT, |t| {
        of_save(t, save).len() >= wanted
    });
    Ok(Report {
        there: tree.map(|t| of_save(&t, save)).unwrap_or_default(),
        wanted,
        said: Vec::new(),
        counted: true,
        switched: false,
    })
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
        there: Vec::new(),
        wanted,
        said: Vec::new(),
        counted: false,
        switched: false,
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
            report.there = tree.map(|t| of_save(&t, save)).unwrap_or_default();
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
    let whole = report.switched || !report.counted || came >= report.wanted;
    if as_json {
        let lines = json::list(expected(file).iter().map(|l| describe(l).finish()));
        let text = Object::new()
            .number("version", 1)
            .number("wanted", report.wanted as u64)
            .number("there", came as u64)
            .flag("counted", report.counted)
            .flag("switched", report.switched)
            .raw("windows", &lines)
            .finish();
        out::data(&(text + "\n"));
    } else if report.switched {
        out::data("its session was open already: kitty went to it, nothing new was opened\n");
    } else if report.counted && whole {
        out::data(&format!(
            "{} of {} windows came back\n",
            came, report.wanted
        ));
        out::data(&window_lines(file));
    } else if report.counted {
        out::data(&window_lines(file));
    }
    for said in &report.said {
        out::message(said);
    }
    if !whole {
        out::message(&format!(
            "{came} of {} windows came back: look for an error in kitty's window; the save is as it was",
            report.wanted
        ));
        return Exit::CouldNot;
    }
    Exit::Done
}

fn show(file: &SessionFile, as_json: bool) {
    if as_json {
        let list = json::list(expected(file).iter().map(|l| describe(l).finish()));
        out::data(
            &(Object::new()
                .number("version", 1)
                .raw("windows", &list)
                .finish()
                + "\n"),
        );
    } else {
        out::data(&window_lines(file));
    }
}

/// One line per window, under its tab.
fn window_lines(file: &SessionFile) -> String {
    let home = home_text();
    let mut text = String::new();
    let mut dir = String::new();
    for line in &file.lines {
        match &line.item {
            Item::NewOsWindow => text.push_str("OS window\n"),
            Item::NewTab(title) => text.push_str(&format!(
                "tab {}\n",
                if title.is_empty() {
                    "(no title)".to_owned()
                } else {
                    out::visible(title)
                }
            )),
            Item::Cd(to) => dir = to.replace("$$", "$"),
            Item::Launch(launch) if launch.option("--type") != Some("background") => {
                let place = launch
                    .option("--cwd")
                    .map_or_else(|| dir.clone(), |d| d.replace("$$", "$"));
                let what = match record_text(launch).map(Record::read) {
                    Some(Ok(record)) => {
                        let words = if record.resume.is_empty() {
                            &record.orig
                        } else {
                            &record.resume
                        };
                        format!("asks: {}", command(words))
                    }
                    Some(Err(_)) => "a shell (its record is damaged)".to_owned(),
                    None if launch.program().is_empty() => "shell".to_owned(),
                    None => command(
                        &launch
                            .program()
                            .iter()
                            .map(|w| (*w).to_owned())
                            .collect::<Vec<_>>(),
                    ),
                };
                text.push_str(&format!(
                    "  {what}  in {}\n",
                    shown_directory(&place, &home)
                ));
            }
            _ => {}
        }
    }
    text
}

fn describe(launch: &LaunchLine) -> Object {
    let mut object = Object::new();
    if let Some(id) = launch.id() {
        object = object.number("window", id);
    }
    match record_text(launch).map(Record::read) {
        Some(Ok(record)) => object
            .text("agent", &record.agent)
            .text("mode", record.mode.word())
            .maybe(
                "session_id",
                (!record.sid.is_empty()).then_some(record.sid.as_str()),
            )
            .text("cwd", &record.cwd)
            .texts(
                "command",
                if record.resume.is_empty() {
                    &record.orig
                } else {
                    &record.resume
                },
            ),
        _ => object
            .maybe("agent", None)
            .texts("command", &launch.program()),
    }
}

fn list(state: &State, as_json: bool) -> Outcome<Exit> {
    let saves = saves(state)?;
    let sessions = state.sessions()?;
    let now = clock::wall_ns();
    let mut rows = Vec::new();
    for save in &saves {
        let file = format!("{}{ENDING}", save.name);
        let bytes = sessions
            .read(&file, LIMIT)
            .ok()
            .flatten()
            .unwrap_or_default();
        let text = from_bytes(&bytes);
        let parsed = SessionFile::read(&text, Origin::Person, &[]);
        let agents = parsed
            .launches()
            .filter(|l| record_text(l).is_some())
            .count();
        let captured = Header::read(&text).map(|h| h.captured);
        rows.push((save, expected(&parsed).len(), agents, captured));
    }
    if as_json {
        let list = json::list(rows.iter().map(|(save, windows, agents, captured)| {
            Object::new()
                .text("name", &save.name)
                .number("windows", *windows as u64)
                .number("agents", *agents as u64)
                .text("written", &clock::rfc3339(save.written_ns))
                .maybe("captured", captured.as_deref())
                .finish()
        }));
        out::data(
            &(Object::new()
                .number("version", 1)
                .raw("saves", &list)
                .finish()
                + "\n"),
        );
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        out::data("nothing is saved yet: kittymux sessions save NAME\n");
        return Ok(Exit::Done);
    }
    let width = rows
        .iter()
        .map(|(s, ..)| out::width(&s.name))
        .max()
        .unwrap_or(0);
    for (save, windows, agents, _) in rows {
        let age = clock::span(now.saturating_sub(save.written_ns) / 1_000_000_000);
        out::data(&format!(
            "{}  {age:>4} ago  {windows:>3} windows  {agents:>3} agents\n",
            out::pad(&save.name, width)
        ));
    }
    out::note("restore one: kittymux sessions restore NAME");
    Ok(Exit::Done)
}
