//! What kitty reads in /proc, read the way kitty does, its faults included.

use crate::text;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Process groups of the whole system at one instant: group id to process ids, ascending.
#[derive(Debug, Default)]
pub struct Groups(HashMap<i64, Vec<i64>>);

impl Groups {
    /// One pass over /proc.
    ///
    /// kitty splits the stat line at blanks and takes the fifth piece as the process group. A name with a
    /// blank in it shifts the pieces, so such a process (tmux) is never seen in its own group.
    pub fn read() -> Groups {
        let mut map: HashMap<i64, Vec<i64>> = HashMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|n| n.parse::<i64>().ok())
            else {
                continue;
            };
            let Ok(raw) = fs::read_to_string(entry.path().join("stat")) else {
                continue;
            };
            if let Some(Ok(group)) = raw.split(' ').nth(4).map(str::parse::<i64>) {
                map.entry(group).or_default().push(pid);
            }
        }
        for pids in map.values_mut() {
            pids.sort_unstable();
        }
        Groups(map)
    }

    /// The members of `group`, ascending.
    pub fn members(&self, group: i64) -> &[i64] {
        self.0.get(&group).map_or(&[], Vec::as_slice)
    }
}

/// A process's arguments as kitty reports them: trailing empty ones are lost, and one argument that is not
/// UTF-8 loses the whole list.
pub fn command_line(pid: i64) -> Vec<String> {
    let Ok(raw) = fs::read(format!("/proc/{pid}/cmdline")) else {
        return Vec::new();
    };
    let Ok(all) = String::from_utf8(raw) else {
        return Vec::new();
    };
    let all = all.trim_end_matches('\0');
    if all.is_empty() {
        Vec::new()
    } else {
        all.split('\0').map(str::to_owned).collect()
    }
}

/// The bytes of a process's directory; `None` when it cannot be read or was deleted.
pub fn directory_bytes(pid: i64) -> Option<Vec<u8>> {
    let link = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    let bytes = link.as_os_str().as_bytes();
    (!bytes.ends_with(b" (deleted)")).then(|| bytes.to_vec())
}

/// [`directory_bytes`] as a kitty string.
pub fn directory(pid: i64) -> Option<String> {
    directory_bytes(pid).map(|b| text::from_os(&b))
}

/// The program file of a process, as a kitty string.
pub fn program(pid: i64) -> Option<String> {
    let link = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(text::from_os(link.as_os_str().as_bytes()))
}

/// A process's environment at its start, as kitty strings.
pub fn environment(pid: i64) -> Option<Vec<(String, String)>> {
    let raw = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let pairs = raw.split(|b| *b == 0).filter_map(|e| {
        let at = e.iter().position(|b| *b == b'=')?;
        Some((text::from_os(&e[..at]), text::from_os(&e[at + 1..])))
    });
    Some(pairs.collect())
}

/// The numbered field of a stat line (field 1 is the pid, 22 the start time in ticks), counted after the
/// last closing parenthesis.
pub fn stat_field(pid: i64, field: usize) -> Option<i64> {
    let raw = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end = raw.iter().rposition(|b| *b == b')')?;
    let rest = String::from_utf8_lossy(&raw[end + 1..]);
    rest.split_ascii_whitespace()
        .nth(field.checked_sub(3)?)?
        .parse()
        .ok()
}

/// All processes of some sessions (a window's session is its pid), in one pass.
pub fn session_members(sessions: &[i64]) -> Vec<i64> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<i64>().ok())
            && stat_field(pid, 6).is_some_and(|s| sessions.contains(&s))
        {
            found.push(pid);
        }
    }
    found
}

/// Looks a program up as kitty does: a name without a slash in the directories of `path`.
pub fn which(name: &str, path: &OsStr) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    if name.contains('/') {
        return None;
    }
    std::env::split_paths(path)
        .map(|dir| dir.join(name))
        .find_map(|file| {
            let meta = fs::metadata(&file).ok()?;
            (meta.is_file() && meta.permissions().mode() & 0o111 != 0)
                .then(|| text::from_os(file.as_os_str().as_bytes()))
        })
}
