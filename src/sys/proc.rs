//! Processes: who they are, what they run, where, and what they hold open.
//!
//! A process is a pid *and* a start time: pids come back. What is read in more than one step is read
//! from a [`Held`] process, and dropped when it is another one by then.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
use linux as os;
#[cfg(target_os = "macos")]
use macos as os;
#[cfg(target_os = "macos")]
pub use macos::boot_session as macos_boot_session;

use super::look::Look;

/// A process, told apart from a later one with the same pid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcId {
    /// The process id.
    pub pid: i32,
    /// When it started: clock ticks since boot on Linux (field 22 of its stat), microseconds since
    /// the epoch on macOS.
    pub start: u64,
}

/// What the kernel says of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Which one.
    pub id: ProcId,
    /// The short name (at most 15 bytes; may hold blanks and brackets).
    pub comm: String,
    /// `R`, `S`, `D`, `T` (stopped), `Z`, …
    pub state: char,
    /// The parent's pid.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// Session: the pid of its leader, which in a kitty window is the window's own process.
    pub session: i32,
    /// The controlling terminal's device number; 0: none.
    pub tty: i32,
    /// The group in the foreground of that terminal; -1: none.
    pub foreground: i32,
}

/// What one look at a process gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// What the kernel says.
    pub stat: Stat,
    /// The words it was started with, byte-exact; [`Look::Nothing`] for a process that has none.
    pub argv: Look<Vec<String>>,
    /// The program's file; a deleted one is named as it was.
    pub exe: Look<String>,
    /// The directory it is in.
    pub cwd: Look<String>,
}

/// A process that is held: all that it answers is its own, also when its pid is given away.
#[derive(Debug)]
pub struct Held {
    process: os::Held,
    stat: Stat,
}

impl Held {
    /// Takes hold of the process that has this pid now.
    #[must_use]
    pub fn open(pid: i32) -> Option<Self> {
        let process = os::Held::open(pid)?;
        let stat = process.stat()?;
        Some(Self { process, stat })
    }

    /// What the kernel said of it when it was taken hold of.
    #[must_use]
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Everything about it, or `None` when it is gone.
    #[must_use]
    pub fn process(&self) -> Option<Process> {
        self.process.process(&self.stat)
    }

    /// Its children.
    #[must_use]
    pub fn children(&self) -> Vec<i32> {
        self.process.children(self.stat.id.pid)
    }
}

/// Everything about one process, or `None` when it is gone (or became another one meanwhile).
#[must_use]
pub fn look(pid: i32) -> Option<Process> {
    Held::open(pid)?.process()
}

/// The kernel's line about a process.
#[must_use]
pub fn stat(pid: i32) -> Option<Stat> {
    os::stat(pid)
}

/// The start time of a process.
#[must_use]
pub fn start(pid: i32) -> Option<u64> {
    stat(pid).map(|s| s.id.start)
}

/// Whether this very process is still there.
#[must_use]
pub fn is_same(id: ProcId) -> bool {
    start(id.pid) == Some(id.start)
}

/// Whether this very process still runs: one that ended and was not waited for does not.
#[must_use]
pub fn is_running(id: ProcId) -> bool {
    stat(id.pid).is_some_and(|s| s.id == id && !matches!(s.state, 'Z' | 'X'))
}

/// Whether there is a process with this pid.
#[must_use]
pub fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|s| s.state != 'Z')
}

/// The words a process was started with.
#[must_use]
pub fn argv(pid: i32) -> Look<Vec<String>> {
    os::argv(pid)
}

/// The program's file, without the mark of a deleted one.
#[must_use]
pub fn exe(pid: i32) -> Look<String> {
    os::exe(pid)
}

/// The directory a process is in.
#[must_use]
pub fn cwd(pid: i32) -> Look<String> {
    os::cwd(pid)
}

/// The variables `names` of a process's own start environment (only those that are set).
#[must_use]
pub fn environ(pid: i32, names: &[&str]) -> Look<Vec<(String, String)>> {
    os::environ(pid, names)
}

