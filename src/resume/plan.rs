//! Which conversation is in which window, and why: a decision over values, without any I/O.
//!
//! Sources, strongest first; the first that answers wins: a live record of this very process, the
//! id on its command line, the one-to-one match of start times, the only conversation of its
//! directory that was touched, the agent's own "latest", and at last a new conversation. A wrong
//! conversation is worse than a new one, so every guess is refused as soon as two things fit.

use std::collections::{BTreeMap, BTreeSet};

use super::record::Mode;
pub use crate::agents::find::{Conversation, Live};
use crate::sys::look::Look;
use crate::sys::proc::ProcId;

/// How much earlier than its process's start a file may seem to be written (clocks are coarse).
pub const SLACK_NS: u64 = 3_000_000_000;

/// How long after its start an agent makes its conversation at the latest.
const MADE_WITHIN_NS: u64 = 10_000_000_000;

/// A window of a kitty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowKey {
    /// The kitty.
    pub kitty: ProcId,
    /// The window's id there.
    pub window: u64,
}

/// What may be guessed of an agent, by its definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latest {
    /// It has no "latest".
    None,
    /// It means the newest of the current directory.
    Directory,
    /// Nobody knows what it means, or it means the newest of all.
    Anywhere,
}

/// One agent process, in a window or elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The window; `None`: somewhere else (tmux, another terminal).
    pub window: Option<WindowKey>,
    /// The process.
    pub process: ProcId,
    /// The agent's name.
    pub agent: String,
    /// Whether there is a command that resumes by id.
    pub can_exact: bool,
    /// What its "latest" means.
    pub latest: Latest,
    /// When the process started, nanoseconds of wall time.
    pub started_ns: u64,
    /// Its directory as it is spelled; `None`: not known.
    pub cwd: Option<String>,
    /// Its directory by real path, for comparing.
    pub real_cwd: Option<String>,
    /// The record of this very process.
    pub live: Look<Live>,
    /// The id its command line names, and whether that conversation is there (with its directory).
    pub argv: Option<(String, Look<Option<String>>)>,
    /// The conversations of its directory.
    pub conversations: Look<Vec<Conversation>>,
    /// Whether conversations are tied to processes by the moment they were made.
    pub by_start_time: bool,
    /// Whether every process of it has a live record: then *nothing found* means that it has no
    /// conversation, and there is nothing to guess.
    pub always_live: bool,
}

/// Where the answer comes from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A record of this very process.
    Live,
    /// The command line.
    Argv,
    /// Start times matched one to one.
    StartTime,
    /// The only conversation of the directory.
    Directory,
    /// The agent's own "latest".
    Latest,
    /// None.
    None,
}

/// What was decided for one agent process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// How surely.
    pub mode: Mode,
    /// The session id; empty unless exact.
    pub sid: String,
    /// Where from.
    pub source: Source,
    /// Why, for a person: one short clause.
    pub why: String,
    /// The directory to resume in, where it is another than the process's own.
    pub cwd: Option<String>,
}

impl Choice {
    fn new(why: impl Into<String>) -> Self {
        Self {
            mode: Mode::New,
            sid: String::new(),
            source: Source::None,
            why: why.into(),
            cwd: None,
        }
    }

    fn exact(sid: &str, source: Source, why: impl Into<String>, cwd: Option<String>) -> Self {
        Self {
            mode: Mode::Exact,
            sid: sid.to_owned(),
            source,
            why: why.into(),
            cwd,
        }
    }
}

/// Decides for every subject, in the order given.
#[must_use]
pub fn decide(subjects: &[Subject]) -> Vec<Choice> {
    let mut choices: Vec<Option<Choice>> =
        subjects.iter().map(|s| of_its_own(s, subjects)).collect();
    match_start_times(subjects, &mut choices);
    let taken: BTreeSet<(&str, String)> = subjects
        .iter()
        .zip(&choices)
        .filter_map(|(s, c)| {
            c.as_ref()
                .filter(|c| c.mode == Mode::Exact)
                .map(|c| (s.agent.as_str(), c.sid.clone()))
        })
        .collect();
    let mut decided: Vec<Choice> = subjects
        .iter()
        .zip(choices)
        .map(|(s, c)| c.unwrap_or_else(|| by_directory(s, subjects, &taken)))
        .collect();
    open_each_once(subjects, &mut decided);
    decided
}

