//! `man`: the manual page, from the table of verbs and the lists of files and variables.

mod lists;

use lists::{ENVIRONMENT, EXIT_CODES, FILES, STARTED};

use super::exit::Exit;
use super::table::{Args, VERBS, Verb, usage};
use crate::sys::fault::Outcome;
use crate::sys::out;

/// When the text last changed: the same page comes out of every build.
const DATED: &str = "2026-11-30";

/// Prints the page.
///
/// # Errors
/// None.
pub fn run(_: &Args) -> Outcome<Exit> {
    out::data(&page());
    Ok(Exit::Done)
}

/// The page, in the `man` macros that every `man` reads.
#[must_use]
pub fn page() -> String {
    let mut page = format!(
        ".TH KITTYMUX 1 {DATED} \"kittymux {}\" \"User Commands\"\n",
        env!("CARGO_PKG_VERSION")
    );
    page.push_str(".SH NAME\nkittymux \\- bring each coding agent's conversation back\n");
    page.push_str(".SH SYNOPSIS\n.B kittymux\n");
    for verb in listed() {
        page.push_str(&format!(".br\n{}\n", bold(&usage(verb))));
    }
    page.push_str(".br\n");
    page.push_str(&format!("{}\n", bold("kittymux --version | --help")));
    section(
        &mut page,
        "DESCRIPTION",
        "kitty saves windows, splits, directories and commands. It cannot know which conversation each \
         coding agent was in. kittymux adds that: after a crash or a quit each agent window asks first, \
         and then resumes its own conversation.",
    );
    page.push_str(".PP\n");
    page.push_str(&text(
        "Without a command it shows what runs, what is saved and what can be done. What it prints for \
         programs (option --json) is one document; what it tells a person besides goes to standard error.",
    ));
    page.push_str(".SH COMMANDS\n");
    for verb in listed() {
        command(&mut page, verb);
    }
    page.push_str(".SH STARTED BY KITTY, AGENTS, SHELLS AND TIMERS\n");
    for verb in VERBS.iter().filter(|v| !v.listed) {
        entry(&mut page, &usage(verb), &sentence(verb.about, verb.more));
    }
    for (usage, about) in STARTED {
        entry(&mut page, usage, about);
    }
    list(&mut page, "EXIT STATUS", &EXIT_CODES);
    list(&mut page, "ENVIRONMENT", &ENVIRONMENT);
    page.push_str(".SH FILES\n");
    page.push_str(&text(
        "Those that begin with sessions/ and the like are below the state directory: KITTYMUX_STATE_DIR, \
         else kittymux below XDG_STATE_HOME, else ~/.local/state/kittymux.",
    ));
    for (name, about) in FILES {
        entry(&mut page, name, about);
    }
    page.push_str(".SH EXAMPLES\n");
    for (example, what) in listed().flat_map(|v| v.examples) {
        entry(&mut page, example, &sentence(what, ""));
    }
    page.push_str(".SH SEE ALSO\n.BR kitty (1)\n");
    page
}

fn listed() -> impl Iterator<Item = &'static Verb> {
    VERBS.iter().filter(|v| v.listed)
}

/// One command with its options.
fn command(page: &mut String, verb: &Verb) {
    page.push_str(&format!(".SS {}\n", quoted(&verb.words.join(" "))));
    page.push_str(&format!("{}\n.PP\n", bold(&usage(verb))));
    page.push_str(&text(&sentence(verb.about, "")));
    if !verb.more.is_empty() {
        page.push_str(".PP\n");
        page.push_str(&text(verb.more));
    }
    for option in verb.options {
        let name = format!("--{} {}", option.name, option.value);
        entry(page, name.trim_end(), &sentence(option.about, ""));
    }
}

fn section(page: &mut String, name: &str, words: &str) {
    page.push_str(&format!(".SH {name}\n{}", text(words)));
}

fn list(page: &mut String, name: &str, entries: &[(&str, &str)]) {
    page.push_str(&format!(".SH {name}\n"));
    for (name, about) in entries {
        entry(page, name, &sentence(about, ""));
    }
}

/// A name, and indented below it what it is.
fn entry(page: &mut String, name: &str, about: &str) {
    page.push_str(&format!(".TP\n{}\n{}", bold(name), text(about)));
}

/// Two texts of the table as sentences.
fn sentence(about: &str, more: &str) -> String {
    let mut chars = about.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    let rest = chars.as_str();
    let end = if about.ends_with(['.', ':']) { "" } else { "." };
    format!("{}{rest}{end} {more}", first.unwrap_or_default())
        .trim_end()
        .to_owned()
}

fn bold(words: &str) -> String {
    format!(".B {}", quoted(words))
}

/// One argument of a macro.
fn quoted(words: &str) -> String {
    format!("\"{}\"", escaped(words).replace('"', "\\(dq"))
}

/// Running text: a sentence a line, which is what the formatters space by, and no line too long.
fn text(words: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let ended = |l: &String| l.ends_with(['.', ':', '?']);
        let word = escaped(word);
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(&word),
            Some(line) if !ended(line) && line.len() + 1 + word.len() <= 78 => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    // A dot or a quote would begin a request.
    let guard = |l: &String| {
        if l.starts_with(['.', '\'']) {
            "\\&"
        } else {
            ""
        }
    };
    lines.iter().map(|l| format!("{}{l}\n", guard(l))).collect()
}

/// `words` with what the formatters would read as something else.
fn escaped(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '~' => out.push_str("\\(ti"),
            '^' => out.push_str("\\(ha"),
            '…' => out.push_str("\\&..."),
            c if c.is_ascii() => out.push(c),
            c => out.push_str(&format!("\\[u{:04X}]", u32::from(c))),
        }
    }
    out
}
