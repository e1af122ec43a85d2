//! Finding kitties: the one we were started from, and all others of ours.

use std::path::Path;
use std::time::Duration;

use nanoserde::DeJson;

use super::address::Address;
use super::client::{Connection, Silence};
use super::conf::{self, Conf, Pattern};
use super::listening::{listening_sockets, socket_inodes};
use crate::sys::bytes::from_os;
use crate::sys::clock;
use crate::sys::dirs::{self, var};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::look::Look;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};
use crate::sys::written::Written;

/// What our own environment says about the kitty we run in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// `KITTYMUX_TARGET`: this kitty and no other.
    pub target: Option<String>,
    /// `KITTY_LISTEN_ON`.
    pub listen_on: Option<String>,
    /// `KITTY_PID`.
    pub kitty_pid: Option<i32>,
    /// `KITTY_WINDOW_ID`.
    pub window: Option<u64>,
}

impl Surroundings {
    /// Reads our environment.
    #[must_use]
    pub fn read() -> Self {
        let text = |name| var(name).map(|v| from_os(&v));
        Self {
            target: text("KITTYMUX_TARGET"),
            listen_on: text("KITTY_LISTEN_ON"),
            kitty_pid: text("KITTY_PID").and_then(|v| v.parse().ok()),
            window: text("KITTY_WINDOW_ID").and_then(|v| v.parse().ok()),
        }
    }
}

/// A kitty that listens.
#[derive(Debug)]
pub struct Kitty {
    /// The open connection.
    pub connection: Connection,
    /// Its process.
    pub process: ProcId,
}

/// What the search found.
#[derive(Debug, Default)]
pub struct Found {
    /// The kitties, ours first.
    pub kitties: Vec<Kitty>,
    /// Whether the first is the one we were started from (or the one we were told to use).
    pub first_is_ours: bool,
    /// Kitties of ours that run without a socket we could use.
    pub deaf: Vec<i32>,
    /// The kitty we were started from, when it is one of those.
    pub deaf_parent: Option<i32>,
    /// Sockets that were there and did not serve, with the reason.
    pub silent: Vec<(String, Silence)>,
}

/// One line of `kitties/`, written by the watcher inside a kitty.
#[derive(DeJson)]
struct Registered {
    socket: String,
    pid: i32,
    start: u64,
}

/// Finds our kitty and all others. `state` is our state directory, if there is one.
///
/// # Errors
/// Only when `KITTYMUX_TARGET` names a kitty that does not answer: then there is no way round.
pub fn find(surroundings: &Surroundings, state: Option<&PrivateDir>) -> Outcome<Found> {
    let mut search = Search::default();
    if let Some(target) = &surroundings.target {
        let address = Address::parse(target).ok_or_else(|| {
            Fault::refused(format!(
                "KITTYMUX_TARGET is no socket address: \"{target}\"; it has the form unix:/path, unix:@name or fd:N"
            ))
        })?;
        let kitty = open(&address).map_err(|why| bad_target(target, &why.to_string()))?;
        search.add(kitty);
        search.found.first_is_ours = true;
    } else if let Some(address) = surroundings.listen_on.as_deref().and_then(Address::parse) {
        match open(&address) {
            // A socket path can belong to another kitty by now: ours is the one of KITTY_PID.
            Ok(kitty)
                if surroundings
                    .kitty_pid
                    .is_none_or(|pid| pid == kitty.process.pid) =>
            {
                search.add(kitty);
                search.found.first_is_ours = true;
            }
            Ok(_) => {}
            Err(why) => search.found.silent.push((address.to_string(), why)),
        }
    }
    let parent = parent();
    search.registered(state);
    search.configured(&conf::read());
    let running = search.running(&|_| true);
    if !search.found.first_is_ours
        && let Some(parent) = parent
        && let Some(at) = search
            .found
            .kitties
            .iter()
            .position(|k| k.process == parent)
    {
        search.found.kitties[..=at].rotate_right(1);
        search.found.first_is_ours = true;
    }
    search.found.deaf_parent = parent.map(|p| p.pid).filter(|pid| !search.has(*pid));
    search.found.deaf = running
        .into_iter()
        .filter(|pid| !search.has(*pid) && keeps_its_state_here(*pid))
        .collect();
    Ok(search.found)
}

/// The kitty that this process was started from, by its ancestors.
#[must_use]
pub fn parent() -> Option<ProcId> {
    proc::ancestors(proc::me().pid)
        .into_iter()
        .find(|s| is_kitty(s.id.pid, &s.comm))
        .map(|s| s.id)
}

