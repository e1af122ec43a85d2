//! How an emulated kitty is set up.

use crate::layout;
use crate::text;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A way of not behaving like kitty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misbehave {
    /// Never answers.
    Silent,
    /// Resets the connection instead of answering.
    Reset,
    /// Sends half of each answer, then closes.
    HalfFrame,
    /// A save leaves an empty file and says ok.
    EmptyFile,
    /// A save leaves no file and says ok.
    NoFile,
    /// Says ok to everything and does nothing.
    WrongOk,
    /// Waits before each answer.
    Slow(Duration),
    /// `ls` answers about 5 MB.
    Huge,
    /// `ls` answers an empty list.
    EmptyLs,
    /// The command `kitten` answers an error.
    NoKitten,
    /// Answers as kitty 0.26.5, which has no sessions.
    Old,
    /// Stops answering after this many answers.
    StopAfter(usize),
}

impl Misbehave {
    /// Reads the word of `--misbehave`: `silent`, `reset`, `half-frame`, `empty-file`, `no-file`, `wrong-ok`,
    /// `slow:MS`, `huge`, `empty-ls`, `no-kitten`, `old`, `stop-after:N`.
    pub fn parse(word: &str) -> Option<Misbehave> {
        Some(match word {
            "silent" => Misbehave::Silent,
            "reset" => Misbehave::Reset,
            "half-frame" => Misbehave::HalfFrame,
            "empty-file" => Misbehave::EmptyFile,
            "no-file" => Misbehave::NoFile,
            "wrong-ok" => Misbehave::WrongOk,
            "huge" => Misbehave::Huge,
            "empty-ls" => Misbehave::EmptyLs,
            "no-kitten" => Misbehave::NoKitten,
            "old" => Misbehave::Old,
            _ => {
                let (kind, n) = word.split_once(':')?;
                match kind {
                    "slow" => Misbehave::Slow(Duration::from_millis(n.parse().ok()?)),
                    "stop-after" => Misbehave::StopAfter(n.parse().ok()?),
                    _ => return None,
                }
            }
        })
    }
}

/// Who may use remote control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RemoteControl {
    /// Nobody: no socket is made.
    #[default]
    No,
    /// Everybody who reaches the socket, and programs in windows.
    Yes,
    /// Over the socket only.
    SocketOnly,
    /// Only with a password, which the emulator does not know: every plain request is refused.
    Password,
}

impl RemoteControl {
    /// Reads the value of `allow_remote_control`.
    pub fn parse(word: &str) -> RemoteControl {
        match word {
            "yes" | "y" | "true" => RemoteControl::Yes,
            "socket" | "socket-only" => RemoteControl::SocketOnly,
            "password" => RemoteControl::Password,
            _ => RemoteControl::No,
        }
    }
}

/// Everything that is set before the start. Build it with the methods.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) listen_on: Option<String>,
    pub(crate) listen_from_conf: bool,
    pub(crate) remote_control: RemoteControl,
    pub(crate) shell: Vec<String>,
    pub(crate) integration: String,
    pub(crate) session: Option<String>,
    pub(crate) startup_session: Option<String>,
    pub(crate) enabled_layouts: Vec<String>,
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) directory: Option<String>,
    pub(crate) command: Vec<String>,
    pub(crate) hold: bool,
    pub(crate) size: (u16, u16),
    pub(crate) has_focus: bool,
    pub(crate) misbehave: Vec<Misbehave>,
    pub(crate) no_window: bool,
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) config_dir: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Config::new()
    }
}

impl Config {
    /// One shell window, remote control on, a socket in the temporary directory; the environment of this
    /// process without its `KITTY_*` variables.
    pub fn new() -> Config {
        let env: BTreeMap<OsString, OsString> = std::env::vars_os()
            .filter(|(k, _)| !k.as_bytes().starts_with(b"KITTY_"))
            .collect();
        let mut config = Config {
            listen_on: None,
            listen_from_conf: false,
            remote_control: RemoteControl::Yes,
            shell: Vec::new(),
            integration: "enabled".into(),
            session: None,
            startup_session: None,
            enabled_layouts: layout::ALL.iter().map(|l| (*l).to_owned()).collect(),
            env,
            cwd: std::env::current_dir().unwrap_or_else(|_| "/".into()),
            directory: None,
            command: Vec::new(),
            hold: false,
            size: (100, 30),
            has_focus: true,
            misbehave: Vec::new(),
            no_window: false,
            class: "kitty".into(),
            name: "kitty".into(),
            config_dir: PathBuf::new(),
        };
        config.config_dir = PathBuf::from(config.home()).join(".config/kitty");
        config.shell = vec![config.login_shell()];
        config
    }

    /// Where the socket is: `unix:PATH` or `unix:@NAME`, taken as it is.
    #[must_use]
    pub fn listen_on(mut self, address: impl Into<String>) -> Self {
        self.listen_on = Some(address.into());
        self.listen_from_conf = false;
        self
    }

