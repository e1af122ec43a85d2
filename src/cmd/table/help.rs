//! The help texts, from the table.

use super::{VERBS, Verb};
use crate::sys::out;

/// The line that shows how a verb is called.
pub(in crate::cmd) fn usage(verb: &Verb) -> String {
    let options: String = verb
        .options
        .iter()
        .map(|o| {
            if o.value.is_empty() {
                format!(" [--{}]", o.name)
            } else {
                format!(" [--{} {}]", o.name, o.value)
            }
        })
        .collect();
    let args = if verb.args.is_empty() {
        String::new()
    } else {
        format!(" {}", verb.args)
    };
    format!("kittymux {}{args}{options}", verb.words.join(" "))
}

/// The help of one verb: examples first.
pub(super) fn verb_help(verb: &Verb) -> String {
    let mut text = format!("{}\n\n", wrapped(&usage(verb), "", "    "));
    let widest = verb.examples.iter().map(|(c, _)| out::width(c)).max();
    for (command, what) in verb.examples {
        let command = out::pad(command, widest.unwrap_or(0));
        let line = format!("  {command}  {what}");
        if out::width(&line) <= 80 {
            text.push_str(&format!("{line}\n"));
        } else {
            text.push_str(&format!("  {}\n      {what}\n", command.trim_end()));
        }
    }
    text.push_str(&format!("\n{}.\n", capital(verb.about)));
    if !verb.more.is_empty() {
        text.push_str(&format!("{}\n", wrapped(verb.more, "", "")));
    }
    if !verb.options.is_empty() {
        text.push('\n');
    }
    for option in verb.options {
        let name = if option.value.is_empty() {
            format!("--{}", option.name)
        } else {
            format!("--{} {}", option.name, option.value)
        };
        text.push_str(&format!("  {}  {}\n", out::pad(&name, 14), option.about));
    }
    text
}

/// Words in lines of 80 columns at most; what stands in brackets stays together.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut lines = vec![first.to_owned()];
    let mut open = false;
    for word in text.split_whitespace() {
        let together = open;
        open = (open || word.starts_with('[')) && !word.ends_with(']');
        let line = lines.last_mut().map_or(0, |l| out::width(l));
        let fits = together || line + 1 + out::width(word) <= 80;
        match lines.last_mut() {
            Some(line) if line.trim().is_empty() => line.push_str(word),
            Some(line) if fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{rest}{word}")),
        }
    }
    lines.join("\n")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// The help of the whole program.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "kittymux brings each coding agent's conversation back, in the right window.\n\n\
         \x20 kittymux sessions save work       save this OS window\n\
         \x20 kittymux sessions restore work    bring it back; each agent window asks first\n\n",
    );
    for verb in VERBS.iter().filter(|v| v.listed) {
        let usage = wrapped(&usage(verb), "  ", "      ");
        text.push_str(&format!("{usage}\n      {}\n", verb.about));
    }
    text.push_str("  kittymux --tick\n      one look at all kitties, for a timer: saves what is due\n  kittymux --version | --help\n\nkittymux alone shows what runs now. Exit codes: 0 done, 1 not, 2 used wrongly.\n");
    text
}
