//! From the command that runs to the command that resumes it, or begins anew.

use super::argv::{kind, plain_words, selecting};
use super::definitions::{Definition, Form, Positional};
use super::grammar::{Part, Takes, parts, takes};
use super::program::Kind;
use super::secrets::{Verdict, judge};

/// Which conversation the new command asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector<'a> {
    /// This one.
    Exact(&'a str),
    /// The agent's newest.
    Latest,
}

/// A command made of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The options that were left out because of a secret, by name, each once.
    pub dropped_secrets: Vec<String>,
    /// Whether there was a prompt, which is left out.
    pub had_prompt: bool,
}

/// The command that resumes a conversation: `words` (the program and its arguments) without old
/// selectors, prompt, secrets and what must not happen twice, with the new selector.
///
/// # Errors
/// In plain English, when the agent cannot do that, the id is not well-formed, or `words` is no
/// conversation on the terminal.
pub fn resume(
    def: &Definition,
    words: &[String],
    selector: Selector<'_>,
) -> Result<Rewritten, String> {
    let name = &def.name;
    let selecting: Vec<String> = match selector {
        Selector::Exact(_) if def.exact.is_empty() => {
            return Err(format!("{name} cannot resume one conversation by its id"));
        }
        Selector::Exact(id) => {
            let id = def
                .id
                .accept(id)
                .ok_or_else(|| format!("this is not a session id of {name}: {id:?}"))?;
            def.exact.iter().map(|w| w.replace("{id}", &id)).collect()
        }
        Selector::Latest if def.latest.is_empty() => {
            return Err(format!("{name} cannot resume its newest conversation"));
        }
        Selector::Latest => def.latest.clone(),
    };
    rewrite(def, words, &selecting)
}

/// The command that begins a new conversation: as [`resume`], without a selector.
///
/// # Errors
/// When `words` is no conversation on the terminal.
pub fn fresh(def: &Definition, words: &[String]) -> Result<Rewritten, String> {
    rewrite(def, words, &[])
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|n| n == name)
}

/// Whether an option is removed, with its values.
fn is_removed(def: &Definition, name: &str) -> bool {
    [
        &def.strip,
        &def.strip_with_value,
        &def.strip_optional,
        &def.once,
        &def.forks,
        &def.selectors,
        &def.chooses,
    ]
    .iter()
    .any(|list| has(list, name))
        || def
            .latest
            .iter()
            .chain(&def.exact)
            .any(|w| w == name && w.starts_with('-'))
}

fn rewrite(def: &Definition, words: &[String], selecting: &[String]) -> Result<Rewritten, String> {
    let Some(program) = words.first() else {
        return Err("there is no command".to_owned());
    };
    if kind(def, words) != Kind::Interactive {
        return Err(format!(
            "this {} command is no conversation on the terminal",
            def.name
        ));
    }
    let mut all = parts(def, &words[1..]);
    let had_prompt = takes_prompt_away(def, &mut all);
    let mut dropped_secrets = Vec::new();
    let mut kept: Vec<Part> = Vec::new();
    for part in all {
        let Some(part) = without_selectors(def, part) else {
            continue;
        };
        let verdict = judge(def, &part);
        if !matches!(verdict, Verdict::Clean) {
            dropped_secrets.extend(part.names().last().map(ToString::to_string));
        }
        match verdict {
            Verdict::Clean => kept.push(part),
            Verdict::Less(less) => kept.push(less),
            Verdict::Gone => {}
        }
    }
    dropped_secrets.sort();
    dropped_secrets.dedup();
    let end = kept.iter().position(|p| *p == Part::End);
    let rest = kept.split_off(end.unwrap_or(kept.len()));
    let open = open_last(def, &mut kept);
    let at = selector_place(def, &mut kept);
    let mut out = vec![program.clone()];
    kept[..at].iter().for_each(|p| p.write(&mut out));
    out.extend(selecting.iter().cloned());
    let after = kept[at..].iter().chain(&open).chain(&rest);
    after.for_each(|p| p.write(&mut out));
    Ok(Rewritten {
        words: out,
        dropped_secrets,
        had_prompt,
    })
}

/// Whether a part may still be waiting for a value, so that a following word could be swallowed.
fn is_open(def: &Definition, part: &Part) -> bool {
    match part {
        Part::Unknown { bare, .. } => *bare && def.positional != Positional::Keep,
        Part::Flag { name, values, .. } => {
            values.is_empty() && matches!(takes(def, name), Some(Takes::One | Takes::Several))
        }
        Part::Bundle {
            names,
            attached,
            values,
        } => {
            let last = names.last().and_then(|n| takes(def, n));
            attached.is_none()
                && values.is_empty()
                && matches!(last, Some(Takes::One | Takes::Several))
        }
        Part::Word(_) | Part::End => false,
    }
}

