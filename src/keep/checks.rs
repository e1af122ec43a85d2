//! `resume-check.json`: what installed agents answered when they were asked for their help.
//!
//! Bad answers are kept like good ones: a program that hangs shall not be asked again and again.

#![allow(clippy::question_mark)] // in what the derive of DeJson writes

use std::time::Duration;

use nanoserde::DeJson;

use super::state::State;
use crate::agents::grammar::Takes;
use crate::agents::probe::{Check, FileId, Known, Verdict};
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::lock::Lock;
use crate::sys::out;

/// The file.
pub const FILE: &str = "resume-check.json";

/// Where a damaged one is put.
const BAD: &str = "resume-check.json.bad";

/// The version we write; a later one is not read.
const VERSION: u64 = 1;

/// The largest file that is read, in bytes.
const LIMIT: usize = 1 << 20;

/// The most answers that are kept, the newest ones.
const MOST: usize = 100;

#[derive(Default, DeJson)]
#[nserde(default)]
struct Document {
    version: u64,
    checks: Vec<Entry>,
}

#[derive(Default, DeJson)]
#[nserde(default)]
struct Entry {
    agent: String,
    path: String,
    size: u64,
    mtime_ns: u64,
    definition: String,
    at: String,
    verdict: String,
    lacks: Vec<String>,
    why: String,
    news: Vec<String>,
}

/// What is kept. A file that is none is put aside, and then nothing is known; that is no error.
#[must_use]
pub fn read(state: &State) -> Vec<Check> {
    let bytes = match state.dir.read(FILE, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Vec::new(),
        Err(fault) => {
            out::message(&format!("{fault}; nothing is known of earlier checks"));
            return Vec::new();
        }
    };
    match json::decode::<Document>(&bytes, LIMIT) {
        Ok(document) if document.version > VERSION => Vec::new(),
        Ok(document) if document.version > 0 => document
            .checks
            .into_iter()
            .filter_map(Entry::check)
            .collect(),
        _ => {
            if state.dir.write(BAD, &bytes).is_ok() {
                let _ = state.dir.remove(FILE);
            }
            Vec::new()
        }
    }
}

/// Adds `done` to what is kept, in place of earlier answers of the same agent and program. A program
/// that once fitted and could not be asked now still fitted once: that answer stays beside the new one.
///
/// # Errors
/// When it cannot be written; then the old file stands.
pub fn add(state: &State, done: &[Check]) -> Outcome<()> {
    let locks = state.dir.sub("locks")?;
    let _lock = Lock::take(&locks, "check", Duration::from_secs(5))?;
    let mut all = read(state);
    all.retain(|old| {
        !done.iter().any(|new| {
            let failed = matches!(new.verdict, Verdict::Failed(_));
            let stays =
                failed && old.verdict == Verdict::Fits && old.fingerprint == new.fingerprint;
            new.agent == old.agent && new.file.path == old.file.path && !stays
        })
    });
    all.extend(done.iter().cloned());
    all.sort_by_key(|c| std::cmp::Reverse(c.at_ns));
    all.truncate(MOST);
    state.dir.write(FILE, text(&all).as_bytes())
}

impl Entry {
    fn check(self) -> Option<Check> {
        let verdict = match self.verdict.as_str() {
            "fits" => Verdict::Fits,
            "lacks" if !self.lacks.is_empty() => Verdict::Lacks(self.lacks),
            "failed" => Verdict::Failed(self.why),
            _ => return None,
        };
        Some(Check {
            agent: self.agent,
            file: FileId {
                path: self.path,
                size: self.size,
                mtime_ns: self.mtime_ns,
            },
            fingerprint: u64::from_str_radix(&self.definition, 16).ok()?,
            at_ns: clock::parse_rfc3339(&self.at)?,
            verdict,
            news: self.news.iter().filter_map(|n| known(n)).collect(),
        })
    }
}

const TAKES: [(&str, Takes); 4] = [
    ("none", Takes::Nothing),
    ("one", Takes::One),
    ("optional", Takes::Maybe),
    ("several", Takes::Several),
];

/// `one -m --model`
fn known(line: &str) -> Option<Known> {
    let mut words = line.split(' ');
    let word = words.next()?;
    let names: Vec<String> = words.map(str::to_owned).collect();
    let takes = TAKES.iter().find(|(w, _)| *w == word)?.1;
    let good = !names.is_empty() && names.iter().all(|n| n.starts_with('-'));
    good.then_some(Known { names, takes })
}

fn line(known: &Known) -> String {
    let word = TAKES
        .iter()
        .find(|(_, t)| *t == known.takes)
        .map_or("none", |(w, _)| *w);
    format!("{word} {}", known.names.join(" "))
}

