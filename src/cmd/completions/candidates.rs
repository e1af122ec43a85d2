//! What can stand for a word of our command line: words in, candidates out.

use crate::cmd::table::{Opt, Verb};
use crate::sys::out;

/// What only this machine knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Live {
    /// Saves that a person named.
    Saves,
    /// Desks that were saved by themselves.
    Desks,
    /// Agents that are defined.
    Agents,
    /// Conversations of the journal that are not running.
    Conversations,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The word.
    pub(super) value: String,
    /// What it is; may be empty.
    pub(super) about: String,
}

impl Candidate {
    pub(super) fn new(value: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            about: about.into(),
        }
    }
}

/// All that can stand there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    words: Vec<Candidate>,
    /// `files`, `directories` or nothing.
    paths: &'static str,
}

impl Found {
    /// As lines for a shell. A name that a terminal would obey, or that is no text, is left out.
    pub(super) fn lines(&self) -> String {
        let mut text = String::new();
        let plain = |c: &&Candidate| !c.value.is_empty() && out::visible(&c.value) == c.value;
        for candidate in self.words.iter().filter(plain) {
            let about = out::clip(&out::visible(&candidate.about), 60);
            text.push_str(&format!("{}\t{about}\n", candidate.value));
        }
        if !self.paths.is_empty() {
            text.push_str(&format!("\t{}\n", self.paths));
        }
        text
    }

    fn add(&mut self, value: &str, about: &str) {
        if self.words.iter().all(|c| c.value != value) {
            self.words.push(Candidate::new(value, about));
        }
    }
}

/// What can stand for the last of `words` (those behind the program's name); the shell itself picks
/// those that begin like it.
pub(super) fn candidates(
    verbs: &'static [Verb],
    words: &[String],
    live: &dyn Fn(Live) -> Vec<Candidate>,
) -> Found {
    let (last, before) = words
        .split_last()
        .map_or(("", &[][..]), |(l, b)| (l.as_str(), b));
    let mut found = Found::default();
    let verb = verbs
        .iter()
        .filter(|v| {
            before.len() >= v.words.len() && before.iter().zip(v.words).all(|(a, b)| a == b)
        })
        .max_by_key(|v| v.words.len());
    if let Some(verb) = verb {
        of_verb(verb, &before[verb.words.len()..], last, live, &mut found);
        return found;
    }
    let next = verbs.iter().filter(|v| {
        v.listed && v.words.len() > before.len() && before.iter().zip(v.words).all(|(a, b)| a == b)
    });
    for verb in next {
        let word = verb.words[before.len()];
        if verb.words.len() == before.len() + 1 {
            found.add(word, verb.about);
        } else {
            let all = verbs
                .iter()
                .filter(|v| v.listed && v.words.len() > 1 && v.words[0] == verb.words[0]);
            let names: Vec<&str> = all.map(|v| v.words[1]).collect();
            found.add(word, &names.join(", "));
        }
    }
    if before.is_empty() && last.starts_with('-') {
        found.add("--help", "show what there is");
        found.add("--version", "show the version");
    }
    found
}

/// What can stand behind a verb and `before`.
fn of_verb(
    verb: &'static Verb,
    before: &[String],
    last: &str,
    live: &dyn Fn(Live) -> Vec<Candidate>,
    found: &mut Found,
) {
    let mut given: Vec<&Opt> = Vec::new();
    let mut words = 0;
    let mut only_words = false;
    let mut value_of: Option<&Opt> = None;
    for word in before {
        if value_of.take().is_some() {
            continue;
        }
        match word.strip_prefix("--") {
            Some("") if !only_words => only_words = true,
            Some(name) if !only_words => {
                let (name, value) = name
                    .split_once('=')
                    .map_or((name, None), |(n, v)| (n, Some(v)));
                if let Some(option) = verb.options.iter().find(|o| o.name == name) {
                    given.push(option);
                    value_of = Some(option).filter(|o| !o.value.is_empty() && value.is_none());
                }
            }
            _ => words += 1,
        }
    }
    if let Some(option) = value_of {
        takes(option.value, live, found);
        return;
    }
    if last.starts_with('-') && !only_words {
        for option in verb.options {
            if given.iter().all(|g| g.name != option.name) {
                found.add(&format!("--{}", option.name), option.about);
            }
        }
        found.add("--help", "show how it is used");
        return;
    }
    if words < verb.most {
        takes(verb.args, live, found);
        if !only_words {
            // It would be read as an option.
            found.words.retain(|c| !c.value.starts_with('-'));
        }
    }
}

/// What an argument can be, by what the table calls it: words in small letters stand for themselves.
fn takes(args: &str, live: &dyn Fn(Live) -> Vec<Candidate>, found: &mut Found) {
    let names = args.split(|c: char| !c.is_ascii_alphanumeric());
    for name in names.filter(|n| !n.is_empty()) {
        match name {
            "NAME" => found.words.extend(live(Live::Saves)),
            "AGENT" => found.words.extend(live(Live::Agents)),
            "KEY" => found.words.extend(live(Live::Conversations)),
            "FILE" | "PATH" => found.paths = "files",
            "DIR" => found.paths = "directories",
            "last" => {
                found.add("last", "the newest desk of a kitty that is gone");
                found.words.extend(live(Live::Desks));
            }
            "previous" => found.add("previous", "the one before"),
            _ if name.chars().all(|c| c.is_ascii_lowercase()) => found.add(name, ""),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "candidates_tests.rs"]
mod tests;
