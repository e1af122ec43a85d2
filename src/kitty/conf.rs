//! The few lines of kitty.conf that say whether and where a kitty listens (facts 2.1, 2.2, 2.10).

use std::path::{Path, PathBuf};

use crate::sys::bytes::from_bytes;
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::out::visible;
use crate::sys::private_file::read_foreign;
use crate::sys::written::Written;

/// How large a configuration file may be, and how deep includes may go.
const LIMIT: usize = 4 << 20;
const DEPTH: usize = 8;

/// What kitty.conf says of remote control. The last line of a kind counts, as for kitty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conf {
    /// `listen_on`, with variables and `~` expanded; `{kitty_pid}` still in it.
    pub listen_on: Option<String>,
    /// `allow_remote_control`.
    pub allow_remote_control: Option<String>,
    /// `shell`: the program of a window without one of its own; `.` is the person's login shell.
    pub shell: Option<String>,
    /// `shell_integration`.
    pub shell_integration: Option<String>,
}

impl Conf {
    /// Whether a kitty started with this file makes a socket that we can use.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.listen_on.as_deref().is_some_and(|l| l != "none")
            && matches!(
                self.allow_remote_control.as_deref(),
                Some("yes" | "y" | "true" | "socket" | "socket-only")
            )
    }

    /// The directory in which kitties started with this file make their sockets.
    #[must_use]
    pub fn sockets(&self) -> Option<PathBuf> {
        match self.listen_on.as_deref().and_then(pattern)? {
            Pattern::Files { dir, .. } => Some(dir),
            Pattern::Abstract { .. } => None,
        }
    }

    /// The line by which the person keeps every program from remote control over the socket.
    #[must_use]
    pub fn forbids(&self) -> Option<String> {
        let value = self.allow_remote_control.as_deref()?;
        let allowed = matches!(value, "yes" | "y" | "true" | "socket" | "socket-only");
        (!allowed).then(|| format!("allow_remote_control {}", visible(value)))
    }

    /// Whether kitty puts its integration into the shells it starts.
    #[must_use]
    pub fn integrates(&self) -> bool {
        let words = self.shell_integration.as_deref().unwrap_or("");
        !words
            .split_whitespace()
            .any(|w| matches!(w, "disabled" | "no-rc"))
    }
}

/// kitty's configuration directory.
#[must_use]
pub fn directory() -> Option<PathBuf> {
    noted_directory(&mut |_| {})
}

/// [`directory`]; `noted` gets each kitty.conf that was looked for.
fn noted_directory(noted: &mut dyn FnMut(&Path)) -> Option<PathBuf> {
    if let Some(dir) = dirs::var("KITTY_CONFIG_DIRECTORY") {
        return Some(PathBuf::from(dir));
    }
    let mut places = vec![dirs::base("XDG_CONFIG_HOME", ".config").ok()?.join("kitty")];
    let home = dirs::home().ok()?;
    places.push(home.join(".config/kitty"));
    if cfg!(target_os = "macos") {
        places.push(home.join("Library/Preferences/kitty"));
    }
    places.dedup();
    if let [only] = &places[..] {
        return Some(only.clone());
    }
    let mut is_there = |place: &&PathBuf| {
        let file = place.join("kitty.conf");
        noted(&file);
        file.exists()
    };
    places
        .iter()
        .find(|p| is_there(p))
        .or_else(|| places.first())
        .cloned()
}

/// Reads kitty.conf and what it includes.
#[must_use]
pub fn read() -> Conf {
    read_noting(&mut Written::default())
}

/// [`read`]; adds the files that were read or looked for to `files`, each as it was before.
#[must_use]
pub fn read_noting(files: &mut Written) -> Conf {
    let mut conf = Conf::default();
    let now = clock::wall_ns();
    if let Some(dir) = noted_directory(&mut |file| files.add(file, now)) {
        read_into(&mut conf, files, &dir.join("kitty.conf"), DEPTH);
    }
    conf
}

fn read_into(conf: &mut Conf, files: &mut Written, path: &Path, depth: usize) {
    files.add(path, clock::wall_ns());
    let Ok(bytes) = read_foreign(path, LIMIT) else {
        return;
    };
    for line in from_bytes(&bytes).lines() {
        match take_line(conf, line, &|name| {
            std::env::var_os(name).map(|v| crate::sys::bytes::from_os(&v))
        }) {
            Some(included) if depth > 0 => {
                let file = crate::sys::bytes::to_path(&included);
                let base = path.parent().unwrap_or(Path::new("/"));
                read_into(conf, files, &base.join(file), depth - 1);
            }
            _ => {}
        }
    }
}

/// Takes one line in; gives the file it includes, if it is an `include`.
fn take_line(conf: &mut Conf, line: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let line = line.trim();
    let (key, value) = line.split_once(char::is_whitespace)?;
    let value = value.trim();
    match key {
        "listen_on" => conf.listen_on = Some(expand(value, env)),
        "allow_remote_control" => conf.allow_remote_control = Some(value.to_ascii_lowercase()),
        "shell" => conf.shell = Some(expand(value, env)),
        "shell_integration" => conf.shell_integration = Some(value.to_ascii_lowercase()),
        "include" => return Some(expand(value, env)),
        _ => {}
    }
    None
}

