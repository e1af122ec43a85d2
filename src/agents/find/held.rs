//! A file that the process, or a helper of its own below it, holds open, with the id in its path.

use super::paths::id_at_end;
use super::{Live, Subject, live_of};
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// How many processes below an agent are looked at.
const MOST: usize = 64;

pub fn live(subject: &Subject<'_>, patterns: &[String], children: bool) -> Look<Live> {
    let mut unknown = None;
    let mut ids: Vec<String> = Vec::new();
    for process in processes(subject, children) {
        let files = match proc::open_files(process.pid) {
            Look::Found(files) if proc::is_same(process) => files,
            Look::Unknown(why) => {
                unknown = Some(why);
                continue;
            }
            _ => continue,
        };
        let held = |path: &String| {
            let id = patterns.iter().find_map(|p| id_at_end(p, path))?;
            subject.def.id.accept(id)
        };
        ids.extend(files.iter().filter_map(held));
    }
    ids.sort();
    ids.dedup();
    match &ids[..] {
        [id] => live_of(subject, subject.process, id, None, "held file"),
        // Two at once: nothing says which one is on the screen.
        [_, _, ..] => Look::Nothing,
        [] => unknown.map_or(Look::Nothing, Look::Unknown),
    }
}

/// The processes of the run, and those below it where they count.
fn processes(subject: &Subject<'_>, children: bool) -> Vec<ProcId> {
    let mut found: Vec<ProcId> = std::iter::once(&subject.process)
        .chain(subject.inner)
        .copied()
        .filter(|p| proc::is_same(*p))
        .collect();
    let mut at = 0;
    while children && at < found.len() && found.len() < MOST {
        let parent = found[at];
        at += 1;
        let below = proc::children(parent.pid);
        if !proc::is_same(parent) {
            continue;
        }
        for pid in below {
            if let Some(stat) = proc::stat(pid)
                && stat.parent == parent.pid
                && !found.contains(&stat.id)
            {
                found.push(stat.id);
            }
        }
    }
    found
}
