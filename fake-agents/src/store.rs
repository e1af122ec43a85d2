//! What the stand-ins keep on disk: ids, transcripts, rollouts, the registry.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if let Ok(mut file) = fs::File::open("/dev/urandom") {
        let _ = file.read_exact(&mut bytes);
    }
    bytes
}

/// `n` random letters of `alphabet`.
pub fn random_text(n: usize, alphabet: &str) -> String {
    let letters = alphabet.as_bytes();
    let bytes = random::<32>();
    bytes
        .iter()
        .take(n)
        .map(|b| char::from(letters[usize::from(*b) % letters.len()]))
        .collect()
}

fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = (bytes[6] & 0x0f) | (version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

/// A random UUID.
pub fn uuid_v4() -> String {
    uuid(random(), 4)
}

/// A UUID whose first 48 bits are `millis` since the epoch.
#[must_use]
pub fn uuid_v7(millis: u64) -> String {
    let mut bytes = random::<16>();
    bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    uuid(bytes, 7)
}

/// Now, in milliseconds since the epoch.
pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(0))
}

/// Year, month, day, hour, minute, second of a moment (UTC).
pub fn civil(millis: u64) -> [u64; 6] {
    let seconds = millis / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    [
        year,
        month,
        doy - (153 * mp + 2) / 5 + 1,
        rest / 3600,
        rest / 60 % 60,
        rest % 60,
    ]
}

/// The name of claude's project directory for `cwd`: all but ASCII letters and digits as `-`.
#[must_use]
pub fn project_name(cwd: &str) -> String {
    let mut units = [0; 2];
    cwd.chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_string(),
            c => "-".repeat(c.encode_utf16(&mut units).len()),
        })
        .collect()
}

/// The start time of this process, as the kernel counts it.
pub fn start_ticks() -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    rest.split(' ').nth(19).unwrap_or("0").to_owned()
}

/// An agent's configuration directory: a variable, else below home.
pub fn config_dir(variable: &str, below_home: &str) -> PathBuf {
    match std::env::var_os(variable).filter(|v| !v.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => crate::record::home().join(below_home),
    }
}

/// All files below `dir`, `depth` levels down, that are not empty, the last written first.
pub fn files_below(dir: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut due = vec![(dir.to_owned(), 0)];
    while let Some((dir, level)) = due.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(meta) = fs::metadata(&path) else {
                continue;
            };
            if meta.is_dir() && level < depth {
                due.push((path, level + 1));
            } else if meta.is_file() && meta.len() > 0 && level == depth {
                found.push((meta.modified().unwrap_or(UNIX_EPOCH), path));
            }
        }
    }
    found.sort();
    found.reverse();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The current directory as text.
pub fn cwd() -> String {
    let cwd = std::env::current_dir().unwrap_or_default();
    cwd.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_days() {
        assert_eq!(civil(1_735_689_600_000), [2025, 1, 1, 0, 0, 0]);
        assert_eq!(civil(951_782_399_000), [2000, 2, 28, 23, 59, 59]);
        let id = uuid_v7(1_735_689_600_000);
        assert!(id.starts_with("01941f29-7c00-7"), "{id}");
        assert_eq!(id.len(), 36);
        assert_ne!(uuid_v4(), uuid_v4());
        assert_eq!(project_name("/p/é_x"), "-p---x");
    }
}
