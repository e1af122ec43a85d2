//! Looks at a desk, in short words, for the tests beside it.

use super::document::Journal;
use super::observe::{Observation, World, observe};
use super::session::{Owner, Session};
use crate::agents::hooks::{Ending, Event};
use crate::keep::hook_records::HookEvent;
use crate::sys::proc::ProcId;

pub const S: u64 = 1_000_000_000;
pub const T0: u64 = 1_796_000_000 * S;
pub const A: &str = "0a1b2c3d-0000-4000-8000-00000000000a";
pub const B: &str = "0a1b2c3d-0000-4000-8000-00000000000b";

pub fn owner(pid: i32) -> Owner {
    Owner {
        pid,
        start: 100,
        boot: "0011aabb".into(),
        host: "cafe0001".into(),
    }
}

pub fn process(pid: i32) -> ProcId {
    ProcId { pid, start: 200 }
}

pub fn seen(sid: &str, window: u64, pid: i32) -> Observation {
    Observation {
        agent: "claude".into(),
        sid: sid.into(),
        cwd: "/p".into(),
        tab: "api".into(),
        argv: vec!["claude".into()],
        kitty: owner(1),
        window,
        process: process(pid),
        ..Observation::default()
    }
}

/// Events of one process at seconds of both clocks.
pub fn events(list: &[(u64, Event, &str, &str)]) -> Vec<HookEvent> {
    let mut end = 0;
    list.iter()
        .map(|(secs, event, sid, detail)| {
            end += 100;
            HookEvent {
                at_wall_ns: T0 + secs * S,
                up_ns: (1000 + secs) * S,
                agent: "claude".into(),
                sid: (*sid).to_owned(),
                cwd: "/p".into(),
                event: *event,
                detail: (*detail).to_owned(),
                ending: match *detail {
                    "clear" => Ending::Left,
                    "exit" => Ending::Exit,
                    _ => Ending::Cut,
                },
                tty: 1,
                argv: Vec::new(),
                host: "cafe0001".into(),
                begin: end - 100,
                end,
            }
        })
        .collect()
}

/// A look at kitties with these windows; the processes that live.
pub struct Desk<'a> {
    pub kitties: &'a [(i32, &'a [u64])],
    pub alive: &'a [i32],
    pub opening: &'a [u64],
}

pub const ONE: Desk<'static> = Desk {
    kitties: &[(1, &[1, 2, 3])],
    alive: &[],
    opening: &[],
};

pub fn look(journal: &mut Journal, list: &[Observation], desk: &Desk<'_>, secs: u64) -> bool {
    let alive = |p: ProcId| desk.alive.contains(&p.pid) && p.start == 200;
    observe(journal, list, &world(desk, &alive), T0 + secs * S)
}

/// What else is known at a look.
pub fn world<'a>(desk: &Desk<'_>, alive: &'a dyn Fn(ProcId) -> bool) -> World<'a> {
    World {
        kitties_alive: desk
            .kitties
            .iter()
            .map(|(pid, windows)| (owner(*pid), windows.iter().copied().collect()))
            .collect(),
        boot: "0011aabb".into(),
        host: "cafe0001".into(),
        opening: desk.opening.iter().map(|w| (owner(1), *w)).collect(),
        alive,
    }
}

pub fn shown(journal: &Journal) -> String {
    let line = |s: &Session| {
        let at = |ns: u64| (ns.saturating_sub(T0)) / S;
        let how = match (s.open, s.left) {
            (true, _) => "open".to_owned(),
            (false, true) => format!("left at {}", at(s.closed_ns)),
            (false, false) => format!("closed at {}", at(s.closed_ns)),
        };
        let sid = s
            .sid
            .chars()
            .next_back()
            .map_or("-".to_owned(), String::from);
        format!(
            "{sid}: {how}, {}, {} runs, {} s, {}..{}, window {}, process {}",
            s.state.word(),
            s.runs,
            s.work_secs(),
            at(s.first_ns),
            at(s.last_ns),
            s.window,
            s.process.pid
        )
    };
    journal.sessions().map(line).collect::<Vec<_>>().join("\n")
}
