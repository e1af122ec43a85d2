//! What can be seen of each agent process: the values that the plan decides over.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::Ground;
use crate::agents::argv::{Kind, argv_id, recognise};
use crate::agents::definitions::{Definition, Definitions, Scope, Way};
use crate::agents::find;
use crate::agents::window::AgentRun;
use crate::cmd::live;
use crate::keep::hook_records::HookEvent;
use crate::resume::plan::{self, Choice, Conversation, Latest, Live, Source, Subject, WindowKey};
use crate::resume::record::Mode;
use crate::sys::bytes::{from_os, to_path};
use crate::sys::dirs;
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId, Process};

/// An agent process with what is known of it.
pub(super) struct Candidate<'a> {
    pub(super) def: &'a Definition,
    pub(super) key: Option<WindowKey>,
    pub(super) process: ProcId,
    pub(super) inner: Vec<ProcId>,
    pub(super) words: Vec<String>,
    pub(super) cwd: Option<String>,
    /// What of its environment names its configuration directory; where that cannot be read,
    /// nothing of it can be looked up: its files may lie anywhere.
    pub(super) env: Look<Vec<(String, String)>>,
    /// What it told our hook.
    pub(super) events: Vec<HookEvent>,
}

impl Candidate<'_> {
    /// The files in which the processes of this run keep saying which conversation it has.
    pub(super) fn record_files(&self, ground: &Ground<'_>) -> Vec<std::path::PathBuf> {
        let Look::Found(env) = &self.env else {
            return Vec::new();
        };
        let file = |process| find::record_file(self.def, env, &ground.home, process);
        let mut files: Vec<_> = self.processes().filter_map(file).collect();
        files.dedup();
        files
    }

    /// All processes of the run, the outermost first.
    pub(super) fn processes(&self) -> impl Iterator<Item = ProcId> {
        std::iter::once(self.process).chain(self.inner.iter().copied())
    }
}

/// Our own agent processes outside all windows: in tmux, in another terminal, over ssh.
pub(super) fn outside<'a>(ground: &Ground<'a>, in_windows: &BTreeSet<i32>) -> Vec<Candidate<'a>> {
    let defs = ground.defs;
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
            events: live::events(ground.state, &def.name, process.stat.id, &[]),
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
pub(super) fn subjects(
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
        always_live: find::always_says(
            c.def,
            c.env.as_ref().found().map_or(&[], Vec::as_slice),
            &ground.home,
        ),
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
    let live = live::live(&at, &c.events).map(|l| {
        // The conversation is resumed where it lives; the agent may have gone elsewhere.
        let owner = find::transcript(c.def, env, &ground.home, &l.sid, l.cwd.as_deref())
            .found()
            .and_then(|t| t.owner);
        Live {
            cwd: elsewhere(owner.or(l.cwd), real_cwd),
            ..l
        }
    });
    if matches!(live, Look::Found(_)) {
        return (live, None, Look::Nothing);
    }
    let argv = named().map(|sid| {
        let kept = find::transcript(c.def, env, &ground.home, &sid, c.cwd.as_deref())
            .map(|t| elsewhere(t.owner, real_cwd));
        (sid, kept)
    });
    let conversations = find::conversations(&at, since.saturating_sub(plan::SLACK_NS));
    (live, argv, conversations)
}

/// The choice as it is; a new conversation where an earlier check says that the agent's definition
/// does not fit its program, or where one is still needed. The program is the one that runs; where it
/// was called by its bare name, also the one that PATH leads to, which would be started again.
pub(super) fn usable(
    candidate: &Candidate<'_>,
    run: &AgentRun,
    defs: &Definitions,
    choice: Choice,
) -> Choice {
    let def = candidate.def;
    let word = &candidate.words[0];
    let running = std::iter::once_with(|| to_path(&super::program_file(word, run)));
    let on_path = std::iter::once(word)
        .filter(|w| !w.contains('/'))
        .filter_map(|w| dirs::find_program(Path::new(w)));
    match defs.may_use(def, running.chain(on_path)) {
        Ok(()) if run.options_are_gone() => Choice {
            why: format!("{}; the options it was started with are gone", choice.why),
            ..choice
        },
        Ok(()) => choice,
        Err(why) => Choice {
            mode: Mode::New,
            sid: String::new(),
            source: Source::None,
            why,
            cwd: None,
        },
    }
}

/// A directory that is another place than the process's own; the same place keeps its spelling.
fn elsewhere(dir: Option<String>, real_cwd: Option<&str>) -> Option<String> {
    dir.filter(|d| to_path(d).is_dir())
        .filter(|d| Some(d.as_str()) != real_cwd && canonical(d).as_deref() != real_cwd)
}

pub(super) fn environment(pid: i32, def: &Definition) -> Look<Vec<(String, String)>> {
    if def.env.is_empty() {
        return Look::Found(Vec::new());
    }
    let names: Vec<&str> = def.env.iter().map(String::as_str).collect();
    match proc::environ(pid, &names) {
        Look::Nothing => Look::Unknown("its process is gone".to_owned()),
        set => set,
    }
}

pub(super) fn canonical(path: &str) -> Option<String> {
    std::fs::canonicalize(to_path(path))
        .ok()
        .map(|p| from_os(p.as_os_str()))
}
