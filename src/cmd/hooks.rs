//! `hooks setup`, `hooks remove`, `hooks status`: whether agents tell us which conversation they are
//! in. Nothing is ever run here; settings are read and written.

mod changes;
pub mod settings;

use std::path::PathBuf;

use settings::{is_installed, is_there, places, put_in, shown, standing, take_out};

use super::exit::Exit;
use super::setting;
use super::table::Args;
use crate::agents::definitions::{Definition, Definitions};
use crate::agents::hooks::edit::{Standing, Who, is_program};
use crate::keep::settings_file as file;
use crate::keep::state::{State, stable_path};
use crate::sys::bytes::{from_os, is_raw};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json::{Object, list};
use crate::sys::out;

/// Puts our hook in.
///
/// # Errors
/// When it cannot be told where kittymux is.
pub fn setup(args: &Args) -> Outcome<Exit> {
    let defs = setting::definitions();
    let Some(agents) = agents(args, &defs) else {
        return Ok(Exit::UsedWrongly);
    };
    let dry = args.has("dry-run");
    let program = program(dry)?;
    nameable(&program)?;
    let mut report = Report::new(&agents);
    for (def, named) in agents {
        let who = Who {
            agent: &def.name,
            program: &program,
        };
        let places = match places(def) {
            Ok(places) => places,
            Err(why) => {
                report.skipped(def, &why, named);
                continue;
            }
        };
        if !named && !is_installed(def) {
            report.skipped(def, "not on PATH", false);
            continue;
        }
        // What was asked for once is kept up to date.
        let more = places.more;
        let more = more.filter(|m| args.has("full") || is_there(m, &def.name));
        for setup in places.always.into_iter().chain(more) {
            let done = put_in(setup, who, dry);
            let well = done.is_ok();
            report.done(def, done);
            // What is beside it is nothing without it.
            if !well {
                break;
            }
        }
    }
    Ok(report.end())
}

/// Takes our hook out.
///
/// # Errors
/// Never; what cannot be done is said.
pub fn remove(args: &Args) -> Outcome<Exit> {
    let defs = setting::definitions();
    let Some(agents) = agents(args, &defs) else {
        return Ok(Exit::UsedWrongly);
    };
    let mut report = Report::new(&agents);
    let mut any = false;
    for (def, named) in agents {
        let places = match places(def) {
            Ok(places) => places,
            Err(why) if named => {
                report.skipped(def, &why, true);
                continue;
            }
            Err(_) => continue,
        };
        let mut here = false;
        for setup in places.all() {
            match take_out(setup, &def.name, args.has("dry-run")) {
                Ok(None) => {}
                Ok(Some(said)) => {
                    here = true;
                    report.done(def, Ok(said));
                }
                Err(fault) => {
                    here = true;
                    report.done(def, Err(fault));
                }
            }
        }
        if !here && named {
            report.done(def, Ok("nothing of ours is there".to_owned()));
        }
        any |= here || named;
    }
    if !any {
        out::data("no agent's settings hold a hook of ours\n");
    }
    Ok(report.end())
}

/// What is told of an agent.
struct Line {
    agent: String,
    state: &'static str,
    file: Option<PathBuf>,
    detail: String,
}

/// Shows which agents tell us.
///
/// # Errors
/// When it cannot be told where kittymux is.
pub fn status(args: &Args) -> Outcome<Exit> {
    let defs = setting::definitions();
    let Some(agents) = agents(args, &defs) else {
        return Ok(Exit::UsedWrongly);
    };
    let program = program(true)?;
    let lines: Vec<Line> = agents.iter().map(|(def, _)| line(def, &program)).collect();
    if args.has("json") {
        let agents = lines.iter().map(|l| {
            let file = l.file.as_ref().map(|f| from_os(f.as_os_str()));
            Object::new()
                .text("agent", &l.agent)
                .text("state", l.state)
                .maybe("file", file.as_deref())
                .maybe("detail", Some(l.detail.as_str()).filter(|d| !d.is_empty()))
                .finish()
        });
        let document = Object::new()
            .number("version", 1)
            .raw("agents", &list(agents));
        out::data(&format!("{}\n", document.finish()));
        return Ok(Exit::Done);
    }
    let wide = lines
        .iter()
        .map(|l| out::width(&l.agent))
        .max()
        .unwrap_or(0);
    let text: String = lines
        .iter()
        .map(|l| {
            let place = l.file.as_deref().map(shown).unwrap_or_default();
            let behind = match l.state {
                "unreadable" => l.detail.clone(),
                _ => format!("{place} {}", l.detail).trim().to_owned(),
            };
            let line = format!(
                "{}  {}  {behind}",
                out::pad(&l.agent, wide),
                out::pad(l.state, 15)
            );
            format!("{}\n", line.trim_end())
        })
        .collect();
    out::data(&text);
    Ok(Exit::Done)
}

