//! The hooks of the agents on PATH, in their settings: other programs' files, so asked for by
//! themselves.

use std::path::Path;

use super::{Group, Status, Step, shown};
use crate::agents::hooks::edit::Standing;
use crate::cmd::doctor::Finding;
use crate::cmd::hooks::nameable;
use crate::cmd::hooks::settings::{self, Place};
use crate::cmd::setting;
use crate::sys::bytes::from_os;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;

pub(super) const NAME: &str = "agents' hooks";

/// A settings file with something of ours in it.
pub(super) type There = Place;

pub(super) fn step(own: &Path, keep: bool) -> Step {
    let own = from_os(own.as_os_str());
    let places = settings::of_installed(&setting::quiet_definitions().0);
    let mut lines = Vec::new();
    let mut due = Vec::new();
    let mut left = Vec::new();
    for place in places {
        lines.push(format!(
            "{} ({})",
            shown(&place.path),
            out::visible(&place.agent)
        ));
        match place.is_due(&own) {
            Ok(true) => due.push(place),
            Ok(false) => {}
            Err(fault) => left.push((place.agent, fault.to_string())),
        }
    }
    // What is beside a file that is left alone is nothing without it.
    due.retain(|place| left.iter().all(|(agent, _)| *agent != place.agent));
    let left: Vec<String> = left.into_iter().map(|(_, why)| why).collect();
    let status = if let Err(fault) = nameable(&own) {
        Status::Left(fault.to_string())
    } else if lines.is_empty() {
        Status::Left("no agent on PATH that could be told".to_owned())
    } else if keep && !due.is_empty() {
        Status::Left("left alone: --keep-agents".to_owned())
    } else if !due.is_empty() {
        Status::ToDo
    } else if !left.is_empty() {
        Status::Left(left.join("\n"))
    } else {
        Status::Done
    };
    if status == Status::ToDo {
        lines.push("(they tell their conversation; backup: FILE.before-kittymux)".to_owned());
    }
    Step {
        name: NAME,
        group: Group::Agents,
        does: lines.join("\n"),
        status,
        act: Box::new(move || {
            let mut faults = left.clone();
            let mut failed: Vec<&str> = Vec::new();
            for place in &due {
                let agent = out::visible(&place.agent);
                if failed.contains(&place.agent.as_str()) {
                    continue;
                }
                match place.put_in(&own) {
                    Ok(said) => {
                        out::data(&format!("  {agent}: {}\n", said.replace('\n', "\n  ")));
                    }
                    // The other agents are none the worse for it.
                    Err(fault) => {
                        failed.push(&place.agent);
                        faults.push(format!("{agent}: {fault}"));
                    }
                }
            }
            if faults.is_empty() {
                return Ok(());
            }
            Err(Fault::refused(faults.join("\n  ")))
        }),
    }
}

/// Where there is something of ours.
pub(super) fn there() -> Vec<There> {
    settings::of_ours(&setting::quiet_definitions().0)
}

pub(super) fn take_out(there: &There) -> Outcome<String> {
    let said = there.take_out()?;
    Ok(format!("{}: {said}", out::visible(&there.agent)))
}

/// How the agents on PATH stand, for the doctor.
pub(in crate::cmd) fn findings(own: &Path) -> Vec<Finding> {
    let own = from_os(own.as_os_str());
    let (mut told, mut not) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    for place in settings::of_installed(&setting::quiet_definitions().0) {
        let agent = out::visible(&place.agent);
        match place.standing(&own) {
            Ok(Standing::Whole) => told.push(agent),
            Ok(Standing::Absent) => not.push(agent),
            Ok(Standing::Differs) => found.push(Finding::warning(
                format!(
                    "{}: the hook of {agent} is not as it should be",
                    shown(&place.path)
                ),
                format!("kittymux hooks setup {agent}"),
            )),
            Err(fault) => found.push(Finding::warning(
                fault.to_string(),
                format!("mend it, then kittymux hooks setup {agent}"),
            )),
        }
    }
    told.dedup();
    not.dedup();
    if !told.is_empty() {
        let what = format!("hooks: told by {}", told.join(", "));
        found.push(Finding::ok(what));
    }
    if !not.is_empty() {
        let what = format!(
            "no hooks, their own files are looked at: {}",
            not.join(", ")
        );
        let mend = "kittymux setup, if they are to tell themselves".to_owned();
        found.push(Finding {
            mend,
            ..Finding::ok(what)
        });
    }
    found
}
