//! What can be restored: the desks that were saved by themselves, and the saves a person made.

use super::expected;
use crate::cmd::autosaved::is_autosave;
use crate::cmd::exit::Exit;
use crate::keep::autosaves::{self, Autosave};
use crate::keep::names::ENDING;
use crate::keep::publish::{Header, LIMIT};
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::keep::taken::Mark;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::resume::rewrite::record_text;
use crate::sys::bytes::from_bytes;
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::out;

/// A name wider than this stands on a line of its own.
const WIDEST: usize = 24;

struct Row {
    name: String,
    /// What a person types for it.
    word: String,
    windows: usize,
    agents: usize,
    written_ns: u64,
    captured: Option<String>,
    desk: Option<(i32, &'static str, String)>,
}

/// Lists them all.
///
/// # Errors
/// When the directory is not ours.
pub(super) fn list(state: &State, desks: &[Autosave], as_json: bool) -> Outcome<Exit> {
    let rows = rows(state, desks)?;
    if as_json {
        let list = json::list(rows.iter().map(Row::json));
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
    let now = clock::wall_ns();
    let width = rows
        .iter()
        .map(|r| out::width(&r.word))
        .filter(|w| *w <= WIDEST)
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for row in &rows {
        text.push_str(&row.line(width, now));
    }
    out::data(&text);
    out::note("restore one: kittymux sessions restore NAME");
    Ok(Exit::Done)
}

fn rows(state: &State, desks: &[Autosave]) -> Outcome<Vec<Row>> {
    let sessions = state.sessions()?;
    let free = autosaves::free(desks, &|name| autosaves::loads(&sessions, name));
    let mut rows = Vec::new();
    let all = saves(state)?;
    // The desks first, newest first: they are what is looked for after a crash.
    let of_desks = desks
        .iter()
        .filter_map(|d| all.iter().find(|s| s.name == d.name));
    let named = all.iter().filter(|s| !is_autosave(&s.name));
    for save in of_desks.chain(named) {
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
        let desk = desks.iter().find(|d| d.name == save.name);
        let word = match free.iter().position(|f| f.name == save.name) {
            Some(0) => "last",
            Some(1) => "previous",
            _ => &save.name,
        };
        rows.push(Row {
            word: word.to_owned(),
            windows: expected(&parsed).len(),
            agents,
            written_ns: save.written_ns,
            captured: Header::read(&text).map(|h| h.captured),
            desk: desk.map(|d| state_of(d, parsed.refusal().is_none())),
            name: save.name.clone(),
        });
    }
    Ok(rows)
}

/// Whose desk it is, how it stands, and both for a person.
fn state_of(desk: &Autosave, loads: bool) -> (i32, &'static str, String) {
    let pid = desk.header.kitty.pid;
    let (word, what) = match desk.mark {
        Mark::Restored => ("restored", "brought back".to_owned()),
        Mark::Taken(by) => ("taken", format!("open in kitty {}", by.pid)),
        Mark::Free if !loads => ("damaged", "cannot be loaded".to_owned()),
        Mark::Free if desk.runs => ("running", "runs".to_owned()),
        Mark::Free => ("free", "gone".to_owned()),
    };
    (pid, word, format!("kitty {pid}, {what}"))
}

impl Row {
    fn line(&self, width: usize, now: u64) -> String {
        let age = clock::span(now.saturating_sub(self.written_ns) / 1_000_000_000);
        let name = if out::width(&self.word) > WIDEST {
            format!("{}\n{}", self.word, " ".repeat(width))
        } else {
            out::pad(&self.word, width)
        };
        let plural = |n: usize, what: &str| format!("{n:>3} {}", out::pad(&plural(n, what), 7));
        let line = format!(
            "{name}  {age:>4} ago  {}  {}  {}",
            plural(self.windows, "window"),
            plural(self.agents, "agent"),
            self.desk.as_ref().map_or("", |(.., text)| text)
        );
        format!("{}\n", line.trim_end())
    }

    fn json(&self) -> String {
        let mut object = Object::new()
            .text("name", &self.name)
            .number("windows", self.windows as u64)
            .number("agents", self.agents as u64)
            .text("written", &clock::rfc3339(self.written_ns))
            .maybe("captured", self.captured.as_deref());
        if let Some((pid, word, _)) = &self.desk {
            object = object
                .number("kitty", u64::try_from(*pid).unwrap_or(0))
                .text("state", word)
                .maybe("word", (self.word != self.name).then_some(&self.word));
        }
        object.finish()
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{what}{}", if n == 1 { "" } else { "s" })
}
