//! Saving one kitty by itself: what counts as its set, and the three ways a save can be due.

use crate::cmd::autosaved;
use crate::cmd::capture::{Capture, Choice};
use crate::cmd::desk::{Desk, Ground};
use crate::cmd::look::SeenKitty;
use crate::cmd::save::take::{self, Which};
use crate::keep::autosave::{Due, Set, View, Watch};
use crate::keep::autosaves;
use crate::keep::names::ENDING;
use crate::keep::publish::{Header, LIMIT, publish_over};
use crate::keep::state::State;
use crate::kitty::tree::OsWindow;
use crate::resume::plan::WindowKey;
use crate::resume::record::Record;
use crate::resume::rewrite::VAR_SAVE;
use crate::resume::same::same_desk;
use crate::resume::window::Runs;
use crate::sys::bytes::from_bytes;
use crate::sys::fault::Outcome;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::ProcId;
use crate::sys::token::{fingerprint, random_id};

/// What a tick sees of a kitty.
pub fn view(kitty: ProcId, tree: &[OsWindow], desk: &Desk) -> View {
    let mut windows = String::new();
    let mut agents = String::new();
    let (mut count, mut is_desk) = (0, false);
    for os_window in tree {
        windows.push_str(&format!("o{} ", os_window.id));
        for tab in &os_window.tabs {
            windows.push_str(&format!("t{} ", tab.id));
            for window in tab.windows.iter().filter(|w| !w.is_utility()) {
                windows.push_str(&format!("{} ", window.id));
                count += 1;
                is_desk |= window.var(VAR_SAVE).is_some();
                if let Some(agent) = agent_of(kitty, window.id, desk) {
                    agents.push_str(&format!("{} {agent}\n", window.id));
                    is_desk = true;
                }
            }
        }
    }
    View {
        set: Set {
            windows: fingerprint(windows.as_bytes()),
            agents: fingerprint(agents.as_bytes()),
        },
        is_desk: is_desk || count > 1,
    }
}

/// Agent and session of a window; the same while our prompt still waits for it.
fn agent_of(kitty: ProcId, window: u64, desk: &Desk) -> Option<String> {
    match &desk.windows.get(&WindowKey { kitty, window })?.runs {
        Runs::Agent(agent) => Some(format!("{} {}", agent.agent, agent.choice.sid)),
        Runs::Waiting { record, .. } => {
            let record = Record::read(record).ok()?;
            Some(format!("{} {}", record.agent, record.sid))
        }
        Runs::Other => None,
    }
}

/// Saves `seen[at]`, as it is due; gives the set that is saved now.
pub fn save(
    state: &State,
    seen: &mut [SeenKitty],
    at: usize,
    ground: &Ground<'_>,
    desk: &Desk,
    due: Due,
    watch: Watch,
) -> Outcome<Set> {
    let kitty = seen[at].process;
    let sessions = state.sessions()?;
    let name = autosaves::name(&crate::sys::clock::boot8(), kitty);
    let file = format!("{name}{ENDING}");
    if due == Due::Rewrite
        && let Some(old) = old_text(&sessions, &file)
    {
        return rewrite(state, &sessions, &seen[at], ground, desk, &name, &old).map(|()| watch.set);
    }
    let taken = take::take(seen, at, ground, state, Which::All, false)?;
    if due == Due::Regular
        && let Some(old) = old_text(&sessions, &file)
        && same_desk(Header::body(&old), &taken.made.text)
        && let Some(header) = Header::read(&old)
    {
        let header = Header {
            save: header.save,
            ..taken.header
        };
        publish_over(&sessions, &file, &header, Header::body(&old))?;
        return Ok(watch.set);
    }
    let set = view(kitty, &taken.tree, &taken.desk).set;
    autosaves::put_aside(&sessions, &name, &taken.made.text)?;
    take::store_over(state, &sessions, &name, &taken.header, &taken.made)?;
    autosaved::shown(state, kitty, &taken.tree);
    Ok(set)
}

fn old_text(sessions: &PrivateDir, file: &str) -> Option<String> {
    let bytes = sessions.read(file, LIMIT).ok()??;
    Some(from_bytes(&bytes))
}

/// The save there is, with what is known of its windows now; kitty is not asked.
fn rewrite(
    state: &State,
    sessions: &PrivateDir,
    kitty: &SeenKitty,
    ground: &Ground<'_>,
    desk: &Desk,
    name: &str,
    old: &str,
) -> Outcome<()> {
    let _lock = take::lock(state, kitty.process)?;
    let capture = Capture {
        text: Header::body(old).to_owned(),
        tree: kitty.tree.clone(),
        how: "the save before",
        why_not_kitten: String::new(),
        is_kittys: false,
    };
    let choice = Choice {
        os_windows: None,
        skip: Vec::new(),
    };
    let header = Header::now(kitty.process, &random_id());
    let made = take::make_of(&capture, &choice, desk, ground, state, &header, false)?;
    take::store_over(state, sessions, name, &header, &made)?;
    autosaved::shown(state, kitty.process, &kitty.tree);
    Ok(())
}
