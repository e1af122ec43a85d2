//! The journal's text: each record beside its raw JSON, so that what is not touched goes back to the
//! byte, and members of a newer version survive.

use super::session::{MEMBERS, Session};
use crate::sys::bytes::{from_bytes, to_bytes};
use crate::sys::json;

/// The version we write; a later one is read by what we know, and stays.
const VERSION: u64 = 1;

/// The largest record.
const MAX_RECORD: usize = 1 << 20;

/// How many bytes a broken file is searched for records at most, counting each again.
const SEARCH: usize = 24 << 20;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// As it stands in the file; none for a new one.
    raw: Option<String>,
    /// What was read of it.
    read: Option<Session>,
    /// What it is now; none for one that cannot be read.
    now: Option<Session>,
}

/// The journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Journal {
    /// The version as it stood, where it is not ours.
    version: Option<String>,
    /// Members of the document that we do not know, as they stand.
    others: Vec<String>,
    entries: Vec<Entry>,
    broken: bool,
}

impl Journal {
    /// Reads a file, or what is whole in a broken one.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let text = from_bytes(bytes);
        Self::whole(bytes, &text).unwrap_or_else(|| Self::salvage(&text))
    }

    fn whole(bytes: &[u8], text: &str) -> Option<Self> {
        json::guard(bytes, usize::MAX).ok()?;
        let members = json::members(text)?;
        let mut journal = Self::default();
        for member in &members {
            let value = &text[member.value.clone()];
            match member.name.as_str() {
                "v" if value.parse() != Ok(VERSION) => journal.version = Some(value.to_owned()),
                "v" => {}
                "sessions" => {
                    journal.entries = json::elements(value)?
                        .into_iter()
                        .map(|span| Entry::of(&value[span]))
                        .collect();
                }
                _ => journal.others.push(text[member.span.clone()].to_owned()),
            }
        }
        Some(journal)
    }

    /// The records that are whole in a text that is not.
    fn salvage(text: &str) -> Self {
        let mut journal = Self {
            broken: true,
            ..Self::default()
        };
        let mut left = SEARCH;
        let mut at = 0;
        while let Some(next) = text[at..].find('{') {
            at += next;
            let Some(end) = object_end(&text[at..]).filter(|end| *end <= left) else {
                left = left.saturating_sub(text.len() - at);
                at += 1;
                if left == 0 {
                    break;
                }
                continue;
            };
            left -= end;
            let entry = Entry::of(&text[at..at + end]);
            if entry.now.is_some() {
                journal.entries.push(entry);
                at += end;
            } else {
                at += 1;
            }
        }
        journal
    }

    /// Whether the file was no journal.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// The text of the file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let version = self.version.clone().unwrap_or_else(|| VERSION.to_string());
        let mut text = format!("{{\"v\":{version},\"sessions\":[");
        for (n, entry) in self.entries.iter().enumerate() {
            text.push_str(if n == 0 { "\n" } else { ",\n" });
            text.push_str(&entry.text());
        }
        text.push_str("\n]");
        for other in &self.others {
            text.push(',');
            text.push_str(other);
        }
        text.push_str("}\n");
        to_bytes(&text)
    }

    /// How many records there are, those that cannot be read too.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The records that can be read.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.entries.iter().filter_map(|e| e.now.as_ref())
    }

    /// The same, to be changed.
    pub fn sessions_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.entries.iter_mut().filter_map(|e| e.now.as_mut())
    }

    /// The record of a session, by its id.
    #[must_use]
    pub fn find(&self, agent: &str, sid: &str) -> Option<&Session> {
        self.sessions()
            .find(|s| s.agent == agent && s.sid == sid && !sid.is_empty())
    }

    /// The record `is` picks, to be changed.
    pub fn find_mut(&mut self, is: impl Fn(&Session) -> bool) -> Option<&mut Session> {
        self.sessions_mut().find(|s| is(s))
    }

    /// Adds a record.
    pub fn add(&mut self, session: Session) {
        self.entries.push(Entry {
            raw: None,
            read: None,
            now: Some(session),
        });
    }

    /// Takes a record out.
    pub fn take(&mut self, is: impl Fn(&Session) -> bool) -> Option<Session> {
        let at = self
            .entries
            .iter()
            .position(|e| e.now.as_ref().is_some_and(&is))?;
        self.entries.remove(at).now
    }

    /// Keeps the records that `keep` wants; it gets `None` for one that cannot be read.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(Option<&Session>) -> bool) {
        self.entries.retain(|e| keep(e.now.as_ref()));
    }
}

impl Entry {
    fn of(raw: &str) -> Self {
        let read = Session::read(&to_bytes(raw), MAX_RECORD);
        Self {
            raw: Some(raw.to_owned()),
            now: read.clone(),
            read,
        }
    }

    fn text(&self) -> String {
        match (&self.raw, &self.now) {
            (Some(raw), now) if *now == self.read => raw.clone(),
            (Some(raw), None) => raw.clone(),
            (raw, Some(session)) => {
                let mut text = session.object().finish();
                let unknown = raw.as_deref().map(unknown_members).unwrap_or_default();
                if !unknown.is_empty() {
                    text.pop();
                    for member in unknown {
                        text.push(',');
                        text.push_str(&member);
                    }
                    text.push('}');
                }
                text
            }
            (None, None) => "null".to_owned(),
        }
    }
}

/// The members of a record that a newer version wrote.
fn unknown_members(raw: &str) -> Vec<String> {
    json::members(raw)
        .unwrap_or_default()
        .into_iter()
        .filter(|m| !MEMBERS.contains(&m.name.as_str()))
        .map(|m| raw[m.span].to_owned())
        .collect()
}

/// Where the object that `text` begins with ends, by brackets and quotes only.
fn object_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut quoted = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, b)) = bytes.next() {
        match b {
            b'\\' if quoted => {
                bytes.next();
            }
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
