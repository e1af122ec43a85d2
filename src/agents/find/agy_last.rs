//! agy's list of the last conversation of each directory: `cache/last_conversations.json`, with a
//! database per conversation beside it.

use super::{Conversation, Place, Transcript, bounded, is_one_of};
use crate::sys::json::{self, JsonValue};
use crate::sys::look::Look;

/// The largest list that is read, in bytes.
const LIST: usize = 4 << 20;

/// The list: directory and id. An absent one says nothing: other conversations may be there.
fn list(place: &Place<'_>) -> Look<Vec<(String, String)>> {
    let path = place.root.join("cache/last_conversations.json");
    let bytes = match bounded::head(&path, LIST + 1) {
        Look::Found(bytes) => bytes,
        Look::Nothing => return Look::Unknown("its list of conversations is not there".to_owned()),
        Look::Unknown(why) => return Look::Unknown(why),
    };
    match json::parse(&bytes, LIST) {
        Ok(JsonValue::Object(map)) => Look::Found(
            map.into_iter()
                .filter_map(|(dir, id)| match id {
                    JsonValue::String(id) => Some((dir, place.def.id.accept(&id)?)),
                    _ => None,
                })
                .collect(),
        ),
        Ok(_) => Look::Unknown("its list of conversations has another shape".to_owned()),
        Err(e) => Look::Unknown(format!("its list of conversations cannot be read: {e}")),
    }
}

pub fn conversations(
    place: &Place<'_>,
    spellings: &[String],
    since_ns: u64,
) -> Look<Vec<Conversation>> {
    let list = match list(place) {
        Look::Found(list) => list,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut found: Vec<Conversation> = Vec::new();
    for (cwd, sid) in list {
        if !is_one_of(spellings, &cwd) || found.iter().any(|c| c.sid == sid) {
            continue;
        }
        match touched(place, &sid) {
            Look::Found(at) if at >= since_ns => found.push(Conversation {
                sid,
                made_ns: None,
                touched_ns: Some(at),
                cwd,
            }),
            Look::Unknown(why) => return Look::Unknown(why),
            _ => {}
        }
    }
    Look::Found(found)
}

pub fn transcript(place: &Place<'_>, sid: &str) -> Look<Transcript> {
    touched(place, sid).map(|_| {
        let all = list(place).found().unwrap_or_default();
        let owner = all.into_iter().find(|(_, id)| id == sid);
        Transcript {
            owner: owner.map(|(dir, _)| dir),
        }
    })
}

/// When a conversation's database was last written: what is new stands in its log first.
fn touched(place: &Place<'_>, sid: &str) -> Look<u64> {
    let dir = place.root.join("conversations");
    match bounded::facts(&dir.join(format!("{sid}.db"))) {
        Look::Found(facts) if facts.size > 0 => {
            let log = bounded::facts(&dir.join(format!("{sid}.db-wal"))).found();
            Look::Found(facts.touched_ns.max(log.map_or(0, |f| f.touched_ns)))
        }
        Look::Unknown(why) => Look::Unknown(why),
        _ => Look::Nothing,
    }
}