/// What the process itself tells: its live record, then its command line. `None`: it tells nothing.
fn of_its_own(subject: &Subject, subjects: &[Subject]) -> Option<Choice> {
    if !subject.can_exact {
        return None;
    }
    if let Look::Found(live) = &subject.live {
        return Some(if live.resumable {
            Choice::exact(&live.sid, Source::Live, live.source, live.cwd.clone())
        } else {
            Choice::new("nothing was said in it yet")
        });
    }
    let (sid, kept) = subject.argv.as_ref()?;
    if *kept == Look::Nothing {
        return Some(Choice::new(format!(
            "the conversation {} of its command line is not there any more",
            short(sid)
        )));
    }
    // The person may have gone to another conversation inside: then the command line is stale.
    if let Look::Found(conversations) = &subject.conversations {
        let others = || {
            subjects
                .iter()
                .filter(|s| s.process != subject.process && shares_directory(s, subject))
        };
        let is_held = |c: &Conversation| others().any(|s| held(s) == Some(&c.sid));
        // Of several that fit another one's start, any may be this one's.
        let made_for_alone = |s: &Subject, c: &Conversation| {
            let fit = conversations
                .iter()
                .filter(|o| o.sid != *sid && was_made_for(s, o) && !is_held(o));
            was_made_for(s, c) && fit.count() == 1
        };
        let of_another = |c: &Conversation| {
            is_held(c) || others().any(|s| held(s).is_none() && made_for_alone(s, c))
        };
        let went =
            touched_since_start(subject, conversations).any(|c| c.sid != *sid && !of_another(c));
        if went {
            return Some(Choice::new(
                "another conversation of this directory was used since it started",
            ));
        }
    }
    let owner = match kept {
        Look::Found(owner) => owner.clone(),
        _ => None,
    };
    Some(Choice::exact(sid, Source::Argv, "command line", owner))
}

/// The conversation a process says it has.
fn held(subject: &Subject) -> Option<&str> {
    match &subject.live {
        Look::Found(live) => Some(&live.sid),
        _ => subject.argv.as_ref().map(|(sid, _)| sid.as_str()),
    }
}

fn touched_since_start<'a>(
    subject: &Subject,
    all: &'a [Conversation],
) -> impl Iterator<Item = &'a Conversation> + Clone {
    let from = subject.started_ns.saturating_sub(SLACK_NS);
    all.iter()
        .filter(move |c| c.touched_ns.is_some_and(|t| t >= from))
}

/// Whether two processes of one agent share a directory; an unknown one may be any.
fn shares_directory(a: &Subject, b: &Subject) -> bool {
    a.agent == b.agent
        && match (&a.real_cwd, &b.real_cwd) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
}

/// Whether a conversation was made in the moments after a process's start.
fn was_made_for(subject: &Subject, c: &Conversation) -> bool {
    let start = subject.started_ns;
    c.made_ns
        .is_some_and(|made| made + 1_000_000_000 >= start && made <= start + MADE_WITHIN_NS)
}

/// Gives each process of a directory the conversation that was made as it started, when processes
/// and conversations match one to one and none is left over.
fn match_start_times(subjects: &[Subject], choices: &mut [Option<Choice>]) {
    let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (n, subject) in subjects.iter().enumerate() {
        if let (true, Some(dir)) = (
            subject.by_start_time && subject.can_exact,
            &subject.real_cwd,
        ) {
            groups.entry((&subject.agent, dir)).or_default().push(n);
        }
    }
    for members in groups.values() {
        let open: Vec<usize> = members
            .iter()
            .copied()
            .filter(|n| choices[*n].is_none())
            .collect();
        let Some(first) = open.first() else { continue };
        let Look::Found(all) = &subjects[*first].conversations else {
            continue;
        };
        let held: BTreeSet<&str> = members
            .iter()
            .filter_map(|n| choices[*n].as_ref())
            .map(|c| c.sid.as_str())
            .collect();
        let earliest = open
            .iter()
            .map(|n| subjects[*n].started_ns)
            .min()
            .unwrap_or(0)
            .saturating_sub(SLACK_NS);
        let made: Vec<&Conversation> = all
            .iter()
            .filter(|c| c.made_ns.is_some_and(|m| m >= earliest) && !held.contains(c.sid.as_str()))
            .collect();
        let fits = |n: usize, c: &Conversation| was_made_for(&subjects[n], c);
        // Somebody of this directory whom we know nothing of spoils the counting.
        let stranger = subjects
            .iter()
            .enumerate()
            .any(|(n, s)| !members.contains(&n) && shares_directory(s, &subjects[*first]));
        let mut pairs = Vec::new();
        for n in &open {
            let mut fitting = made.iter().filter(|c| fits(*n, c));
            if let (Some(c), None) = (fitting.next(), fitting.next()) {
                pairs.push((*n, *c));
            }
        }
        // One in which nothing was said yet may be of another directory: it only makes a fit doubtful.
        let spoken: Vec<&&Conversation> = made.iter().filter(|c| c.touched_ns.is_some()).collect();
        let paired: BTreeSet<&str> = pairs.iter().map(|(_, c)| c.sid.as_str()).collect();
        let whole = !stranger
            && paired.len() == pairs.len()
            && spoken.iter().all(|c| paired.contains(c.sid.as_str()))
            && pairs
                .iter()
                .all(|(_, c)| open.iter().filter(|n| fits(**n, c)).count() == 1);
        for n in open {
            let of_it = pairs.iter().find(|(m, _)| *m == n).map(|(_, c)| *c);
            choices[n] = Some(match of_it {
                Some(c) if whole && c.touched_ns.is_some() => Choice::exact(
                    &c.sid,
                    Source::StartTime,
                    "made as it started",
                    Some(c.cwd.clone()),
                ),
                Some(_) if whole => Choice::new("nothing was said in it yet"),
                None if whole || made.is_empty() => {
                    Choice::new("no conversation was made since it started")
                }
                _ => Choice::new("several conversations of this directory fit its start"),
            });
        }
    }
}

