//! codex without its background server: the process itself holds its rollout and its writer lock.

use super::{Live, NO_ROOT, Subject, bounded, codex_rollouts, config_dir};
use crate::agents::id_form::is_uuid;
use crate::sys::bytes::to_path;
use crate::sys::look::Look;
use crate::sys::proc;

pub fn live(subject: &Subject<'_>) -> Look<Live> {
    let mut unknown = None;
    let mut ids: Vec<String> = Vec::new();
    let mut rollout = None;
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
                if path.ends_with(".jsonl") {
                    rollout = Some(path);
                }
                ids.push(id);
            }
        }
    }
    ids.sort();
    ids.dedup();
    match &ids[..] {
        [id] => {
            let held = rollout.map(|path| to_path(&path));
            let held = held.filter(|p| matches!(bounded::facts(p), Look::Found(f) if f.size > 0));
            let (resumable, cwd) = match held {
                Some(path) => (true, codex_rollouts::meta(&path, id).found().map(|m| m.cwd)),
                None => match config_dir(subject.def, subject.env, subject.home) {
                    Some(root) => match codex_rollouts::transcript(&root, id) {
                        Look::Found(there) => (true, there.owner),
                        _ => (false, None),
                    },
                    None => return Look::Unknown(NO_ROOT.to_owned()),
                },
            };
            Look::Found(Live {
                sid: id.clone(),
                cwd,
                source: "held file",
                resumable,
            })
        }
        // Two at once: nothing says which one is on the screen.
        [_, _, ..] => Look::Nothing,
        [] => unknown.map_or(Look::Nothing, Look::Unknown),
    }
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
