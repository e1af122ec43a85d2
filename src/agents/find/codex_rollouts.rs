//! codex's rollouts: `sessions/YYYY/MM/DD/rollout-<local time>-<id>.jsonl`.
//!
//! The id is a UUIDv7: its first 48 bits are the moment it was made, in milliseconds. The first line
//! names the directory and who made it. A conversation that is resumed is written on in its old
//! file, so a file of any day may be the one that was touched last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Conversation, Transcript, bounded, is_one_of};
use crate::agents::definitions::Definition;
use crate::agents::id_form::is_uuid;
use crate::sys::bytes::to_path;
use crate::sys::json;
use crate::sys::look::Look;

/// How long the first line may be, in bytes. It holds the agent's instructions: 19 kB were seen.
const FIRST_LINE: usize = 1 << 20;

/// How many rollouts are looked at.
const MOST: usize = 100_000;

/// The id in a rollout's name.
pub fn id_of(name: &str) -> Option<&str> {
    let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let id = stem.get(stem.len().checked_sub(36)?..)?;
    let before = &stem[..stem.len() - 36];
    (is_uuid(id) && before.ends_with('-')).then_some(id)
}

/// When a UUIDv7 was made, in nanoseconds of wall time.
pub fn made_ns(id: &str) -> Option<u64> {
    if !is_uuid(id) || id.as_bytes()[14] != b'7' {
        return None;
    }
    let millis = u64::from_str_radix(&format!("{}{}", &id[..8], &id[9..13]), 16).ok()?;
    millis.checked_mul(1_000_000)
}

/// What the first line of a rollout says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// The directory it was made in.
    pub cwd: String,
    /// Whether it was made by the terminal program for a person, not by another agent or a script.
    pub on_terminal: bool,
}

/// The first line of the rollout of `id`; *Nothing* when it is not one.
pub fn meta(path: &Path, id: &str) -> Look<Meta> {
    let bytes = match bounded::first_line(path, FIRST_LINE) {
        Look::Found(bytes) => bytes,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let Some(line) = bytes.strip_suffix(b"\n") else {
        return if bytes.len() < FIRST_LINE {
            Look::Nothing
        } else {
            Look::Unknown("the first line of a rollout is too long".to_owned())
        };
    };
    let meta = json::guard(line, FIRST_LINE).ok();
    let meta = meta.and_then(|line| read_meta(&line, id));
    meta.map_or(Look::Nothing, Look::Found)
}

/// [`meta`], read once for all windows of a desk: the file is known again by its size and moment.
fn known_meta(path: &Path, id: &str, touched_ns: u64, size: u64) -> Look<Meta> {
    static KNOWN: Mutex<BTreeMap<(PathBuf, u64, u64), Look<Meta>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .entry((path.to_owned(), touched_ns, size))
        .or_insert_with(|| meta(path, id))
        .clone()
}

/// Only what is asked for is taken out: the line holds the agent's instructions too.
fn read_meta(line: &str, id: &str) -> Option<Meta> {
    let top = Members::of(line)?;
    if top.text("type")? != "session_meta" {
        return None;
    }
    let payload = Members::of(top.raw("payload")?)?;
    if payload.text("id")? != id {
        return None;
    }
    // A thread that an agent started for itself has an object as its source.
    let by_person = !payload.raw("source").is_some_and(|s| s.starts_with('{'));
    let by_agent = payload
        .text("thread_source")
        .is_some_and(|s| s.contains("agent"));
    Some(Meta {
        cwd: payload.text("cwd")?,
        on_terminal: payload.text("originator").as_deref() == Some("codex-tui")
            && by_person
            && !by_agent,
    })
}

/// An object and its members.
struct Members<'a>(&'a str, Vec<json::Member>);

impl<'a> Members<'a> {
    fn of(text: &'a str) -> Option<Self> {
        Some(Self(text, json::members(text)?))
    }

    fn raw(&self, name: &str) -> Option<&'a str> {
        let member = self.1.iter().find(|m| m.name == name)?;
        self.0.get(member.value.clone())
    }

    /// The value, if it is a text.
    fn text(&self, name: &str) -> Option<String> {
        let raw = self.raw(name).filter(|raw| raw.starts_with('"'))?;
        json::decode_guarded(raw).ok()
    }
}

