//! Transcripts below a directory per project: `projects/<directory>/<id>.jsonl` of claude, and what
//! other agents made of it.

use std::path::{Path, PathBuf};

use super::paths::Pattern;
use super::{Conversation, Place, Transcript, bounded, is_one_of};
use crate::sys::bytes::{from_os, to_path};
use crate::sys::json;
use crate::sys::look::Look;

/// How much of a transcript is read for its directory, in bytes.
const HEAD: usize = 128 << 10;

pub fn conversations(
    place: &Place<'_>,
    at: &str,
    spellings: &[String],
    since_ns: u64,
) -> Look<Vec<Conversation>> {
    let Some(pattern) = Pattern::read(at) else {
        return Look::Unknown("its path is not known".to_owned());
    };
    let home = from_os(place.home.as_os_str());
    let names = spellings.iter().flat_map(|s| pattern.dirs(s, &home));
    let mut dirs: Vec<String> = names.collect();
    dirs.sort();
    dirs.dedup();
    let mut found: Vec<Conversation> = Vec::new();
    for dir in dirs {
        let path = pattern.below(&place.root.join(pattern.top).join(to_path(&dir)));
        let names = match bounded::names(&path) {
            Look::Found(names) => names,
            Look::Nothing => continue,
            Look::Unknown(why) => return Look::Unknown(why),
        };
        for name in names {
            let Some(sid) = pattern.id_in(&name).and_then(|n| place.def.id.accept(n)) else {
                continue;
            };
            let file = path.join(to_path(&name));
            let facts = match bounded::facts(&file) {
                Look::Found(facts) if facts.size > 0 => facts,
                Look::Unknown(why) => return Look::Unknown(why),
                _ => continue,
            };
            if facts.touched_ns < since_ns || found.iter().any(|c| c.sid == sid) {
                continue;
            }
            // Two directories can have one name (`/a/b` and `/a-b`): the transcript itself says.
            let owner = match bounded::head(&file, HEAD) {
                Look::Found(bytes) => owner(&bytes, |cwd| is_one_of(spellings, cwd)),
                Look::Nothing => continue,
                Look::Unknown(why) => return Look::Unknown(why),
            };
            let cwd = match owner {
                Owner::Is(cwd) => cwd,
                Owner::Unsaid => spellings.first().cloned().unwrap_or_default(),
                Owner::Other => continue,
            };
            found.push(Conversation {
                sid,
                made_ns: None,
                touched_ns: Some(facts.touched_ns),
                cwd,
            });
        }
    }
    Look::Found(found)
}

/// Looks in every project directory: a conversation that is resumed elsewhere stays where it began.
/// That of `near`, where it most likely is, is looked into first: with a hundred agents in as many
/// directories the full look is dear.
pub fn transcript(place: &Place<'_>, at: &str, sid: &str, near: Option<&str>) -> Look<Transcript> {
    let Some(pattern) = Pattern::read(at) else {
        return Look::Unknown("its path is not known".to_owned());
    };
    let home = from_os(place.home.as_os_str());
    let top = place.root.join(pattern.top);
    let likely = near.map(|near| pattern.dirs(near, &home));
    for dir in likely.unwrap_or_default() {
        if let Look::Found((file, _)) = file_of(&pattern, &top, &dir, sid) {
            return read(&pattern, &home, &dir, &file);
        }
    }
    let names = match bounded::names(&top) {
        Look::Found(names) => names,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut unknown = None;
    let mut best: Option<(u64, String, PathBuf)> = None;
    for dir in names {
        match file_of(&pattern, &top, &dir, sid) {
            Look::Found((file, touched))
                if best.as_ref().is_none_or(|(most, ..)| touched > *most) =>
            {
                best = Some((touched, dir, file));
            }
            Look::Unknown(why) => unknown = Some(why),
            _ => {}
        }
    }
    match best {
        Some((_, dir, file)) => read(&pattern, &home, &dir, &file),
        None => unknown.map_or(Look::Nothing, Look::Unknown),
    }
}

/// The file of a conversation in one project directory that is not empty, and when it was written.
fn file_of(pattern: &Pattern<'_>, top: &Path, dir: &str, sid: &str) -> Look<(PathBuf, u64)> {
    let path = pattern.below(&top.join(to_path(dir)));
    let name = match pattern.name_of(sid) {
        Some(name) => name,
        None => match bounded::names(&path) {
            Look::Found(names) => match names.into_iter().find(|n| pattern.id_in(n) == Some(sid)) {
                Some(name) => name,
                None => return Look::Nothing,
            },
            Look::Nothing => return Look::Nothing,
            Look::Unknown(why) => return Look::Unknown(why),
        },
    };
    let file = path.join(to_path(&name));
    match bounded::facts(&file) {
        Look::Found(facts) if facts.size > 0 => Look::Found((file, facts.touched_ns)),
        Look::Unknown(why) => Look::Unknown(why),
        _ => Look::Nothing,
    }
}

fn read(pattern: &Pattern<'_>, home: &str, dir: &str, file: &Path) -> Look<Transcript> {
    let fits = |cwd: &str| pattern.dirs(cwd, home).iter().any(|n| n == dir);
    bounded::head(file, HEAD).map(|bytes| Transcript {
        owner: match owner(&bytes, fits) {
            Owner::Is(cwd) => Some(cwd),
            _ => None,
        },
    })
}

/// What a transcript says of its directory.
enum Owner {
    /// It is this one, which fits.
    Is(String),
    /// It names directories, none of which fits.
    Other,
    /// It names none.
    Unsaid,
}

/// The first directory in the transcript's lines that fits.
fn owner(bytes: &[u8], fits: impl Fn(&str) -> bool) -> Owner {
    let mut answer = Owner::Unsaid;
    for line in bytes.split(|b| *b == b'\n') {
        let Ok(value) = json::parse(line, HEAD) else {
            continue;
        };
        if let Some(cwd) = json::text_at(&value, "cwd") {
            if fits(cwd) {
                return Owner::Is(cwd.to_owned());
            }
            answer = Owner::Other;
        }
    }
    answer
}