/// Expands a leading `~/`, `$NAME` and `${NAME}`; unknown variables stay. After `unix:` a `~` counts too.
fn expand(text: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let (scheme, mut rest) = match text.strip_prefix("unix:") {
        Some(path) => ("unix:", path),
        None => ("", text),
    };
    out.push_str(scheme);
    if rest == "~" || rest.starts_with("~/") {
        out.push_str(&env("HOME").unwrap_or_else(|| "~".to_owned()));
        rest = &rest[1..];
    }
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, end) = match after.strip_prefix('{') {
            Some(inner) => match inner.find('}') {
                Some(close) => (&inner[..close], close + 2),
                None => ("", 0),
            },
            None => {
                let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        match env(name) {
            Some(value) if !name.is_empty() => {
                out.push_str(&value);
                rest = &after[end..];
            }
            _ => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// How the sockets of kitties with this `listen_on` are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Socket files in a directory, with what stands before and behind the pid.
    Files {
        /// The directory.
        dir: PathBuf,
        /// What stands before the pid.
        before: String,
        /// What stands behind the pid.
        behind: String,
    },
    /// Abstract names, with what stands before and behind the pid.
    Abstract {
        /// What stands before the pid.
        before: String,
        /// What stands behind the pid.
        behind: String,
    },
}

/// Reads a `listen_on`: kitty adds `-PID` unless `{kitty_pid}` stands in it; a relative path lies in
/// the temporary directory.
#[must_use]
pub fn pattern(listen_on: &str) -> Option<Pattern> {
    let rest = listen_on.strip_prefix("unix:")?;
    let (before, behind) = match rest.split_once("{kitty_pid}") {
        Some((before, behind)) => (before.to_owned(), behind.to_owned()),
        None => (format!("{rest}-"), String::new()),
    };
    if let Some(before) = before.strip_prefix('@') {
        return Some(Pattern::Abstract {
            before: before.to_owned(),
            behind,
        });
    }
    let path = if before.starts_with('/') {
        before
    } else {
        format!(
            "{}/{before}",
            crate::sys::bytes::from_os(std::env::temp_dir().as_os_str()).trim_end_matches('/')
        )
    };
    let (dir, before) = path.rsplit_once('/')?;
    if behind.contains('/') {
        return None;
    }
    Some(Pattern::Files {
        dir: crate::sys::bytes::to_path(if dir.is_empty() { "/" } else { dir }),
        before: before.to_owned(),
        behind,
    })
}

impl Pattern {
    /// The pid in a socket's name, if the name fits.
    #[must_use]
    pub fn pid_in(&self, name: &str) -> Option<i32> {
        let (Self::Files { before, behind, .. } | Self::Abstract { before, behind }) = self;
        let pid = name
            .strip_prefix(before.as_str())?
            .strip_suffix(behind.as_str())?;
        pid.parse().ok().filter(|p| *p > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home/u".to_owned()),
            "XDG_RUNTIME_DIR" => Some("/run/user/1".to_owned()),
            _ => None,
        }
    }

    fn conf(text: &str) -> (Conf, Vec<String>) {
        let mut conf = Conf::default();
        let included = text
            .lines()
            .filter_map(|l| take_line(&mut conf, l, &env))
            .collect();
        (conf, included)
    }

    #[test]
    fn the_last_line_counts_and_variables_are_expanded() {
        let (conf, included) = conf(
            "# listen_on unix:/no\nlisten_on unix:/tmp/a\n  listen_on   unix:${XDG_RUNTIME_DIR}/kitty-$NOPE{kitty_pid}\n\
             allow_remote_control Socket-Only\ninclude ~/more.conf\nmap ctrl+a listen_on",
        );
        assert_eq!(
            conf.listen_on.as_deref(),
            Some("unix:/run/user/1/kitty-$NOPE{kitty_pid}")
        );
        assert!(conf.listens() && conf.integrates());
        for (value, on) in [
            ("enabled", true),
            ("no-cursor no-title", true),
            ("Disabled", false),
            ("no-cursor no-rc", false),
        ] {
            let mut conf = Conf::default();
            take_line(&mut conf, &format!("shell_integration {value}"), &env);
            assert_eq!(conf.integrates(), on, "{value}");
        }
        assert_eq!(included, ["/home/u/more.conf"]);
        assert_eq!(conf.forbids(), None);
        let refused = Conf {
            allow_remote_control: Some("no".into()),
            ..conf
        };
        assert!(!refused.listens());
        assert_eq!(
            refused.forbids().as_deref(),
            Some("allow_remote_control no")
        );
    }

    #[test]
    fn socket_names_give_the_pid() {
        let files = pattern("unix:/tmp/mykitty").expect("a pattern");
        assert_eq!(files.pid_in("mykitty-42"), Some(42));
        assert_eq!(files.pid_in("mykitty-"), None);
        assert_eq!(files.pid_in("other-42"), None);
        let named = pattern("unix:@k-{kitty_pid}-x").expect("a pattern");
        assert_eq!(named.pid_in("k-7-x"), Some(7));
        assert_eq!(pattern("tcp:localhost:1"), None);
        assert!(
            matches!(pattern("unix:rel"), Some(Pattern::Files { ref before, .. }) if before == "rel-")
        );
    }
}
