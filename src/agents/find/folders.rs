//! A directory per conversation, with a file in it that names the project's directory: copilot's
//! `workspace.yaml`, vibe's `meta.json`.

use std::path::{Path, PathBuf};

use super::{Conversation, Place, Transcript, bounded, is_one_of};
use crate::sys::bytes::{from_bytes, to_path};
use crate::sys::json;
use crate::sys::look::Look;

/// How much is read of the file that names the directory, in bytes.
const HEAD: usize = 256 << 10;

/// How many entries of a conversation's directory are looked at.
const MOST: usize = 64;

pub fn conversations(
    place: &Place<'_>,
    at: &str,
    owner: &str,
    spellings: &[String],
    since_ns: u64,
) -> Look<Vec<Conversation>> {
    let Some((top, _)) = at.split_once("/{id}/") else {
        return Look::Found(Vec::new());
    };
    let names = match bounded::names(&place.root.join(top)) {
        Look::Found(names) => names,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut found = Vec::new();
    for sid in names.iter().filter_map(|n| place.def.id.accept(n)) {
        let touched_ns = match touched(&path(place, at, &sid)) {
            Look::Found(at) => at,
            Look::Nothing => continue,
            Look::Unknown(why) => return Look::Unknown(why),
        };
        if touched_ns < since_ns {
            continue;
        }
        if let Some(cwd) = owner_in(&path(place, owner, &sid)).found()
            && is_one_of(spellings, &cwd)
        {
            found.push(Conversation {
                sid,
                made_ns: None,
                touched_ns: Some(touched_ns),
                cwd,
            });
        }
    }
    Look::Found(found)
}

pub fn transcript(place: &Place<'_>, at: &str, owner: &str, sid: &str) -> Look<Transcript> {
    match bounded::facts(&path(place, at, sid)) {
        Look::Found(facts) if facts.size > 0 => Look::Found(Transcript {
            owner: owner_in(&path(place, owner, sid)).found(),
        }),
        Look::Unknown(why) => Look::Unknown(why),
        _ => Look::Nothing,
    }
}

fn path(place: &Place<'_>, at: &str, sid: &str) -> PathBuf {
    place.root.join(to_path(&at.replace("{id}", sid)))
}

/// When anything in the directory of `file` was last written; *Nothing* without that file.
fn touched(file: &Path) -> Look<u64> {
    let mut newest = match bounded::facts(file) {
        Look::Found(facts) if facts.size > 0 => facts.touched_ns,
        Look::Unknown(why) => return Look::Unknown(why),
        _ => return Look::Nothing,
    };
    let Some(dir) = file.parent() else {
        return Look::Nothing;
    };
    for name in bounded::names(dir).found().into_iter().flatten().take(MOST) {
        newest = newest.max(bounded::written_ns(&dir.join(to_path(&name))).unwrap_or(0));
    }
    Look::Found(newest)
}

/// The directory that a file names: `cwd` or `environment.working_directory` of a JSON document, or
/// a line `cwd: …` of YAML.
fn owner_in(path: &Path) -> Look<String> {
    let bytes = match bounded::head(path, HEAD) {
        Look::Found(bytes) => bytes,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let named = match json::parse(&bytes, HEAD) {
        Ok(value) => json::text_at(&value, "cwd")
            .or_else(|| {
                let environment = json::member(&value, "environment")?;
                json::text_at(environment, "working_directory")
            })
            .map(str::to_owned),
        Err(_) => from_bytes(&bytes)
            .lines()
            .find_map(|l| l.strip_prefix("cwd:"))
            .map(unquoted),
    };
    match named.filter(|cwd| cwd.starts_with('/')) {
        Some(cwd) => Look::Found(cwd),
        None => Look::Nothing,
    }
}

/// A scalar of YAML without its quotes.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    text.to_owned()
}
