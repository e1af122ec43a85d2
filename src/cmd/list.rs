//! `sessions list`: each agent window, which conversation it has, and why.

use super::desk::{Desk, Ground, gather};
use super::exit::Exit;
use super::look::{Kitties, look};
use super::setting;
use super::table::Args;
use crate::agents::window::State as JobState;
use crate::keep::claims::Claims;
use crate::keep::hook_records::latest_sid;
use crate::keep::journal::{Progress, progress};
use crate::keep::state::State;
use crate::kitty::tree;
use crate::resume::plan::{WindowKey, short};
use crate::resume::prompt::{command, shown_directory};
use crate::resume::record::{Mode, Record};
use crate::resume::window::Runs;
use crate::sys::bytes::from_os;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json::{self, Object};
use crate::sys::out;

/// One agent window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Where it is.
    pub key: WindowKey,
    /// Its tab's title.
    pub tab: String,
    /// The agent.
    pub agent: String,
    /// How surely its conversation is known.
    pub mode: Mode,
    /// The session id, if exact.
    pub sid: String,
    /// `runs`, `stopped`, `asks`; `working`, `waiting`, `done` where the agent tells our hook.
    pub state: &'static str,
    /// Its directory.
    pub cwd: String,
    /// The command that would run.
    pub command: Vec<String>,
    /// Why.
    pub why: String,
}

/// Shows all agent windows.
///
/// # Errors
/// When no kitty answers.
pub fn run(args: &Args) -> Outcome<Exit> {
    let state = State::existing()?;
    let kitties = look(state.as_ref())?;
    if kitties.seen.is_empty() {
        return Err(Fault::refused(kitties.why_none()));
    }
    let rows = rows(&kitties, state.as_ref())?;
    if args.has("json") {
        out::data(&(as_json(&rows) + "\n"));
    } else {
        out::data(&as_text(&rows, &from_os(setting::home()?.as_os_str())));
        for unseen in &kitties.unseen {
            out::message(&format!("not looked at: {unseen}"));
        }
    }
    Ok(Exit::Done)
}

/// The rows of all kitties that were seen.
///
/// # Errors
/// When there is no home directory.
pub fn rows(kitties: &Kitties, state: Option<&State>) -> Outcome<Vec<Row>> {
    let defs = setting::checked_definitions(state);
    let claims = state.and_then(|s| s.claims().ok()).map(Claims::new);
    let ground = Ground {
        defs: &defs,
        home: setting::home()?,
        claims: claims.as_ref(),
        state,
    };
    let desk = gather(&kitties.seen, &ground);
    let mut rows = Vec::new();
    for kitty in &kitties.seen {
        for place in tree::windows(&kitty.tree) {
            let key = WindowKey {
                kitty: kitty.process,
                window: place.window.id,
            };
            let tab = place.tab.title.clone().unwrap_or_default();
            rows.extend(row(&desk, key, tab));
        }
    }
    Ok(rows)
}

fn row(desk: &Desk, key: WindowKey, tab: String) -> Option<Row> {
    let notes = desk.notes.get(&key).cloned().unwrap_or_default();
    match &desk.windows.get(&key)?.runs {
        Runs::Agent(agent) => {
            let stopped = desk
                .processes
                .get(&key)
                .is_some_and(|(_, s)| *s == JobState::Stopped);
            let mut why = vec![agent.choice.why.clone()];
            why.extend(notes.into_iter().filter(|n| n != "stopped"));
            if !agent.lost.is_empty() {
                why.push(format!("left out for secrecy: {}", agent.lost.join(" ")));
            }
            Some(Row {
                key,
                tab,
                agent: agent.agent.clone(),
                mode: agent.choice.mode,
                sid: agent.choice.sid.clone(),
                state: if stopped { "stopped" } else { at(desk, key) },
                cwd: agent
                    .choice
                    .cwd
                    .clone()
                    .unwrap_or_else(|| agent.cwd.clone()),
                command: if agent.resume.is_empty() {
                    agent.fresh.clone()
                } else {
                    agent.resume.clone()
                },
                why: why.join("; "),
            })
        }
        Runs::Waiting { record, .. } => {
            let record = Record::read(record).ok()?;
            Some(Row {
                key,
                tab,
                agent: record.agent,
                mode: record.mode,
                sid: record.sid,
                state: "asks",
                cwd: record.cwd,
                command: if record.resume.is_empty() {
                    record.orig
                } else {
                    record.resume
                },
                why: "its prompt is not answered yet".to_owned(),
            })
        }
        Runs::Other => None,
    }
}

/// What the agent of a window is at, where it tells our hook; else only that it runs.
fn at(desk: &Desk, key: WindowKey) -> &'static str {
    let events = desk.events.get(&key).map_or(&[][..], Vec::as_slice);
    let Some((sid, _)) = latest_sid(events) else {
        return "runs";
    };
    match progress(events, &sid).0 {
        Progress::Seen => "runs",
        progress => progress.word(),
    }
}

fn as_text(rows: &[Row], home: &str) -> String {
    if rows.is_empty() {
        return "no agent runs in any window\n".to_owned();
    }
    let kitties: std::collections::BTreeSet<_> = rows.iter().map(|r| r.key.kitty).collect();
    let cells: Vec<[String; 5]> = rows
        .iter()
        .map(|r| {
            let window = if kitties.len() > 1 {
                format!("{}:{}", r.key.kitty.pid, r.key.window)
            } else {
                r.key.window.to_string()
            };
            let mode = match r.mode {
                Mode::Exact => format!("exact {}", out::visible(short(&r.sid))),
                mode => mode.word().to_owned(),
            };
            [
                window,
                out::visible(&r.agent),
                mode,
                r.state.to_owned(),
                shown_directory(&r.cwd, home),
            ]
        })
        .collect();
    let widths: [usize; 5] =
        std::array::from_fn(|n| cells.iter().map(|c| out::width(&c[n])).max().unwrap_or(0));
    let mut text = String::new();
    for (row, cells) in rows.iter().zip(&cells) {
        let line: Vec<String> = cells
            .iter()
            .zip(widths)
            .map(|(c, w)| out::pad(c, w))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push_str(&format!(
            "\n    {}\n    {}\n",
            command(&row.command),
            out::visible(&spoken(&row.why))
        ));
    }
    text
}

/// How it is known, in more words than the one for machines.
fn spoken(why: &str) -> String {
    let (source, rest) = why.split_at(why.find(';').unwrap_or(why.len()));
    let source = match source {
        "registry" => "known by the agent's own registry",
        "held file" => "known by a held file: the agent has it open",
        "hook" => "told by the agent's hook",
        "command line" => "named on its command line",
        other => other,
    };
    format!("{source}{rest}")
}

fn as_json(rows: &[Row]) -> String {
    let list = json::list(rows.iter().map(|r| {
        Object::new()
            .number("kitty", u64::try_from(r.key.kitty.pid).unwrap_or(0))
            .number("window", r.key.window)
            .text("tab", &r.tab)
            .text("agent", &r.agent)
            .text("mode", r.mode.word())
            .maybe("session_id", (!r.sid.is_empty()).then_some(r.sid.as_str()))
            .text("state", r.state)
            .text("cwd", &r.cwd)
            .texts("command", &r.command)
            .text("why", &r.why)
            .finish()
    }));
    Object::new()
        .number("version", 1)
        .raw("windows", &list)
        .finish()
}
