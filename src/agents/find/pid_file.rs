//! A registry with one file per process: `sessions/<pid>.json` of claude.
//!
//! claude writes it before any message, keeps it through `/clear` and `/resume` and removes it at a
//! proper end; the file of a killed process stays, so the start time in it decides.

use std::path::{Path, PathBuf};

use super::{Live, Place, Subject, bounded, is_before, live_of};
use crate::sys::json::{self, JsonValue};
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// The largest entry that is read, in bytes.
const LIMIT: usize = 64 << 10;

/// How often an entry that is no JSON is read again: it may be just being written.
const TRIES: u32 = 3;

/// `needs`: members without which an entry does not count (claude's picker has no status yet).
pub fn live(subject: &Subject<'_>, place: &Place<'_>, at: &str, needs: &[String]) -> Look<Live> {
    let mut unknown = None;
    for process in std::iter::once(&subject.process).chain(subject.inner) {
        match entry(&file(place.root, at, *process), *process, needs) {
            Look::Found(entry) => {
                return live_of(subject, *process, &entry.sid, entry.cwd, "registry");
            }
            Look::Nothing => {}
            Look::Unknown(why) => unknown = unknown.or(Some(why)),
        }
    }
    unknown.map_or(Look::Nothing, Look::Unknown)
}

/// The entry of a process.
pub fn file(root: &Path, at: &str, process: ProcId) -> PathBuf {
    root.join(at.replace("{pid}", &process.pid.to_string()))
}

/// What an entry says.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    sid: String,
    cwd: Option<String>,
}

fn entry(path: &Path, process: ProcId, needs: &[String]) -> Look<Entry> {
    let written_ns = match bounded::facts(path) {
        Look::Found(facts) => facts.touched_ns,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut wrong = String::new();
    for n in 0..TRIES {
        if n > 0 {
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        let bytes = match bounded::head(path, LIMIT + 1) {
            Look::Found(bytes) => bytes,
            Look::Nothing => return Look::Nothing,
            Look::Unknown(why) => return Look::Unknown(why),
        };
        match json::parse(&bytes, LIMIT) {
            Ok(value) => {
                let began_ns = proc::started_wall_ns(process);
                return read(&value, process, written_ns, began_ns, needs)
                    .map_or(Look::Nothing, Look::Found);
            }
            Err(e) => wrong = format!("its registry entry cannot be read: {e}"),
        }
    }
    Look::Unknown(wrong)
}

/// Reads an entry for this very process; `None` when it is another one's, a background run's, or
/// lacks what is needed (a picker's id is thrown away).
fn read(
    value: &JsonValue,
    process: ProcId,
    written_ns: u64,
    began_ns: Option<u64>,
    needs: &[String],
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
            if is_before(written_ns, began_ns) {
                return None;
            }
        }
    }
    if json::text_at(value, "kind").is_some_and(|kind| kind != "interactive") {
        return None;
    }
    for name in needs {
        json::text_at(value, name)?;
    }
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

pub fn number_or_text(value: &JsonValue, key: &str) -> Option<String> {
    match json::member(value, key)? {
        JsonValue::String(text) => Some(text.clone()),
        // Ticks and pids are far below 2^53, so the number is exact.
        JsonValue::Number(n) if n.fract() == 0.0 && (0.0..9e15).contains(n) => {
            Some(format!("{n:.0}"))
        }
        _ => None,
    }
}
