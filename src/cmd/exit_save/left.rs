//! The files that kitty's watcher leaves: `<boot>-<pid>-<start>-<n>.<how>`, one JSON document each.

#![allow(clippy::question_mark)] // in what the derive of DeJson writes

use std::collections::{BTreeMap, BTreeSet};

use nanoserde::DeJson;

use crate::cmd::desk::at_the_end::Processes;
use crate::keep::autosaves;
use crate::keep::publish::LIMIT;
use crate::kitty::launch_line::LaunchLine;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::kitty::tree::OsWindow;
use crate::sys::json;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::ProcId;

/// What the watcher wrote as something went.
#[derive(Debug, Clone)]
pub struct Left {
    /// The file's name.
    pub name: String,
    /// `quit`, `signal`, `closed` or `last`.
    pub how: String,
    /// The kitty.
    pub kitty: ProcId,
    /// Its boot.
    pub boot: String,
    /// When, on the boot clock.
    pub up: u64,
    /// When, wall time in nanoseconds.
    pub at: u64,
    /// kitty's text.
    pub text: String,
    /// Its windows.
    pub tree: Vec<OsWindow>,
    /// Their processes.
    pub processes: BTreeMap<u64, Processes>,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct Document {
    v: u64,
    how: String,
    up: u64,
    at: u64,
    text: String,
    procs: BTreeMap<String, Procs>,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct Procs {
    child: Option<Vec<u64>>,
    foreground: Vec<Vec<u64>>,
}

/// The kitty a file is of, as the beginning of its name.
pub fn group_of(name: &str) -> Option<String> {
    let (stem, how) = name.rsplit_once('.')?;
    let (group, n) = stem.rsplit_once('-')?;
    n.parse::<u64>().ok()?;
    let known = matches!(how, "quit" | "signal" | "closed" | "last");
    (known && kitty_of(group).is_some()).then(|| group.to_owned())
}

/// Boot and process of a group.
pub fn kitty_of(group: &str) -> Option<(String, ProcId)> {
    autosaves::boot_and_kitty(group)
}

/// The kitties that left something.
pub fn groups(exits: &PrivateDir) -> BTreeSet<String> {
    let names = exits.names().unwrap_or_default();
    names.iter().filter_map(|n| group_of(n)).collect()
}

/// What a kitty left, in the order in which it was written.
pub fn read(exits: &PrivateDir, group: &str) -> Vec<Left> {
    read_all(exits, group).0
}

/// As [`read`], with the names of those that cannot be read.
pub fn read_all(exits: &PrivateDir, group: &str) -> (Vec<Left>, Vec<String>) {
    let mut whole = Vec::new();
    let mut broken = Vec::new();
    for name in exits.names().unwrap_or_default() {
        if group_of(&name).as_deref() != Some(group) {
            continue;
        }
        match exits.read(&name, 2 * LIMIT) {
            Ok(Some(bytes)) => match one(&name, group, &bytes) {
                Some(left) => whole.push(left),
                None => broken.push(name),
            },
            Ok(None) => {}
            Err(_) => broken.push(name),
        }
    }
    let number = |name: &str| -> u64 {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        stem.rsplit_once('-')
            .and_then(|(_, n)| n.parse().ok())
            .unwrap_or(0)
    };
    whole.sort_by_key(|l| number(&l.name));
    (whole, broken)
}

fn one(name: &str, group: &str, bytes: &[u8]) -> Option<Left> {
    let guarded = json::guard(bytes, 2 * LIMIT).ok()?;
    let document: Document = json::decode_guarded(&guarded).ok()?;
    let members = json::members(&guarded)?;
    let ls = members.iter().find(|m| m.name == "ls")?;
    let tree: Vec<OsWindow> = json::decode_guarded(&guarded[ls.value.clone()]).ok()?;
    let (boot, kitty) = kitty_of(group)?;
    let process = |numbers: &Vec<u64>| match numbers.as_slice() {
        [pid, start] => Some(ProcId {
            pid: i32::try_from(*pid).ok()?,
            start: *start,
        }),
        _ => None,
    };
    let processes = document.procs.iter().filter_map(|(id, procs)| {
        let of_window = Processes {
            child: procs.child.as_ref().and_then(process),
            foreground: procs.foreground.iter().filter_map(process).collect(),
        };
        Some((id.parse().ok()?, of_window))
    });
    (document.v == 1 && !document.text.trim().is_empty()).then(|| Left {
        name: name.to_owned(),
        how: document.how.clone(),
        kitty,
        boot,
        up: document.up,
        at: document.at,
        text: document.text.clone(),
        tree,
        processes: processes.collect(),
    })
}

impl Left {
    /// Whether it is all of a kitty that ends.
    pub fn is_desk(&self) -> bool {
        matches!(self.how.as_str(), "quit" | "signal")
    }

    /// The windows of its text.
    pub fn window_ids(&self) -> Vec<u64> {
        let file = SessionFile::read(&self.text, Origin::Kitty, &[]);
        file.launches().filter_map(LaunchLine::id).collect()
    }

    /// Several as one, in this order; the newest gives the time.
    pub fn join(parts: &[&Self]) -> Self {
        let mut joined = parts[0].clone();
        for part in &parts[1..] {
            joined.text.push_str("\n\nnew_os_window\n");
            joined.text.push_str(&part.text);
            joined.tree.extend(part.tree.iter().cloned());
            joined.processes.extend(part.processes.clone());
            if part.up > joined.up {
                (joined.up, joined.at) = (part.up, part.at);
            }
        }
        joined
    }
}
