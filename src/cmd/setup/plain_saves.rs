//! Saves that ask by kittymux, turned into saves that kitty opens alone: without the program a window
//! whose own program it is would be an error.

use crate::cmd::report::home_text;
use crate::cmd::resume_prompt::check;
use crate::cmd::rewrite_files::kitty_shell;
use crate::cmd::setting;
use crate::keep::names;
use crate::keep::publish::LIMIT;
use crate::keep::records;
use crate::keep::state::State;
use crate::kitty::conf;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::resume::prompt::shown_directory;
use crate::resume::record::Record;
use crate::resume::rewrite::is_ours;
use crate::resume::rewrite::plain::{Done, Ground, make_plain};
use crate::sys::bytes::{from_bytes, from_os, to_bytes};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::private_file::PrivateDir;

/// The session files in which a window asks by us, by name. One that cannot be read is none.
pub(super) fn asking(state: &State) -> Outcome<Vec<String>> {
    let Some(sessions) = PrivateDir::existing(&state.dir.join("sessions"))? else {
        return Ok(Vec::new());
    };
    let mut found: Vec<String> = sessions
        .names()?
        .into_iter()
        .filter(|name| names::stem(name).is_some())
        .filter(|name| match sessions.read(name, LIMIT) {
            Ok(Some(bytes)) => parsed(&from_bytes(&bytes)).launches().any(is_ours),
            _ => false,
        })
        .collect();
    found.sort();
    Ok(found)
}

fn parsed(text: &str) -> SessionFile {
    SessionFile::read(text, Origin::Person, &[])
}

/// Rewrites each of them and says what became of it; whether all went well.
pub(super) fn make(state: &State, names: &[String]) -> Outcome<bool> {
    let sessions = state.sessions()?;
    let (mut well, mut any) = (true, false);
    for name in names {
        match one(state, &sessions, name) {
            Ok(done) => {
                any = true;
                out::data(&format!(
                    "  {}: {}\n",
                    out::visible(names::stem(name).unwrap_or(name)),
                    counted(done)
                ));
            }
            Err(fault) => {
                well = false;
                out::message(&fault.to_string());
            }
        }
    }
    if !any {
        return Ok(well);
    }
    let kept = from_os(sessions.path().join(".previous").as_os_str());
    let kept = shown_directory(&kept, &home_text());
    out::data(&format!("  as they were, they lie in {kept}\n"));
    Ok(well)
}

fn one(state: &State, sessions: &PrivateDir, name: &str) -> Outcome<Done> {
    let shown = out::visible(name);
    let refused = |why: &str| Fault::refused(format!("{shown}: {why}; it is left alone"));
    let bytes = sessions
        .read(name, LIMIT)?
        .ok_or_else(|| refused("it is gone"))?;
    let mut file = parsed(&from_bytes(&bytes));
    if let Some((line, why)) = file.refusal() {
        return Err(refused(&format!(
            "kitty would refuse it for line {line}: {why}"
        )));
    }
    let defs = setting::quiet_definitions().0;
    let record = |text: &str| {
        let text = records::resolve(text, Some(state)).ok()?;
        let record = Record::read(&text).ok()?;
        check(&record, &defs).ok()?;
        Some(record)
    };
    let windows = file.launches().count();
    let done = make_plain(
        &mut file,
        Ground {
            record: &record,
            kitty_shell: &kitty_shell(),
            integrates: conf::read().integrates(),
            state: &state.text(),
        },
    );
    let new = file.text();
    let proof = parsed(&new);
    if proof.refusal().is_some() || proof.launches().count() != windows {
        return Err(refused("it would not load any more"));
    }
    if sessions.read(name, LIMIT)?.as_ref() != Some(&bytes) {
        return Err(refused("it was saved anew meanwhile"));
    }
    let previous = sessions.sub(".previous")?;
    sessions.replace(name, &to_bytes(&new), Some(&previous))?;
    Ok(done)
}

fn counted(done: Done) -> String {
    let part = |n: usize, what: &str, more: &str| {
        let s = if n == 1 { "" } else { "s" };
        (n > 0).then(|| format!("{n} {what}{s}{more}"))
    };
    let parts = [
        part(done.agents, "agent", " by plain command"),
        part(done.shells, "shell", " without its agent"),
        part(done.as_saved, "window", " as saved"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}
