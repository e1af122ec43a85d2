//! Where else a conversation is open now.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use super::live;
use crate::agents::argv::{Kind, argv_id, recognise};
use crate::agents::definitions::{Definition, Definitions};
use crate::agents::find;
use crate::keep::claims::Claims;
use crate::keep::state::State;
use crate::kitty::address::Address;
use crate::kitty::client::Connection;
use crate::kitty::commands;
use crate::kitty::discover::{self, Surroundings};
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// The process that has the conversation, and the window it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Where, for a person: `in window 7 of this kitty`.
    pub place: String,
    window: Option<WindowOf>,
}

/// A window of a kitty.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WindowOf {
    id: u64,
    /// The kitty's process.
    kitty: i32,
    /// Where that kitty listens, by the environment it gave to the window.
    at: Option<Address>,
}

impl Holder {
    /// Whether it is in a window of a kitty, which can be brought to the front.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.window.is_some()
    }
}

/// What may be open elsewhere.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// The conversation with this id.
    Session(&'a str),
    /// The newest conversation of this directory.
    LatestOf(&'a str),
}

/// Whether two directories are one place.
#[must_use]
pub fn is_same_place(a: &str, b: &str) -> bool {
    let real = |p: &str| std::fs::canonicalize(crate::sys::bytes::to_path(p)).ok();
    a == b || (real(a).is_some() && real(a) == real(b))
}

/// Where conversations are looked for.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The definitions.
    pub defs: &'a Definitions,
    /// The home directory.
    pub home: &'a Path,
    /// The claims, if there are any.
    pub claims: Option<&'a Claims>,
    /// Our state, for what agents told our hook.
    pub state: Option<&'a State>,
}

/// A live agent process with a conversation on its terminal.
struct Agent<'a> {
    def: &'a Definition,
    process: ProcId,
    words: Vec<String>,
}

/// All live agents of ours, but this process and prompts that wait.
fn agents(defs: &Definitions) -> impl Iterator<Item = Agent<'_>> {
    let me = proc::me();
    proc::own_pids()
        .into_iter()
        .filter(move |pid| *pid != me.pid)
        .filter_map(move |pid| {
            let argv = proc::argv(pid).found()?;
            if argv.get(1).is_some_and(|w| w == "resume-prompt") {
                return None;
            }
            let stat = proc::stat(pid).filter(|s| s.state != 'Z')?;
            let call = recognise(defs, &argv, proc::exe(pid).found().as_deref(), &stat.comm)?;
            (call.kind == Kind::Interactive).then_some(())?;
            Some(Agent {
                def: defs.get(&call.agent)?,
                process: stat.id,
                words: call.words,
            })
        })
}

impl Agent<'_> {
    /// The conversations it has: by its live record, else by its command line and its claim. A live
    /// record that names another conversation overrules both.
    fn conversations(&self, ground: Ground<'_>, claimed: &HashMap<ProcId, String>) -> Vec<String> {
        let def = self.def;
        let names: Vec<&str> = def.env.iter().map(String::as_str).collect();
        let env = proc::environ(self.process.pid, &names)
            .found()
            .unwrap_or_default();
        let subject = find::Subject {
            def,
            process: self.process,
            inner: &[],
            cwd: None,
            env: &env,
            home: ground.home,
        };
        let events = live::events(ground.state, &def.name, self.process, &[]);
        if let Look::Found(live) = live::live(&subject, &events) {
            return vec![live.sid];
        }
        let claim = claimed
            .get(&self.process)
            .and_then(|name| name.strip_prefix(&format!("{}-", def.name)))
            .map(str::to_owned);
        argv_id(def, &self.words).into_iter().chain(claim).collect()
    }
}

fn claimed(claims: Option<&Claims>) -> HashMap<ProcId, String> {
    claims.map_or_else(HashMap::new, |c| c.all().into_iter().collect())
}

/// Finds the live process of `def` that has the wanted conversation open.
#[must_use]
pub fn find(ground: Ground<'_>, def: &Definition, wanted: Wanted<'_>) -> Option<Holder> {
    let claimed = claimed(ground.claims);
    agents(ground.defs)
        .filter(|agent| agent.def.name == def.name)
        .find(|agent| match wanted {
            Wanted::Session(sid) => agent
                .conversations(ground, &claimed)
                .iter()
                .any(|s| s == sid),
            // Its newest conversation is most likely the one that runs there.
            Wanted::LatestOf(dir) => proc::cwd(agent.process.pid)
                .found()
                .is_some_and(|cwd| is_same_place(&cwd, dir)),
        })
        .map(|agent| place(agent.process))
}

