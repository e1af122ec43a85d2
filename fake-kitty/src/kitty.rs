//! The library's front: start, look, stop.

use crate::capture::Saved;
use crate::config::{Config, RemoteControl};
use crate::engine::Kitty;
use crate::inspect;
use crate::launch::Launch;
use crate::ls;
use crate::model::lock;
use crate::procfs;
use crate::server;
use crate::session_file;
use crate::sessions::Failure;
use crate::shells::Files;
use crate::state::State;
use crate::term::Prompt;
use serde_json::Value;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A running emulator. Dropping it stops it: the socket goes, the windows' programs are ended.
pub struct FakeKitty {
    shared: Arc<Kitty>,
    address: Option<String>,
    server: Option<std::thread::JoinHandle<()>>,
}

/// One window, as it was when it was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowSnapshot {
    /// Window id.
    pub id: u64,
    /// Pid of its program.
    pub pid: i64,
    /// The title people see.
    pub title: String,
    /// The tab's title people see.
    pub tab_title: String,
    /// Directory of its program.
    pub cwd: String,
    /// Whether a shell prompt is shown.
    pub at_prompt: bool,
    /// The last command line reported by the shell.
    pub last_command: String,
    /// Session name.
    pub session: String,
    /// User variables, in order.
    pub user_vars: Vec<(String, String)>,
    /// What is on the screen.
    pub text: String,
    /// Foreground processes: pid and arguments.
    pub foreground: Vec<(i64, Vec<String>)>,
}

impl FakeKitty {
    /// Starts: windows first, then the socket, so that the first answer already lists them all.
    ///
    /// # Errors
    /// Those of the system; a session whose launch fails is an error as it ends kitty.
    pub fn start(config: Config) -> io::Result<FakeKitty> {
        Self::run(config, None)
    }

    /// Serves a saved `ls` answer (its decoded `data`) and a saved session text instead of real windows.
    ///
    /// # Errors
    /// A listing that is not JSON, or a socket that cannot be made.
    pub fn serve_capture(ls_json: &str, session_text: &str) -> io::Result<FakeKitty> {
        Self::serve_capture_with(Config::new(), ls_json, session_text)
    }

    /// As [`FakeKitty::serve_capture`], with an address or misbehaviour.
    ///
    /// # Errors
    /// As there.
    pub fn serve_capture_with(
        config: Config,
        ls_json: &str,
        session_text: &str,
    ) -> io::Result<FakeKitty> {
        let saved = Saved::new(ls_json, session_text).map_err(io::Error::other)?;
        Self::run(config.without_windows(), Some(saved))
    }

    fn run(mut config: Config, capture: Option<Saved>) -> io::Result<FakeKitty> {
        let temp = std::path::PathBuf::from(config.var("TMPDIR").unwrap_or_else(|| "/tmp".into()));
        let files = Files::create(&temp)?;
        if config.listen_on.is_none() && config.remote_control != RemoteControl::No {
            config.listen_on = Some(format!("unix:{}/socket", files.root().display()));
        }
        let wanted = server::address(&config, &temp);
        let has_focus = config.has_focus;
        let mut state = State::new(config.size);
        state.has_focus = has_focus;
        let shared = Arc::new(Kitty {
            config,
            files,
            state: Mutex::new(state),
            requests: Mutex::default(),
            messages: Mutex::default(),
            address: Mutex::default(),
            stopping: AtomicBool::new(false),
            answered: AtomicUsize::new(0),
            peers: AtomicUsize::new(0),
            started: Instant::now(),
            ended: (Mutex::new(false), Condvar::new()),
            capture,
        });
        let mut address = None;
        match wanted.and_then(|a| a.map(|a| server::probe(&a).map(|()| a)).transpose()) {
            Ok(a) => address = a,
            Err(line) => shared.log(line),
        }
        if let Some(a) = &address {
            server::remember(&shared, a);
        }
        let mut kitty = FakeKitty {
            shared: Arc::clone(&shared),
            address: None,
            server: None,
        };
        if !shared.config.no_window {
            open_first(&shared).map_err(io::Error::other)?;
        }
        // The socket comes last: while it is not there, nothing is there.
        let listener = address.and_then(|a| server::bind(&a).map_err(|line| shared.log(line)).ok());
        kitty.address = listener.as_ref().map(|l| l.address.clone());
        kitty.server = listener.map(|l| server::serve(&shared, l));
        Ok(kitty)
    }