/// Whether a part is an option that no list knows, without a value.
fn is_lone(def: &Definition, part: &Part) -> bool {
    match part {
        Part::Unknown { word, value, .. } => value.is_none() && !word.contains('='),
        Part::Bundle { names, .. } => names.last().is_some_and(|n| takes(def, n).is_none()),
        _ => false,
    }
}

/// Stands where the old sub-command stood: a word that no command line can hold.
const SELECTED: &str = "\0";

/// Removes the prompt, and for an agent with sub-commands the old one with its id (its place stays
/// marked). Says whether there was a prompt.
fn takes_prompt_away(def: &Definition, all: &mut Vec<Part>) -> bool {
    let words = plain_words(all);
    let mut keep = def.under.len().min(words.len());
    let selected = selecting(def, &words[keep..]);
    let newest = all
        .iter()
        .flat_map(Part::names)
        .any(|n| def.latest.iter().any(|w| w == n));
    let mut skip = match (selected, newest) {
        (None, _) => 0,
        // `resume --last PROMPT`
        (Some(verb), true) => verb,
        // `resume ID PROMPT`
        (Some(verb), false) => verb + 1,
    };
    let mut marked = skip == 0 || def.form == Form::Flags;
    let mut had_prompt = false;
    all.retain_mut(|part| match part {
        Part::Word(_) if keep > 0 => {
            keep -= 1;
            true
        }
        Part::Word(word) if skip > 0 => {
            skip -= 1;
            if marked {
                return false;
            }
            marked = true;
            SELECTED.clone_into(word);
            true
        }
        Part::Word(_) | Part::End if def.positional != Positional::Keep => {
            had_prompt |= *part != Part::End;
            false
        }
        _ => true,
    });
    had_prompt
}

/// The part without the options that are removed; `None` when nothing is left.
fn without_selectors(def: &Definition, part: Part) -> Option<Part> {
    match part {
        Part::Flag { ref name, .. } | Part::Unknown { ref name, .. } if is_removed(def, name) => {
            None
        }
        Part::Bundle {
            names,
            attached,
            values,
        } => {
            let last_goes = names.last().is_some_and(|n| is_removed(def, n));
            let names: Vec<String> = names.into_iter().filter(|n| !is_removed(def, n)).collect();
            let (attached, values) = if last_goes {
                (None, Vec::new())
            } else {
                (attached, values)
            };
            (!names.is_empty()).then_some(Part::Bundle {
                names,
                attached,
                values,
            })
        }
        other => Some(other),
    }
}

/// Takes out what may miss a value: it comes last, where it can swallow nothing. What stands last
/// already stays there, which makes every result its own fixed point.
fn open_last(def: &Definition, kept: &mut Vec<Part>) -> Vec<Part> {
    let last = kept
        .iter()
        .rposition(|p| !is_open(def, p) && !is_lone(def, p))
        .map_or(0, |at| at + 1);
    let tail = kept.split_off(last);
    let (mut open, rest): (Vec<Part>, Vec<Part>) = std::mem::take(kept)
        .into_iter()
        .partition(|p| is_open(def, p));
    *kept = rest;
    open.extend(tail);
    open
}

/// Where the new selector goes among the parts that stay; the mark of the old one is taken out.
///
/// An option selector begins with a dash, which ends every list of values: last. A sub-command is a
/// plain word: where the old one stood, but before the first option that could take it for a value.
fn selector_place(def: &Definition, kept: &mut Vec<Part>) -> usize {
    let mark = kept
        .iter()
        .position(|p| matches!(p, Part::Word(w) if w == SELECTED));
    if let Some(at) = mark {
        kept.remove(at);
    }
    if def.form == Form::Flags {
        return kept.len();
    }
    let could_take_it = |part: &Part| match part {
        Part::Flag { name, attached, .. } => {
            !attached && matches!(takes(def, name), Some(Takes::Several | Takes::Maybe))
        }
        Part::Bundle {
            names, attached, ..
        } => {
            let last = names.last().and_then(|n| takes(def, n));
            attached.is_none() && !matches!(last, Some(Takes::Nothing | Takes::One))
        }
        Part::Unknown { word, .. } => !word.contains('='),
        Part::Word(_) | Part::End => true,
    };
    let first = kept.iter().position(could_take_it);
    mark.unwrap_or(kept.len()).min(first.unwrap_or(kept.len()))
}