/// Finds all kitties without asking our environment, and looks at all our processes only when
/// `everywhere` says so. `known`: where kitties listened before, and which. `grounds`: what the last
/// search rested on; while that is as it was and all that are known answer, there is none to find.
///
/// Which process one is that was known is told by its pid alone: the caller asks its connection
/// before it rests anything on it (a look at a process costs more than all the rest). A kitty that
/// keeps its state elsewhere (another home, or `KITTYMUX_STATE_DIR`) is not found everywhere: it has
/// its own timer.
#[must_use]
pub fn all(
    state: &PrivateDir,
    known: &[(Address, ProcId)],
    grounds: &mut Written,
    everywhere: bool,
) -> Vec<Kitty> {
    let mut search = Search::default();
    // Before the first connection: a kitty that was woken takes part of the machine from us.
    let as_it_was = !everywhere && !grounds.paths.is_empty() && grounds.is_same();
    for (address, process) in known {
        search.try_known(address, *process);
    }
    let missed = search.found.silent.len();
    if as_it_was && missed == 0 {
        return search.found.kitties;
    }
    *grounds = Written::default();
    let now = clock::wall_ns();
    grounds.add(&state.join(REGISTERED), now);
    search.registered(Some(state));
    let conf = conf::read_noting(grounds);
    if let Some(dir) = conf.sockets() {
        grounds.add(&dir, now);
    }
    search.configured(&conf);
    let new = search.found.silent[missed..].iter();
    if missed > 0 || new.map(|(address, _)| address).any(|a| is_new(a)) {
        // One that does not listen yet may do so at the next look, and another one in the place of one
        // that is gone.
        *grounds = Written::default();
    }
    if everywhere {
        search.running(&keeps_its_state_here);
    }
    search.found.kitties
}

/// Whether a socket may be of a kitty that is just starting.
fn is_new(address: &str) -> bool {
    let Some(Address::Path(path)) = Address::parse(address) else {
        return false;
    };
    let written = std::fs::symlink_metadata(path).and_then(|m| m.modified());
    let age = written.map(|w| w.elapsed().unwrap_or_else(|e| e.duration()));
    age.is_ok_and(|age| age < STARTS)
}

/// How long a kitty that starts may take until it listens.
const STARTS: Duration = Duration::from_secs(60);

/// The directory of our state in which watchers write down where their kitty listens.
const REGISTERED: &str = "kitties";

/// Whether a process would keep its state where we do.
fn keeps_its_state_here(pid: i32) -> bool {
    const NAMES: [&str; 3] = ["KITTYMUX_STATE_DIR", "XDG_STATE_HOME", "HOME"];
    let Look::Found(set) = proc::environ(pid, &NAMES) else {
        return false;
    };
    let value = |name: &str| {
        let found = set.iter().find(|(n, v)| n == name && v.starts_with('/'));
        found.map(|(_, value)| value.clone())
    };
    let below = |name: &str, dir: &str| value(name).map(|v| format!("{v}/{dir}"));
    let theirs = value("KITTYMUX_STATE_DIR")
        .or_else(|| below("XDG_STATE_HOME", "kittymux"))
        .or_else(|| below("HOME", ".local/state/kittymux"));
    let ours = crate::sys::dirs::state().ok();
    theirs.map(|t| crate::sys::bytes::to_path(&t)) == ours
}

/// The kitty that was named cannot be used, and no other is taken in its place.
pub fn bad_target(target: &str, why: &str) -> Fault {
    Fault::refused(format!(
        "KITTYMUX_TARGET {target}: {why}; unset KITTYMUX_TARGET, or set it to the socket of a kitty that runs"
    ))
}

#[derive(Default)]
struct Search {
    found: Found,
    tried: Vec<Address>,
}

impl Search {
    fn has(&self, pid: i32) -> bool {
        self.found.kitties.iter().any(|k| k.process.pid == pid)
    }

    fn add(&mut self, kitty: Kitty) {
        self.tries(kitty.connection.address());
        if !self.has(kitty.process.pid) {
            self.found.kitties.push(kitty);
        }
    }

    /// Whether it is tried now for the first time; there are few.
    fn tries(&mut self, address: &Address) -> bool {
        let is_first = !self.tried.contains(address);
        if is_first {
            self.tried.push(address.clone());
        }
        is_first
    }

    fn try_address(&mut self, address: Address) {
        if !self.tries(&address) {
            return;
        }
        match open(&address) {
            Ok(kitty) => self.add(kitty),
            Err(why) => self.found.silent.push((address.to_string(), why)),
        }
    }

