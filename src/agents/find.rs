//! Where an agent's conversations are: in its own files, read and never written.
//!
//! Every such file is somebody else's: reads are bounded, no pipe or device is opened, every text
//! goes through the JSON guard, and every answer that belongs to a process is dropped when that
//! process is no longer the same.

mod bounded;
mod claude_projects;
mod claude_registry;
mod codex_held;
mod codex_rollouts;

use std::path::{Path, PathBuf};

use super::definitions::{Definition, Way};
use crate::sys::bytes::{from_os, to_path};
use crate::sys::look::Look;
use crate::sys::proc::ProcId;

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
    /// What said so: `registry`, `held file` or `hook`.
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

/// The conversation that the subject's process has open.
///
/// The first way with an answer wins. *Nothing*: it has none yet, or does not say.
#[must_use]
pub fn live(subject: &Subject<'_>) -> Look<Live> {
    let mut unknown = None;
    for way in &subject.def.find {
        let answer = match way {
            Way::ClaudeRegistry => claude_registry::live(subject),
            Way::CodexHeld => codex_held::live(subject),
            Way::ClaudeProjects | Way::CodexRollouts => continue,
        };
        match answer {
            Look::Found(live) => return Look::Found(live),
            Look::Nothing => {}
            Look::Unknown(why) => unknown = unknown.or(Some(why)),
        }
    }
    unknown.map_or(Look::Nothing, Look::Unknown)
}

/// The file in which a process keeps saying which conversation it has, where its agent has such.
#[must_use]
pub fn record_file(
    def: &Definition,
    env: &[(String, String)],
    home: &Path,
    process: ProcId,
) -> Option<PathBuf> {
    let root = config_dir(def, env, home)?;
    def.find.iter().find_map(|way| match way {
        Way::ClaudeRegistry => Some(claude_registry::file(&root, process)),
        Way::CodexHeld | Way::ClaudeProjects | Way::CodexRollouts => None,
    })
}

/// The conversations of the subject's directory that were touched at `since_ns` (wall time) or
/// later, the last touched first.
#[must_use]
pub fn conversations(subject: &Subject<'_>, since_ns: u64) -> Look<Vec<Conversation>> {
    let Some(cwd) = subject.cwd else {
        return Look::Unknown("its directory is not known".to_owned());
    };
    let spellings = spellings(cwd);
    let root = config_dir(subject.def, subject.env, subject.home);
    for way in &subject.def.find {
        let Some(root) = &root else {
            return Look::Unknown(NO_ROOT.to_owned());
        };
        let answer = match way {
            Way::ClaudeProjects => {
                claude_projects::conversations(subject.def, root, &spellings, since_ns)
            }
            Way::CodexRollouts => {
                codex_rollouts::conversations(subject.def, root, &spellings, since_ns)
            }
            Way::ClaudeRegistry | Way::CodexHeld => continue,
        };
        return answer.map(|mut list| {
            list.sort_by(|a, b| (b.touched_ns, &a.sid).cmp(&(a.touched_ns, &b.sid)));
            list
        });
    }
    Look::Unknown(no_store(subject.def))
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
    let Some(root) = config_dir(def, env, home) else {
        return Look::Unknown(NO_ROOT.to_owned());
    };
    for way in &def.find {
        return match way {
            Way::ClaudeProjects => claude_projects::transcript(&root, &sid, near),
            Way::CodexRollouts => codex_rollouts::transcript(&root, &sid),
            Way::ClaudeRegistry | Way::CodexHeld => continue,
        };
    }
    Look::Unknown(no_store(def))
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
    let set = def.env.iter().find_map(|name| {
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
mod tests;
