//! The saves: whether they would load, and whether they name programs that are gone or hold secrets.

use super::Finding;
use crate::agents::argv::looks_secret;
use crate::keep::names::ENDING;
use crate::keep::publish::LIMIT;
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::session_file::{Origin, SessionFile};
use crate::resume::rewrite::{ENV_BIN, record_text};
use crate::sys::bytes::{from_bytes, to_path};
use crate::sys::dirs;
use crate::sys::out;

pub(super) fn findings(state: &State) -> Vec<Finding> {
    let (Ok(saves), Ok(sessions)) = (saves(state), state.sessions()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for save in &saves {
        let file = format!("{}{ENDING}", save.name);
        let shown = out::visible(&save.name);
        let bytes = match sessions.read(&file, LIMIT) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(fault) => {
                found.push(Finding::problem(fault.to_string(), ""));
                continue;
            }
        };
        let parsed = SessionFile::read(&from_bytes(&bytes), Origin::Person, &[]);
        if let Some((line, why)) = parsed.refusal() {
            found.push(Finding::problem(
                format!("kitty would refuse the save \"{shown}\" for line {line}: {why}"),
                format!("take that line out, or save \"{shown}\" again"),
            ));
        }
        let gone = parsed
            .launches()
            .filter_map(program_of_ours)
            .find(|path| path.starts_with('/') && !dirs::is_executable(&to_path(path)));
        if let Some(path) = gone {
            found.push(Finding::warning(
                format!(
                    "the save \"{shown}\" starts kittymux at {}, where it is not any more",
                    out::visible(&path)
                ),
                format!("kittymux sessions restore {shown} puts that right as it opens it"),
            ));
        }
        let secrets = parsed.launches().filter(|l| holds_a_secret(l)).count();
        if secrets > 0 {
            found.push(Finding::warning(
                format!("the save \"{shown}\" holds what looks like a secret in {secrets} of its commands"),
                format!(
                    "give it by a file or the environment instead; the save is {}/{file}",
                    out::visible(&crate::sys::bytes::from_os(sessions.path().as_os_str()))
                ),
            ));
        }
    }
    found.push(Finding::ok(match saves.len() {
        1 => "1 save".to_owned(),
        n => format!("{n} saves"),
    }));
    found
}

/// The kittymux that a window of ours starts.
fn program_of_ours(launch: &LaunchLine) -> Option<String> {
    record_text(launch)?;
    if let Some(path) = launch.env(ENV_BIN) {
        return Some(path.replace("$$$$", "$").replace("$$", "$"));
    }
    let words = launch.program();
    let at = words.iter().position(|w| *w == "resume-prompt")?;
    words.get(at.checked_sub(1)?).map(|w| (*w).to_owned())
}

/// Whether a program that is no agent of ours has an option that names a secret, with a value.
fn holds_a_secret(launch: &LaunchLine) -> bool {
    if record_text(launch).is_some() {
        return false;
    }
    let mut words: Vec<String> = launch.program().iter().map(|w| (*w).to_owned()).collect();
    match launch.startup() {
        Some(Startup::Words(more)) => words.extend(more),
        Some(Startup::Line(line)) => words.extend(line.split_whitespace().map(str::to_owned)),
        None => {}
    }
    words.iter().any(|word| {
        let name = word.trim_start_matches('-');
        match name.split_once('=') {
            Some((name, value)) => !value.is_empty() && looks_secret(name),
            None => word.starts_with("--") && looks_secret(name),
        }
    })
}
