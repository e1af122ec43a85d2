//! The desk: what runs in every window of every kitty, and which conversation each agent has.
//!
//! This gathers values from the machine; the decisions are `agents::window` and `resume::plan`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::look::SeenKitty;
use crate::agents::argv::{Kind, Selector, argv_id, fresh, recognise, resume};
use crate::agents::definitions::{Definition, Definitions, Scope, Way};
use crate::agents::find;
use crate::agents::session;
use crate::agents::window::{AgentRun, Judgement, ShellKind, State, judge};
use crate::keep::claims::Claims;
use crate::kitty::tree::{self, OsWindow, Window};
use crate::resume::plan::{self, Choice, Conversation, Latest, Live, Subject, WindowKey};
use crate::resume::record::Mode;
use crate::resume::rewrite::info_of;
use crate::resume::window::{AgentSeen, Runs, Seen};
use crate::sys::bytes::{from_os, to_path};
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
    pub processes: BTreeMap<WindowKey, (ProcId, State)>,
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
}

/// An agent process with what is known of it.
struct Candidate<'a> {
    def: &'a Definition,
    key: Option<WindowKey>,
    process: ProcId,
    inner: Vec<ProcId>,
    words: Vec<String>,
    cwd: Option<String>,
    /// What of its environment names its configuration directory; where that cannot be read,
    /// nothing of it can be looked up: its files may lie anywhere.
    env: Look<Vec<(String, String)>>,
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
            let (seen, run) =
                look_into(place.window, &processes, ground.defs, key, &mut desk.notes);
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
                    cwd: spelled(place.window, &run.cwd),
                    env: environment(run.process.pid, def),
                });
                desk.processes.insert(key, (run.process, run.state));
                runs.insert(key, run);
            }
        }
    }
    let claimed: HashMap<ProcId, String> = ground
        .claims
        .map(|c| c.all().into_iter().collect())
        .unwrap_or_default();
    let mut subjects = subjects(&candidates, ground, &claimed);
    // Only a guess needs to know of the agents outside all windows.
    if subjects
        .iter()
        .any(|s| !matches!(s.live, Look::Found(_)) && s.argv.is_none())
    {
        let outside = outside(ground.defs, &in_windows);
        subjects.extend(self::subjects(&outside, ground, &claimed));
        candidates.extend(outside);
    }
    for (candidate, choice) in candidates.iter().zip(plan::decide(&subjects)) {
        let Some(key) = candidate.key else { continue };
        let Some(run) = runs.remove(&key) else {
            continue;
        };
        let seen = agent_seen(candidate, &run, choice);
        if let Some(window) = desk.windows.get_mut(&key) {
            match seen {
                Ok(agent) => window.runs = Runs::Agent(Box::new(agent)),
                Err(why) => desk.notes.entry(key).or_default().push(why),
            }
        }
    }
    desk
}

