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
    let mut found = Vec::new();
    let _ = json::walk(text, |name, member, value| {
        if !name.starts_with('_') {
            let raw = &text[value];
            let (mut names, mut packages) = (Vec::new(), Vec::new());
            // They come first in our own file: the rest of an entry is not looked at.
            let _ = json::walk(raw, |key, _, value| {
                match key {
                    "names" => names = texts(&raw[value]),
                    "packages" => packages = texts(&raw[value]),
                    _ => return false,
                }
                true
            });
            if names.is_empty() {
                names.push(name.to_owned());
            }
            found.push(Index {
                name: name.to_owned(),
                names,
                packages,
                entry: format!("{{{}}}", &text[member]),
            });
        }
        true
    });
    found
}
