//! Processes on Linux, from /proc.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

use super::{ProcId, Stat};
use crate::sys::bytes::{from_bytes, from_os};
use crate::sys::look::Look;

pub fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The name may hold blanks and `)`: the fields begin after the last `)`.
fn parse_stat(line: &[u8]) -> Option<Stat> {
    let open = line.iter().position(|b| *b == b'(')?;
    let close = line.iter().rposition(|b| *b == b')')?;
    let pid = std::str::from_utf8(&line[..open])
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let comm = from_bytes(line.get(open + 1..close)?);
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let fields: Vec<&str> = fields.collect();
    let number = |n: usize| fields.get(n)?.parse::<i32>().ok();
    Some(Stat {
        id: ProcId {
            pid,
            start: fields.get(18)?.parse().ok()?,
        },
        comm,
        state,
        parent: number(0)?,
        group: number(1)?,
        session: number(2)?,
        tty: number(3)?,
        foreground: number(4)?,
    })
}

/// A process that went away is *nothing*; anything else that fails is *could not look*.
fn gone_or_unknown<T>(e: &io::Error) -> Look<T> {
    if e.kind() == io::ErrorKind::NotFound || e.raw_os_error() == Some(3) {
        Look::Nothing
    } else {
        Look::Unknown(crate::sys::fault::plain_cause(e))
    }
}

pub fn argv(pid: i32) -> Look<Vec<String>> {
    match fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(bytes) if bytes.is_empty() => Look::Nothing,
        Ok(bytes) => Look::Found(super::words(&bytes)),
        Err(e) => gone_or_unknown(&e),
    }
}

fn link(pid: i32, name: &str) -> Look<String> {
    match fs::read_link(format!("/proc/{pid}/{name}")) {
        Ok(path) => {
            let bytes = path.as_os_str().as_bytes();
            Look::Found(from_bytes(
                bytes.strip_suffix(b" (deleted)").unwrap_or(bytes),
            ))
        }
        Err(e) => gone_or_unknown(&e),
    }
}

pub fn exe(pid: i32) -> Look<String> {
    link(pid, "exe")
}

pub fn cwd(pid: i32) -> Look<String> {
    match fs::read_link(format!("/proc/{pid}/cwd")) {
        Ok(path) => Look::Found(from_os(path.as_os_str())),
        Err(e) => gone_or_unknown(&e),
    }
}

pub fn environ(pid: i32, names: &[&str]) -> Look<Vec<(String, String)>> {
    match fs::read(format!("/proc/{pid}/environ")) {
        Ok(bytes) => Look::Found(
            bytes
                .split(|b| *b == 0)
                .filter_map(|entry| {
                    let at = entry.iter().position(|b| *b == b'=')?;
                    let name = std::str::from_utf8(&entry[..at]).ok()?;
                    names
                        .contains(&name)
                        .then(|| (name.to_owned(), from_bytes(&entry[at + 1..])))
                })
                .collect(),
        ),
        Err(e) => gone_or_unknown(&e),
    }
}

pub fn open_files(pid: i32) -> Look<Vec<String>> {
    let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(entries) => entries,
        Err(e) => return gone_or_unknown(&e),
    };
    let paths = entries
        .flatten()
        .filter_map(|e| fs::read_link(e.path()).ok());
    Look::Found(
        paths
            .filter(|p| p.is_absolute())
            .map(|p| from_os(p.as_os_str()))
            .collect(),
    )
}

pub fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut found: Vec<i32> = tasks
        .flatten()
        .filter_map(|t| fs::read_to_string(t.path().join("children")).ok())
        .flat_map(|text| {
            text.split_ascii_whitespace()
                .filter_map(|p| p.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect();
    found.sort_unstable();
    found
}

pub fn own_pids() -> Vec<i32> {
    let me = rustix::process::geteuid().as_raw();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut pids: Vec<i32> = entries
        .flatten()
        .filter_map(|e| {
            let pid = e.file_name().to_str()?.parse().ok()?;
            (e.metadata().ok()?.uid() == me).then_some(pid)
        })
        .collect();
    pids.sort_unstable();
    pids
}

pub fn started_wall_ns(id: ProcId) -> Option<u64> {
    static BOOT: OnceLock<Option<u64>> = OnceLock::new();
    let boot = (*BOOT.get_or_init(|| {
        // Wall time minus the boot clock is finer than btime, which has whole seconds only.
        crate::sys::clock::wall_ns().checked_sub(crate::sys::clock::boot_ns())
    }))?;
    let ticks = rustix::param::clock_ticks_per_second();
    Some(boot + id.start.checked_mul(1_000_000_000)? / ticks.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_brackets_is_no_trap() {
        let line = b"42 (tmux: a) b) T 1 40 41 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987 1 1 1";
        let stat = parse_stat(line).expect("a stat line");
        assert_eq!(
            (stat.id.pid, stat.id.start, stat.comm.as_str(), stat.state),
            (42, 987, "tmux: a) b", 'T')
        );
        assert_eq!(
            (
                stat.parent,
                stat.group,
                stat.session,
                stat.tty,
                stat.foreground
            ),
            (1, 40, 41, 34816, -1)
        );
        for bad in [&b""[..], b"42", b"42 (x", b"42 (x) S 1 2"] {
            assert!(parse_stat(bad).is_none());
        }
    }
}