    /// One that was there at the last look: which process it is then needs no look at it.
    fn try_known(&mut self, address: &Address, process: ProcId) {
        if !self.tries(address) {
            return;
        }
        match Connection::open(address) {
            Ok(connection) if connection.pid() == process.pid => self.add(Kitty {
                connection,
                process,
            }),
            Ok(connection) => match with_process(connection) {
                Ok(kitty) => self.add(kitty),
                Err(why) => self.found.silent.push((address.to_string(), why)),
            },
            Err(why) => self.found.silent.push((address.to_string(), why)),
        }
    }

    /// What watchers wrote down, of kitties that still run.
    fn registered(&mut self, state: Option<&PrivateDir>) {
        let Some(dir) =
            state.and_then(|s| PrivateDir::existing(&s.join(REGISTERED)).ok().flatten())
        else {
            return;
        };
        let boot = crate::sys::clock::boot8();
        for name in dir
            .names()
            .unwrap_or_default()
            .iter()
            .filter(|n| n.starts_with(&boot))
        {
            let Ok(Some(bytes)) = dir.read(name, 4096) else {
                continue;
            };
            let Ok(entry) = crate::sys::json::decode::<Registered>(&bytes, 4096) else {
                continue;
            };
            if !self.has(entry.pid)
                && proc::is_same(ProcId {
                    pid: entry.pid,
                    start: entry.start,
                })
                && let Some(address) = Address::parse(&entry.socket)
            {
                self.try_address(address);
            }
        }
    }

    /// Sockets of the form that kitty.conf names, of processes that still run.
    fn configured(&mut self, conf: &Conf) {
        let Some(pattern) = conf.listen_on.as_deref().and_then(conf::pattern) else {
            return;
        };
        let Pattern::Files { ref dir, .. } = pattern else {
            return;
        };
        for name in dirs::names(dir) {
            if pattern
                .pid_in(&from_os(&name))
                .is_some_and(|pid| !self.has(pid) && proc::is_alive(pid))
            {
                self.try_address(Address::Path(dir.join(name)));
            }
        }
    }

    /// Our own kitty processes and the sockets they listen on, as far as they are wanted; gives all
    /// their pids.
    fn running(&mut self, is_wanted: &dyn Fn(i32) -> bool) -> Vec<i32> {
        let mut pids = Vec::new();
        let mut listening = None;
        for pid in proc::own_named(&is_kittys_name) {
            let Some(stat) = proc::stat(pid) else {
                continue;
            };
            if !is_kitty(pid, &stat.comm) || stat.state == 'Z' {
                continue;
            }
            pids.push(pid);
            if self.has(pid) || !is_wanted(pid) {
                continue;
            }
            let sockets = listening.get_or_insert_with(listening_sockets);
            for inode in socket_inodes(pid) {
                if let Some((_, address)) = sockets.iter().find(|(i, _)| *i == inode) {
                    self.try_address(address.clone());
                }
            }
        }
        // A child that has not become its program yet still has kitty's name.
        let all = pids.clone();
        pids.retain(|pid| proc::stat(*pid).is_none_or(|s| !all.contains(&s.parent)));
        pids
    }
}

fn open(address: &Address) -> Result<Kitty, Silence> {
    with_process(Connection::open(address)?)
}

fn with_process(connection: Connection) -> Result<Kitty, Silence> {
    let process = connection
        .process()
        .ok_or_else(|| Silence::Dead("its process is gone".to_owned()))?;
    Ok(Kitty {
        connection,
        process,
    })
}

/// Whether a process may be kitty by its short name: Nix and macOS start it through a wrapper that
/// gives another one.
fn is_kittys_name(comm: &[u8]) -> bool {
    comm == b"kitty" || comm == b"kitty-wrapped" || comm.starts_with(b".kitty")
}

/// Whether a process is kitty itself.
fn is_kitty(pid: i32, comm: &str) -> bool {
    if comm == "kitty" {
        return true;
    }
    is_kittys_name(comm.as_bytes())
        && matches!(proc::exe(pid), Look::Found(exe) if Path::new(&exe).file_name().is_some_and(|n| n == "kitty" || n == ".kitty-wrapped"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_target_is_an_error_and_never_a_fallback() {
        for target in [
            "nonsense",
            "tcp:localhost:5",
            "unix:/nonexistent/kitty",
            "fd:9999",
        ] {
            let surroundings = Surroundings {
                target: Some(target.to_owned()),
                ..Surroundings::default()
            };
            let fault = find(&surroundings, None).expect_err(target).to_string();
            assert!(fault.starts_with("KITTYMUX_TARGET"), "{fault}");
        }
    }
}
