//! claude's transcripts: `projects/<directory>/<id>.jsonl`, one directory per project, named after
//! its path with every character but ASCII letters and digits as `-`.

use std::path::Path;

use super::{Conversation, Transcript, bounded, is_one_of};
use crate::agents::definitions::Definition;
use crate::sys::bytes::to_path;
use crate::sys::json;
use crate::sys::look::Look;

/// How much of a transcript is read for its directory, in bytes.
const HEAD: usize = 128 << 10;

/// The name of the project directory of `cwd`. JavaScript counts UTF-16 units: a character beyond
/// U+FFFF gives two dashes.
pub fn project_name(cwd: &str) -> String {
    let mut name = String::with_capacity(cwd.len());
    for c in cwd.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            let units = if crate::sys::bytes::stood_for(c).is_some() {
                1
            } else {
                c.len_utf16()
            };
            name.extend(std::iter::repeat_n('-', units));
        }
    }
    name
}

pub fn conversations(
    def: &Definition,
    root: &Path,
    spellings: &[String],
    since_ns: u64,
) -> Look<Vec<Conversation>> {
    let mut found: Vec<Conversation> = Vec::new();
    let mut dirs: Vec<String> = spellings.iter().map(|s| project_name(s)).collect();
    dirs.dedup();
    for dir in dirs {
        let path = root.join("projects").join(to_path(&dir));
        let names = match bounded::names(&path) {
            Look::Found(names) => names,
            Look::Nothing => continue,
            Look::Unknown(why) => return Look::Unknown(why),
        };
        for name in names {
            let Some(sid) = name.strip_suffix(".jsonl").and_then(|n| def.id.accept(n)) else {
                continue;
            };
            let file = path.join(&name);
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
            match owner {
                Owner::Is(cwd) => found.push(Conversation {
                    sid,
                    made_ns: None,
                    touched_ns: Some(facts.touched_ns),
                    cwd,
                }),
                Owner::Unsaid => found.push(Conversation {
                    sid,
                    made_ns: None,
                    touched_ns: Some(facts.touched_ns),
                    cwd: spellings.first().cloned().unwrap_or_default(),
                }),
                Owner::Other => {}
            }
        }
    }
    Look::Found(found)
}

/// Looks in every project directory: a conversation that is resumed elsewhere stays where it began.
/// That of `near`, where it most likely is, is looked into first: with a hundred agents in as many
/// directories the full look is dear.
pub fn transcript(root: &Path, sid: &str, near: Option<&str>) -> Look<Transcript> {
    let projects = root.join("projects");
    if let Some(dir) = near.map(project_name)
        && matches!(bounded::facts(&projects.join(to_path(&dir)).join(format!("{sid}.jsonl"))), Look::Found(f) if f.size > 0)
    {
        return read(&projects, &dir, sid);
    }
    let names = match bounded::names(&projects) {
        Look::Found(names) => names,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut unknown = None;
    let mut best: Option<(u64, String)> = None;
    for dir in names {
        match bounded::facts(&projects.join(to_path(&dir)).join(format!("{sid}.jsonl"))) {
            Look::Found(facts)
                if facts.size > 0
                    && best
                        .as_ref()
                        .is_none_or(|(touched, _)| facts.touched_ns > *touched) =>
            {
                best = Some((facts.touched_ns, dir));
            }
            Look::Unknown(why) => unknown = Some(why),
            _ => {}
        }
    }
    let Some((_, dir)) = best else {
        return unknown.map_or(Look::Nothing, Look::Unknown);
    };
    read(&projects, &dir, sid)
}

fn read(projects: &Path, dir: &str, sid: &str) -> Look<Transcript> {
    let file = projects.join(to_path(dir)).join(format!("{sid}.jsonl"));
    match bounded::head(&file, HEAD) {
        Look::Found(bytes) => Look::Found(Transcript {
            owner: match owner(&bytes, |cwd| project_name(cwd) == dir) {
                Owner::Is(cwd) => Some(cwd),
                _ => None,
            },
        }),
        Look::Nothing => Look::Nothing,
        Look::Unknown(why) => Look::Unknown(why),
    }
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
