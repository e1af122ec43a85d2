//! Claims: which process a conversation was given to by our prompt.
//!
//! The prompt writes the claim and then becomes the agent by `exec`: pid and start time stay, so the
//! claim is true for the agent's whole life and false by itself afterwards.

use std::time::Duration;

use nanoserde::DeJson;

use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::lock::Lock;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};

#[derive(DeJson)]
struct Entry {
    pid: i32,
    start: u64,
    boot: String,
}

/// The directory of claims, with its lock.
#[derive(Debug)]
pub struct Claims {
    dir: PrivateDir,
}

impl Claims {
    /// Takes the directory.
    #[must_use]
    pub fn new(dir: PrivateDir) -> Self {
        Self { dir }
    }

    /// Locks all claims: looking, claiming and `exec` are one step for all prompts. The lock opens
    /// by itself at `exec`.
    ///
    /// # Errors
    /// When somebody holds it for 2 s.
    pub fn lock(&self) -> Outcome<Lock> {
        Lock::take(&self.dir, ".lock", Duration::from_secs(2))
    }

    /// The live process that has claimed the conversation.
    #[must_use]
    pub fn holder(&self, agent: &str, sid: &str) -> Option<ProcId> {
        self.read(&file_name(agent, sid))
    }

    fn read(&self, name: &str) -> Option<ProcId> {
        let bytes = self.dir.read(name, 4096).ok()??;
        let entry: Entry = json::decode(&bytes, 4096).ok()?;
        let id = ProcId {
            pid: entry.pid,
            start: entry.start,
        };
        (entry.boot == clock::boot8() && proc::is_running(id)).then_some(id)
    }

    /// Claims the conversation for this process.
    ///
    /// # Errors
    /// When the claim cannot be written.
    pub fn claim(&self, agent: &str, sid: &str) -> Outcome<()> {
        self.forget_dead();
        let me = proc::me();
        let text = Object::new()
            .number("v", 1)
            .number("pid", u64::try_from(me.pid).unwrap_or(0))
            .number("start", me.start)
            .text("boot", &clock::boot8())
            .text("at", &clock::rfc3339(clock::wall_ns()))
            .finish();
        self.dir.write(&file_name(agent, sid), text.as_bytes())
    }

    /// What each live process has claimed: agent and session id by process.
    #[must_use]
    pub fn all(&self) -> Vec<(ProcId, String)> {
        let names = self.dir.names().unwrap_or_default();
        names
            .iter()
            .filter(|n| !n.starts_with('.'))
            .filter_map(|n| Some((self.read(n)?, n.clone())))
            .collect()
    }

    /// Removes claims of processes that are gone.
    fn forget_dead(&self) {
        for name in self
            .dir
            .names()
            .unwrap_or_default()
            .iter()
            .filter(|n| !n.starts_with('.'))
        {
            if self.read(name).is_none() {
                let _ = self.dir.remove(name);
            }
        }
    }
}

/// The name of a conversation's claim. Both parts are tokens, so it is one plain file name.
#[must_use]
pub fn file_name(agent: &str, sid: &str) -> String {
    format!("{agent}-{sid}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_lives_as_long_as_its_process() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let claims = Claims::new(PrivateDir::open(&top.path().join("claims")).expect("open"));
        assert_eq!(claims.holder("claude", "A"), None);
        claims.claim("claude", "A").expect("claimed");
        assert_eq!(claims.holder("claude", "A"), Some(proc::me()));
        assert_eq!(claims.all(), [(proc::me(), "claude-A".to_owned())]);
        let dead = r#"{"v":1,"pid":1,"start":1,"boot":"00000000"}"#;
        claims
            .dir
            .write("claude-B", dead.as_bytes())
            .expect("write");
        claims.dir.write("claude-C", b"{broken").expect("write");
        assert_eq!(claims.holder("claude", "B"), None);
        claims.claim("codex", "D").expect("claimed");
        assert_eq!(claims.dir.names().expect("names"), ["claude-A", "codex-D"]);
    }
}
