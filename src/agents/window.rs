//! Which agent a window runs, judged over the processes of the window's own session.

use std::collections::HashMap;

use super::definitions::Definitions;
use super::program::{Invocation, Kind, plain, recognise};
pub use super::shell::{Shell, ShellKind, is_plain_start};
use super::shell::{argv, exe, inner_shell_name, shell_of};
use crate::sys::look::Look;
use crate::sys::proc::{ProcId, Process};

/// How an agent stands to its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has the terminal.
    Foreground,
    /// It was stopped (^Z, or by the kernel when it asked for a terminal it does not have).
    Stopped,
}

/// The agent that is a window's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRun {
    /// Its name.
    pub agent: String,
    /// Its outermost process.
    pub process: ProcId,
    /// The same run's inner processes, outer ones first: what a wrapper or a script started.
    pub inner: Vec<ProcId>,
    /// The program and its arguments, without wrappers.
    pub words: Vec<String>,
    /// The arguments of the process as they are.
    pub raw_argv: Vec<String>,
    /// The file of the process's program.
    pub exe: Look<String>,
    /// The directory it is in.
    pub cwd: Look<String>,
    /// How it stands to the terminal.
    pub state: State,
    /// Whether it is the window's own process: the window was started as the agent.
    pub is_window_process: bool,
    /// A second interactive shell between the window's process and the agent, by name: `bash`,
    /// `nix-shell`.
    pub inside: Option<String>,
    /// The file of the nearest shell above it, when that is the window's own process.
    pub shell_above: Option<String>,
}

impl AgentRun {
    /// Whether the process wrote its name over its arguments: what it was started with besides is
    /// not known then (pi).
    #[must_use]
    pub fn options_are_gone(&self) -> bool {
        self.words.len() == 1
            && self.raw_argv.len() > 1
            && self.raw_argv[1..].iter().all(String::is_empty)
    }
}

/// What a window is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The agent of the window.
    pub agent: Option<AgentRun>,
    /// Other agents that stand behind it, by name.
    pub others: Vec<(String, ProcId)>,
    /// The window's own process, when that is a shell.
    pub shell: Option<Shell>,
}

/// Programs behind which things are another user's or another machine's.
const FOREIGN: [&str; 14] = [
    "sudo",
    "su",
    "doas",
    "runuser",
    "pkexec",
    "run0",
    "ssh",
    "mosh",
    "mosh-client",
    "docker",
    "podman",
    "tmux",
    "screen",
    "machinectl",
];

/// Judges a window by the processes of its session (others are passed over). `foreground` is the
/// foreground group of its terminal, where that is known better than by the processes themselves.
#[must_use]
pub fn judge(
    defs: &Definitions,
    window_pid: i32,
    foreground: Option<i32>,
    processes: &[Process],
) -> Judgement {
    let scene = Scene::new(window_pid, foreground, processes);
    let runs = runs(defs, &scene);
    let shell = scene.leader.and_then(shell_of);
    let best = runs
        .iter()
        .enumerate()
        .max_by_key(|(_, run)| {
            let (pid, start) = (run.process.stat.id.pid, run.process.stat.id.start);
            match run.state {
                // Of several in front (a pipeline), the first one.
                State::Foreground => (1, u64::MAX - start, i32::MAX - pid),
                // Of several that are stopped, the newest.
                State::Stopped => (0, start, pid),
            }
        })
        .map(|(at, _)| at);
    let mut judgement = Judgement {
        shell,
        ..Judgement::default()
    };
    for (at, run) in runs.iter().enumerate() {
        if Some(at) == best {
            judgement.agent = Some(scene.agent_run(run, judgement.shell.as_ref()));
        } else {
            let id = run.process.stat.id;
            judgement.others.push((run.call.agent.clone(), id));
        }
    }
    judgement
}

/// A candidate: an agent's outermost process.
struct Run<'a> {
    process: &'a Process,
    call: Invocation,
    state: State,
    inner: Vec<ProcId>,
}

struct Scene<'a> {
    window_pid: i32,
    leader: Option<&'a Process>,
    foreground: i32,
    /// The processes of the session and terminal, by pid.
    members: HashMap<i32, &'a Process>,
}

impl<'a> Scene<'a> {
    fn new(window_pid: i32, foreground: Option<i32>, processes: &'a [Process]) -> Self {
        let leader = processes.iter().find(|p| p.stat.id.pid == window_pid);
        let tty = leader.map(|p| p.stat.tty);
        let members = processes
            .iter()
            .filter(|p| p.stat.session == window_pid && !matches!(p.stat.state, 'Z' | 'X'))
            .filter(|p| p.stat.tty != 0 && tty.is_none_or(|tty| p.stat.tty == tty))
            .map(|p| (p.stat.id.pid, p))
            .collect();
        let known = processes.iter().find(|p| p.stat.session == window_pid);
        let foreground = foreground
            .or(leader.or(known).map(|p| p.stat.foreground))
            .unwrap_or(-1);
        Self {
            window_pid,
            leader,
            foreground,
            members,
        }
    }

