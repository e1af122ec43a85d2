//! Shell integration: how kitty changes the start of bash, zsh and fish, and the scripts it adds.

use crate::words;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The shells kitty integrates with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

impl Shell {
    /// Which of them `program` is, by its file name.
    pub fn of(program: &str) -> Option<Shell> {
        match program.rsplit('/').next()?.trim_start_matches('-') {
            "bash" => Some(Shell::Bash),
            "zsh" => Some(Shell::Zsh),
            "fish" => Some(Shell::Fish),
            _ => None,
        }
    }

    /// A list of words as one command in the shell's language. Empty words vanish, as in kitty.
    pub fn command_text(self, argv: &[String]) -> String {
        let quote = |w: &String| match self {
            Shell::Fish => format!("'{}'", w.replace('\\', "\\\\").replace('\'', "\\'")),
            _ => words::quote(w),
        };
        argv.iter()
            .filter(|w| !w.is_empty())
            .map(quote)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// The environment of a child, in order.
pub type Env = Vec<(String, String)>;

fn get<'a>(env: &'a Env, key: &str) -> Option<&'a str> {
    env.iter()
        .rev()
        .find(|(k, _)| k == key)
        .map(|(_, v)| v.as_str())
}

/// Sets or (with `None`) removes a variable.
pub fn set(env: &mut Env, key: &str, value: Option<&str>) {
    env.retain(|(k, _)| k != key);
    if let Some(v) = value {
        env.push((key.to_owned(), v.to_owned()));
    }
}

/// The directory with everything a running emulator hands to its children.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Writes the scripts into a new private directory below `parent`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(parent: &Path) -> io::Result<Files> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        sweep(parent);
        // One of another process table may have our pid.
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let name = format!("fake-kitty-{}-{n}-{}", std::process::id(), now.as_nanos());
        let root = parent.join(name);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&root)?;
        let files = Files { root };
        for (name, body, mode) in [
            ("bash/kitty.bash", include_str!("shell/kitty.bash"), 0o644),
            ("zsh/.zshenv", include_str!("shell/kitty.zshenv"), 0o644),
            ("zsh/kitty.zsh", include_str!("shell/kitty.zsh"), 0o644),
            (
                "fish/vendor_conf.d/kitty-shell-integration.fish",
                include_str!("shell/kitty.fish"),
                0o644,
            ),
            ("bin/kitten", include_str!("shell/kitten"), 0o755),
            ("bin/run-shell", include_str!("shell/run-shell"), 0o644),
            (
                "bin/__hold_till_enter__",
                include_str!("shell/show-text"),
                0o644,
            ),
            ("bin/__show_error__", include_str!("shell/show-text"), 0o644),
            ("bin/ask", include_str!("shell/show-text"), 0o644),
        ] {
            let path = files.root.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&files.root))?;
            fs::write(&path, body)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        files.write_terminfo();
        Ok(files)
    }

    /// kitty brings its own terminfo entry; where the system has none, that of xterm-256color stands in.
    fn write_terminfo(&self) {
        let known = [
            "/usr/share/terminfo",
            "/lib/terminfo",
            "/etc/terminfo",
            "/usr/lib/terminfo",
        ];
        let find = |name: &str| {
            let file = format!("x/{name}");
            known
                .iter()
                .map(|d| Path::new(d).join(&file))
                .find(|p| p.is_file())
        };
        if let Some(from) = find("xterm-kitty").or_else(|| find("xterm-256color")) {
            let dir = self.root.join("terminfo/x");
            let _ = fs::create_dir_all(&dir).and_then(|()| fs::copy(from, dir.join("xterm-kitty")));
        }
    }

    /// Removes the directory.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.root);
    }

    /// kitty's installation directory, as children see it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory with the `kitten` program.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The terminfo directory, when there is one.
    pub fn terminfo(&self) -> Option<PathBuf> {
        Some(self.root.join("terminfo")).filter(|p| p.is_dir())
    }

    /// Changes the arguments and environment of a shell as kitty does with integration on.
    pub fn integrate(
        &self,
        shell: Shell,
        argv: &mut Vec<String>,
        env: &mut Env,
        home: &str,
        mode: &str,
    ) {
        set(env, "KITTY_SHELL_INTEGRATION", Some(mode));
        let path = |rest: &str| self.root.join(rest).to_string_lossy().into_owned();
        match shell {
            Shell::Bash => integrate_bash(argv, env, home, &path("bash/kitty.bash")),
            Shell::Zsh => {
                if let Some(own) = get(env, "ZDOTDIR").map(str::to_owned) {
                    set(env, "KITTY_ORIG_ZDOTDIR", Some(&own));
                }
                set(env, "ZDOTDIR", Some(&path("zsh")));
            }
            Shell::Fish => {
                let dir = self.root.to_string_lossy().into_owned();
                set(env, "KITTY_FISH_XDG_DATA_DIR", Some(&dir));
                let old = get(env, "XDG_DATA_DIRS")
                    .filter(|v| !v.is_empty())
                    .map(str::to_owned);
                let old = old.unwrap_or_else(|| "/usr/local/share:/usr/share".into());
                set(env, "XDG_DATA_DIRS", Some(&format!("{dir}:{old}")));
            }
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.remove();
    }
}

