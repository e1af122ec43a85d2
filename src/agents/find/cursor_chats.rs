//! cursor-agent's chats: `chats/<MD5 of the directory>/<id>/store.db`.

use std::path::Path;

use super::md5::md5_hex;
use super::{Conversation, Place, Transcript, bounded};
use crate::sys::bytes::{to_bytes, to_path};
use crate::sys::look::Look;

pub fn conversations(
    place: &Place<'_>,
    spellings: &[String],
    since_ns: u64,
) -> Look<Vec<Conversation>> {
    let mut found: Vec<Conversation> = Vec::new();
    for spelling in spellings {
        let dir = place.root.join("chats").join(md5_hex(&to_bytes(spelling)));
        let names = match bounded::names(&dir) {
            Look::Found(names) => names,
            Look::Nothing => continue,
            Look::Unknown(why) => return Look::Unknown(why),
        };
        for sid in names.iter().filter_map(|n| place.def.id.accept(n)) {
            match touched(&dir.join(&sid)) {
                Look::Found(at) if at >= since_ns && !found.iter().any(|c| c.sid == sid) => {
                    found.push(Conversation {
                        sid,
                        made_ns: None,
                        touched_ns: Some(at),
                        cwd: spelling.clone(),
                    });
                }
                Look::Unknown(why) => return Look::Unknown(why),
                _ => {}
            }
        }
    }
    Look::Found(found)
}

pub fn transcript(place: &Place<'_>, sid: &str) -> Look<Transcript> {
    let chats = place.root.join("chats");
    let names = match bounded::names(&chats) {
        Look::Found(names) => names,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut unknown = None;
    for name in names {
        match touched(&chats.join(to_path(&name)).join(sid)) {
            // The sum of a directory does not lead back to it.
            Look::Found(_) => return Look::Found(Transcript { owner: None }),
            Look::Nothing => {}
            Look::Unknown(why) => unknown = Some(why),
        }
    }
    unknown.map_or(Look::Nothing, Look::Unknown)
}

/// When a store was last written: what is new stands in its log first.
fn touched(chat: &Path) -> Look<u64> {
    match bounded::facts(&chat.join("store.db")) {
        Look::Found(facts) if facts.size > 0 => {
            let log = bounded::facts(&chat.join("store.db-wal")).found();
            Look::Found(facts.touched_ns.max(log.map_or(0, |f| f.touched_ns)))
        }
        Look::Unknown(why) => Look::Unknown(why),
        _ => Look::Nothing,
    }
}