/// What one window runs; the agent's part is filled in once all are decided.
fn look_into(
    window: &Window,
    processes: &[Process],
    defs: &Definitions,
    key: WindowKey,
    notes: &mut BTreeMap<WindowKey, Vec<String>>,
) -> (Seen, Option<AgentRun>) {
    let pid = window.pid.unwrap_or(0);
    let Judgement {
        agent,
        others,
        shell,
    } = judge(defs, pid, None, processes);
    let waiting = processes.iter().find_map(|p| {
        let Look::Found(argv) = &p.argv else {
            return None;
        };
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let record = info_of(&words)?;
        // The shell that is about to run it has the same words in a start-up text only.
        (words.get(1) == Some(&"resume-prompt")).then(|| Runs::Waiting {
            record: record.to_owned(),
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
        if agent.state == State::Stopped {
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
    let names = ["KITTYMUX_ZDOTDIR", "KITTY_ORIG_ZDOTDIR", "ZDOTDIR"];
    let set = proc::environ(pid, &names).found()?;
    let value = |name: &str| {
        set.iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.clone())
            .filter(|v| !v.is_empty())
    };
    let foreign =
        |dir: &String| !dir.ends_with("/shell/zsh") && !dir.contains("/shell-integration/");
    value("KITTYMUX_ZDOTDIR")
        .or_else(|| value("KITTY_ORIG_ZDOTDIR").filter(foreign))
        .or_else(|| value("ZDOTDIR").filter(foreign))
}

/// The agent's directory as kitty spells it, where that is the same place; else by its real path.
fn spelled(window: &Window, cwd: &Look<String>) -> Option<String> {
    let real = cwd.clone().found()?;
    match &window.cwd {
        Some(shown) if *shown == real || canonical(shown).as_ref() == Some(&real) => {
            Some(shown.clone())
        }
        _ => Some(real),
    }
}

fn canonical(path: &str) -> Option<String> {
    std::fs::canonicalize(to_path(path))
        .ok()
        .map(|p| from_os(p.as_os_str()))
}

fn environment(pid: i32, def: &Definition) -> Look<Vec<(String, String)>> {
    if def.env.is_empty() {
        return Look::Found(Vec::new());
    }
    let names: Vec<&str> = def.env.iter().map(String::as_str).collect();
    match proc::environ(pid, &names) {
        Look::Nothing => Look::Unknown("its process is gone".to_owned()),
        set => set,
    }
}

/// Our own agent processes outside all windows: in tmux, in another terminal, over ssh.
fn outside<'a>(defs: &'a Definitions, in_windows: &BTreeSet<i32>) -> Vec<Candidate<'a>> {
    let mut found: Vec<(Process, Candidate<'a>)> = Vec::new();
    for pid in proc::own_pids()
        .into_iter()
        .filter(|p| !in_windows.contains(p))
    {
        let Some(stat) = proc::stat(pid).filter(|s| s.tty != 0 && s.state != 'Z') else {
            continue;
        };
        let Look::Found(argv) = proc::argv(pid) else {
            continue;
        };
        let exe = proc::exe(pid).found();
        let Some(call) = recognise(defs, &argv, exe.as_deref(), &stat.comm) else {
            continue;
        };
        if call.kind != Kind::Interactive {
            continue;
        }
        let (Some(def), Some(process)) = (defs.get(&call.agent), proc::look(pid)) else {
            continue;
        };
        let candidate = Candidate {
            def,
            key: None,
            process: process.stat.id,
            inner: Vec::new(),
            words: call.words,
            cwd: process.cwd.clone().found(),
            env: environment(pid, def),
        };
        found.push((process, candidate));
    }
    // A wrapper and its child are one run: the outer one counts.
    let pids: BTreeSet<i32> = found.iter().map(|(p, _)| p.stat.id.pid).collect();
    found
        .into_iter()
        .filter(|(p, _)| !pids.contains(&p.stat.parent))
        .map(|(_, c)| c)
        .collect()
}

/// What the plan needs to know of each.
fn subjects(
    candidates: &[Candidate<'_>],
    ground: &Ground<'_>,
    claimed: &HashMap<ProcId, String>,
) -> Vec<Subject> {
    let real: Vec<Option<String>> = candidates
        .iter()
        .map(|c| {
            c.cwd
                .as_deref()
                .map(|d| canonical(d).unwrap_or_else(|| d.to_owned()))
        })
        .collect();
    let started: Vec<u64> = candidates
        .iter()
        .map(|c| proc::started_wall_ns(c.process).unwrap_or(u64::MAX))
        .collect();
    candidates
        .iter()
        .enumerate()
        .map(|(n, c)| {
            // Processes of one directory are matched together, so all see what the first one saw begin.
            let since = candidates
                .iter()
                .enumerate()
                .filter(|(m, other)| other.def.name == c.def.name && real[*m] == real[n])
                .map(|(m, _)| started[m])
                .min()
                .unwrap_or(started[n]);
            subject(c, real[n].clone(), started[n], since, ground, claimed)
        })
        .collect()
}

fn subject(
    c: &Candidate<'_>,
    real_cwd: Option<String>,
    started_ns: u64,
    since: u64,
    ground: &Ground<'_>,
    claimed: &HashMap<ProcId, String>,
) -> Subject {
    let (live, argv, conversations) = evidence(c, real_cwd.as_deref(), since, ground, claimed);
    Subject {
        window: c.key,
        process: c.process,
        agent: c.def.name.clone(),
        can_exact: !c.def.exact.is_empty(),
        latest: match c.def.latest_scope {
            _ if c.def.latest.is_empty() => Latest::None,
            Scope::Directory => Latest::Directory,
            Scope::Unstated | Scope::Anywhere => Latest::Anywhere,
        },
        started_ns,
        cwd: c.cwd.clone(),
        real_cwd,
        live,
        argv,
        conversations,
        by_start_time: c.def.find.contains(&Way::CodexRollouts),
        always_live: c.def.find.contains(&Way::ClaudeRegistry)
            && find::config_dir(
                c.def,
                c.env.as_ref().found().map_or(&[], Vec::as_slice),
                &ground.home,
            )
            .is_some_and(|d| d.join("sessions").is_dir()),
    }
}

/// What a process's own record, its command line and the files of its directory say.
type Evidence = (
    Look<Live>,
    Option<(String, Look<Option<String>>)>,
    Look<Vec<Conversation>>,
);

fn evidence(
    c: &Candidate<'_>,
    real_cwd: Option<&str>,
    since: u64,
    ground: &Ground<'_>,
    claimed: &HashMap<ProcId, String>,
) -> Evidence {
    let claim = || {
        claimed.get(&c.process).and_then(|name| {
            name.strip_prefix(&format!("{}-", c.def.name))
                .map(str::to_owned)
        })
    };
    let named = || argv_id(c.def, &c.words).or_else(claim);
    let env = match &c.env {
        Look::Found(env) => env,
        Look::Nothing | Look::Unknown(_) => {
            let why = "its environment cannot be read";
            return (
                Look::Unknown(why.to_owned()),
                named().map(|sid| (sid, Look::Unknown(why.to_owned()))),
                Look::Unknown(why.to_owned()),
            );
        }
    };
    let at = find::Subject {
        def: c.def,
        process: c.process,
        inner: &c.inner,
        cwd: c.cwd.as_deref(),
        env,
        home: &ground.home,
    };
    let live = find::live(&at).map(|l| {
        // The conversation is resumed where it lives; the agent may have gone elsewhere.
        let owner = find::transcript(c.def, env, &ground.home, &l.sid)
            .found()
            .and_then(|t| t.owner);
        Live {
            cwd: elsewhere(owner.or(l.cwd), real_cwd),
            sid: l.sid,
            source: l.source,
            resumable: l.resumable,
        }
    });
    if matches!(live, Look::Found(_)) {
        return (live, None, Look::Nothing);
    }
    let argv = named().map(|sid| {
        let kept =
            find::transcript(c.def, env, &ground.home, &sid).map(|t| elsewhere(t.owner, real_cwd));
        (sid, kept)
    });
    let conversations = find::conversations(&at, since.saturating_sub(plan::SLACK_NS)).map(|all| {
        all.into_iter()
            .map(|t| Conversation {
                sid: t.sid,
                made_ns: t.made_ns,
                touched_ns: t.touched_ns,
                cwd: t.cwd,
            })
            .collect()
    });
    (live, argv, conversations)
}

/// A directory that is another place than the process's own; the same place keeps its spelling.
fn elsewhere(dir: Option<String>, real_cwd: Option<&str>) -> Option<String> {
    dir.filter(|d| Some(d.as_str()) != real_cwd && canonical(d).as_deref() != real_cwd)
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
