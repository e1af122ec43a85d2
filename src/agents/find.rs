//! Where an agent's conversations are: in its own files, read and never written.
//!
//! Every such file is somebody else's: reads are bounded, no pipe or device is opened, every text
//! goes through the JSON guard, and every answer that belongs to a process is dropped when that
//! process is no longer the same.

mod agy_last;
mod bounded;
mod codex_held;
mod codex_rollouts;
mod cursor_chats;
mod folders;
mod gemini_projects;
mod held;
mod mark;
mod md5;
pub mod paths;
mod pid_file;
mod run_files;
mod terminal;
mod transcripts;

use std::path::{Path, PathBuf};

use super::definitions::{Definition, Way};
use crate::sys::bytes::{from_os, to_path};
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// Whose conversations are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The agent.
    pub def: &'a Definition,
    /// Its outermost process.
    pub process: ProcId,
    /// The same run's inner processes (see [`super::window::AgentRun`]).
    pub inner: &'a [ProcId],
    /// The directory it is in.
    pub cwd: Option<&'a str>,
    /// The variables of its environment that `def.env` names, as far as they are set.
    pub env: &'a [(String, String)],
    /// The home directory.
    pub home: &'a Path,
}

/// The conversation that a process has open, by a record that belongs to this very process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// The session id.
    pub sid: String,
    /// The directory it is in, as the agent says.
    pub cwd: Option<String>,
    /// What said so: `registry`, `held file`, `in-use mark` `terminal mark` or `hook`.
    pub source: &'static str,
    /// Whether a transcript is there that is not empty.
    pub resumable: bool,
}

/// A conversation of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The session id.
    pub sid: String,
    /// When it was made, in nanoseconds of wall time, where its id says so.
    pub made_ns: Option<u64>,
    /// When its transcript was last written, in nanoseconds of wall time; `None`: nothing was said
    /// in it yet, so there is no transcript.
    pub touched_ns: Option<u64>,
    /// The directory that owns it, as the agent spelled it; empty: nothing says.
    pub cwd: String,
}

/// The stored text of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The directory that owns it, as the agent spelled it.
    pub owner: Option<String>,
}

/// Where an agent's files are.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    def: &'a Definition,
    /// Its configuration directory.
    root: &'a Path,
    home: &'a Path,
}

/// The conversation that the subject's process has open.
///
/// The first way with an answer wins. *Nothing*: it has none yet, or does not say.
#[must_use]
pub fn live(subject: &Subject<'_>) -> Look<Live> {
    let root = config_dir(subject.def, subject.env, subject.home);
    let place = root.as_ref().map(|root| Place {
        def: subject.def,
        root,
        home: subject.home,
    });
    let mut unknown = None;
    for way in subject.def.find.iter().filter(|w| w.is_live()) {
        let answer = match (way, &place) {
            (Way::CodexHeld, _) => codex_held::live(subject),
            (Way::Held { at, children }, _) => held::live(subject, at, *children),
            (_, None) => Look::Unknown(NO_ROOT.to_owned()),
            (Way::PidFile { at, needs, .. }, Some(place)) => {
                pid_file::live(subject, place, at, needs)
            }
            (Way::RunFiles { at }, Some(place)) => run_files::live(subject, place, at),
            (Way::Mark { at }, Some(place)) => mark::live(subject, place, at),
            (Way::Terminal { at }, Some(place)) => terminal::live(subject, place, at),
            _ => continue,
        };
        match answer {
            Look::Found(live) => return Look::Found(live),
            Look::Nothing => {}
            Look::Unknown(why) => unknown = unknown.or(Some(why)),
        }
    }
    unknown.map_or(Look::Nothing, Look::Unknown)
}

/// How much earlier than a process's start a file of its own may seem to be written: clocks of files
/// and of processes are coarse.
const SLACK_NS: u64 = 200_000_000;