    /// The address of the socket (`unix:/path` or `unix:@name`), if there is one.
    pub fn socket(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// What windows see as `KITTY_PID`: the process this emulator runs in.
    pub fn pid_like(&self) -> u32 {
        std::process::id()
    }

    /// All requests so far, as they came.
    pub fn log(&self) -> Vec<String> {
        lock(&self.shared.requests).clone()
    }

    /// What kitty would have written to its standard error so far.
    pub fn messages(&self) -> Vec<String> {
        lock(&self.shared.messages).clone()
    }

    /// The current listing, as `ls` has it (lone surrogates as stand-in characters).
    pub fn state(&self) -> Value {
        ls::list(&lock(&self.shared.state), &ls::Wanted::default())
    }

    /// All windows with what they show.
    pub fn windows(&self) -> Vec<WindowSnapshot> {
        let state = lock(&self.shared.state);
        let groups = procfs::Groups::read();
        inspect::windows(&state)
            .into_iter()
            .map(|w| {
                let tab = state
                    .locate(w.id)
                    .map(|(o, t)| &state.os_windows[o].tabs[t]);
                let foreground = inspect::foreground(w, &groups)
                    .into_iter()
                    .map(|p| (p.pid, p.argv))
                    .collect();
                let (title, cwd, at_prompt) = (
                    w.shown_title(),
                    inspect::directory(w),
                    inspect::at_prompt(w),
                );
                let tab_title = tab
                    .map(|t| crate::matching::tab_title(&state, t))
                    .unwrap_or_default();
                let term = lock(&w.term);
                WindowSnapshot {
                    id: w.id,
                    pid: w.pid,
                    title,
                    tab_title,
                    cwd,
                    at_prompt,
                    last_command: term.last_command.clone(),
                    session: w.session.clone(),
                    user_vars: term.user_vars.clone(),
                    text: term.screen_text(),
                    foreground,
                }
            })
            .collect()
    }

    /// One window.
    pub fn window(&self, id: u64) -> Option<WindowSnapshot> {
        self.windows().into_iter().find(|w| w.id == id)
    }

    /// Types into a window.
    ///
    /// # Errors
    /// No such window, or its terminal is gone.
    pub fn type_text(&self, id: u64, text: &str) -> io::Result<()> {
        let terminal = lock(&self.shared.state)
            .windows
            .get(&id)
            .and_then(|w| w.terminal.clone());
        let terminal = terminal.ok_or(io::ErrorKind::NotFound)?;
        crate::engine::write_all(&terminal, text.as_bytes())
    }

    /// Shows bytes in a window as if its program had written them.
    pub fn feed(&self, id: u64, bytes: &[u8]) -> bool {
        let term = lock(&self.shared.state)
            .windows
            .get(&id)
            .map(|w| Arc::clone(&w.term));
        term.map(|t| lock(&t).feed(bytes)).is_some()
    }

    /// Waits until `test` holds for the windows, looking every 20 ms; says whether it came to that in time.
    pub fn wait_until(&self, limit: Duration, test: impl Fn(&[WindowSnapshot]) -> bool) -> bool {
        let end = Instant::now() + limit;
        loop {
            if test(&self.windows()) {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether every shell with integration has reported something (a prompt or a command).
    pub fn shells_ready(&self) -> bool {
        let state = lock(&self.shared.state);
        inspect::windows(&state)
            .iter()
            .all(|w| !w.integrated || lock(&w.term).prompt != Prompt::Unknown)
    }

    /// Whether the last window is gone or `quit` was asked for.
    pub fn ended(&self) -> bool {
        *lock(&self.shared.ended.0)
    }

    /// Waits for the end, at most `limit`; says whether it came.
    pub fn wait_for_end(&self, limit: Duration) -> bool {
        let guard = lock(&self.shared.ended.0);
        let (guard, _) = self
            .shared
            .ended
            .1
            .wait_timeout_while(guard, limit, |ended| !*ended)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *guard
    }
}

impl Drop for FakeKitty {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
        let windows: Vec<i64> = {
            let mut state = lock(&self.shared.state);
            state.os_windows.clear();
            state.windows.drain().map(|(_, w)| w.pid).collect()
        };
        end_sessions(&windows);
        // Threads may hold on to the shared state for a moment; its files go now.
        self.shared.files.remove();
    }
}

/// Hangs up on every process of the windows' sessions, then kills what is left after half a second.
fn end_sessions(leaders: &[i64]) {
    use rustix::process::{Pid, Signal, kill_process};
    let members = || procfs::session_members(leaders);
    let tell = |pids: &[i64], signal: Signal| {
        for pid in pids {
            if let Some(pid) = Pid::from_raw(*pid as i32) {
                let _ = kill_process(pid, signal);
            }
        }
    };
    let first = members();
    tell(&first, Signal::HUP);
    // A stopped job takes the signal only when it goes on.
    tell(&first, Signal::CONT);
    let end = Instant::now() + Duration::from_millis(500);
    while Instant::now() < end {
        if members().is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    tell(&members(), Signal::KILL);
}

/// Opens what a new kitty shows: the session, or one window.
fn open_first(kitty: &Arc<Kitty>) -> Result<(), String> {
    let config = &kitty.config;
    let (given, startup) = match config.session.as_deref() {
        Some("none") => (None, false),
        Some(s) => (Some(s), false),
        None if !config.command.is_empty() => (None, true),
        None => (
            config
                .startup_session
                .as_deref()
                .filter(|s| *s != "none" && !s.is_empty()),
            true,
        ),
    };
    let mut state = lock(&kitty.state);
    if let Some(path) = given {
        let path = kitty.session_path(path);
        let name = session_file::session_name(&path);
        let error = match kitty.read_session(&path) {
            Ok(mut specs) => {
                let tabs = specs.iter_mut().flat_map(|o| &mut o.tabs);
                for window in tabs.flat_map(|t| &mut t.windows) {
                    window.cwd = window.cwd.take().or_else(|| config.directory.clone());
                }
                return match kitty.open_session(&mut state, &specs, &name, false) {
                    Ok(()) => Ok(()),
                    Err(Failure::Launch(e) | Failure::Parse(e)) => Err(e),
                    Err(Failure::Missing) => Err("no such file".into()),
                };
            }
            Err(Failure::Missing) => {
                kitty.log(format!(
                    "Failed to read from session file, ignoring: {path}"
                ));
                (!startup).then(|| format!("Failed to read from session file: {path}"))
            }
            Err(Failure::Parse(e) | Failure::Launch(e)) => Some(format!(
                "Loading the start session file {path} failed, with error:\n{e}"
            )),
        };
        one_window(kitty, &mut state, Vec::new())?;
        if let Some(error) = error {
            kitty.show(
                &mut state,
                "__show_error__",
                "The startup session was invalid",
                &error,
            );
        }
        return Ok(());
    }
    let command = if config.session.is_some() && config.session.as_deref() != Some("none") {
        Vec::new()
    } else {
        config.command.clone()
    };
    one_window(kitty, &mut state, command)
}

fn one_window(kitty: &Arc<Kitty>, state: &mut State, argv: Vec<String>) -> Result<(), String> {
    let tab = kitty.add_os_window(state, None, None);
    let launch = Launch {
        argv,
        cwd: kitty.config.directory.clone(),
        hold: kitty.config.hold,
        ..Launch::default()
    };
    kitty.add_window(state, tab, launch, None).map(drop)
}
