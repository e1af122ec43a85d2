//! The names in our own file, read without the rest: most runs meet two or three of all the agents.

use super::{entries, text as text_of};
use crate::agents::definitions::Definition;
use crate::sys::json;

/// What is read of each entry of our own file at once: the names that a program is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The agent's name.
    pub name: String,
    /// Its programs.
    pub names: Vec<String>,
    /// Its packages.
    pub packages: Vec<String>,
    /// A file with this entry alone.
    pub entry: String,
}

impl Index {
    /// Reads the whole entry.
    #[must_use]
    pub fn read(&self) -> Option<Definition> {
        entries(self.entry.as_bytes(), false).0.pop()
    }
}

/// The names of every entry of our own file, which a test holds to be right.
#[must_use]
pub fn index(text: &str) -> Vec<Index> {
    let texts = |raw: &str| -> Vec<String> {
        let spans = json::elements(raw).unwrap_or_default();
        spans.into_iter().filter_map(|s| text_of(&raw[s])).collect()
    };
    json::members(text)
        .unwrap_or_default()
        .into_iter()
        .filter(|m| !m.name.starts_with('_'))
        .map(|m| {
            let raw = &text[m.value.clone()];
            let inside = json::members(raw).unwrap_or_default();
            let list = |key: &str| {
                let member = inside.iter().find(|i| i.name == key)?;
                Some(texts(&raw[member.value.clone()]))
            };
            Index {
                names: list("names").unwrap_or_else(|| vec![m.name.clone()]),
                packages: list("packages").unwrap_or_default(),
                entry: format!("{{{}}}", &text[m.span.clone()]),
                name: m.name,
            }
        })
        .collect()
}
