//! The desk: what runs in every window of every kitty, and which conversation each agent has.
//!
//! This gathers values from the machine; the decisions are `agents::window` and `resume::plan`.

pub mod at_the_end;
mod evidence;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use evidence::{Candidate, canonical, environment, outside, subjects, usable};

use super::live;
use super::look::SeenKitty;
use crate::agents::argv::{Selector, fresh, resume};
use crate::agents::definitions::Definitions;
use crate::agents::session;
use crate::agents::window::{AgentRun, Judgement, ShellKind, State as JobState, judge};
use crate::keep::claims::Claims;
use crate::keep::hook_records::HookEvent;
use crate::keep::records;
use crate::keep::state::State;
use crate::keep::tick_state::TickState;
use crate::kitty::tree::{self, OsWindow, Window};
use crate::resume::plan::{self, Choice, WindowKey};
use crate::resume::record::Mode;
use crate::resume::rewrite::info_of;
use crate::resume::window::{AgentSeen, Runs, Seen};
use crate::sys::bytes::from_os;
use crate::sys::clock;
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId, Process};

/// Everything that was seen.
#[derive(Debug, Default)]
pub struct Desk {
    /// What runs in each window.
    pub windows: BTreeMap<WindowKey, Seen>,
    /// Facts for a person about agent windows that do not fit a record.
    pub notes: BTreeMap<WindowKey, Vec<String>>,
    /// The agent process of each agent window, and whether it is stopped.
    pub processes: BTreeMap<WindowKey, (ProcId, JobState)>,
    /// All processes of the agent of a window, and the files in which they keep saying which
    /// conversation it has.
    pub records: BTreeMap<WindowKey, (Vec<ProcId>, Vec<PathBuf>)>,
    /// The conversation each agent itself says it has, also one in which nothing was said yet.
    pub open: BTreeMap<WindowKey, String>,
    /// What each agent told our hook of late.
    pub events: BTreeMap<WindowKey, Vec<HookEvent>>,
}

/// What the look at windows rests on.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The definitions.
    pub defs: &'a Definitions,
    /// The home directory.
    pub home: PathBuf,
    /// The claims, if there are any.
    pub claims: Option<&'a Claims>,
    /// Our state, for records that lie in files of their own.
    pub state: Option<&'a State>,
}

/// Looks into all windows of all kitties and decides.
#[must_use]
pub fn gather(kitties: &[SeenKitty], ground: &Ground<'_>) -> Desk {
    let trees: Vec<(ProcId, &[OsWindow])> = kitties
        .iter()
        .map(|k| (k.process, k.tree.as_slice()))
        .collect();
    gather_trees(&trees, ground)
}

/// As [`gather`], over window lists.
#[must_use]
pub fn gather_trees(trees: &[(ProcId, &[OsWindow])], ground: &Ground<'_>) -> Desk {
    if let Some(state) = ground.state {
        clock::know_steps(TickState::read(state).steps);
    }
    let mut desk = Desk::default();
    let mut candidates = Vec::new();
    let mut runs: BTreeMap<WindowKey, AgentRun> = BTreeMap::new();
    let mut in_windows = BTreeSet::new();
    for (kitty, tree) in trees {
        for place in tree::windows(tree) {
            let key = WindowKey {
                kitty: *kitty,
                window: place.window.id,
            };
            let processes = place.window.pid.map(session::processes).unwrap_or_default();
            in_windows.extend(processes.iter().map(|p| p.stat.id.pid));
            let (seen, run) = look_into(place.window, &processes, ground, key, &mut desk.notes);
            desk.windows.insert(key, seen);
            if let Some(run) = run
                && let Some(def) = ground.defs.get(&run.agent)
            {
                candidates.push(Candidate {
                    def,
                    key: Some(key),
                    process: run.process,
                    inner: run.inner.clone(),
                    words: run.words.clone(),
                    cwd: spelled(place.window, &run),
                    env: environment(run.process.pid, def),
                    events: live::events(ground.state, &def.name, run.process, &run.inner),
                });
                desk.processes.insert(key, (run.process, run.state));
                if let Some(run) = candidates.last() {
                    let files = run.record_files(ground);
                    desk.records.insert(key, (run.processes().collect(), files));
                }
                runs.insert(key, run);
            }
        }
    }
    let claimed: HashMap<ProcId, String> = ground
        .claims
        .map(|c| c.all().into_iter().collect())
        .unwrap_or_default();
    let mut known = subjects(&candidates, ground, &claimed);
    // Only a guess needs to know of the agents outside all windows.
    if known
        .iter()
        .any(|s| !matches!(s.live, Look::Found(_)) && s.argv.is_none())
    {
        let others = outside(ground, &in_windows);
        known.extend(subjects(&others, ground, &claimed));
        candidates.extend(others);
    }
    for subject in &known {
        if let (Some(key), Look::Found(live)) = (subject.window, &subject.live) {
            desk.open.insert(key, live.sid.clone());
        }
    }
    for (candidate, choice) in candidates.iter().zip(plan::decide(&known)) {
        let Some(key) = candidate.key else { continue };
        let Some(run) = runs.remove(&key) else {
            continue;
        };
        let choice = usable(candidate, &run, ground.defs, choice);
        let seen = agent_seen(candidate, &run, choice);
        if let Some(window) = desk.windows.get_mut(&key) {
            match seen {
                Ok(agent) => window.runs = Runs::Agent(Box::new(agent)),
                Err(why) => desk.notes.entry(key).or_default().push(why),
            }
        }
    }
    for candidate in candidates {
        if let (Some(key), false) = (candidate.key, candidate.events.is_empty()) {
            desk.events.insert(key, candidate.events);
        }
    }
    desk
}

