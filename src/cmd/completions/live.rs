//! What this machine knows: a few files of ours are read; no kitty is asked, nothing is started. A fault
//! only means fewer candidates.

use super::candidates::{Candidate, Live};
use crate::agents::definitions::Definition;
use crate::cmd::autosaved::is_autosave;
use crate::cmd::history::is_running;
use crate::cmd::report::home_text;
use crate::cmd::setting;
use crate::keep::journal;
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::resume::plan::short;
use crate::resume::prompt::shown_directory;
use crate::sys::clock;

/// The candidates of one kind, the likeliest first.
pub(super) fn live(what: Live) -> Vec<Candidate> {
    let state = State::existing().unwrap_or_default();
    match (what, state) {
        (Live::Agents, _) => setting::quiet_definitions().0.iter().map(agent).collect(),
        (_, None) => Vec::new(),
        (Live::Saves, Some(state)) => saved(&state, false),
        (Live::Desks, Some(state)) => saved(&state, true),
        (Live::Conversations, Some(state)) => conversations(&state),
    }
}

fn agent(def: &Definition) -> Candidate {
    Candidate::new(
        &def.name,
        if def.own { "from your resume.json" } else { "" },
    )
}

fn saved(state: &State, desks: bool) -> Vec<Candidate> {
    let now = clock::wall_ns();
    let list = saves(state).unwrap_or_default().into_iter();
    list.filter(|save| is_autosave(&save.name) == desks)
        .map(|save| {
            let age = clock::span(now.saturating_sub(save.written_ns) / 1_000_000_000);
            Candidate::new(save.name, format!("saved {age} ago"))
        })
        .collect()
}

fn conversations(state: &State) -> Vec<Candidate> {
    let journal = journal::read(state);
    let mut list: Vec<_> = journal
        .sessions()
        .filter(|s| !s.sid.is_empty() && !is_running(s))
        .collect();
    list.sort_by_key(|s| std::cmp::Reverse(s.closed_ns.max(s.last_ns)));
    let home = home_text();
    list.iter()
        .map(|s| {
            let about = format!("{} in {}", s.agent, shown_directory(&s.cwd, &home));
            Candidate::new(short(&s.sid), about)
        })
        .collect()
}
