//! `doctor`: whether all is well, one line per finding, each problem with what mends it.

mod kitties;
mod saves;
mod state_dir;

use std::path::Path;

use super::exit::Exit;
use super::look::look;
use super::setting;
use super::setup;
use super::table::{Args, Opt, Verb};
use crate::agents::probe::Verdict;
use crate::keep::checks;
use crate::keep::state::{State, stable_path};
use crate::keep::tick_state::TickState;
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::out;

/// The verb, for the table.
pub const VERB: Verb = Verb {
    words: &["doctor"],
    args: "",
    most: 0,
    about: "look whether all is well, and say what mends what is not",
    more: "It changes nothing. Exit code 1 when there is a problem; a warning is none.",
    examples: &[("kittymux doctor --json", "the findings as one document")],
    options: &[Opt {
        name: "json",
        value: "",
        about: "print one JSON document",
    }],
    listed: true,
    run,
};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Something is not as good as it could be.
    Warning,
    /// Something does not work.
    Problem,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// How bad it is.
    pub(super) level: Level,
    /// What was found.
    pub(super) what: String,
    /// What mends it: a command, or a line to write; empty when nothing need be.
    pub(super) mend: String,
}

impl Finding {
    pub(super) fn ok(what: impl Into<String>) -> Self {
        Self {
            level: Level::Ok,
            what: what.into(),
            mend: String::new(),
        }
    }

    pub(super) fn warning(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            level: Level::Warning,
            what: what.into(),
            mend: mend.into(),
        }
    }

    pub(super) fn problem(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            level: Level::Problem,
            what: what.into(),
            mend: mend.into(),
        }
    }
}

/// Shows the findings.
///
/// # Errors
/// When `KITTYMUX_TARGET` names a kitty that does not answer.
pub fn run(args: &Args) -> Outcome<Exit> {
    let state = State::existing();
    let mut found = state_dir::findings(&state);
    let state = state.ok().flatten();
    let mut kitties = look(state.as_ref())?;
    found.extend(kitties::findings(&mut kitties, state.as_ref()));
    found.extend(timer(state.as_ref()));
    found.extend(switches(state.as_ref()));
    found.extend(agents(state.as_ref()));
    found.extend(told(state.as_ref()));
    found.extend(setup::completion_findings());
    if let Some(state) = &state {
        found.extend(saves::findings(state));
    }
    if args.has("json") {
        out::data(&(as_json(&found) + "\n"));
    } else {
        out::data(&as_text(&found, out::paints()));
    }
    let bad = found.iter().any(|f| f.level == Level::Problem);
    Ok(if bad { Exit::CouldNot } else { Exit::Done })
}

/// Whether the timer runs, by when the last tick was.
fn timer(state: Option<&State>) -> Vec<Finding> {
    let Some(state) = state else {
        return vec![Finding::warning(
            "nothing is saved by itself: no tick ever ran",
            "kittymux setup",
        )];
    };
    let mut found = Vec::new();
    let own = setting::own_path(state).map(|p| crate::sys::bytes::to_path(&p));
    let written = own.is_ok_and(|own| setup::timer_is_written(&own));
    let age = last_tick(state).map(|at| clock::wall_ns().saturating_sub(at) / 1_000_000_000);
    found.push(match age {
        Some(age) if age < 120 => Finding::ok(format!(
            "the timer runs: last tick {} ago",
            clock::span(age)
        )),
        Some(age) if written => Finding::problem(
            format!("the timer does not run: last tick {} ago", clock::span(age)),
            setup::TIMER_START.join(" && "),
        ),
        None if written => Finding::problem(
            "the timer does not run yet",
            setup::TIMER_START.join(" && "),
        ),
        _ => Finding::warning(
            "nothing is saved by itself but at the end of kitty: there is no timer",
            setup::timer_mend(),
        ),
    });
    let memory = TickState::read(state);
    if !memory.fault.is_empty() {
        found.push(Finding::problem(
            format!(
                "the last tick failed ({}): {}",
                memory.fault_at,
                out::visible(&memory.fault)
            ),
            "mend that; the next tick tries again",
        ));
    }
    if state.has("autosave-off") {
        found.push(Finding::warning(
            "saving by itself is switched off",
            format!("rm {}/autosave-off", out::visible(&state.text())),
        ));
    }
    found
}