/// Whether a file was last written before this process began: it is an earlier one's.
fn is_before(written_ns: u64, began_ns: Option<u64>) -> bool {
    began_ns.is_some_and(|began| written_ns.saturating_add(SLACK_NS) < began)
}

/// What a record of `process` says, once that process is known to be the same still.
fn live_of(
    subject: &Subject<'_>,
    process: ProcId,
    sid: &str,
    cwd: Option<String>,
    source: &'static str,
) -> Look<Live> {
    let Some(sid) = subject.def.id.accept(sid) else {
        return Look::Nothing;
    };
    let near = cwd.as_deref().or(subject.cwd);
    let there = transcript(subject.def, subject.env, subject.home, &sid, near);
    if !proc::is_same(process) {
        return Look::Nothing;
    }
    Look::Found(Live {
        // One that cannot be looked up is believed: the process says that it has it.
        resumable: !matches!(there, Look::Nothing),
        sid,
        cwd: cwd.or(there.found().and_then(|t| t.owner)),
        source,
    })
}

/// The file in which a process keeps saying which conversation it has, or the directory in which
/// such files appear, where its agent has one.
#[must_use]
pub fn record_file(
    def: &Definition,
    env: &[(String, String)],
    home: &Path,
    process: ProcId,
) -> Option<PathBuf> {
    let root = config_dir(def, env, home)?;
    let place = Place {
        def,
        root: &root,
        home,
    };
    def.find.iter().find_map(|way| match way {
        Way::PidFile { at, .. } => Some(pid_file::file(&root, at, process)),
        Way::Terminal { at } => terminal::file(&place, at, process),
        Way::Mark { at } => mark::directory(&place, at),
        Way::RunFiles { at } => {
            let cwd = proc::cwd(process.pid).found()?;
            run_files::directory(&place, at, &cwd).filter(|_| proc::is_same(process))
        }
        _ => None,
    })
}

/// Whether every process of the agent has a record of its own: the directory of these is there.
#[must_use]
pub fn always_says(def: &Definition, env: &[(String, String)], home: &Path) -> bool {
    let Some(root) = config_dir(def, env, home) else {
        return false;
    };
    def.find.iter().any(|way| match way {
        Way::PidFile {
            at, always: true, ..
        } => root.join(at).parent().is_some_and(Path::is_dir),
        _ => false,
    })
}

/// The conversations of the subject's directory that were touched at `since_ns` (wall time) or
/// later, the last touched first.
#[must_use]
pub fn conversations(subject: &Subject<'_>, since_ns: u64) -> Look<Vec<Conversation>> {
    let Some(way) = subject.def.find.iter().find(|w| !w.is_live()) else {
        return Look::Unknown(no_store(subject.def));
    };
    let Some(cwd) = subject.cwd else {
        return Look::Unknown("its directory is not known".to_owned());
    };
    let Some(root) = config_dir(subject.def, subject.env, subject.home) else {
        return Look::Unknown(NO_ROOT.to_owned());
    };
    let place = Place {
        def: subject.def,
        root: &root,
        home: subject.home,
    };
    let spellings = spellings(cwd);
    let answer = match way {
        Way::Transcripts { at, unless } => match moved(unless.as_deref(), subject.env) {
            Some(why) => Look::Unknown(why),
            None => transcripts::conversations(&place, at, &spellings, since_ns),
        },
        Way::Folders { at, owner } => {
            folders::conversations(&place, at, owner, &spellings, since_ns)
        }
        Way::CodexRollouts => {
            codex_rollouts::conversations(subject.def, &root, &spellings, since_ns)
        }
        Way::GeminiProjects => gemini_projects::conversations(&place, &spellings, since_ns),
        Way::CursorChats => cursor_chats::conversations(&place, &spellings, since_ns),
        Way::AgyLast => agy_last::conversations(&place, &spellings, since_ns),
        _ => Look::Unknown(no_store(subject.def)),
    };
    answer.map(|mut list| {
        list.sort_by(|a, b| (b.touched_ns, &a.sid).cmp(&(a.touched_ns, &b.sid)));
        list
    })
}

