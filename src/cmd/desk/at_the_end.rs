//! The desk of a kitty that is going, or gone: what its windows showed at that moment, the last
//! plan, and what the agents' hooks wrote down. Its processes are never asked: they are dying.

use std::collections::BTreeMap;

use super::evidence::Candidate;
use super::{Desk, Ground, agent_seen, environment};
use crate::agents::argv::{Kind, Selector, argv_id, recognise, resume};
use crate::agents::find;
use crate::agents::shell::{Shell, shell_of};
use crate::agents::window::{AgentRun, State as JobState};
use crate::keep::records;
use crate::kitty::tree::{self, OsWindow, Window};
use crate::resume::last_plan::{LastPlan, LastWindow};
use crate::resume::plan::{Choice, Source, WindowKey};
use crate::resume::record::Mode;
use crate::resume::rewrite::info_of;
use crate::resume::window::{Runs, Seen};
use crate::sys::look::Look;
use crate::sys::proc::{ProcId, Process, Stat};

/// The processes of a window at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processes {
    /// Its own.
    pub child: Option<ProcId>,
    /// Those in front.
    pub foreground: Vec<ProcId>,
}

/// What is known of a kitty at its end.
pub struct End<'a> {
    /// The kitty.
    pub kitty: ProcId,
    /// Its windows.
    pub tree: &'a [OsWindow],
    /// The processes of its windows.
    pub processes: &'a BTreeMap<u64, Processes>,
    /// Its last plan, if there is one.
    pub plan: Option<&'a LastPlan>,
    /// What was seen of the agents while they still ran, by a worker that was quick enough.
    pub early: Option<&'a Desk>,
    /// The session a process is in, and its directory, by its hook's records.
    pub hooked: &'a dyn Fn(ProcId) -> Option<(String, Option<String>)>,
}

/// The desk of `end`.
#[must_use]
pub fn desk(end: &End<'_>, ground: &Ground<'_>) -> Desk {
    let mut desk = Desk::default();
    let none = Processes::default();
    for place in tree::windows(end.tree) {
        let id = place.window.id;
        let processes = end.processes.get(&id).unwrap_or(&none);
        let planned = end
            .plan
            .and_then(|p| p.windows.iter().find(|w| w.window == id))
            // A window's own process is the same from plan to end, or the plan is of another.
            .filter(|w| processes.child.is_none() || processes.child == w.child);
        let key = WindowKey {
            kitty: end.kitty,
            window: id,
        };
        let seen = match early(end, key, processes, planned) {
            Some(seen) => seen,
            None => window(place.window, processes, planned, end, ground),
        };
        desk.windows.insert(key, seen);
    }
    desk
}

/// What was seen of the window's agent while it still ran: by its own word always, by anything else
/// where no plan knows the window.
fn early(
    end: &End<'_>,
    key: WindowKey,
    processes: &Processes,
    planned: Option<&LastWindow>,
) -> Option<Seen> {
    let desk = end.early?;
    let (process, _) = desk.processes.get(&key)?;
    let is_its = processes.foreground.contains(process) || processes.child == Some(*process);
    let seen = desk.windows.get(&key)?;
    let Runs::Agent(agent) = &seen.runs else {
        return None;
    };
    let knows = planned.is_some_and(|p| p.agent.is_some_and(|(of, _)| of == *process));
    let better = agent.choice.source == Source::Live || !knows;
    (is_its && better).then(|| seen.clone())
}

fn window(
    window: &Window,
    processes: &Processes,
    planned: Option<&LastWindow>,
    end: &End<'_>,
    ground: &Ground<'_>,
) -> Seen {
    let in_front = |process: &ProcId| {
        processes.foreground.contains(process) || processes.child == Some(*process)
    };
    if let Some(LastWindow {
        agent: Some((process, stopped)),
        open,
        seen,
        ..
    }) = planned
    {
        // With its last window every child is dead already: then nothing is in front any more.
        if *stopped || processes.foreground.is_empty() || in_front(process) {
            let later = (end.hooked)(*process).or_else(|| open.clone().map(|sid| (sid, None)));
            return gone_on(seen, later, ground);
        }
    }
    if let Some(waiting) = waiting(window, ground) {
        return Seen {
            runs: waiting,
            shell: shell(window, planned),
            zdotdir: planned.and_then(|p| p.seen.zdotdir.clone()),
            foreground: None,
        };
    }
    let base = planned.map(|p| &p.seen);
    if let Some(agent) = agent_in_front(window, processes, end, ground) {
        return Seen {
            runs: agent,
            shell: shell(window, planned),
            zdotdir: base.and_then(|s| s.zdotdir.clone()),
            foreground: None,
        };
    }
    let foreground = window
        .foreground_processes
        .iter()
        .filter(|f| f.pid != window.pid && !f.cmdline.is_empty())
        .max_by_key(|f| f.pid)
        .map(|f| f.cmdline.clone());
    match planned.map(|p| &p.seen) {
        Some(
            seen @ Seen {
                runs: Runs::Waiting { .. },
                ..
            },
        ) => seen.clone(),
        Some(seen) => Seen {
            runs: Runs::Other,
            foreground,
            ..seen.clone()
        },
        None => Seen {
            runs: Runs::Other,
            shell: shell(window, None),
            zdotdir: None,
            foreground,
        },
    }
}

