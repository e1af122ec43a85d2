//! A registry beside the transcripts: `<id>.runtime.json` of qwen names the process that has the
//! conversation open. It stays behind when the process ends, and one more is written at `/clear`.

use std::path::PathBuf;

use super::paths::Pattern;
use super::pid_file::number_or_text;
use super::{Live, Place, Subject, bounded, is_before, live_of};
use crate::sys::bytes::{from_os, to_path};
use crate::sys::json;
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// The largest entry that is read, in bytes.
const LIMIT: usize = 64 << 10;

/// How many entries that are young enough are read.
const MOST: usize = 2000;

pub fn live(subject: &Subject<'_>, place: &Place<'_>, at: &str) -> Look<Live> {
    let Some(pattern) = Pattern::read(at) else {
        return Look::Nothing;
    };
    let mut best: Option<(u64, ProcId, String, Option<String>)> = None;
    let mut count = 0;
    let mut unknown = None;
    let processes = || std::iter::once(&subject.process).chain(subject.inner);
    let began = processes().filter_map(|p| proc::started_wall_ns(*p)).min();
    for dir in directories(subject, place, &pattern) {
        let names = match bounded::names(&dir) {
            Look::Found(names) => names,
            Look::Nothing => continue,
            Look::Unknown(why) => {
                unknown = unknown.or(Some(why));
                continue;
            }
        };
        for name in names {
            let Some(id) = pattern.id_in(&name) else {
                continue;
            };
            let path = dir.join(to_path(&name));
            let Look::Found(facts) = bounded::facts(&path) else {
                continue;
            };
            // Written before the process began: it is of an earlier one with this pid.
            if is_before(facts.touched_ns, began) {
                continue;
            }
            count += 1;
            if count > MOST {
                return Look::Unknown(format!("more than {MOST} entries of running programs"));
            }
            let Some(value) = bounded::head(&path, LIMIT + 1)
                .found()
                .and_then(|bytes| json::parse(&bytes, LIMIT).ok())
            else {
                unknown = unknown.or(Some("an entry of it cannot be read".to_owned()));
                continue;
            };
            let pid = number_or_text(&value, "pid");
            let of = processes().find(|p| pid.as_deref() == Some(p.pid.to_string().as_str()));
            let named = json::text_at(&value, "session_id");
            if let (Some(process), true) = (of, named == Some(id))
                && best
                    .as_ref()
                    .is_none_or(|(most, ..)| facts.touched_ns > *most)
            {
                let cwd = json::text_at(&value, "work_dir").filter(|c| c.starts_with('/'));
                best = Some((
                    facts.touched_ns,
                    *process,
                    id.to_owned(),
                    cwd.map(str::to_owned),
                ));
            }
        }
    }
    match best {
        Some((_, process, sid, cwd)) => live_of(subject, process, &sid, cwd, "registry"),
        None => unknown.map_or(Look::Nothing, Look::Unknown),
    }
}

/// Where entries of the subject's directory are; everywhere, when that is not known.
fn directories(subject: &Subject<'_>, place: &Place<'_>, pattern: &Pattern<'_>) -> Vec<PathBuf> {
    let top = place.root.join(pattern.top);
    let home = from_os(place.home.as_os_str());
    let names: Vec<String> = match subject.cwd {
        Some(cwd) => super::spellings(cwd)
            .iter()
            .flat_map(|cwd| pattern.dirs(cwd, &home))
            .collect(),
        None => bounded::names(&top).found().unwrap_or_default(),
    };
    let mut dirs: Vec<PathBuf> = names
        .iter()
        .map(|n| pattern.below(&top.join(to_path(n))))
        .collect();
    dirs.sort();
    dirs.dedup();
    dirs
}

/// The directory in which a new entry of a process would appear.
pub fn directory(place: &Place<'_>, at: &str, cwd: &str) -> Option<PathBuf> {
    let pattern = Pattern::read(at)?;
    let home = from_os(place.home.as_os_str());
    let dirs = pattern.dirs(cwd, &home);
    let path = |n: &String| pattern.below(&place.root.join(pattern.top).join(to_path(n)));
    let there = dirs.iter().map(path).find(|p| p.is_dir());
    there.or_else(|| dirs.first().map(path))
}
