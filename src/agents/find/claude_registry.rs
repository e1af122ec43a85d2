//! claude's registry: `sessions/<pid>.json` in its configuration directory.
//!
//! Written before any message, follows `/clear` and `/resume`, removed at a proper end; the file of
//! a killed process stays, so the start time in it decides.

use std::path::Path;

use super::{Live, NO_ROOT, Subject, bounded, claude_projects, config_dir};
use crate::sys::json::{self, JsonValue};
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// The largest entry that is read, in bytes.
const LIMIT: usize = 64 << 10;

/// How often an entry that is no JSON is read again: it may be just being written.
const TRIES: u32 = 3;

pub fn live(subject: &Subject<'_>) -> Look<Live> {
    let Some(root) = config_dir(subject.def, subject.env, subject.home) else {
        return Look::Unknown(NO_ROOT.to_owned());
    };
    let mut unknown = None;
    for process in std::iter::once(&subject.process).chain(subject.inner) {
        match entry(&root, *process) {
            Look::Found(entry) => {
                let Some(sid) = subject.def.id.accept(&entry.sid) else {
                    return Look::Nothing;
                };
                let there = claude_projects::transcript(&root, &sid, entry.cwd.as_deref());
                if !proc::is_same(*process) {
                    return Look::Nothing;
                }
                return Look::Found(Live {
                    resumable: matches!(there, Look::Found(_)),
                    sid,
                    cwd: entry.cwd,
                    source: "registry",
                });
            }
            Look::Nothing => {}
            Look::Unknown(why) => unknown = unknown.or(Some(why)),
        }
    }
    unknown.map_or(Look::Nothing, Look::Unknown)
}

/// The entry of a process.
pub fn file(root: &Path, process: ProcId) -> std::path::PathBuf {
    root.join("sessions").join(format!("{}.json", process.pid))
}

/// What an entry says.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    sid: String,
    cwd: Option<String>,
}

fn entry(root: &Path, process: ProcId) -> Look<Entry> {
    let path = file(root, process);
    let written_ns = match bounded::facts(&path) {
        Look::Found(facts) => facts.touched_ns,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut wrong = String::new();
    for n in 0..TRIES {
        if n > 0 {
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        let bytes = match bounded::head(&path, LIMIT + 1) {
            Look::Found(bytes) => bytes,
            Look::Nothing => return Look::Nothing,
            Look::Unknown(why) => return Look::Unknown(why),
        };
        match json::parse(&bytes, LIMIT) {
            Ok(value) => {
                let began_ns = proc::started_wall_ns(process);
                return read(&value, process, written_ns, began_ns)
                    .map_or(Look::Nothing, Look::Found);
            }
            Err(e) => wrong = format!("its registry entry cannot be read: {e}"),
        }
    }
    Look::Unknown(wrong)
}

/// Reads an entry for this very process; `None` when it is another one's, a background run's, or a
/// picker's (no status: its id is thrown away).
fn read(
    value: &JsonValue,
    process: ProcId,
    written_ns: u64,
    began_ns: Option<u64>,
) -> Option<Entry> {
    if number_or_text(value, "pid")? != process.pid.to_string() {
        return None;
    }
    match number_or_text(value, "procStart") {
        Some(start) if is_ticks(&start) => {
            if start != process.start.to_string() {
                return None;
            }
        }
        // No start time that we can compare: an entry of an earlier process with this pid was last
        // written before this one began.
        _ => {
            if began_ns.is_some_and(|began| written_ns < began) {
                return None;
            }
        }
    }
    if json::text_at(value, "kind").is_some_and(|kind| kind != "interactive") {
        return None;
    }
    json::text_at(value, "status")?;
    Some(Entry {
        sid: json::text_at(value, "sessionId")?.to_owned(),
        cwd: json::text_at(value, "cwd")
            .filter(|c| c.starts_with('/'))
            .map(ToOwned::to_owned),
    })
}

/// Whether a start time is one of ours: clock ticks since boot, which only Linux has.
fn is_ticks(text: &str) -> bool {
    cfg!(target_os = "linux") && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn number_or_text(value: &JsonValue, key: &str) -> Option<String> {
    match json::member(value, key)? {
        JsonValue::String(text) => Some(text.clone()),
        // Ticks and pids are far below 2^53, so the number is exact.
        JsonValue::Number(n) if n.fract() == 0.0 && (0.0..9e15).contains(n) => {
            Some(format!("{n:.0}"))
        }
        _ => None,
    }
}