/// How old what was left behind must be: an emulator in a process table of its own is not seen here.
const LEFT: Duration = Duration::from_secs(3600);

/// Removes what emulators left behind that were killed.
fn sweep(parent: &Path) {
    let is_old = |entry: &fs::DirEntry| {
        let made = entry.metadata().and_then(|m| m.modified()).ok();
        made.is_some_and(|t| t.elapsed().is_ok_and(|age| age > LEFT))
    };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|n| n.strip_prefix("fake-kitty-"))
            .and_then(|n| n.split('-').next());
        if let Some(pid) = pid.and_then(|p| p.parse::<u32>().ok())
            && !Path::new(&format!("/proc/{pid}")).exists()
            && is_old(&entry)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// bash is started with `--posix` and finds the integration through ENV; `--rcfile`, `--norc` and
/// `--noprofile` are taken away and done by the script. Not for `-c` or a script file.
fn integrate_bash(argv: &mut Vec<String>, env: &mut Env, home: &str, script: &str) {
    let mut inject = vec!["1"];
    let mut rcfile = None;
    let mut remove = Vec::new();
    let mut at = 1;
    while at < argv.len() {
        match argv[at].as_str() {
            "--norc" => {
                inject.push("no-rc");
                remove.push(at);
            }
            "--noprofile" => {
                inject.push("no-profile");
                remove.push(at);
            }
            "--posix" => inject.push("posix"),
            "--rcfile" | "--init-file" if at + 1 < argv.len() => {
                rcfile = Some(argv[at + 1].clone());
                remove.extend([at, at + 1]);
                at += 1;
            }
            "-" | "--" => {}
            "-O" | "+O" | "-o" | "+o" => at += 1,
            a if a.starts_with("--") => {}
            a if a.starts_with('-') && a.contains('c') => return,
            a if a.starts_with(['-', '+']) => {}
            _ => return,
        }
        at += 1;
    }
    for i in remove.into_iter().rev() {
        argv.remove(i);
    }
    if let Some(own) = get(env, "ENV").map(str::to_owned) {
        set(env, "KITTY_BASH_POSIX_ENV", Some(&own));
    }
    set(env, "ENV", Some(script));
    set(env, "KITTY_BASH_INJECT", Some(&inject.join(" ")));
    if let Some(file) = rcfile {
        set(env, "KITTY_BASH_RCFILE", Some(&file));
    }
    if get(env, "HISTFILE").is_none() && !inject.contains(&"posix") {
        set(env, "HISTFILE", Some(&format!("{home}/.bash_history")));
        set(env, "KITTY_BASH_UNEXPORT_HISTFILE", Some("1"));
    }
    argv.insert(1, "--posix".into());
}