pub fn conversations(
    def: &Definition,
    root: &Path,
    spellings: &[String],
    since_ns: u64,
) -> Look<Vec<Conversation>> {
    let mut found = Vec::new();
    let mut spoken = std::collections::HashSet::new();
    let answer = walk(root, |path, id| {
        let Some(id) = def.id.accept(id) else {
            return Ok(());
        };
        spoken.insert(id.clone());
        let (touched_ns, size) = match bounded::facts(path) {
            Look::Found(facts) if facts.size > 0 => (facts.touched_ns, facts.size),
            Look::Unknown(why) => return Err(why),
            _ => return Ok(()),
        };
        if touched_ns < since_ns {
            return Ok(());
        }
        match known_meta(path, &id, touched_ns, size) {
            Look::Found(meta) if meta.on_terminal && is_one_of(spellings, &meta.cwd) => {
                found.push(Conversation {
                    made_ns: made_ns(&id),
                    sid: id,
                    touched_ns: Some(touched_ns),
                    cwd: meta.cwd,
                });
                Ok(())
            }
            Look::Unknown(why) => Err(why),
            _ => Ok(()),
        }
    });
    if let Err(why) = answer {
        return Look::Unknown(why);
    }
    match unspoken(def, root, since_ns) {
        Ok(more) => found.extend(more.into_iter().filter(|u| !spoken.contains(&u.sid))),
        Err(why) => return Look::Unknown(why),
    }
    Look::Found(found)
}

/// Threads that a terminal program has made and in which nothing was said yet: an empty file named
/// by the id is all there is of them, and nothing tells their directory.
fn unspoken(def: &Definition, root: &Path, since_ns: u64) -> Result<Vec<Conversation>, String> {
    let names = match bounded::names(&root.join("tui-thread-reference-capabilities")) {
        Look::Found(names) => names,
        Look::Nothing => return Ok(Vec::new()),
        Look::Unknown(why) => return Err(why),
    };
    let made = |id: &String| made_ns(id).filter(|m| *m >= since_ns);
    Ok(names
        .iter()
        .filter_map(|name| def.id.accept(name))
        .filter_map(|sid| Some((made(&sid)?, sid)))
        .map(|(made, sid)| Conversation {
            sid,
            made_ns: Some(made),
            touched_ns: None,
            cwd: String::new(),
        })
        .collect())
}

pub fn transcript(root: &Path, sid: &str) -> Look<Transcript> {
    let mut found: Option<PathBuf> = None;
    let answer = walk(root, |path, id| {
        if id == sid && matches!(bounded::facts(path), Look::Found(f) if f.size > 0) {
            found = Some(path.to_owned());
        }
        Ok(())
    });
    match (found, answer) {
        (Some(path), _) => match meta(&path, sid) {
            Look::Found(meta) => Look::Found(Transcript {
                owner: Some(meta.cwd),
            }),
            _ => Look::Found(Transcript { owner: None }),
        },
        (None, Ok(())) => Look::Nothing,
        (None, Err(why)) => Look::Unknown(why),
    }
}

/// Calls `each` with every rollout and its id, the newest day first.
fn walk(
    root: &Path,
    mut each: impl FnMut(&Path, &str) -> Result<(), String>,
) -> Result<(), String> {
    let mut due = vec![(root.join("sessions"), 0)];
    let mut count = 0;
    while let Some((dir, depth)) = due.pop() {
        let names = match bounded::names(&dir) {
            Look::Found(names) => names,
            Look::Nothing => continue,
            Look::Unknown(why) => return Err(why),
        };
        for name in names {
            // sessions / year / month / day / file
            if depth < 3 {
                if name.len() <= 4 && name.bytes().all(|b| b.is_ascii_digit()) {
                    due.push((dir.join(name), depth + 1));
                }
            } else if let Some(id) = id_of(&name) {
                count += 1;
                if count > MOST {
                    return Err(format!("more than {MOST} rollouts"));
                }
                each(&dir.join(to_path(&name)), id)?;
            }
        }
    }
    Ok(())
}