/// What is open now, in windows and outside.
#[derive(Debug, Default)]
pub struct OpenNow {
    sessions: BTreeMap<(String, String), ProcId>,
    directories: Vec<(String, Option<String>)>,
}

impl OpenNow {
    /// Looks at all live agents of ours.
    #[must_use]
    pub fn look(ground: Ground<'_>) -> Self {
        let claimed = claimed(ground.claims);
        let mut open = Self::default();
        for agent in agents(ground.defs) {
            let name = &agent.def.name;
            for sid in agent.conversations(ground, &claimed) {
                open.sessions.insert((name.clone(), sid), agent.process);
            }
            let cwd = proc::cwd(agent.process.pid).found();
            open.directories.push((name.clone(), cwd));
        }
        open
    }

    /// Where a session is open, for a person; `None`: nowhere.
    #[must_use]
    pub fn holder(&self, agent: &str, sid: &str) -> Option<String> {
        let key = (agent.to_owned(), sid.to_owned());
        self.sessions.get(&key).map(|p| place(*p).place)
    }

    /// Whether the agent runs in a directory, or anywhere where none is named; where nobody can tell,
    /// it may.
    #[must_use]
    pub fn runs_in(&self, agent: &str, dir: Option<&str>) -> bool {
        self.directories.iter().any(|(name, cwd)| {
            name == agent
                && match (dir, cwd) {
                    (Some(dir), Some(cwd)) => is_same_place(cwd, dir),
                    _ => true,
                }
        })
    }
}

/// Where a process is: its window, when the parents of the process lead to that kitty (a tmux
/// server keeps the variables of whoever started it).
fn place(process: ProcId) -> Holder {
    let names = ["KITTY_WINDOW_ID", "KITTY_PID", "KITTY_LISTEN_ON"];
    let set = proc::environ(process.pid, &names)
        .found()
        .unwrap_or_default();
    let value = |name: &str| set.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let kitty: Option<i32> = value("KITTY_PID").and_then(|v| v.parse().ok());
    let window: Option<u64> = value("KITTY_WINDOW_ID").and_then(|v| v.parse().ok());
    let is_under = |below: i32, pid: i32| proc::ancestors(below).iter().any(|s| s.id.pid == pid);
    match (kitty, window) {
        (Some(kitty), Some(window)) if is_under(process.pid, kitty) => {
            let which = if is_under(proc::me().pid, kitty) {
                "this kitty".to_owned()
            } else {
                format!("another kitty (pid {kitty})")
            };
            Holder {
                place: format!("in window {window} of {which}"),
                window: Some(WindowOf {
                    id: window,
                    kitty,
                    at: value("KITTY_LISTEN_ON").and_then(Address::parse),
                }),
            }
        }
        _ => Holder {
            place: format!("outside kitty's windows (pid {})", process.pid),
            window: None,
        },
    }
}

/// Brings its window to the front; whether that worked.
#[must_use]
pub fn focus(holder: &Holder, state: Option<&State>) -> bool {
    let Some(window) = &holder.window else {
        return false;
    };
    connect(window, state)
        .and_then(|mut kitty| {
            kitty
                .ask(&commands::focus_window(window.id), Duration::from_secs(2))
                .ok()
        })
        .is_some_and(|reply| reply.into_data().is_ok())
}

/// The kitty of the window. The address in the environment can belong to another kitty by now, or
/// be a descriptor of that process.
fn connect(window: &WindowOf, state: Option<&State>) -> Option<Connection> {
    let is_it = |c: &Connection| c.process().is_some_and(|p| p.pid == window.kitty);
    let named = window
        .at
        .as_ref()
        .filter(|at| !matches!(at, Address::Inherited(_)))
        .and_then(|at| Connection::open(at).ok())
        .filter(is_it);
    if named.is_some() {
        return named;
    }
    let around = Surroundings {
        target: None,
        ..Surroundings::read()
    };
    let found = discover::find(&around, state.map(|s| &s.dir)).ok()?;
    found
        .kitties
        .into_iter()
        .find(|k| k.process.pid == window.kitty)
        .map(|k| k.connection)
}