/// The transcript of the conversation `sid`. *Nothing*: we looked, and it is absent or empty. `near`
/// is the directory it most likely belongs to.
#[must_use]
pub fn transcript(
    def: &Definition,
    env: &[(String, String)],
    home: &Path,
    sid: &str,
    near: Option<&str>,
) -> Look<Transcript> {
    let Some(sid) = def.id.accept(sid) else {
        return Look::Nothing;
    };
    let Some(way) = def.find.iter().find(|w| !w.is_live()) else {
        return Look::Unknown(no_store(def));
    };
    let Some(root) = config_dir(def, env, home) else {
        return Look::Unknown(NO_ROOT.to_owned());
    };
    let place = Place {
        def,
        root: &root,
        home,
    };
    match way {
        Way::Transcripts { at, unless } => match moved(unless.as_deref(), env) {
            Some(why) => Look::Unknown(why),
            None => transcripts::transcript(&place, at, &sid, near),
        },
        Way::Folders { at, owner } => folders::transcript(&place, at, owner, &sid),
        Way::CodexRollouts => codex_rollouts::transcript(&root, &sid),
        Way::GeminiProjects => gemini_projects::transcript(&place, &sid),
        Way::CursorChats => cursor_chats::transcript(&place, &sid),
        Way::AgyLast => agy_last::transcript(&place, &sid),
        _ => Look::Unknown(no_store(def)),
    }
}

/// Why a store is elsewhere, when a variable moves it.
fn moved(unless: Option<&str>, env: &[(String, String)]) -> Option<String> {
    let name = unless?;
    let set = env.iter().any(|(n, v)| n == name && !v.is_empty());
    set.then(|| format!("{name} moves its conversations"))
}

const NO_ROOT: &str = "its configuration directory is not known";

fn no_store(def: &Definition) -> String {
    format!(
        "kittymux cannot read where {} keeps its conversations",
        def.name
    )
}

/// The agent's configuration directory: the first variable of the definition that is set, else the
/// usual one below home. `None` when a variable holds a relative path (it then depends on where the
/// agent was started: better not to look than to look elsewhere) or nothing says.
#[must_use]
pub fn config_dir(def: &Definition, env: &[(String, String)], home: &Path) -> Option<PathBuf> {
    let moves_a_part = |name: &&String| {
        let unless = |w: &Way| matches!(w, Way::Transcripts { unless: Some(n), .. } if n == *name);
        def.find.iter().any(unless)
    };
    let names = def.env.iter().filter(|n| !moves_a_part(n));
    let set = names.into_iter().find_map(|name| {
        let (_, value) = env.iter().find(|(n, v)| n == name && !v.is_empty())?;
        Some(value)
    });
    match set {
        Some(value) => Some(to_path(value)).filter(|p| p.is_absolute()),
        None => def.config_dir.as_ref().map(|dir| home.join(dir)),
    }
}

/// Both spellings of a directory: as given, and with all links resolved.
fn spellings(cwd: &str) -> Vec<String> {
    let mut found = vec![trimmed(cwd)];
    if let Ok(real) = std::fs::canonicalize(to_path(cwd)) {
        let real = from_os(real.as_os_str());
        if !found.contains(&real) {
            found.push(real);
        }
    }
    found
}

fn trimmed(path: &str) -> String {
    let cut = path.trim_end_matches('/');
    if cut.is_empty() { path } else { cut }.to_owned()
}

/// Whether `path` is one of the spellings, itself or with its links resolved.
fn is_one_of(spellings: &[String], path: &str) -> bool {
    let path = trimmed(path);
    spellings.contains(&path)
        || std::fs::canonicalize(to_path(&path))
            .is_ok_and(|real| spellings.contains(&from_os(real.as_os_str())))
}

#[cfg(test)]
mod codex_tests;
#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod others_tests;
#[cfg(test)]
mod tests;