    /// The parents of a process within the session, nearest first.
    fn above(&self, process: &Process) -> Vec<&'a Process> {
        let mut chain: Vec<&Process> = Vec::new();
        let mut next = process.stat.parent;
        while let Some(parent) = self.members.get(&next).copied() {
            // A table that was read while it changed may hold a circle.
            if chain.len() > self.members.len() {
                break;
            }
            chain.push(parent);
            next = parent.stat.parent;
        }
        chain
    }

    /// How a process stands to the terminal; `None` for one in the background.
    fn state(&self, process: &Process) -> Option<State> {
        let pid = process.stat.id.pid;
        if process.stat.group == self.foreground {
            return Some(State::Foreground);
        }
        if process.stat.state == 'T' {
            return Some(State::Stopped);
        }
        // It lent the terminal to a child of its own, an editor for instance.
        let lent = self
            .members
            .values()
            .filter(|p| p.stat.group == self.foreground)
            .any(|p| self.above(p).iter().any(|a| a.stat.id.pid == pid));
        lent.then_some(State::Foreground)
    }

    fn agent_run(&self, run: &Run<'_>, shell: Option<&Shell>) -> AgentRun {
        let process = run.process;
        let above = self.above(process);
        let shells: Vec<&&Process> = above
            .iter()
            .filter(|p| shell_of(p).is_some_and(|s| s.interactive))
            .collect();
        let inside = shells
            .iter()
            .find(|p| p.stat.id.pid != self.window_pid)
            .map(|p| inner_shell_name(p));
        let nearest_is_window = shells
            .first()
            .is_some_and(|p| p.stat.id.pid == self.window_pid);
        AgentRun {
            agent: run.call.agent.clone(),
            process: process.stat.id,
            inner: run.inner.clone(),
            words: run.call.words.clone(),
            raw_argv: argv(process).to_vec(),
            exe: process.exe.clone(),
            cwd: process.cwd.clone(),
            state: run.state,
            is_window_process: process.stat.id.pid == self.window_pid,
            inside,
            shell_above: shell
                .filter(|_| nearest_is_window)
                .and_then(|s| s.exe.clone()),
        }
    }
}

/// The outermost agent processes of the session that talk to its terminal, by pid.
fn runs<'a>(defs: &Definitions, scene: &Scene<'a>) -> Vec<Run<'a>> {
    let calls: HashMap<i32, Invocation> = scene
        .members
        .iter()
        .filter_map(|(pid, p)| {
            let call = recognise(defs, argv(p), exe(p), &p.stat.comm)?;
            Some((*pid, call))
        })
        .collect();
    let mut runs: Vec<Run<'a>> = Vec::new();
    let mut inner: Vec<(i32, usize, ProcId)> = Vec::new();
    for (pid, call) in calls.iter().filter(|(_, c)| c.kind == Kind::Interactive) {
        let Some(process) = scene.members.get(pid).copied() else {
            continue;
        };
        let above = scene.above(process);
        if above.iter().any(|p| is_foreign(p)) {
            continue;
        }
        // Whatever runs below an agent, helpers of agents included, is that agent's.
        let outer: Vec<i32> = above
            .iter()
            .map(|p| p.stat.id.pid)
            .filter(|p| calls.contains_key(p))
            .collect();
        match outer.last() {
            Some(top) => {
                let whole = outer
                    .iter()
                    .all(|p| calls.get(p).is_some_and(|c| continues(c, call)));
                if whole {
                    inner.push((*top, outer.len(), process.stat.id));
                }
            }
            None => {
                if let Some(state) = scene.state(process) {
                    runs.push(Run {
                        process,
                        call: call.clone(),
                        state,
                        inner: Vec::new(),
                    });
                }
            }
        }
    }
    inner.sort_unstable();
    for (top, _, id) in inner {
        if let Some(run) = runs.iter_mut().find(|r| r.process.stat.id.pid == top) {
            run.inner.push(id);
        }
    }
    runs.sort_unstable_by_key(|r| r.process.stat.id.pid);
    runs
}

/// Whether a process below another one of an agent is the same run: a wrapper's or a script's own
/// child, or a program that started itself again with the same arguments. An agent that a *native*
/// agent started with other arguments is a conversation of its own.
fn continues(outer: &Invocation, inner: &Invocation) -> bool {
    outer.agent == inner.agent
        && outer.kind == Kind::Interactive
        && (outer.at > 0 || outer.words.get(1..) == inner.words.get(1..))
}

/// The agent's own process among the ancestors of a program that it started (`above`, nearest
/// first), with its command line: the nearest one that is a run of `agent`, or the outermost of the
/// same run (a wrapper and its child). `None` when that is a helper, a run without a screen, or has
/// no terminal.
#[must_use]
pub fn run_above<'a>(
    defs: &Definitions,
    agent: &str,
    above: &'a [Process],
) -> Option<(&'a Process, Invocation)> {
    let mut found: Option<(&Process, Invocation)> = None;
    for process in above {
        let Some(call) = recognise(defs, argv(process), exe(process), &process.stat.comm) else {
            continue;
        };
        match &found {
            None if call.agent != agent => {}
            None if call.kind != Kind::Interactive || process.stat.tty == 0 => return None,
            None => found = Some((process, call)),
            Some((inner, inner_call)) => {
                if process.stat.tty != inner.stat.tty || !continues(&call, inner_call) {
                    break;
                }
                found = Some((process, call));
            }
        }
    }
    found
}

fn is_foreign(process: &Process) -> bool {
    let name = argv(process).first().map(|w| plain(w));
    let by_file = exe(process).map(plain);
    [name, by_file]
        .into_iter()
        .flatten()
        .any(|n| FOREIGN.contains(&n.as_str()))
}