/// When the last tick began, wall time in nanoseconds.
fn last_tick(state: &State) -> Option<u64> {
    let meta = std::fs::metadata(state.dir.join("locks").join("tick")).ok()?;
    let age = meta.modified().ok()?;
    let since = age.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// Switches that this shell has set and the timer does not see.
fn switches(state: Option<&State>) -> Vec<Finding> {
    let pairs = [
        ("KITTYMUX_AUTOSAVE", "0", "autosave-off"),
        ("KITTYMUX_JOURNAL", "0", "journal-off"),
        ("KITTYMUX_RESUME", "auto", "resume-auto"),
        ("KITTYMUX_RESUME", "never", "resume-never"),
    ];
    let mut found = Vec::new();
    for (name, value, file) in pairs {
        let set = dirs::var(name).is_some_and(|v| v == value);
        if set && !state.is_some_and(|s| s.has(file)) {
            found.push(Finding::warning(
                format!(
                    "{name}={value} counts in this shell alone, not for the timer or other windows"
                ),
                format!("make the empty file {file} in the state directory, or unset it"),
            ));
        }
    }
    found
}

/// Agents whose program does not show what their definition needs.
fn agents(state: Option<&State>) -> Vec<Finding> {
    let mut found = Vec::new();
    let (defs, problems) = setting::quiet_definitions();
    for problem in problems {
        found.push(Finding::problem(problem, "mend that line of resume.json"));
    }
    let mut names = Vec::new();
    for def in defs.iter() {
        let program = def
            .names
            .iter()
            .find(|n| dirs::find_program(Path::new(n)).is_some());
        names.extend(program.map(|_| def.name.clone()));
    }
    found.push(if names.is_empty() {
        Finding::warning(
            "no agent that is known is on PATH",
            "kittymux sessions check",
        )
    } else {
        Finding::ok(format!("agents here: {}", names.join(", ")))
    });
    for check in state.map(checks::read).unwrap_or_default() {
        if let Verdict::Lacks(missing) = &check.verdict {
            found.push(Finding::warning(
                format!(
                    "{} does not show {} any more: it comes back with a new conversation",
                    check.agent,
                    missing.join(" ")
                ),
                format!("kittymux sessions check --again {}", check.agent),
            ));
        }
    }
    found
}

/// Whether the agents tell by their hooks.
fn told(state: Option<&State>) -> Vec<Finding> {
    let known = state.and_then(State::self_path).or_else(stable_path);
    known.map_or_else(Vec::new, |own| setup::hook_findings(&own))
}

fn as_text(found: &[Finding], paints: bool) -> String {
    let mut text = String::new();
    for finding in found {
        let (mark, colour) = match finding.level {
            Level::Ok => ("ok       ", 32),
            Level::Warning => ("warning  ", 33),
            Level::Problem => ("problem  ", 31),
        };
        let mark = if paints {
            format!("\x1b[{colour}m{mark}\x1b[m")
        } else {
            mark.to_owned()
        };
        text.push_str(&format!(
            "{mark}{}\n",
            finding.what.replace('\n', "\n         ")
        ));
        for line in finding.mend.lines() {
            text.push_str(&format!("         → {line}\n"));
        }
    }
    text
}

fn as_json(found: &[Finding]) -> String {
    let list = json::list(found.iter().map(|f| {
        let level = match f.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Problem => "problem",
        };
        Object::new()
            .text("level", level)
            .text("what", &f.what)
            .maybe("mend", (!f.mend.is_empty()).then_some(f.mend.as_str()))
            .finish()
    }));
    Object::new()
        .number("version", 1)
        .raw("findings", &list)
        .finish()
}
