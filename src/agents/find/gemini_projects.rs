//! gemini's chats: `projects.json` gives each directory a short name, below which the files
//! `chats/session-<time>-<first 8 of the id>.jsonl` lie.

use std::path::{Path, PathBuf};

use super::{Conversation, Place, Transcript, bounded, is_one_of};
use crate::sys::bytes::{from_bytes, to_path};
use crate::sys::json::{self, JsonValue};
use crate::sys::look::Look;

/// The largest list of projects that is read, in bytes.
const LIST: usize = 4 << 20;

/// How much of a chat is read for its id, in bytes.
const HEAD: usize = 128 << 10;

/// The projects: directory and short name.
fn projects(place: &Place<'_>) -> Look<Vec<(String, String)>> {
    let bytes = match bounded::head(&place.root.join("projects.json"), LIST + 1) {
        Look::Found(bytes) => bytes,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let value = match json::parse(&bytes, LIST) {
        Ok(value) => value,
        Err(e) => return Look::Unknown(format!("its list of projects cannot be read: {e}")),
    };
    let Some(JsonValue::Object(map)) = json::member(&value, "projects") else {
        return Look::Unknown("its list of projects has another shape".to_owned());
    };
    let mut found: Vec<(String, String)> = map
        .iter()
        .filter_map(|(dir, name)| match name {
            JsonValue::String(name) if is_plain(name) => Some((dir.clone(), name.clone())),
            _ => None,
        })
        .collect();
    found.sort();
    Look::Found(found)
}

/// Whether a short name is one component of a path.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0']) && name != "." && name != ".."
}

/// The chats of a project, by the names of the list.
fn chats(place: &Place<'_>, name: &str) -> Look<Vec<PathBuf>> {
    let dir = place.root.join("tmp").join(to_path(name)).join("chats");
    bounded::names(&dir).map(|names| names.iter().map(|n| dir.join(to_path(n))).collect())
}

/// The first eight characters of the id in the name of a chat.
fn piece_of(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_prefix("session-")?.strip_suffix(".jsonl")?;
    stem.rsplit_once('-')
        .map(|(_, piece)| piece)
        .filter(|p| p.len() == 8)
}

/// The whole id of a chat, from its first line, once something was said in it: the file is there from
/// the start, and one without a message cannot be resumed.
fn id_of(place: &Place<'_>, path: &Path, piece: &str) -> Look<String> {
    let bytes = match bounded::head(path, HEAD) {
        Look::Found(bytes) => bytes,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let lines = || bytes.split(|b| *b == b'\n');
    let id = lines().next().and_then(|first| {
        let value = json::parse(first, HEAD).ok()?;
        let id = json::text_at(&value, "sessionId").filter(|id| id.starts_with(piece))?;
        place.def.id.accept(id)
    });
    let spoken = || bytes.len() == HEAD || lines().skip(1).any(is_spoken);
    match id {
        Some(id) if spoken() => Look::Found(id),
        _ => Look::Nothing,
    }
}

/// Whether a line holds a message, alone or among those that replace all earlier ones.
fn is_spoken(line: &[u8]) -> bool {
    let Ok(value) = json::parse(line, HEAD) else {
        return false;
    };
    let is_message = |v: &JsonValue| {
        let kind = json::text_at(v, "type");
        kind.is_some_and(|kind| ["user", "gemini"].contains(&kind))
    };
    let set = json::member(&value, "$set").and_then(|set| json::member(set, "messages"));
    match set {
        Some(JsonValue::Array(messages)) => messages.iter().any(is_message),
        _ => is_message(&value),
    }
}

/// Whether the project's own directory says that it is another one's.
fn is_anothers(place: &Place<'_>, name: &str, dir: &str) -> bool {
    let file = place
        .root
        .join("tmp")
        .join(to_path(name))
        .join(".project_root");
    bounded::head(&file, 16 << 10)
        .found()
        .is_some_and(|bytes| !is_one_of(&super::spellings(dir), from_bytes(&bytes).trim()))
}

pub fn conversations(
    place: &Place<'_>,
    spellings: &[String],
    since_ns: u64,
) -> Look<Vec<Conversation>> {
    let projects = match projects(place) {
        Look::Found(projects) => projects,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut found: Vec<Conversation> = Vec::new();
    for (dir, name) in projects {
        if !is_one_of(spellings, &dir) || is_anothers(place, &name, &dir) {
            continue;
        }
        let chats = match chats(place, &name) {
            Look::Found(chats) => chats,
            Look::Nothing => continue,
            Look::Unknown(why) => return Look::Unknown(why),
        };
        for path in chats {
            let Some(piece) = piece_of(&path) else {
                continue;
            };
            let touched_ns = match bounded::facts(&path) {
                Look::Found(f) if f.size > 0 && f.touched_ns >= since_ns => f.touched_ns,
                Look::Unknown(why) => return Look::Unknown(why),
                _ => continue,
            };
            let sid = match id_of(place, &path, piece) {
                Look::Found(sid) => sid,
                Look::Nothing => continue,
                Look::Unknown(why) => return Look::Unknown(why),
            };
            match found.iter_mut().find(|c| c.sid == sid) {
                // One conversation may have a second file: the younger one counts.
                Some(c) => c.touched_ns = c.touched_ns.max(Some(touched_ns)),
                None => found.push(Conversation {
                    sid,
                    made_ns: None,
                    touched_ns: Some(touched_ns),
                    cwd: dir.clone(),
                }),
            }
        }
    }
    Look::Found(found)
}

pub fn transcript(place: &Place<'_>, sid: &str) -> Look<Transcript> {
    let projects = match projects(place) {
        Look::Found(projects) => projects,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut unknown = None;
    for (dir, name) in projects {
        let chats = match chats(place, &name) {
            Look::Found(chats) => chats,
            Look::Nothing => continue,
            Look::Unknown(why) => {
                unknown = Some(why);
                continue;
            }
        };
        for path in chats {
            let fits = piece_of(&path).filter(|piece| sid.starts_with(piece));
            if let Some(piece) = fits
                && id_of(place, &path, piece).found().as_deref() == Some(sid)
            {
                return Look::Found(Transcript { owner: Some(dir) });
            }
        }
    }
    unknown.map_or(Look::Nothing, Look::Unknown)
}
