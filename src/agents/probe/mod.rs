//! Whether an installed agent still knows what its definition rests on, and what else it knows.
//!
//! [`ask`] is the only part that starts a program, and only `sessions check` calls it; all else
//! decides over values that were kept from an earlier check.

pub mod ask;
pub mod help;
pub mod merge;

use std::path::Path;

pub use help::Known;

use super::definitions::{Definition, Probe};
use crate::sys::bytes::from_os;

/// How long an answer is believed where asking again is possible: twelve hours.
pub const FRESH_NS: u64 = 12 * 3600 * 1_000_000_000;

/// What tells one program file from another, and from what it was before an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileId {
    /// Its real path.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was written, nanoseconds of wall time.
    pub mtime_ns: u64,
}

impl FileId {
    /// That of the file at `path`, through links; `None` when it cannot be looked at.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let real = path.canonicalize().ok()?;
        let meta = std::fs::metadata(&real).ok()?;
        let secs = u64::try_from(meta.mtime()).unwrap_or(0);
        let nanos = u64::try_from(meta.mtime_nsec()).unwrap_or(0);
        Some(Self {
            path: from_os(real.as_os_str()),
            size: meta.size(),
            mtime_ns: secs.saturating_mul(1_000_000_000).saturating_add(nanos),
        })
    }
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Its help says all that is expected.
    Fits,
    /// Its help does not say these texts.
    Lacks(Vec<String>),
    /// It could not be asked; why, for a person.
    Failed(String),
}

/// One answer of one program, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The agent's name.
    pub agent: String,
    /// The program that was asked.
    pub file: FileId,
    /// The fingerprint of the definition it was asked for.
    pub fingerprint: u64,
    /// When, nanoseconds of wall time.
    pub at_ns: u64,
    /// What came of it.
    pub verdict: Verdict,
    /// Options of its help that the definition does not know, or knows otherwise.
    pub news: Vec<Known>,
}

impl Check {
    /// Whether it is of this program and this definition.
    #[must_use]
    pub fn is_of(&self, def: &Definition, file: &FileId) -> bool {
        self.is_for(def) && self.file == *file
    }

    fn is_for(&self, def: &Definition) -> bool {
        self.agent == def.name && self.fingerprint == def.fingerprint
    }

    /// Whether it is young enough not to be asked again. One of the future is of a clock that was wrong.
    #[must_use]
    pub fn is_fresh(&self, now_ns: u64) -> bool {
        now_ns
            .checked_sub(self.at_ns)
            .is_some_and(|age| age <= FRESH_NS)
    }
}

/// How a definition's program is asked: its `probe`, and what that leaves out by what it resumes
/// with. Never without an argument: that would start the agent.
#[must_use]
pub fn probe_of(def: &Definition) -> Probe {
    let mut probe = def.probe.clone().unwrap_or_default();
    let words = || def.exact.iter().chain(&def.latest);
    let verb = def
        .exact
        .first()
        .or(def.latest.first())
        .filter(|w| !w.starts_with('-') && !w.contains("{id}"));
    if probe.args.is_empty() {
        probe.args.extend(verb.cloned());
        probe.args.push("--help".to_owned());
    }
    if probe.expect.is_empty() {
        let option = |w: &&String| w.starts_with('-');
        let name = |w: &String| w.split('=').next().unwrap_or(w).to_owned();
        probe.expect = words().filter(option).map(name).collect();
        if probe.expect.is_empty() {
            probe.expect.extend(verb.cloned());
        }
        probe.expect.dedup();
    }
    probe
}

/// Judges the help text of a definition's program.
#[must_use]
pub fn judge(def: &Definition, text: &[u8]) -> Verdict {
    let cleaned = help::clean(text);
    let lacks: Vec<String> = probe_of(def)
        .expect
        .into_iter()
        .filter(|wanted| !help::says(&cleaned, wanted))
        .collect();
    if lacks.is_empty() {
        Verdict::Fits
    } else {
        Verdict::Lacks(lacks)
    }
}

/// Whether a definition may be used for a window whose program is one of `files` (the surest first),
/// by what is known from earlier checks, however old.
///
/// A shipped definition that one of us tried applies until this very program is known to lack
/// something. An untried one, and the person's own, need one check that went well; an update of the
/// program does not undo that.
///
/// # Errors
/// Why not, for a person, with what to do.
pub fn may_use(checks: &[Check], def: &Definition, files: &[FileId]) -> Result<(), String> {
    let of_this = files
        .iter()
        .find_map(|file| checks.iter().find(|c| c.is_of(def, file)));
    let again = format!("run kittymux sessions check {}", def.name);
    if let Some(Verdict::Lacks(texts)) = of_this.map(|c| &c.verdict) {
        return Err(format!("its help does not name {}: {again}", quoted(texts)));
    }
    let fits = |c: &Check| c.is_for(def) && c.verdict == Verdict::Fits;
    if (def.verified && !def.own) || checks.iter().any(fits) {
        return Ok(());
    }
    Err(match of_this.map(|c| &c.verdict) {
        Some(Verdict::Failed(why)) => format!("its help could not be read ({why}): {again}"),
        _ => format!("its definition was not checked yet: {again}"),
    })
}

/// Texts in quotes, for a sentence.
#[must_use]
pub fn quoted(texts: &[String]) -> String {
    let quoted: Vec<String> = texts
        .iter()
        .map(|t| format!("\"{}\"", crate::sys::out::visible(t)))
        .collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests;
