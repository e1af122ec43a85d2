//! The conversation that a process has open, by what belongs to this very process: the agent's own
//! files first, then what it told our hook.

use crate::agents::find::{self, Live, Subject};
use crate::keep::hook_records::{self, HookEvent};
use crate::keep::state::State;
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// What a run of `agent` told our hook of late: of its outermost process, or of one inside. What was told on
/// another terminal than the process's own is left out.
#[must_use]
pub fn events(
    state: Option<&State>,
    agent: &str,
    process: ProcId,
    inner: &[ProcId],
) -> Vec<HookEvent> {
    let Some(state) = state else {
        return Vec::new();
    };
    std::iter::once(process)
        .chain(inner.iter().copied())
        .find_map(|id| {
            let mut events = hook_records::recent(state, id).found()?;
            let tty = proc::stat(id.pid).filter(|s| s.id == id)?.tty;
            events.retain(|e| e.agent == agent && e.tty == tty);
            (!events.is_empty()).then_some(events)
        })
        .unwrap_or_default()
}

/// The conversation that the subject's process has open.
#[must_use]
pub fn live(subject: &Subject<'_>, events: &[HookEvent]) -> Look<Live> {
    match find::live(subject) {
        Look::Found(live) => Look::Found(live),
        other => by_hook(subject, events).map_or(other, Look::Found),
    }
}

fn by_hook(subject: &Subject<'_>, events: &[HookEvent]) -> Option<Live> {
    let (sid, cwd) = hook_records::latest_sid(events)?;
    let sid = subject.def.id.accept(&sid)?;
    let cwd = Some(cwd).filter(|c| !c.is_empty());
    let there = find::transcript(
        subject.def,
        subject.env,
        subject.home,
        &sid,
        cwd.as_deref().or(subject.cwd),
    );
    Some(Live {
        resumable: there != Look::Nothing,
        sid,
        cwd,
        source: "hook",
    })
}
