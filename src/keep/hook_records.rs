//! What agents told our hook: one file for each agent process, `hooks/<boot8>-<pid>-<start>.jsonl`.
//!
//! A hook is in the agent's way, so it only appends one line. The lines are read, and the file of a
//! process that is gone removed, by whoever looks at the desk.

use crate::agents::hooks::{Ending, Event, Told};
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, JsonValue, Object};
use crate::sys::look::Look;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};

use super::state::State;

/// The longest line, its end included: what one write appends whole.
const MAX_LINE: usize = 4096;

/// How much of a file is read, from its end.
const TAIL: u64 = 1 << 20;

/// How much is read where only the newest events count: some fifty.
const RECENT: u64 = 16 << 10;

/// How much of a text that an agent sends along is kept, in characters.
const MAX_DETAIL: usize = 200;

/// How long the file of another machine's process stays after its last line.
const FOREIGN_NS: u64 = 90 * 86_400 * 1_000_000_000;

const ENDING: &str = ".jsonl";

/// One event of an agent process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEvent {
    /// When, nanoseconds of wall time.
    pub at_wall_ns: u64,
    /// When, nanoseconds of the boot clock.
    pub up_ns: u64,
    /// The agent's name.
    pub agent: String,
    /// The session id; empty: the agent does not say.
    pub sid: String,
    /// The directory; empty: not known.
    pub cwd: String,
    /// What happened.
    pub event: Event,
    /// More about it; may be empty.
    pub detail: String,
    /// How the conversation ended, at an end.
    pub ending: Ending,
    /// The process's terminal, as in [`proc::Stat`].
    pub tty: i32,
    /// Its command without prompt, selectors and secrets; only at a start, empty where too long.
    pub argv: Vec<String>,
    /// The machine.
    pub host: String,
    /// Where its line begins in the file.
    pub begin: u64,
    /// Where its line ends: events are counted once by that.
    pub end: u64,
}

/// A file of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFile {
    /// Its name.
    pub name: String,
    /// First digits of the boot it is of.
    pub boot: String,
    /// The agent process.
    pub process: ProcId,
}

impl HookFile {
    /// The file of a process of this boot.
    #[must_use]
    pub fn of(process: ProcId) -> Self {
        let boot = clock::boot8();
        Self {
            name: format!("{boot}-{}-{}{ENDING}", process.pid, process.start),
            boot,
            process,
        }
    }

    fn read(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(ENDING)?.split('-');
        let (boot, pid, start) = (parts.next()?, parts.next()?, parts.next()?);
        let is_boot = boot.len() == 8 && boot.bytes().all(|b| b.is_ascii_hexdigit());
        (is_boot && parts.next().is_none()).then_some(())?;
        Some(Self {
            name: name.to_owned(),
            boot: boot.to_owned(),
            process: ProcId {
                pid: pid.parse().ok()?,
                start: start.parse().ok()?,
            },
        })
    }
}

/// Appends one event of `process` to its file.
///
/// # Errors
/// When it cannot be written.
pub fn append(
    state: &State,
    agent: &str,
    process: ProcId,
    tty: i32,
    told: &Told,
    argv: &[String],
) -> Outcome<()> {
    let (wall, up) = (clock::wall_ns(), clock::boot_ns());
    let line = |detail: &str, argv: &[String]| {
        let mut object = Object::new()
            .number("v", 1)
            .text("at", &clock::rfc3339_ms(wall))
            .number("up", up)
            .text("host", &clock::host8())
            .text("agent", agent)
            .text("event", told.event.word())
            .text("sid", &told.sid)
            .text("cwd", &told.cwd)
            .number("tty", u64::from(tty.cast_unsigned()));
        if !detail.is_empty() {
            object = object.text("detail", detail);
        }
        if told.ending != Ending::Cut {
            object = object.text("ending", told.ending.word());
        }
        if !argv.is_empty() {
            object = object.texts("argv", argv);
        }
        object.finish() + "\n"
    };
    let detail: String = told.detail.chars().take(MAX_DETAIL).collect();
    let fits = |line: &String| line.len() <= MAX_LINE;
    let line = [line(&detail, argv), line(&detail, &[]), line("", &[])]
        .into_iter()
        .find(fits);
    match line {
        Some(line) => state
            .dir
            .sub("hooks")?
            .append(&HookFile::of(process).name, line.as_bytes()),
        // Only a directory of thousands of bytes is that long.
        None => Ok(()),
    }
}

fn dir(state: &State) -> Outcome<Option<PrivateDir>> {
    PrivateDir::existing(&state.dir.join("hooks"))
}

/// The events of a process of this boot, oldest first.
#[must_use]
pub fn for_process(state: &State, process: ProcId) -> Look<Vec<HookEvent>> {
    of_file(state, &HookFile::of(process))
}

/// The newest events of a process of this boot, oldest first: enough to tell which conversation it is
/// in, and what it is at.
#[must_use]
pub fn recent(state: &State, process: ProcId) -> Look<Vec<HookEvent>> {
    tail(state, &HookFile::of(process), RECENT)
}

