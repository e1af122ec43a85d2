//! Where programs start, with which environment; programs in the background.

use crate::engine::Kitty;
use crate::launch::Launch;
use crate::model::lock;
use crate::procfs;
use crate::shells::{self, Env};
use crate::spawn::{self, Program};
use crate::state::State;
use crate::text;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

impl Kitty {
    /// The directory a window starts in: variables and `~` are expanded once more; a relative one starts
    /// from kitty's.
    pub(crate) fn start_directory(&self, state: &State, cwd: Option<&str>) -> String {
        let base = text::from_os(self.config.cwd.as_os_str().as_bytes());
        let active = || state.active_window().and_then(|w| state.windows.get(&w));
        match cwd {
            None | Some("") => base,
            Some("current" | "last_reported" | "oldest") => {
                active().map_or(base, crate::inspect::directory)
            }
            Some("root") => active().map_or(base, |w| w.start_directory.clone()),
            Some(path) => {
                let path = text::expand_user(path, &self.config.home());
                let path = text::expand_path_vars(&path, &|n| self.var(n));
                if path.starts_with('/') {
                    path
                } else {
                    format!("{}/{path}", base.trim_end_matches('/'))
                }
            }
        }
    }

    /// Words of a program that kitty replaces when it launches it while running (not at its start).
    pub(crate) fn replace_words(state: &State, argv: &mut [String]) {
        let active = state.active_window().and_then(|w| state.windows.get(&w));
        let cursor = active.map_or((1, 1), |w| lock(&w.term).cursor());
        for word in argv {
            *word = match word.as_str() {
                "@active-kitty-window-id" => active.map(|w| w.id.to_string()).unwrap_or_default(),
                "@cursor-x" => cursor.0.to_string(),
                "@cursor-y" => cursor.1.to_string(),
                "@scrolled-by" => "0".into(),
                "@first-line-on-screen" | "@last-line-on-screen" => String::new(),
                _ => continue,
            };
        }
    }

    /// The environment of a child before the shell integration.
    pub(crate) fn child_environment(
        &self,
        id: Option<u64>,
        cwd: &str,
        extra: &[(String, Option<String>)],
    ) -> Env {
        let mut env: Env = self
            .config
            .env
            .iter()
            .map(|(k, v)| (text::from_os(k.as_bytes()), text::from_os(v.as_bytes())))
            .collect();
        let Some(id) = id else {
            shells::set(&mut env, "PWD", None);
            for (k, v) in extra {
                shells::set(&mut env, k, v.as_deref());
            }
            return env;
        };
        if procfs::which("kitten", &path_of(&env)).is_none() {
            self.add_own_programs(&mut env);
        }
        let root = self.files.root().to_string_lossy().into_owned();
        let pid = std::process::id().to_string();
        for (k, v) in [
            ("COLORTERM", "truecolor"),
            ("KITTY_INSTALLATION_DIR", root.as_str()),
            ("KITTY_PID", pid.as_str()),
            ("KITTY_PUBLIC_KEY", "1:fake-kitty-has-no-key"),
            ("KITTY_WINDOW_ID", &id.to_string()),
            ("PWD", cwd),
            ("TERM", "xterm-kitty"),
        ] {
            shells::set(&mut env, k, Some(v));
        }
        shells::set(&mut env, "KITTY_LISTEN_ON", lock(&self.address).as_deref());
        if let Some(dir) = self.files.terminfo() {
            shells::set(&mut env, "TERMINFO", Some(&dir.to_string_lossy()));
        }
        for (k, v) in extra {
            shells::set(&mut env, k, v.as_deref());
        }
        env
    }

    /// Starts a background program; gives its pid.
    ///
    /// # Errors
    /// kitty's text when it cannot be started.
    pub(crate) fn run_in_background(
        self: &Arc<Self>,
        state: &State,
        launch: &Launch,
    ) -> Result<(), String> {
        let cwd = &self.start_directory(state, launch.cwd.as_deref());
        if launch.argv.is_empty() {
            return Err(
                "The cmd to run must be specified when running a background process".into(),
            );
        }
        let extra = parse_env(&launch.env, &|n| self.var(n));
        let mut env = self.child_environment(None, cwd, &extra);
        let mut argv = launch.argv.clone();
        let path = self.var("PATH").unwrap_or_default();
        if let Some(found) = procfs::which(&argv[0], OsStr::from_bytes(&text::to_os(&path)?)) {
            argv[0] = found;
        }
        let pair = if launch.allow_remote_control {
            use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
            let (ours, theirs) = socketpair(
                AddressFamily::UNIX,
                SocketType::STREAM,
                SocketFlags::CLOEXEC,
                None,
            )
            .map_err(|e| e.to_string())?;
            let n = std::os::fd::AsRawFd::as_raw_fd(&theirs);
            shells::set(&mut env, "KITTY_LISTEN_ON", Some(&format!("fd:{n}")));
            shells::set(
                &mut env,
                "KITTY_PUBLIC_KEY",
                Some("1:fake-kitty-has-no-key"),
            );
            Some((ours, theirs))
        } else {
            None
        };
        let program = Program {
            file: os(&argv[0])?,
            argv: argv.iter().map(|a| os(a)).collect::<Result<_, _>>()?,
            env: env
                .iter()
                .map(|(k, v)| Ok((os(k)?, os(v)?)))
                .collect::<Result<_, String>>()?,
            cwd: os(cwd)?,
            fallback_cwd: self.config.cwd.clone().into_os_string(),
        };
        let mut child =
            spawn::in_background(program, pair.as_ref().map(|(_, t)| t)).map_err(|e| {
                match e.kind() {
                    std::io::ErrorKind::NotFound => {
                        format!("[Errno 2] No such file or directory: '{}'", launch.argv[0])
                    }
                    _ => e.to_string(),
                }
            })?;
        std::thread::spawn(move || drop(child.wait()));
        if let Some((ours, _theirs)) = pair {
            let refused = !launch.passwords.is_empty();
            crate::server::serve_pair(Arc::clone(self), ours, refused);
        }
        Ok(())
    }
}

/// PATH in a child's environment.
pub fn path_of(env: &Env) -> OsString {
    let path = env
        .iter()
        .find(|(k, _)| k == "PATH")
        .map(|(_, v)| text::to_os(v).unwrap_or_default());
    OsString::from_vec(path.unwrap_or_else(|| b"/usr/local/bin:/usr/bin:/bin".to_vec()))
}

pub fn os(s: &str) -> Result<OsString, String> {
    let bytes = text::to_os(s)?;
    if bytes.contains(&0) {
        return Err("embedded null byte".into());
    }
    Ok(OsString::from_vec(bytes))
}

/// `--env` values: `K=V` with V expanded and stripped, `K` alone removes.
pub fn parse_env(
    list: &[String],
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, Option<String>)> {
    let mut out: Vec<(String, Option<String>)> = Vec::new();
    for item in list {
        let (k, v) = match item.split_once('=') {
            Some((k, v)) => {
                let v = text::expand_vars(text::strip(v), lookup);
                (k, Some(v).filter(|v| v != "_delete_this_env_var_"))
            }
            None => (item.as_str(), None),
        };
        let k = text::strip(k);
        if k.is_empty() {
            continue;
        }
        match out.iter_mut().find(|(name, _)| name == k) {
            Some(slot) => slot.1 = v,
            None => out.push((k.to_owned(), v)),
        }
    }
    out
}