/// The files a process holds open, by path.
#[must_use]
pub fn open_files(pid: i32) -> Look<Vec<String>> {
    os::open_files(pid)
}

/// The children of a process.
#[must_use]
pub fn children(pid: i32) -> Vec<i32> {
    os::children(pid)
}

/// The pids of all our own processes.
#[must_use]
pub fn own_pids() -> Vec<i32> {
    os::own_pids()
}

/// The pids of our own processes whose short name (as in [`Stat::comm`]) `is` accepts.
#[must_use]
pub fn own_named(is: &dyn Fn(&[u8]) -> bool) -> Vec<i32> {
    os::own_named(is)
}

/// When a process started, in nanoseconds of wall time.
#[must_use]
pub fn started_wall_ns(id: ProcId) -> Option<u64> {
    os::started_wall_ns(id)
}

/// Our own process.
#[must_use]
pub fn me() -> ProcId {
    let pid = rustix::process::getpid().as_raw_nonzero().get();
    ProcId {
        pid,
        start: start(pid).unwrap_or(0),
    }
}

/// The parent, its parent, and so on, nearest first; ends at the top or after 64.
#[must_use]
pub fn ancestors(pid: i32) -> Vec<Stat> {
    let mut chain = Vec::new();
    let mut next = stat(pid).map_or(0, |s| s.parent);
    while next > 1 && chain.len() < 64 {
        let Some(stat) = stat(next) else { break };
        next = stat.parent;
        chain.push(stat);
    }
    chain
}

/// Everything about our parent, its parent and so on, nearest first; at most 64. It ends below the
/// first without a terminal that stands above one with one: whoever gives the terminal.
#[must_use]
pub fn above() -> Vec<Process> {
    let mut chain: Vec<Process> = Vec::new();
    let mut next = rustix::process::getppid().map_or(0, rustix::process::Pid::as_raw_pid);
    let mut on_terminal = false;
    while next > 1 && chain.len() < 64 {
        let Some(held) = Held::open(next) else { break };
        if on_terminal && held.stat().tty == 0 {
            break;
        }
        on_terminal |= held.stat().tty != 0;
        let Some(process) = held.process() else { break };
        next = process.stat.parent;
        chain.push(process);
    }
    chain
}

/// Splits the text between NUL bytes: `a\0b\0` → `[a, b]`; empty words are kept.
#[cfg(any(test, not(target_os = "macos")))]
fn words(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    bytes
        .split(|b| *b == 0)
        .map(super::bytes::from_bytes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_can_look_at_ourselves() {
        let me = me();
        let process = look(me.pid).expect("we are there");
        assert_eq!(process.stat.id, me);
        assert!(is_same(me) && is_alive(me.pid));
        assert!(!is_same(ProcId {
            start: me.start + 1,
            ..me
        }));
        assert!(matches!(process.argv, Look::Found(ref words) if !words.is_empty()));
        assert!(matches!(process.exe, Look::Found(_)));
        assert!(own_pids().contains(&me.pid));
        assert!(!is_alive(999_999_999));
        let wall = started_wall_ns(me).expect("a start time");
        let age = crate::sys::clock::wall_ns().abs_diff(wall) / 1_000_000_000;
        assert!(age < 3600, "{age}");
    }

    #[test]
    fn those_above_us_are_our_ancestors() {
        let above: Vec<ProcId> = above().iter().map(|p| p.stat.id).collect();
        let all: Vec<ProcId> = ancestors(me().pid).iter().map(|s| s.id).collect();
        assert!(
            !above.is_empty() && all.starts_with(&above),
            "{above:?} {all:?}"
        );
    }

    #[test]
    fn words_keep_empty_ones() {
        assert_eq!(words(b"a\0\0b\0"), ["a", "", "b"]);
        assert_eq!(words(b"a\0\0"), ["a", ""]);
    }
}