/// The events in a file, oldest first, of a very long one the last. *Nothing*: there is no such file.
#[must_use]
pub fn of_file(state: &State, file: &HookFile) -> Look<Vec<HookEvent>> {
    tail(state, file, TAIL)
}

fn tail(state: &State, file: &HookFile, limit: u64) -> Look<Vec<HookEvent>> {
    let tail = match dir(state) {
        Ok(Some(dir)) => dir.read_tail(&file.name, limit),
        Ok(None) => return Look::Nothing,
        Err(fault) => Err(fault),
    };
    match tail {
        Ok(Some((begin, bytes))) => Look::Found(events(begin, &bytes)),
        Ok(None) => Look::Nothing,
        Err(fault) => Look::Unknown(fault.to_string()),
    }
}

/// Reads whole lines; those that are none of ours are passed over. `begin`: where in the file the
/// bytes begin.
fn events(begin: u64, bytes: &[u8]) -> Vec<HookEvent> {
    let mut found = Vec::new();
    let mut at = begin;
    for (n, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let from = at;
        at += line.len() as u64;
        // The first may have begun before, the last may be still written.
        if (n == 0 && begin > 0) || line.last() != Some(&b'\n') || line.len() > MAX_LINE {
            continue;
        }
        found.extend(event(line, from, at));
    }
    found
}

fn event(line: &[u8], begin: u64, end: u64) -> Option<HookEvent> {
    let value = json::parse(line, MAX_LINE).ok()?;
    let text = |key: &str| json::text_at(&value, key).unwrap_or("").to_owned();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = |key: &str| {
        json::number_at(&value, key)
            .filter(|n| n.is_finite() && *n >= 0.0)
            .map(|n| n as u64)
    };
    let argv = match json::member(&value, "argv") {
        Some(JsonValue::Array(words)) => words
            .iter()
            .map(|w| match w {
                JsonValue::String(word) => Some(word.clone()),
                _ => None,
            })
            .collect::<Option<Vec<String>>>()
            .unwrap_or_default(),
        _ => Vec::new(),
    };
    let sid = text("sid");
    if !sid.is_empty() && !crate::sys::token::is_token(&sid) {
        return None;
    }
    Some(HookEvent {
        at_wall_ns: clock::parse_rfc3339(json::text_at(&value, "at")?)?,
        up_ns: number("up")?,
        agent: text("agent"),
        sid,
        cwd: text("cwd"),
        event: Event::from_word(json::text_at(&value, "event")?)?,
        detail: text("detail"),
        ending: Ending::from_word(&text("ending")).unwrap_or_default(),
        tty: u32::try_from(number("tty")?).ok()?.cast_signed(),
        argv,
        host: text("host"),
        begin,
        end,
    })
}

/// The conversation that the process is in now, with its directory: that of the newest event that
/// names one. The end of a conversation names the one that was left, and may be written after the
/// start of the next, so it counts only where nothing else does.
#[must_use]
pub fn latest_sid(events: &[HookEvent]) -> Option<(String, String)> {
    let named = || events.iter().rev().filter(|e| !e.sid.is_empty());
    let newest = named()
        .find(|e| e.event != Event::End)
        .or_else(|| named().next())?;
    let cwd = named()
        .filter(|e| e.sid == newest.sid)
        .find(|e| !e.cwd.is_empty());
    Some((
        newest.sid.clone(),
        cwd.map_or_else(String::new, |e| e.cwd.clone()),
    ))
}

/// The files there are, by name.
#[must_use]
pub fn files(state: &State) -> Vec<HookFile> {
    let names = dir(state).ok().flatten().and_then(|d| d.names().ok());
    let names = names.unwrap_or_default();
    names.iter().filter_map(|n| HookFile::read(n)).collect()
}

/// Whether the process of a file is gone; one of another machine never is.
#[must_use]
pub fn is_gone(state: &State, file: &HookFile) -> bool {
    if file.boot == clock::boot8() {
        return !proc::is_running(file.process);
    }
    let host = of_file(state, file)
        .found()
        .and_then(|events| events.last().map(|e| e.host.clone()));
    host.is_none_or(|host| host == clock::host8())
}

/// Removes the files of processes that are gone, but those that `keep` wants.
pub fn sweep(state: &State, keep: &dyn Fn(ProcId) -> bool) {
    let Ok(Some(dir)) = dir(state) else { return };
    let now = clock::wall_ns();
    for file in files(state) {
        let is_old = || {
            dir.written_ns(&file.name)
                .is_some_and(|w| now.saturating_sub(w) > FOREIGN_NS)
        };
        if !keep(file.process) && (is_gone(state, &file) || is_old()) {
            let _ = dir.remove(&file.name);
        }
    }
}

#[cfg(test)]
#[path = "hook_records_tests.rs"]
mod tests;
