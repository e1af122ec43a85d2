//! What a command line says of its conversation.

use super::definitions::{Definition, Positional};
use super::grammar::{Part, parts};

pub use super::program::{Invocation, Kind, plain, recognise};
pub use super::rewrite::{Rewritten, Selector, fresh, resume};
pub use super::secrets::looks_secret;

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|n| n == name)
}

/// What kind of run a command line is; `words` begins with the program.
#[must_use]
pub fn kind(def: &Definition, words: &[String]) -> Kind {
    let parts = parts(def, words.get(1..).unwrap_or_default());
    let headless = parts
        .iter()
        .take_while(|p| **p != Part::End)
        .flat_map(Part::names)
        .any(|name| has(&def.headless, name));
    if headless {
        return Kind::Headless;
    }
    let words = plain_words(&parts);
    let Some(words) = below(def, &words) else {
        return Kind::Helper;
    };
    match words.first() {
        Some(word) if has(&def.headless, word) => Kind::Headless,
        Some(word) if has(&def.helpers, word) => Kind::Helper,
        Some(_) if !def.verbs.is_empty() && !begins_with_a_verb(def, words) => Kind::Helper,
        _ if def.positional == Positional::OneShot && has_words(&parts) => Kind::Headless,
        _ => Kind::Interactive,
    }
}

fn has_words(parts: &[Part]) -> bool {
    parts.iter().any(|p| matches!(p, Part::Word(_)))
}

/// The words before `--` that are no options.
pub(super) fn plain_words(parts: &[Part]) -> Vec<&str> {
    parts
        .iter()
        .take_while(|p| **p != Part::End)
        .filter_map(|p| match p {
            Part::Word(word) => Some(word.as_str()),
            _ => None,
        })
        .collect()
}

/// The words behind those that must stand first; `None` when these do not.
fn below<'a, 'w>(def: &Definition, words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    let rest = words.get(def.under.len()..)?;
    let fits = def.under.iter().zip(words).all(|(a, b)| a == b);
    fits.then_some(rest)
}

fn begins_with_a_verb(def: &Definition, words: &[&str]) -> bool {
    def.verbs.iter().any(|verb| {
        verb.split(' ')
            .enumerate()
            .all(|(n, w)| words.get(n) == Some(&w))
    })
}

/// How many of the first words are a sub-command that names a conversation, which stands behind
/// them: 1 of `resume ID`, 2 of `threads continue ID`. An option selector may have one beside it.
pub(super) fn selecting(def: &Definition, words: &[&str]) -> Option<usize> {
    let exact = def
        .exact
        .iter()
        .take_while(|w| !w.starts_with('-') && !w.contains("{id}"));
    let exact: Vec<&str> = exact.map(String::as_str).collect();
    let verbs = def.verbs.iter().map(|v| v.split(' ').collect());
    let single = def.strip.iter().chain(&def.forks).map(|w| vec![w.as_str()]);
    let removed = |w: &str| has(&def.strip, w) || has(&def.forks, w);
    std::iter::once(exact.clone())
        .chain(verbs)
        .chain(single)
        .filter(|verb: &Vec<&str>| !verb.is_empty() && words.starts_with(verb))
        .filter(|verb| *verb == exact || removed(verb[0]))
        .map(|verb| verb.len())
        .max()
}

/// The first word that is no option: the sub-command, if it is one.
pub(super) fn verb(parts: &[Part]) -> Option<&str> {
    parts
        .iter()
        .take_while(|p| **p != Part::End)
        .find_map(|p| match p {
            Part::Word(word) => Some(word.as_str()),
            _ => None,
        })
}

/// The id of the conversation that this command line was started with.
///
/// None for a picker, for "the newest", for a name, for a fork (which makes a conversation of its
/// own), and where two different ids are named.
#[must_use]
pub fn argv_id(def: &Definition, words: &[String]) -> Option<String> {
    let mut parts = parts(def, words.get(1..).unwrap_or_default());
    let end = parts.iter().position(|p| *p == Part::End);
    parts.truncate(end.unwrap_or(parts.len()));
    let names: Vec<&str> = parts.iter().flat_map(Part::names).collect();
    let forks = names.iter().any(|n| has(&def.forks, n))
        || verb(&parts).is_some_and(|v| has(&def.forks, v));
    let mut chosen = Vec::new();
    let mut resumed = Vec::new();
    for part in &parts {
        let Some((name, value)) = valued(def, part) else {
            continue;
        };
        // `--resume latest` names no conversation.
        let newest = |v: &&str| has(&def.latest, name) && has(&def.latest, v);
        let id = value.filter(|v| !newest(v)).and_then(|v| def.id.accept(v));
        if has(&def.chooses, name) {
            chosen.extend(id);
        } else if has(&def.selectors, name) {
            resumed.push(id);
        }
    }
    if forks {
        // Only an id that was chosen for the copy is its own.
        return one(chosen);
    }
    if names.iter().any(|n| is_newest(def, n)) {
        return None;
    }
    resumed.extend(subcommand_id(def, &parts).map(Some));
    // One selector without a well-formed id: a picker or a name.
    let resumed: Option<Vec<String>> = resumed.into_iter().collect();
    one([resumed?, chosen].concat())
}

/// The only id among `ids`.
fn one(mut ids: Vec<String>) -> Option<String> {
    ids.dedup();
    (ids.len() == 1).then(|| ids.remove(0))
}

/// Whether `name` asks for the newest conversation, in any spelling: an option without a value that
/// is removed.
fn is_newest(def: &Definition, name: &str) -> bool {
    let takes_id = has(&def.selectors, name) || has(&def.strip_with_value, name);
    (has(&def.strip, name) || has(&def.latest, name) && !takes_id)
        && !has(&def.forks, name)
        && !has(&def.selectors, name)
        && name.starts_with('-')
}

/// A known option with its first value.
fn valued<'a>(def: &Definition, part: &'a Part) -> Option<(&'a str, Option<&'a str>)> {
    match part {
        Part::Flag {
            name,
            values,
            attached,
        } => Some((name, value_of(def, name, values.first(), *attached))),
        Part::Bundle {
            names,
            attached,
            values,
        } => {
            let last = names.last()?;
            let value = attached.as_ref().or(values.first());
            Some((last, value_of(def, last, value, attached.is_some())))
        }
        _ => None,
    }
}

/// The value of a selector; `-r=X` is `=X` where the value may be left out (commander takes it so,
/// and opens its picker), and `X` where it may not (clap, yargs).
fn value_of<'a>(
    def: &Definition,
    name: &str,
    value: Option<&'a String>,
    attached: bool,
) -> Option<&'a str> {
    let value = value?.as_str();
    if attached && !name.starts_with("--") && !has(&def.strip_optional, name) {
        return Some(value.strip_prefix('=').unwrap_or(value));
    }
    Some(value)
}

/// `codex resume ID`: the word behind the sub-command.
fn subcommand_id(def: &Definition, parts: &[Part]) -> Option<String> {
    let words = plain_words(parts);
    let words = below(def, &words)?;
    let id = words.get(selecting(def, words)?)?;
    def.id.accept(id)
}
