//! Marks: user variables that say what runs in a window, so that a file can be rewritten later
//! without kitty.

use std::time::Duration;

use crate::cmd::desk::Desk;
use crate::cmd::look::SeenKitty;
use crate::kitty::commands;
use crate::kitty::tree;
use crate::resume::plan::WindowKey;
use crate::resume::rewrite::{VAR_AGENT, VAR_RESUME, VAR_SID};
use crate::resume::window::Runs;

/// Sets the marks of agent windows that differ and deletes those of windows without an agent.
pub(super) fn mark(kitty: &mut SeenKitty, desk: &Desk) {
    let mut frames = Vec::new();
    for place in tree::windows(&kitty.tree) {
        let key = WindowKey {
            kitty: kitty.process,
            window: place.window.id,
        };
        let Some(seen) = desk.windows.get(&key) else {
            continue;
        };
        let wanted: [Option<&str>; 3] = match &seen.runs {
            Runs::Agent(agent) => {
                let sid = &agent.choice.sid;
                [
                    Some(&agent.agent),
                    Some(agent.choice.mode.word()),
                    (!sid.is_empty()).then_some(sid),
                ]
            }
            Runs::Waiting { .. } => continue,
            Runs::Other => [None; 3],
        };
        let now = [VAR_AGENT, VAR_RESUME, VAR_SID]
            .map(|name| (name, place.window.user_vars.get(name).map(String::as_str)));
        let change: Vec<(&str, Option<&str>)> = now
            .iter()
            .zip(wanted)
            .filter(|((_, now), wanted)| now != wanted)
            .map(|((name, _), wanted)| (*name, wanted))
            .collect();
        if !change.is_empty() {
            frames.push(commands::set_user_vars(place.window.id, &change));
        }
    }
    if !frames.is_empty() {
        // Marks help a later rewrite only: a kitty that does not take them is no reason not to save.
        let _ = kitty.connection.ask_all(&frames, Duration::from_secs(2));
    }
}
