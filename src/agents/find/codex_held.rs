//! codex without its background server: the process itself holds its rollout and its writer lock.

use super::{Live, NO_ROOT, Subject, bounded, codex_rollouts, config_dir};
use crate::agents::id_form::is_uuid;
use crate::sys::bytes::to_path;
use crate::sys::look::Look;
use crate::sys::proc;

pub fn live(subject: &Subject<'_>) -> Look<Live> {
    let mut unknown = None;
    let mut held: Vec<Held> = Vec::new();
    for process in std::iter::once(&subject.process).chain(subject.inner) {
        if !proc::is_same(*process) {
            continue;
        }
        let files = match proc::open_files(process.pid) {
            Look::Found(files) if proc::is_same(*process) => files,
            Look::Unknown(why) => {
                unknown = Some(why);
                continue;
            }
            _ => continue,
        };
        for path in files {
            if let Some(id) = held_id(&path) {
                let of_it = held.iter().position(|h| h.id == id);
                let at = of_it.unwrap_or_else(|| {
                    held.push(Held { id, rollout: None });
                    held.len() - 1
                });
                if path.ends_with(".jsonl") {
                    held[at].rollout = Some(path);
                }
            }
        }
    }
    if held.is_empty() {
        return unknown.map_or(Look::Nothing, Look::Unknown);
    }
    let Some(Held { id, rollout }) = latest(held) else {
        return Look::Nothing;
    };
    let written = rollout.map(|path| to_path(&path));
    let written = written.filter(|p| matches!(bounded::facts(p), Look::Found(f) if f.size > 0));
    let (resumable, cwd) = match written {
        Some(path) => (
            true,
            codex_rollouts::meta(&path, &id).found().map(|m| m.cwd),
        ),
        None => match config_dir(subject.def, subject.env, subject.home) {
            Some(root) => match codex_rollouts::transcript(&root, &id) {
                Look::Found(there) => (true, there.owner),
                _ => (false, None),
            },
            None => return Look::Unknown(NO_ROOT.to_owned()),
        },
    };
    Look::Found(Live {
        sid: id,
        cwd,
        source: "held file",
        resumable,
    })
}

/// A conversation that the process holds.
struct Held {
    id: String,
    rollout: Option<String>,
}

/// The one on the screen: behind `/new` and `/resume` a process keeps what it held before, so it is
/// the one in which something happened last, be it that it was made. Those that an agent made for
/// itself are on no screen. `None` where that does not tell.
fn latest(mut held: Vec<Held>) -> Option<Held> {
    if held.len() == 1 {
        return held.pop();
    }
    let mut moments: Vec<(u64, Held)> = Vec::new();
    for one in held {
        let path = one.rollout.as_deref().map(to_path);
        let written = path.as_deref().and_then(|p| bounded::facts(p).found());
        let moment = match (&path, written.filter(|f| f.size > 0)) {
            (Some(path), Some(facts)) => match codex_rollouts::meta(path, &one.id) {
                Look::Found(meta) if !meta.on_terminal => continue,
                Look::Found(_) => facts.touched_ns,
                _ => return None,
            },
            _ => codex_rollouts::made_ns(&one.id)?,
        };
        moments.push((moment, one));
    }
    moments.sort_by_key(|(moment, _)| *moment);
    let (last, one) = moments.pop()?;
    let alone = moments.last().is_none_or(|(before, _)| *before < last);
    alone.then_some(one)
}

/// The id in the path of a rollout (`…/sessions/2026/09/27/rollout-2026-09-27T10-00-00-ID.jsonl`) or
/// of a lock (`…/thread-writer-locks/ID.lock`).
fn held_id(path: &str) -> Option<String> {
    let (dir, name) = path.rsplit_once('/')?;
    if let Some(id) = name.strip_suffix(".lock") {
        return (dir.ends_with("/thread-writer-locks") && is_uuid(id)).then(|| id.to_owned());
    }
    if !dir.contains("/sessions/") {
        return None;
    }
    codex_rollouts::id_of(name).map(ToOwned::to_owned)
}
