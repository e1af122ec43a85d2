//! Edits of an agent's settings: the text with our hook in it, and without. Pure: bytes in, bytes
//! out.

use super::setup::{Setup, Way};
use super::{groups, notify, script};

/// The largest settings file, in bytes.
pub const LIMIT: usize = 4 << 20;

/// Whose hook, and what it runs.
#[derive(Debug, Clone, Copy)]
pub struct Who<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The path of kittymux.
    pub program: &'a str,
}

/// What is in a settings file of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Absent,
    /// All that would be put in now.
    Whole,
    /// Something else than would be put in now: an event is missing, the path is another.
    Differs,
}

/// What is left of a settings file without us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// This text.
    Text(Vec<u8>),
    /// Nothing that anybody else wrote.
    Nothing,
}

/// The text with all of ours in it; `old` is what is there, if anything.
///
/// # Errors
/// Why it is left alone, for a person; without the file's name.
pub fn put_in(setup: &Setup, who: Who<'_>, old: Option<&[u8]>) -> Result<Vec<u8>, String> {
    match setup.way {
        Way::Json => groups::put_in(setup, who, old),
        Way::TomlNotify => notify::put_in(who, old),
        _ => script::put_in(setup.way, who, old),
    }
}

/// The text without what is ours.
///
/// # Errors
/// As [`put_in`].
pub fn take_out(setup: &Setup, agent: &str, text: &[u8]) -> Result<Rest, String> {
    match setup.way {
        Way::Json => groups::take_out(setup, agent, text),
        Way::TomlNotify => notify::take_out(agent, text),
        _ => script::take_out(setup.way, text),
    }
}

/// The path of kittymux that the text names in what is ours; `None`: nothing is ours.
///
/// # Errors
/// As [`put_in`].
pub fn program_in(setup: &Setup, agent: &str, text: &[u8]) -> Result<Option<String>, String> {
    match setup.way {
        Way::Json => groups::program_in(agent, text),
        Way::TomlNotify => notify::program_in(agent, text),
        _ => Ok(script::program_in(setup.way, text)),
    }
}

/// What of ours is in the text.
///
/// # Errors
/// As [`put_in`].
pub fn standing(setup: &Setup, who: Who<'_>, text: &[u8]) -> Result<Standing, String> {
    if program_in(setup, who.agent, text)?.is_none() {
        return Ok(Standing::Absent);
    }
    Ok(match put_in(setup, who, Some(text)) {
        Ok(new) if new == text => Standing::Whole,
        _ => Standing::Differs,
    })
}

/// Takes out what is ours, given the text as it was before us, if that is known: when nothing else
/// changed since, that is what is left.
///
/// # Errors
/// As [`put_in`].
pub fn give_back(
    setup: &Setup,
    agent: &str,
    text: &[u8],
    original: Option<&[u8]>,
) -> Result<Rest, String> {
    let program = program_in(setup, agent, text)?;
    if let (Some(original), Some(program)) = (original, &program) {
        let who = Who { agent, program };
        if put_in(setup, who, Some(original)).is_ok_and(|then| then == text) {
            return Ok(Rest::Text(original.to_vec()));
        }
    }
    take_out(setup, agent, text)
}

/// `program` as one word for a POSIX shell.
#[must_use]
pub fn shell_word(program: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+@%:=,".contains(&b);
    if !program.is_empty() && program.bytes().all(plain) {
        return program.to_owned();
    }
    format!("'{}'", program.replace('\'', "'\\''"))
}

/// The path of kittymux, when `command` runs our hook for `agent`.
#[must_use]
pub fn program_of(command: &str, agent: &str) -> Option<String> {
    let words = shell_words(command)?;
    let of_agent =
        words.get(1).is_some_and(|w| w == "hook") && words.get(2).is_some_and(|w| w == agent);
    (of_agent && words.len() <= 4 && is_program(&words[0])).then(|| words[0].clone())
}

/// Whether the path is one of kittymux.
#[must_use]
pub fn is_program(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|n| n.starts_with("kittymux"))
}

/// The words of a simple command; `None` for all that is more than that.
fn shell_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' | '$' | '`' if c == '"' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '#' | '\n' => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
