//! A mark in the directory of the conversation: copilot's `session-state/<id>/inuse.<pid>.hold`.
//! It appears with the first message of a new conversation, and not when one is resumed.

use std::path::PathBuf;

use super::{Live, Place, Subject, bounded, is_before, live_of};
use crate::sys::bytes::to_path;
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

pub fn live(subject: &Subject<'_>, place: &Place<'_>, at: &str) -> Look<Live> {
    let Some((top, below)) = at.split_once("/{id}/") else {
        return Look::Nothing;
    };
    let dir = place.root.join(top);
    let names = match bounded::names(&dir) {
        Look::Found(names) => names,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut found: Vec<(ProcId, String)> = Vec::new();
    let mut unknown = None;
    let processes: Vec<(ProcId, String, Option<u64>)> = std::iter::once(&subject.process)
        .chain(subject.inner)
        .map(|p| {
            let name = below.replace("{pid}", &p.pid.to_string());
            (*p, name, proc::started_wall_ns(*p))
        })
        .collect();
    for id in names {
        for (process, name, began) in &processes {
            match bounded::facts(&dir.join(to_path(&id)).join(name)) {
                // An older mark was left by an earlier process with this pid.
                Look::Found(facts) if !is_before(facts.touched_ns, *began) => {
                    found.push((*process, id.clone()));
                }
                Look::Unknown(why) => unknown = Some(why),
                _ => {}
            }
        }
    }
    match &found[..] {
        [(process, sid)] => live_of(subject, *process, sid, None, "in-use mark"),
        // Two at once: nothing says which one is on the screen.
        [_, _, ..] => Look::Nothing,
        [] => unknown.map_or(Look::Nothing, Look::Unknown),
    }
}

/// The directory in which conversations appear.
pub fn directory(place: &Place<'_>, at: &str) -> Option<PathBuf> {
    at.split_once("/{id}/").map(|(top, _)| place.root.join(top))
}
