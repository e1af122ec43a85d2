//! A command line, parsed by the table and run.

use std::ffi::OsString;

use super::help::{help, usage, verb_help};
use super::{Args, VERBS, Verb};
use crate::cmd::exit::Exit;
use crate::sys::bytes::from_os;
use crate::sys::fault::Outcome;
use crate::sys::out;

/// Runs a command line (without the program's own name).
#[must_use]
pub fn dispatch(words: &[OsString]) -> Exit {
    let words: Vec<String> = words.iter().map(|w| from_os(w)).collect();
    match words.first().map(String::as_str) {
        None => return finish(crate::cmd::overview::run()),
        Some("--tick") if words.len() == 1 => return finish(crate::cmd::tick::run()),
        // An agent's hook never ends in a usage error: its words are taken before all parsing.
        Some("hook") if words.get(1).is_some_and(|w| !w.starts_with('-')) => {
            return super::super::hook::run_words(&words[1..]);
        }
        Some("--version" | "-V") => {
            out::data(concat!("kittymux ", env!("CARGO_PKG_VERSION"), "\n"));
            return Exit::Done;
        }
        Some("--help" | "-h" | "help") if words.len() == 1 => {
            out::data(&help());
            return Exit::Done;
        }
        _ => {}
    }
    let Some(verb) = VERBS
        .iter()
        .filter(|v| starts_with(&words, v.words))
        .max_by_key(|v| v.words.len())
    else {
        return unknown(&words);
    };
    match parse(verb, &words[verb.words.len()..]) {
        Ok(Some(args)) => finish((verb.run)(&args)),
        Ok(None) => {
            out::data(&verb_help(verb));
            Exit::Done
        }
        Err(why) => {
            out::message(&format!("{why}\nusage: {}", usage(verb)));
            Exit::UsedWrongly
        }
    }
}

fn finish(outcome: Outcome<Exit>) -> Exit {
    outcome.unwrap_or_else(|fault| {
        out::message(&fault.to_string());
        Exit::CouldNot
    })
}

fn starts_with(words: &[String], verb: &[&str]) -> bool {
    words.len() >= verb.len() && words.iter().zip(verb).all(|(a, b)| a == b)
}

fn unknown(words: &[String]) -> Exit {
    let group: Vec<&Verb> = VERBS
        .iter()
        .filter(|v| {
            v.listed && v.words.len() > 1 && Some(v.words[0]) == words.first().map(String::as_str)
        })
        .collect();
    if !group.is_empty() && words.get(1).is_none_or(|w| w == "--help" || w == "-h") {
        out::data(
            &group
                .iter()
                .map(|v| format!("{}\n    {}\n", usage(v), v.about))
                .collect::<String>(),
        );
        return if words.len() == 1 {
            Exit::UsedWrongly
        } else {
            Exit::Done
        };
    }
    let shown = out::clip(
        &out::visible(&words.iter().take(2).cloned().collect::<Vec<_>>().join(" ")),
        60,
    );
    out::message(&format!(
        "there is no \"{shown}\"; kittymux --help lists what there is"
    ));
    Exit::UsedWrongly
}

/// Parses the words behind a verb; `None`: help was asked for.
pub(super) fn parse(verb: &Verb, words: &[String]) -> Result<Option<Args>, String> {
    use lexopt::Arg;
    let mut parser = lexopt::Parser::from_args(words.iter().map(|w| crate::sys::bytes::to_os(w)));
    let mut args = Args::default();
    let plain = |e: lexopt::Error| out::visible(&e.to_string());
    while let Some(arg) = parser.next().map_err(plain)? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            Arg::Long(name) => {
                let Some(option) = verb.options.iter().find(|o| o.name == name) else {
                    return Err(format!("it has no option --{}", out::visible(name)));
                };
                let value = if option.value.is_empty() {
                    String::new()
                } else {
                    from_os(&parser.value().map_err(plain)?)
                };
                args.options.push((option.name, value));
            }
            Arg::Short(letter) => {
                return Err(format!(
                    "it has no option -{}",
                    out::visible(&letter.to_string())
                ));
            }
            Arg::Value(word) => args.words.push(from_os(&word)),
        }
    }
    if args.words.len() > verb.most {
        let extra = out::clip(&out::visible(&args.words[verb.most]), 40);
        return Err(format!("\"{extra}\" is one word too many"));
    }
    Ok(Some(args))
}
