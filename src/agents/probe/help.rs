//! Reads options and their values out of a help text: clap, commander, yargs, argparse, cobra,
//! click and what people write by hand.
//!
//! A help text is foreign: what cannot be told for sure is left out, never guessed.

mod clean;
mod value;

use std::collections::BTreeMap;

pub use clean::{clean, says};
use value::{Spec, of_description};

use crate::agents::grammar::Takes;

/// An option as the help shows it: all its spellings, and what values it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its names, as typed: `-m`, `--model`.
    pub names: Vec<String>,
    /// The values it takes.
    pub takes: Takes,
}

/// The most options that are read out of one text; no program has more.
const MOST: usize = 2000;

/// How far from the least indented option of its block another one may stand: programs without a
/// short name are often indented by the width of `-x, `.
const STEP: usize = 4;

/// An option line with its description, before it is judged.
struct Entry {
    spec: Spec,
    description: String,
}

/// The options of a help text.
#[must_use]
pub fn options(bytes: &[u8]) -> Vec<Known> {
    let entries = entries(&clean(bytes));
    // yargs writes the type behind the description; an option without one may be anything there.
    let typed = entries
        .iter()
        .any(|e| of_description(&e.description).is_some());
    let mut found: Vec<Known> = Vec::new();
    let mut told: BTreeMap<String, Takes> = BTreeMap::new();
    let mut doubtful: Vec<String> = Vec::new();
    for entry in entries.into_iter().take(MOST) {
        let takes = match (entry.spec.takes, of_description(&entry.description)) {
            (Some(takes), _) | (None, Some(takes)) => takes,
            (None, None) if typed => continue,
            (None, None) => Takes::Nothing,
        };
        let mut names = entry.spec.names;
        if takes != Takes::Nothing {
            // `--[no-]depth <n>`: the other one takes none, as all of its kind.
            let all = names.clone();
            names.retain(|n| {
                let yes = n.strip_prefix("--no-").map(|bare| format!("--{bare}"));
                yes.is_none_or(|yes| !all.contains(&yes))
            });
        }
        names.extend(value::aliases(&entry.description));
        names.dedup();
        if names
            .iter()
            .any(|n| told.get(n).is_some_and(|t| *t != takes))
        {
            // Said twice and differently (two sub-commands, an example): nobody knows.
            doubtful.extend(names);
            continue;
        }
        names.retain(|n| told.insert(n.clone(), takes).is_none());
        if !names.is_empty() {
            found.push(Known { names, takes });
        }
    }
    for known in &mut found {
        known.names.retain(|n| !doubtful.contains(n));
    }
    found.retain(|k| !k.names.is_empty());
    found
}

/// Where the reader stands in a block of options.
#[derive(Default)]
struct Block {
    /// The least indent of its options.
    indent: usize,
    /// Where the description of the last option begins, once it is seen.
    description: Option<usize>,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut block: Option<Block> = None;
    for line in text.lines() {
        let shown = line.trim_start();
        if shown.is_empty() {
            continue;
        }
        let indent = line.chars().count() - shown.chars().count();
        let spec = if belongs_to_description(block.as_ref(), indent) {
            None
        } else {
            value::spec(shown)
        };
        if let Some((spec, description)) = spec {
            let at = description.as_ref().map(|(at, _)| indent + at);
            match &mut block {
                Some(block) => {
                    block.indent = block.indent.min(indent);
                    block.description = at;
                }
                None => {
                    block = Some(Block {
                        indent,
                        description: at,
                    });
                }
            }
            entries.push(Entry {
                spec,
                description: description.map(|(_, text)| text).unwrap_or_default(),
            });
            continue;
        }
        match (&mut block, entries.last_mut()) {
            (Some(open), Some(entry)) if indent > open.indent => {
                open.description.get_or_insert(indent);
                entry.description.push(' ');
                entry.description.push_str(shown.trim_end());
            }
            // A heading: another block begins.
            _ => block = None,
        }
    }
    entries
}

/// Whether a line at `indent` goes on with what the last option is about, even if it begins with a
/// dash: `--resume or --continue)`.
fn belongs_to_description(block: Option<&Block>, indent: usize) -> bool {
    block.is_some_and(|b| {
        b.description.is_some_and(|at| indent + 1 >= at) || indent > b.indent + 2 * STEP
    })
}

#[cfg(test)]
mod tests;
