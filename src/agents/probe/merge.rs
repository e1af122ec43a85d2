//! What an installed program knows beyond its definition, put into the definition.

use super::{Check, Known};
use crate::agents::definitions::Definition;
use crate::agents::grammar::{Takes, takes};

/// Of the options of a help text, those that tell the definition something.
#[must_use]
pub fn news(def: &Definition, options: Vec<Known>) -> Vec<Known> {
    options
        .into_iter()
        .filter(|known| {
            known.names.iter().any(|n| takes(def, n).is_none()) || corrected(def, known).is_some()
        })
        .collect()
}

/// The definition with what the newest good check of its agent found.
#[must_use]
pub fn with_checks(def: &Definition, checks: &[Check]) -> Definition {
    let newest = checks
        .iter()
        .filter(|c| c.is_for(def) && !c.news.is_empty())
        .max_by_key(|c| c.at_ns);
    let mut merged = def.clone();
    for known in newest.into_iter().flat_map(|c| &c.news) {
        add(&mut merged, known);
    }
    merged
}

/// Adds one option. Another spelling of a known one is what that one is, in every list: a new short
/// form of `--resume` is removed like it. Else the help says what it takes.
fn add(def: &mut Definition, known: &Known) {
    if let Some(name) = corrected(def, known).map(str::to_owned) {
        def.flags.none.retain(|n| *n != name);
        list_for(def, known.takes).push(name);
    }
    let (old, new): (Vec<&String>, Vec<&String>) =
        known.names.iter().partition(|n| takes(def, n).is_some());
    if new.is_empty() {
        return;
    }
    let Some(old) = old.first() else {
        let list = list_for(def, known.takes);
        list.extend(new.into_iter().cloned());
        return;
    };
    for list in lists(def) {
        if list.contains(*old) {
            list.extend(new.iter().map(|n| (*n).clone()));
        }
    }
    if new.iter().any(|n| takes(def, n).is_none()) {
        // Known by the words that resume only.
        let takes = takes(def, old).unwrap_or(known.takes);
        let list = list_for(def, takes);
        list.extend(new.into_iter().cloned());
    }
}

/// The option of a shipped definition that takes nothing there, and a value by the help of the
/// program: then the help is right. Without it the value would be a prompt to us. The other way
/// round nothing is changed, nor for an option that is removed, nor against the person's own words.
fn corrected<'a>(def: &Definition, known: &'a Known) -> Option<&'a str> {
    if def.own || !matches!(known.takes, Takes::One | Takes::Several) {
        return None;
    }
    let removed = |n: &String| {
        [
            &def.strip,
            &def.strip_with_value,
            &def.strip_optional,
            &def.selectors,
            &def.chooses,
            &def.forks,
            &def.once,
            &def.headless,
            &def.latest,
            &def.exact,
        ]
        .iter()
        .any(|list| list.contains(n))
    };
    known
        .names
        .iter()
        .find(|n| def.flags.none.contains(*n) && !removed(n))
        .map(String::as_str)
}

fn list_for(def: &mut Definition, takes: Takes) -> &mut Vec<String> {
    match takes {
        Takes::Nothing => &mut def.flags.none,
        Takes::One => &mut def.flags.one,
        Takes::Maybe => &mut def.flags.optional,
        Takes::Several => &mut def.flags.several,
    }
}

/// Every list of a definition that holds options.
fn lists(def: &mut Definition) -> [&mut Vec<String>; 16] {
    [
        &mut def.strip_with_value,
        &mut def.strip,
        &mut def.strip_optional,
        &mut def.selectors,
        &mut def.chooses,
        &mut def.forks,
        &mut def.headless,
        &mut def.once,
        &mut def.secrets,
        &mut def.secret_pairs,
        &mut def.secret_documents,
        &mut def.secret_settings,
        &mut def.flags.none,
        &mut def.flags.one,
        &mut def.flags.optional,
        &mut def.flags.several,
    ]
}