/// What one window runs; the agent's part is filled in once all are decided.
fn look_into(
    window: &Window,
    processes: &[Process],
    ground: &Ground<'_>,
    key: WindowKey,
    notes: &mut BTreeMap<WindowKey, Vec<String>>,
) -> (Seen, Option<AgentRun>) {
    let pid = window.pid.unwrap_or(0);
    let Judgement {
        agent,
        others,
        shell,
    } = judge(ground.defs, pid, None, processes);
    let waiting = processes.iter().find_map(|p| {
        let Look::Found(argv) = &p.argv else {
            return None;
        };
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let record = info_of(&words)?;
        // The shell that is about to run it has the same words in a start-up text only.
        (words.get(1) == Some(&"resume-prompt")).then(|| Runs::Waiting {
            record: records::resolve(record, ground.state).unwrap_or_else(|_| record.to_owned()),
            is_window_process: p.stat.id.pid == pid,
        })
    });
    let zdotdir = shell
        .as_ref()
        .filter(|s| s.kind == ShellKind::Zsh)
        .and_then(|_| own_zdotdir(pid));
    let foreground = processes
        .iter()
        .filter(|p| p.stat.group == p.stat.foreground && p.stat.id.pid != pid)
        .max_by_key(|p| p.stat.id.pid)
        .and_then(|p| p.argv.clone().found());
    if let Some(agent) = &agent {
        let said = notes.entry(key).or_default();
        if agent.state == JobState::Stopped {
            said.push("stopped".to_owned());
        }
        if let Some(inside) = &agent.inside {
            said.push(format!("was inside {inside}"));
        }
        said.extend(
            others
                .iter()
                .map(|(name, _)| format!("{name} stands behind it and does not come back")),
        );
    }
    let runs = if agent.is_some() {
        Runs::Other
    } else {
        waiting.unwrap_or(Runs::Other)
    };
    (
        Seen {
            runs,
            shell,
            zdotdir,
            foreground,
        },
        agent,
    )
}

/// The person's own ZDOTDIR behind kitty's integration and ours.
fn own_zdotdir(pid: i32) -> Option<String> {
    let names = [
        "KITTYMUX_ZDOTDIR",
        "KITTY_ORIG_ZDOTDIR",
        "KITTY_SHELL_INTEGRATION",
        "ZDOTDIR",
    ];
    let set = proc::environ(pid, &names).found()?;
    let value = |name: &str| {
        set.iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.clone())
            .filter(|v| !v.is_empty())
    };
    // With its integration on, kitty puts a directory of its own there and keeps the person's aside.
    let theirs = if value("KITTY_SHELL_INTEGRATION").is_some() {
        "KITTY_ORIG_ZDOTDIR"
    } else {
        "ZDOTDIR"
    };
    value("KITTYMUX_ZDOTDIR").or_else(|| value(theirs).filter(|dir| !dir.ends_with("/shell/zsh")))
}

/// The agent's directory as the shell that started it, or kitty, spells it, where that is the same
/// place; else by its real path.
fn spelled(window: &Window, run: &AgentRun) -> Option<String> {
    let real = run.cwd.clone().found()?;
    let of_shell = proc::environ(run.process.pid, &["PWD"])
        .found()
        .into_iter()
        .flatten()
        .map(|(_, v)| v);
    let same = |dir: &String| {
        dir.starts_with('/') && (*dir == real || canonical(dir).as_ref() == Some(&real))
    };
    of_shell.chain(window.cwd.clone()).find(same).or(Some(real))
}

/// The commands of an agent window.
fn agent_seen(
    candidate: &Candidate<'_>,
    run: &AgentRun,
    mut choice: Choice,
) -> Result<AgentSeen, String> {
    let def = candidate.def;
    let fresh = fresh(def, &candidate.words)?;
    let selector = match choice.mode {
        Mode::Exact => Some(Selector::Exact(&choice.sid)),
        Mode::Latest => Some(Selector::Latest),
        Mode::New => None,
    };
    let mut resumed = Vec::new();
    if let Some(selector) = selector {
        match resume(def, &candidate.words, selector) {
            Ok(rewritten) => resumed = rewritten.words,
            Err(why) => {
                choice = Choice {
                    mode: Mode::New,
                    sid: String::new(),
                    why: format!("{} ({why})", choice.why),
                    ..choice
                };
            }
        }
    }
    let exe = program_file(&candidate.words[0], run);
    Ok(AgentSeen {
        agent: def.name.clone(),
        is_window_process: run.is_window_process,
        exe,
        cwd: candidate.cwd.clone().unwrap_or_default(),
        fresh: fresh.words,
        resume: resumed,
        lost: fresh.dropped_secrets,
        env: candidate
            .env
            .as_ref()
            .found()
            .into_iter()
            .flatten()
            .map(|(n, v)| format!("{n}={v}"))
            .collect(),
        choice,
    })
}

/// Where the agent's program was found: the path it was started by, else its own file when that has
/// the agent's name.
fn program_file(word: &str, run: &AgentRun) -> String {
    let base = word.rsplit('/').next().unwrap_or(word);
    let named = |path: &str| path.starts_with('/') && path.rsplit('/').next() == Some(base);
    if named(word) {
        return word.to_owned();
    }
    run.raw_argv
        .iter()
        .find(|w| named(w))
        .cloned()
        .or_else(|| run.exe.clone().found().filter(|e| named(e)))
        .or_else(|| crate::sys::dirs::find_program(Path::new(base)).map(|p| from_os(p.as_os_str())))
        .unwrap_or_default()
}