/// Our prompt in front of the window, by what kitty showed of it.
fn waiting(window: &Window, ground: &Ground<'_>) -> Option<Runs> {
    window.foreground_processes.iter().find_map(|shown| {
        let words: Vec<&str> = shown.cmdline.iter().map(String::as_str).collect();
        let record = info_of(&words).filter(|_| words.get(1) == Some(&"resume-prompt"))?;
        Some(Runs::Waiting {
            record: records::resolve(record, ground.state).unwrap_or_else(|_| record.to_owned()),
            is_window_process: shown.pid.is_some() && shown.pid == window.pid,
        })
    })
}

/// The shell that a window's own process is: as it was planned, else by the words kitty showed.
fn shell(window: &Window, planned: Option<&LastWindow>) -> Option<Shell> {
    planned.and_then(|p| p.seen.shell.clone()).or_else(|| {
        let first = window.cmdline.first()?;
        let id = ProcId {
            pid: window.pid.unwrap_or(0),
            start: 0,
        };
        shell_of(&Process {
            stat: Stat {
                id,
                comm: String::new(),
                state: 'S',
                parent: 0,
                group: id.pid,
                session: id.pid,
                tty: 1,
                foreground: id.pid,
            },
            exe: if first.starts_with('/') {
                Look::Found(first.clone())
            } else {
                Look::Nothing
            },
            argv: Look::Found(window.cmdline.clone()),
            cwd: Look::Nothing,
        })
    })
}

/// What was planned, on the conversation that the agent is known to have had later, where something
/// was said in that.
fn gone_on(seen: &Seen, later: Option<(String, Option<String>)>, ground: &Ground<'_>) -> Seen {
    let mut seen = seen.clone();
    let (Runs::Agent(agent), Some((sid, cwd))) = (&mut seen.runs, later) else {
        return seen;
    };
    let Some(def) = ground.defs.get(&agent.agent) else {
        return seen;
    };
    let env: Vec<(String, String)> = agent
        .env
        .iter()
        .filter_map(|e| e.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned())))
        .collect();
    let near = cwd.as_deref().unwrap_or(&agent.cwd);
    if agent.choice.sid == sid
        || find::transcript(def, &env, &ground.home, &sid, Some(near)) == Look::Nothing
    {
        return seen;
    }
    if let Some(sid) = def.id.accept(&sid)
        && let Ok(resume) = resume(def, &agent.fresh, Selector::Exact(&sid))
    {
        agent.resume = resume.words;
        agent.choice = Choice {
            mode: Mode::Exact,
            sid,
            source: Source::Live,
            why: "it was there last".to_owned(),
            cwd: cwd.filter(|d| *d != agent.cwd),
        };
    }
    seen
}

/// An agent that no plan knows yet, by what kitty showed of it.
fn agent_in_front(
    window: &Window,
    processes: &Processes,
    end: &End<'_>,
    ground: &Ground<'_>,
) -> Option<Runs> {
    let found = window.foreground_processes.iter().find_map(|shown| {
        let call = recognise(ground.defs, &shown.cmdline, None, "")?;
        (call.kind == Kind::Interactive).then_some((shown, call))
    });
    let (shown, call) = found?;
    let pid = shown.pid?;
    let process = processes
        .foreground
        .iter()
        .chain(&processes.child)
        .find(|p| p.pid == pid)
        .copied()
        .unwrap_or(ProcId { pid, start: 0 });
    let def = ground.defs.get(&call.agent)?;
    let run = AgentRun {
        agent: call.agent.clone(),
        process,
        inner: Vec::new(),
        words: call.words.clone(),
        raw_argv: shown.cmdline.clone(),
        exe: Look::Nothing,
        cwd: shown.cwd.clone().map_or(Look::Nothing, Look::Found),
        state: JobState::Foreground,
        is_window_process: window.pid == Some(pid),
        inside: None,
        shell_above: None,
    };
    let candidate = Candidate {
        def,
        key: None,
        process,
        inner: Vec::new(),
        words: call.words,
        cwd: shown.cwd.clone().or_else(|| window.cwd.clone()),
        events: Vec::new(),
        env: if crate::sys::proc::is_same(process) {
            environment(pid, def)
        } else {
            Look::Nothing
        },
    };
    let exact = |sid: String, source, why: &str, cwd| Choice {
        mode: Mode::Exact,
        sid,
        source,
        why: why.to_owned(),
        cwd,
    };
    let choice = (end.hooked)(process)
        .and_then(|(sid, cwd)| Some(exact(def.id.accept(&sid)?, Source::Live, "hook", cwd)))
        .or_else(|| {
            let sid = argv_id(def, &candidate.words)?;
            Some(exact(sid, Source::Argv, "command line", None))
        })
        .unwrap_or_else(|| Choice {
            mode: Mode::New,
            sid: String::new(),
            source: Source::None,
            why: "kitty ended before it could be looked at".to_owned(),
            cwd: None,
        });
    let agent = agent_seen(&candidate, &run, choice).ok()?;
    Some(Runs::Agent(Box::new(agent)))
}
