//! Where else a conversation is open now.

use std::path::Path;
use std::time::Duration;

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

fn is_same_place(a: &str, b: &str) -> bool {
    let real = |p: &str| std::fs::canonicalize(crate::sys::bytes::to_path(p)).ok();
    a == b || (real(a).is_some() && real(a) == real(b))
}

/// Finds the live process that has the wanted conversation open: by its live record, else by its
/// command line or its claim. A live record that names another conversation overrules both.
#[must_use]
pub fn find(
    defs: &Definitions,
    def: &Definition,
    home: &Path,
    claims: Option<&Claims>,
    wanted: Wanted<'_>,
) -> Option<Holder> {
    let me = proc::me();
    let claimed = match wanted {
        Wanted::Session(sid) => claims
            .and_then(|c| c.holder(&def.name, sid))
            .filter(|p| *p != me),
        Wanted::LatestOf(_) => None,
    };
    for pid in proc::own_pids() {
        if pid == me.pid {
            continue;
        }
        let Look::Found(argv) = proc::argv(pid) else {
            continue;
        };
        if argv.get(1).is_some_and(|w| w == "resume-prompt") {
            continue;
        }
        let Some(stat) = proc::stat(pid).filter(|s| s.state != 'Z') else {
            continue;
        };
        let exe = || proc::exe(pid).found();
        let Some(call) = recognise(defs, &argv, exe().as_deref(), &stat.comm) else {
            continue;
        };
        if call.agent != def.name || call.kind != Kind::Interactive {
            continue;
        }
        let names: Vec<&str> = def.env.iter().map(String::as_str).collect();
        let env = proc::environ(pid, &names).found().unwrap_or_default();
        let subject = find::Subject {
            def,
            process: stat.id,
            inner: &[],
            cwd: None,
            env: &env,
            home,
        };
        let has = match wanted {
            Wanted::Session(sid) => match find::live(&subject) {
                Look::Found(live) => live.sid == sid,
                _ => argv_id(def, &call.words).as_deref() == Some(sid) || claimed == Some(stat.id),
            },
            // Its newest conversation is most likely the one that runs there.
            Wanted::LatestOf(dir) => proc::cwd(pid)
                .found()
                .is_some_and(|cwd| is_same_place(&cwd, dir)),
        };
        if has {
            return Some(place(stat.id));
        }
    }
    None
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