/// The guesses: the only conversation of the directory, or the agent's own "latest".
fn by_directory(
    subject: &Subject,
    subjects: &[Subject],
    taken: &BTreeSet<(&str, String)>,
) -> Choice {
    if subject.always_live && subject.live == Look::Nothing {
        return Choice::new("its own record names no conversation");
    }
    let Some(dir) = &subject.real_cwd else {
        return Choice::new("its directory is not known");
    };
    let others = subjects
        .iter()
        .filter(|s| s.process != subject.process && shares_directory(s, subject))
        .count();
    if others > 0 {
        return Choice::new(format!(
            "{} of {} run in this directory",
            others + 1,
            subject.agent
        ));
    }
    match &subject.conversations {
        Look::Found(all) if subject.can_exact => {
            let mut touched = touched_since_start(subject, all)
                .filter(|c| !taken.contains(&(subject.agent.as_str(), c.sid.clone())));
            return match (touched.next(), touched.next()) {
                (Some(c), None) => Choice::exact(
                    &c.sid,
                    Source::Directory,
                    "the only conversation of this directory used since it started",
                    (c.cwd != *dir).then(|| c.cwd.clone()),
                ),
                (Some(_), Some(_)) => Choice::new(
                    "several conversations of this directory were used since it started",
                ),
                (None, _) => {
                    Choice::new("no conversation of this directory was used since it started")
                }
            };
        }
        Look::Found(_) | Look::Unknown(_) => {}
        Look::Nothing => {
            return Choice::new("no conversation of this directory was used since it started");
        }
    }
    let latest = |why: &str| Choice {
        mode: Mode::Latest,
        sid: String::new(),
        source: Source::Latest,
        why: why.to_owned(),
        cwd: None,
    };
    match subject.latest {
        Latest::None => Choice::new("its conversations cannot be looked up"),
        Latest::Directory => latest("the only one in this directory"),
        Latest::Anywhere if subjects.iter().filter(|s| s.agent == subject.agent).count() == 1 => {
            latest("the only one that runs")
        }
        Latest::Anywhere => Choice::new(format!(
            "several of {} run, and its “latest” may be any",
            subject.agent
        )),
    }
}

/// One conversation is opened in one window only: the one that is surest, then the first.
fn open_each_once(subjects: &[Subject], choices: &mut [Choice]) {
    let mut order: Vec<usize> = (0..subjects.len())
        .filter(|n| subjects[*n].window.is_some())
        .collect();
    order.sort_by_key(|n| (choices[*n].source, *n));
    let mut open: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for n in order {
        if choices[n].mode != Mode::Exact {
            continue;
        }
        let key = (subjects[n].agent.as_str(), choices[n].sid.clone());
        match open.get(&key) {
            Some(first) => {
                let where_ = subjects[*first].window.map_or(0, |w| w.window);
                choices[n] = Choice::new(format!(
                    "its conversation {} is in window {where_} already",
                    short(&key.1)
                ));
            }
            None => {
                open.insert(key, n);
            }
        }
    }
}

/// The first eight characters of an id, for people.
#[must_use]
pub fn short(sid: &str) -> &str {
    sid.char_indices().nth(8).map_or(sid, |(at, _)| &sid[..at])
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