fn text(checks: &[Check]) -> String {
    let list = checks.iter().map(|c| {
        let (verdict, lacks, why): (&str, &[String], &str) = match &c.verdict {
            Verdict::Fits => ("fits", &[], ""),
            Verdict::Lacks(texts) => ("lacks", texts, ""),
            Verdict::Failed(why) => ("failed", &[], why),
        };
        let news: Vec<String> = c.news.iter().map(line).collect();
        "\n".to_owned()
            + &Object::new()
                .text("agent", &c.agent)
                .text("path", &c.file.path)
                .number("size", c.file.size)
                .number("mtime_ns", c.file.mtime_ns)
                .text("definition", &format!("{:016x}", c.fingerprint))
                .text("at", &clock::rfc3339(c.at_ns))
                .text("verdict", verdict)
                .texts("lacks", lacks)
                .text("why", why)
                .texts("news", &news)
                .finish()
    });
    let list = json::list(list);
    Object::new()
        .number("version", VERSION)
        .raw("checks", &list)
        .finish()
        + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::private_file::PrivateDir;

    fn state(top: &tempfile::TempDir) -> State {
        State {
            dir: PrivateDir::open(&top.path().join("state")).expect("open"),
        }
    }

    fn check(agent: &str, path: &str, at_s: u64, verdict: Verdict) -> Check {
        Check {
            agent: agent.into(),
            file: FileId {
                path: path.into(),
                size: 12,
                mtime_ns: 1_796_000_000_123_456_789,
            },
            fingerprint: u64::MAX - 1,
            at_ns: at_s * 1_000_000_000,
            verdict,
            news: vec![Known {
                names: vec!["-q".into(), "--quick".into()],
                takes: Takes::Several,
            }],
        }
    }

    #[test]
    fn what_is_written_is_frozen_private_and_reads_back() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let state = state(&top);
        assert_eq!(read(&state), []);
        let first = check("claude", "/a", 1_796_000_000, Verdict::Fits);
        let second = check(
            "codex",
            "/b",
            1_796_000_001,
            Verdict::Lacks(vec!["--last".into()]),
        );
        add(&state, std::slice::from_ref(&first)).expect("added");
        add(&state, std::slice::from_ref(&second)).expect("added");
        assert_eq!(read(&state), [second.clone(), first]);
        let bytes = state.dir.read(FILE, LIMIT).expect("read").expect("there");
        expect_test::expect![[r#"
            {"version":1,"checks":[
            {"agent":"codex","path":"/b","size":12,"mtime_ns":1796000000123456789,"definition":"fffffffffffffffe","at":"2026-11-30T00:53:21Z","verdict":"lacks","lacks":["--last"],"why":"","news":["several -q --quick"]},
            {"agent":"claude","path":"/a","size":12,"mtime_ns":1796000000123456789,"definition":"fffffffffffffffe","at":"2026-11-30T00:53:20Z","verdict":"fits","lacks":[],"why":"","news":["several -q --quick"]}]}
        "#]]
        .assert_eq(&String::from_utf8_lossy(&bytes));
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(state.dir.join(FILE))
                .expect("there")
                .permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        let again = check(
            "codex",
            "/b",
            1_796_000_009,
            Verdict::Failed("not in 8 s".into()),
        );
        add(&state, std::slice::from_ref(&again)).expect("added");
        assert_eq!(read(&state).len(), 2);
        assert!(read(&state).contains(&again) && !read(&state).contains(&second));
        // One that fitted once is not forgotten over a bad day.
        let bad_day = check(
            "claude",
            "/a",
            1_796_000_010,
            Verdict::Failed("busy".into()),
        );
        add(&state, std::slice::from_ref(&bad_day)).expect("added");
        let known = read(&state);
        assert_eq!(known.len(), 3);
        assert_eq!(known[0], bad_day, "the newest comes first");
        assert!(
            known
                .iter()
                .any(|c| c.agent == "claude" && c.verdict == Verdict::Fits)
        );
        let good = check("claude", "/a", 1_796_000_011, Verdict::Fits);
        add(&state, &[good]).expect("added");
        assert_eq!(read(&state).len(), 2);
    }

    #[test]
    fn a_damaged_file_is_put_aside_and_one_bad_entry_hides_no_other() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let state = state(&top);
        for bad in ["{\"version\":1,\"checks\":[", "", "[]", "{}", "\u{0}"] {
            state.dir.write(FILE, bad.as_bytes()).expect("written");
            assert_eq!(read(&state), [], "{bad}");
            let aside = state
                .dir
                .read(BAD, LIMIT)
                .expect("read")
                .expect("put aside");
            assert_eq!(aside, bad.as_bytes());
            assert_eq!(state.dir.read(FILE, LIMIT).expect("read"), None);
        }
        add(&state, &[check("a", "/a", 5, Verdict::Fits)]).expect("added");
        let text = String::from_utf8(state.dir.read(FILE, LIMIT).expect("read").expect("there"))
            .expect("text");
        let odd = text.replace("[\n", "[\n{\"agent\":\"x\",\"later\":{\"y\":[1]}},\n{},");
        state.dir.write(FILE, odd.as_bytes()).expect("written");
        assert_eq!(read(&state).len(), 1);
        let later = text.replace("\"version\":1", "\"version\":2");
        state.dir.write(FILE, later.as_bytes()).expect("written");
        assert_eq!(read(&state), [], "a later version is not ours to read");
        assert!(
            state.dir.read(FILE, LIMIT).expect("read").is_some(),
            "nor to put aside"
        );
    }
}
