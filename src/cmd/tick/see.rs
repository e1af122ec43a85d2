//! What a tick asks of the kitties, and how it tells that nothing happened.

use std::path::Path;
use std::time::Duration;

use crate::cmd::desk::Desk;
use crate::cmd::look::SeenKitty;
use crate::keep::state::State;
use crate::kitty::client::{Connection, Exchange, Silence, drive};
use crate::kitty::commands;
use crate::kitty::discover::Kitty;
use crate::kitty::tree;
use crate::kitty::wire::{Reply, read_reply};
use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::proc::ProcId;

/// How long all kitties together are waited for.
const WAIT: Duration = Duration::from_millis(1000);

/// A kitty's answer, not read yet.
pub struct Raw {
    connection: Connection,
    /// Its process.
    pub process: ProcId,
    answer: Vec<u8>,
    /// Of the answer, but for what changes without meaning anything.
    pub fingerprint: u64,
}

/// Asks all of them at once; those that do not answer are left out.
pub fn answers(kitties: Vec<Kitty>) -> Vec<Raw> {
    let (mut connections, processes): (Vec<Connection>, Vec<ProcId>) = kitties
        .into_iter()
        .map(|k| (k.connection, k.process))
        .unzip();
    let ask = [commands::ls(None)];
    let mut exchanges: Vec<Exchange<'_>> = connections
        .iter_mut()
        .map(|c| Exchange::new(c, &ask))
        .collect();
    drive(&mut exchanges, WAIT);
    let answers: Vec<Result<Vec<Vec<u8>>, Silence>> =
        exchanges.into_iter().map(Exchange::bodies).collect();
    let mut raw = Vec::new();
    for ((connection, process), answer) in connections.into_iter().zip(processes).zip(answers) {
        if let Some(answer) = answer.ok().and_then(|mut bodies| bodies.pop()) {
            raw.push(Raw {
                fingerprint: meaning(&answer),
                connection,
                process,
                answer,
            });
        }
    }
    raw
}

impl Raw {
    /// Reads the answer.
    ///
    /// # Errors
    /// When it is no window list.
    pub fn read(self) -> Outcome<SeenKitty> {
        let tree = read_reply(&self.answer)
            .and_then(Reply::into_data)
            .and_then(|data| tree::read(&data))
            .map_err(|why| Fault::refused(format!("kitty {}: {why}", self.process.pid)))?;
        Ok(SeenKitty {
            connection: self.connection,
            process: self.process,
            tree,
        })
    }
}

/// Lines of kitty's window list that change while nothing happens: focus, and the titles that
/// programs set all the time. The list is JSON in a JSON string, so its quotes are escaped.
const IDLE: [&[u8]; 7] = [
    b"\\\"active_window_history\\\"",
    b"\\\"is_active\\\"",
    b"\\\"is_focused\\\"",
    b"\\\"last_cmd_exit_status\\\"",
    b"\\\"last_focused\\\"",
    b"\\\"last_focused_at\\\"",
    b"\\\"title\\\"",
];

/// A fingerprint of a window list, as it came, without those lines.
fn meaning(answer: &[u8]) -> u64 {
    let mut sum = 0;
    let mut rest = answer;
    while !rest.is_empty() {
        let end = rest.windows(2).position(|w| w == b"\\n");
        let (line, after) = match end {
            Some(n) => (&rest[..n], &rest[n + 2..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        let line = line.trim_ascii_start();
        if !IDLE.iter().any(|name| line.starts_with(name)) {
            sum = mixed(sum, line);
        }
    }
    sum
}

/// Eight bytes at a time: this runs over every answer of every tick.
fn mixed(sum: u64, line: &[u8]) -> u64 {
    let mix =
        |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut words = line.chunks_exact(8);
    let mut sum = mix(sum, line.len() as u64);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        sum = mix(sum, u64::from_le_bytes(bytes));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    mix(sum, u64::from_le_bytes(last))
}

/// The files in which the agents of these windows say which conversation they have: path, and when
/// each was written with how many bytes. Where hooks wrote nothing yet their directory stands for
/// the files: a new one changes it.
pub fn records(kitty: &SeenKitty, desk: &Desk, state: &State) -> Vec<(String, u64, u64)> {
    let boot = clock::boot8();
    let hooks = state.dir.join("hooks");
    // Looked at first: what comes between the two is then seen as a change.
    let hooks_as_they_are = written(&hooks);
    let mut found = Vec::new();
    let mut add = |path: &Path, (at, size): (u64, u64)| {
        found.push((crate::sys::bytes::from_os(path.as_os_str()), at, size));
    };
    let mut is_missing = false;
    for place in tree::windows(&kitty.tree) {
        let key = crate::resume::plan::WindowKey {
            kitty: kitty.process,
            window: place.window.id,
        };
        let Some((process, _)) = desk.processes.get(&key) else {
            continue;
        };
        if let Some(own) = desk.records.get(&key) {
            add(own, written(own));
        }
        let hook = hooks.join(format!("{boot}-{}-{}.jsonl", process.pid, process.start));
        match written(&hook) {
            (0, 0) => is_missing = true,
            there => add(&hook, there),
        }
    }
    if is_missing {
        add(&hooks, hooks_as_they_are);
    }
    found
}

/// Whether a record is as it was.
pub fn is_unchanged(record: &(String, u64, u64)) -> bool {
    let (path, at, size) = record;
    written(&crate::sys::bytes::to_path(path)) == (*at, *size)
}

/// When a file was written, and its size; zeros where it is not there.
fn written(path: &Path) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::metadata(path) else {
        return (0, 0);
    };
    let at = meta.mtime().saturating_mul(1_000_000_000) + meta.mtime_nsec();
    (u64::try_from(at).unwrap_or(0), meta.size())
}

#[cfg(test)]
mod tests {

    #[test]
    fn focus_and_titles_mean_nothing_and_all_else_does() {
        let list = include_str!("../../../tests/data/kitty/ls-rich.json");
        // As kitty writes a text into its answer.
        let meaning = |list: &str| {
            let text = list.replace('\\', "\\\\").replace('"', "\\\"");
            super::meaning(text.replace('\n', "\\n").as_bytes())
        };
        let same = list
            .replace("\"is_focused\": true", "\"is_focused\": false")
            .replace("\"title\": \"manual title\"", "\"title\": \"⠋ working\"");
        assert_ne!(list, same);
        assert_eq!(meaning(list), meaning(&same));
        for (from, to) in [("\"pid\": ", "\"pid\": 1"), ("/bin/bash", "/bin/zsh")] {
            assert_ne!(
                meaning(list),
                meaning(&list.replacen(from, to, 1)),
                "{from}"
            );
        }
    }
}
