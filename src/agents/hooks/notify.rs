//! codex: `notify = [program, argument…]` in its `config.toml`. A program that is there already is
//! kept behind ours, which becomes it when it is done.

use super::edit::{LIMIT, Rest, Who, is_program};
use crate::sys::json::splice::splice;
use crate::sys::toml::{self, Statement};

/// What stands between our words and those of the program that was there.
pub const THEN: &str = "--then";

/// What is known of the file's `notify`.
struct Found {
    /// Its statement.
    statement: Statement,
    /// Its texts with their spans.
    words: Vec<(std::ops::Range<usize>, String)>,
    /// Where our words begin in it.
    ours: Option<usize>,
}

fn find(agent: &str, text: &[u8]) -> Result<Option<Found>, String> {
    if text.len() > LIMIT {
        return Err(format!("it is larger than {LIMIT} bytes"));
    }
    let top = toml::top(text).map_err(|e| format!("it cannot be read as TOML: {e}"))?;
    let Some(statement) = top.into_iter().find(|s| s.key == ["notify"]) else {
        return Ok(None);
    };
    let words = toml::texts(text, &statement.value)
        .ok_or_else(|| "its \"notify\" is no list of texts".to_owned())?;
    let ours = words
        .windows(3)
        .position(|w| is_program(&w[0].1) && w[1].1 == "hook" && w[2].1 == agent);
    Ok(Some(Found {
        statement,
        words,
        ours,
    }))
}

/// The text with our program as the first that is told.
pub(super) fn put_in(who: Who<'_>, old: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let text = old.unwrap_or_default();
    let ours = [who.program, "hook", who.agent].map(toml::quote).join(", ");
    let Some(found) = find(who.agent, text)? else {
        let at = toml::start(text);
        let line = if text.windows(2).any(|w| w == b"\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        return Ok(splice(
            text,
            &[(at..at, &format!("notify = [{ours}]{line}"))],
        ));
    };
    match (found.ours, found.words.first()) {
        (Some(0), Some((span, program))) if program != who.program => {
            Ok(splice(text, &[(span.clone(), &toml::quote(who.program))]))
        }
        // Another program that wraps ours keeps it.
        (Some(_), _) => Ok(text.to_vec()),
        (None, Some((first, _))) => {
            let ours = format!("{ours}, {}, ", toml::quote(THEN));
            Ok(splice(text, &[(first.start..first.start, &ours)]))
        }
        (None, None) => {
            let at = found.statement.value.start + 1;
            Ok(splice(text, &[(at..at, &ours)]))
        }
    }
}

/// The path of kittymux that `notify` names.
pub(super) fn program_in(agent: &str, text: &[u8]) -> Result<Option<String>, String> {
    let found = find(agent, text)?;
    Ok(found.and_then(|f| Some(f.words[f.ours?].1.clone())))
}

/// The text without our words.
pub(super) fn take_out(agent: &str, text: &[u8]) -> Result<Rest, String> {
    let Some(found) = find(agent, text)? else {
        return Ok(rest(text.to_vec()));
    };
    let words = &found.words;
    let behind = words.get(3).is_some_and(|(_, w)| w == THEN);
    let out = match (found.ours, words.get(4)) {
        (None, _) => return Ok(Rest::Text(text.to_vec())),
        (Some(0), Some((old, _))) if behind => splice(text, &[(words[0].0.start..old.start, "")]),
        (Some(0), _) if words.len() == 3 || behind => splice(text, &[(found.statement.span, "")]),
        (Some(_), _) => {
            return Err(
                "another program runs our hook in its \"notify\": take it out there".to_owned(),
            );
        }
    };
    Ok(rest(out))
}

fn rest(text: Vec<u8>) -> Rest {
    if text[toml::start(&text)..].trim_ascii().is_empty() {
        return Rest::Nothing;
    }
    Rest::Text(text)
}