    /// Where the socket is, as `listen_on` of kitty.conf: `-<pid>` is added unless `{kitty_pid}` is in it.
    #[must_use]
    pub fn listen_on_of_conf(mut self, address: impl Into<String>) -> Self {
        self.listen_on = Some(address.into());
        self.listen_from_conf = true;
        self
    }

    /// No socket.
    #[must_use]
    pub fn no_socket(mut self) -> Self {
        self.listen_on = Some("none".into());
        self
    }

    /// `allow_remote_control`.
    #[must_use]
    pub fn remote_control(mut self, value: RemoteControl) -> Self {
        self.remote_control = value;
        self
    }

    /// kitty's `shell`, a command line; `.` is the login shell.
    #[must_use]
    pub fn shell(mut self, shell: &str) -> Self {
        self.shell = match shell {
            "." | "" => vec![self.login_shell()],
            s => crate::words::split(s, false)
                .ok()
                .filter(|w| !w.is_empty())
                .unwrap_or_else(|| vec![s.into()]),
        };
        self
    }

    /// `shell_integration`: `enabled`, `disabled`, `no-rc`, or a list of words.
    #[must_use]
    pub fn shell_integration(mut self, words: &str) -> Self {
        self.integration = words.to_owned();
        self
    }

    /// `--session FILE` (`none` for none).
    #[must_use]
    pub fn session(mut self, file: impl AsRef<Path>) -> Self {
        self.session = Some(text::from_os(file.as_ref().as_os_str().as_bytes()));
        self
    }

    /// `startup_session`.
    #[must_use]
    pub fn startup_session(mut self, file: impl AsRef<Path>) -> Self {
        self.startup_session = Some(text::from_os(file.as_ref().as_os_str().as_bytes()));
        self
    }

    /// `enabled_layouts`, the first is the layout of new tabs.
    #[must_use]
    pub fn enabled_layouts(mut self, layouts: &str) -> Self {
        let list: Vec<String> = layouts
            .split(',')
            .map(|l| l.trim().to_lowercase())
            .collect();
        if !list.iter().any(|l| l == "*" || l == "all") && !list.is_empty() {
            self.enabled_layouts = list;
        }
        self
    }

    /// Sets a variable of kitty's own environment.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .insert(key.as_ref().to_owned(), value.as_ref().to_owned());
        if key.as_ref() == "HOME" {
            self.config_dir = PathBuf::from(value.as_ref()).join(".config/kitty");
        }
        self
    }

    /// Removes a variable of kitty's own environment.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.env.remove(key.as_ref());
        self
    }

    /// Replaces kitty's whole environment.
    #[must_use]
    pub fn env_only<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        env: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.env = env.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        self.config_dir = PathBuf::from(self.home()).join(".config/kitty");
        self
    }

    /// kitty's own directory.
    #[must_use]
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = dir.into();
        self
    }

    /// The directory relative session files are looked for in.
    #[must_use]
    pub fn config_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.config_dir = dir.into();
        self
    }

    /// `-d DIR`: where the first window starts.
    #[must_use]
    pub fn directory(mut self, dir: impl Into<String>) -> Self {
        self.directory = Some(dir.into());
        self
    }

    /// A command instead of the shell in the first window; ignored with a session.
    #[must_use]
    pub fn command<S: Into<String>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.command = words.into_iter().map(Into::into).collect();
        self
    }

    /// `--hold`.
    #[must_use]
    pub fn hold(mut self, hold: bool) -> Self {
        self.hold = hold;
        self
    }

    /// Size of OS windows in cells.
    #[must_use]
    pub fn size(mut self, columns: u16, lines: u16) -> Self {
        self.size = (columns, lines);
        self
    }

    /// Whether the desktop's focus is on kitty at all.
    #[must_use]
    pub fn focused(mut self, focused: bool) -> Self {
        self.has_focus = focused;
        self
    }

    /// `--class` and `--name` of OS windows that are given none.
    #[must_use]
    pub fn class(mut self, class: &str, name: &str) -> Self {
        class.clone_into(&mut self.class);
        name.clone_into(&mut self.name);
        self
    }

    /// Adds a misbehaviour.
    #[must_use]
    pub fn misbehave(mut self, how: Misbehave) -> Self {
        self.misbehave.push(how);
        self
    }

    /// Starts without any window (and does not end for want of one).
    #[must_use]
    pub fn without_windows(mut self) -> Self {
        self.no_window = true;
        self
    }

    /// The home directory in kitty's environment.
    pub(crate) fn home(&self) -> String {
        self.var("HOME").unwrap_or_else(|| "/".into())
    }

    /// A variable of kitty's environment.
    pub(crate) fn var(&self, name: &str) -> Option<String> {
        let key = OsString::from_vec(text::to_os(name).ok()?);
        self.env.get(&key).map(|v| text::from_os(v.as_bytes()))
    }

    fn login_shell(&self) -> String {
        self.var("SHELL")
            .filter(|s| !s.is_empty())
            .unwrap_or_else(|| "/bin/sh".into())
    }

    /// Whether shells get the integration.
    pub(crate) fn integrates(&self) -> bool {
        !self
            .integration
            .split([' ', ','])
            .any(|w| w == "disabled" || w == "no-rc")
    }
}