fn line(def: &Definition, program: &str) -> Line {
    let told = |state, file, detail: String| Line {
        agent: out::visible(&def.name),
        state,
        file,
        detail,
    };
    let places = match places(def) {
        Ok(places) => places,
        Err(why) => return told("unknown", None, why),
    };
    let more = places.more.filter(|m| is_there(m, &def.name));
    let more = more.and_then(|m| file::place(&m.file).ok());
    let more = more.map_or(String::new(), |path| format!("and {}", shown(&path)));
    let who = Who {
        agent: &def.name,
        program,
    };
    // The first is shown, with how it stands in all that it needs.
    let mut seen: Option<(PathBuf, Standing)> = None;
    for setup in places.always {
        let path = match file::place(&setup.file) {
            Ok(path) => path,
            Err(fault) => return told("unknown", None, fault.to_string()),
        };
        let now = match standing(setup, who, &path) {
            Ok(now) => now,
            Err(fault) => return told("unreadable", Some(path), fault.to_string()),
        };
        seen = Some(match seen {
            None => (path, now),
            Some((first, before)) if before == now => (first, now),
            Some((first, _)) => (first, Standing::Differs),
        });
    }
    let (path, standing) = seen.map_or((None, Standing::Absent), |(path, s)| (Some(path), s));
    match standing {
        Standing::Whole => told("installed", path, more),
        Standing::Differs => told("changed since", path, more),
        Standing::Absent if is_installed(def) => told("not installed", path, more),
        Standing::Absent => told("agent not found", path, more),
    }
}

/// The agents that are meant, each with whether it was named; `None`: a name is wrong, which is said.
fn agents<'a>(args: &Args, defs: &'a Definitions) -> Option<Vec<(&'a Definition, bool)>> {
    let names: Vec<&str> = args
        .values("agent")
        .chain(args.words.iter().map(String::as_str))
        .collect();
    if names.is_empty() {
        return Some(defs.iter().map(|d| (d, false)).collect());
    }
    let mut found: Vec<(&Definition, bool)> = Vec::new();
    for name in names {
        let Some(def) = defs.get(name).or_else(|| defs.by_program(name)) else {
            out::message(&format!(
                "there is no agent \"{}\": kittymux hooks status lists them",
                out::clip(&out::visible(name), 40)
            ));
            return None;
        };
        if !found.iter().any(|(d, _)| d.name == def.name) {
            found.push((def, true));
        }
    }
    Some(found)
}

/// The path that the settings are to name. `look`: nothing may be written.
fn program(look: bool) -> Outcome<String> {
    let path = if look {
        let known = State::existing()?.and_then(|s| s.self_path());
        known
            .or_else(stable_path)
            .map(|p| from_os(p.as_os_str()))
            .ok_or_else(|| {
                Fault::refused("cannot tell where kittymux is: start it by its full path once")
            })?
    } else {
        setting::own_path(&State::open()?)?
    };
    Ok(path)
}

/// Whether settings can name this path.
///
/// # Errors
/// When it holds bytes or characters that no settings file can, or a name by which it would not be
/// found there again.
pub fn nameable(path: &str) -> Outcome<()> {
    if !is_program(path) {
        return Err(Fault::refused(format!(
            "settings are to name a program called kittymux, not {}: start it by that name",
            out::visible(path)
        )));
    }
    if is_raw(path) || path.chars().any(char::is_control) {
        return Err(Fault::refused(format!(
            "settings cannot name the path {}: install kittymux elsewhere",
            out::visible(path)
        )));
    }
    Ok(())
}

/// Says what happened, a line for each agent.
struct Report {
    wide: usize,
    failed: bool,
}

impl Report {
    fn new(agents: &[(&Definition, bool)]) -> Self {
        let wide = agents
            .iter()
            .map(|(d, _)| out::width(&out::visible(&d.name)))
            .max();
        Self {
            wide: wide.unwrap_or(0),
            failed: false,
        }
    }

    fn begin(&self, def: &Definition) -> String {
        out::pad(&out::visible(&def.name), self.wide)
    }

    fn done(&mut self, def: &Definition, what: Outcome<String>) {
        match what {
            Ok(said) => out::data(&format!("{}  {}\n", self.begin(def), said.trim_end())),
            Err(fault) => {
                self.failed = true;
                out::message(&format!("{}: {fault}", out::visible(&def.name)));
            }
        }
    }

    fn skipped(&mut self, def: &Definition, why: &str, named: bool) {
        self.failed |= named;
        let line = format!("{}  skipped: {}\n", self.begin(def), out::visible(why));
        out::data(&line);
    }

    fn end(&self) -> Exit {
        if self.failed {
            Exit::CouldNot
        } else {
            Exit::Done
        }
    }
}
