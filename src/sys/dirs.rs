//! Where things are: home, state and configuration directories, the person's shell.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::fault::{Fault, Outcome};

/// A variable that is set and not empty.
#[must_use]
pub fn var(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|v| !v.is_empty())
}

/// The home directory: `$HOME`, else the user's entry in /etc/passwd.
///
/// # Errors
/// When neither says.
pub fn home() -> Outcome<PathBuf> {
    var("HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or_else(|| passwd_field(5).map(PathBuf::from))
        .ok_or_else(|| Fault::refused("no home directory: set HOME"))
}

/// The names in a directory; none where it cannot be read.
#[must_use]
pub fn names(dir: &Path) -> Vec<OsString> {
    use rustix::fs::{Dir, Mode, OFlags, open};
    use std::os::unix::ffi::OsStrExt;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(entries) = open(dir, flags, Mode::empty()).and_then(|fd| Dir::read_from(&fd)) else {
        return Vec::new();
    };
    let name = |bytes: &[u8]| std::ffi::OsStr::from_bytes(bytes).to_owned();
    let names = entries.flatten().map(|e| name(e.file_name().to_bytes()));
    names.filter(|n| n != "." && n != "..").collect()
}

/// Where our state is: `$KITTYMUX_STATE_DIR`, else `$XDG_STATE_HOME/kittymux`, else `~/.local/state/kittymux`.
///
/// # Errors
/// When there is no home directory, or the override is not an absolute path.
pub fn state() -> Outcome<PathBuf> {
    if let Some(dir) = var("KITTYMUX_STATE_DIR") {
        let dir = PathBuf::from(dir);
        return if dir.is_absolute() {
            Ok(dir)
        } else {
            Err(Fault::refused("KITTYMUX_STATE_DIR is not an absolute path"))
        };
    }
    Ok(base("XDG_STATE_HOME", ".local/state")?.join("kittymux"))
}

/// Where the person's configuration is: `${XDG_CONFIG_HOME:-~/.config}/kittymux`.
///
/// # Errors
/// When there is no home directory.
pub fn config() -> Outcome<PathBuf> {
    Ok(base("XDG_CONFIG_HOME", ".config")?.join("kittymux"))
}

/// A base directory of the XDG rules: the variable when absolute, else below home.
///
/// # Errors
/// When there is no home directory.
pub fn base(name: &str, below_home: &str) -> Outcome<PathBuf> {
    match var(name).map(PathBuf::from).filter(|p| p.is_absolute()) {
        Some(dir) => Ok(dir),
        None => Ok(home()?.join(below_home)),
    }
}

/// The person's shell: `$SHELL`, else /etc/passwd, else `/bin/sh`; always one that can be executed.
#[must_use]
pub fn shell() -> PathBuf {
    [
        var("SHELL").map(PathBuf::from),
        passwd_field(6).map(PathBuf::from),
    ]
    .into_iter()
    .flatten()
    .find(|p| p.is_absolute() && is_executable(p))
    .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// Whether `path` is a file that we may execute.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The first executable `name` on PATH; a name with a slash is taken as it is.
#[must_use]
pub fn find_program(name: &Path) -> Option<PathBuf> {
    if name.as_os_str().as_encoded_bytes().contains(&b'/') {
        return is_executable(name).then(|| name.to_owned());
    }
    let path = var("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    env::split_paths(&path)
        .filter(|d| d.is_absolute())
        .map(|d| d.join(name))
        .find(|p| is_executable(p))
}

/// A field of our own line in /etc/passwd (a static program knows no other user database).
fn passwd_field(index: usize) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    let uid = rustix::process::getuid().as_raw().to_string();
    let text = std::fs::read("/etc/passwd").ok()?;
    let line = text
        .split(|b| *b == b'\n')
        .find(|l| l.split(|b| *b == b':').nth(2) == Some(uid.as_bytes()))?;
    let field = line.split(|b| *b == b':').nth(index)?;
    (!field.is_empty()).then(|| OsString::from_vec(field.to_vec()))
}
