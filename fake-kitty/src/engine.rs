//! The running emulator: starting and ending windows, and what watches them.

use crate::config::Config;
use crate::environment::{os, parse_env};
use crate::launch::{Launch, Plan};
use crate::layout::Layout;
use crate::model::{Created, Window, lock};
use crate::shells::{self, Env, Files};
use crate::spawn::{self, Program};
use crate::state::{Place, State};
use crate::term::{self, Ask, Term};
use crate::text;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Everything the threads share.
pub struct Kitty {
    pub(crate) config: Config,
    pub(crate) files: Files,
    pub(crate) state: Mutex<State>,
    /// Requests in the order they came, as they came.
    pub(crate) requests: Mutex<Vec<String>>,
    /// What kitty would have written to its standard error.
    pub(crate) messages: Mutex<Vec<String>>,
    pub(crate) address: Mutex<Option<String>>,
    pub(crate) stopping: AtomicBool,
    pub(crate) answered: AtomicUsize,
    /// Connected peers.
    pub(crate) peers: AtomicUsize,
    pub(crate) started: Instant,
    /// Set when the last window is gone or `quit` was asked for.
    pub(crate) ended: (Mutex<bool>, Condvar),
    pub(crate) capture: Option<crate::capture::Saved>,
}

impl Kitty {
    /// Writes a line kitty would have written to its log.
    pub(crate) fn log(&self, line: impl Into<String>) {
        lock(&self.messages).push(line.into());
    }

    /// Seconds since the start.
    pub(crate) fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// A variable of kitty's own environment.
    pub(crate) fn var(&self, name: &str) -> Option<String> {
        self.config.var(name)
    }

    /// Makes a window in `tab` and starts its program.
    ///
    /// # Errors
    /// Only what makes real kitty fail: a text that cannot be handed to a program.
    pub(crate) fn add_window(
        self: &Arc<Self>,
        state: &mut State,
        tab: u64,
        launch: Launch,
        over: Option<u64>,
    ) -> Result<u64, String> {
        let id = state.next_window_id();
        let cwd = self.start_directory(state, launch.cwd.as_deref());
        let extra = parse_env(&launch.env, &|n| self.var(n));
        let mut env = self.child_environment(Some(id), &cwd, &extra);
        let os = state
            .os_windows
            .iter()
            .find(|o| o.tabs.iter().any(|t| t.id == tab));
        if let Some(os) = os {
            shells::set(&mut env, "WINDOWID", Some(&os.platform_id.to_string()));
        }
        let plan = self.plan_program(&launch, &mut env)?;
        let created = Created {
            command: plan.command.clone(),
            allow_remote_control: launch.allow_remote_control,
            passwords: launch.passwords.clone(),
            env: extra,
            colors: launch.colors.clone(),
            watchers: launch.watchers.clone(),
            hold: launch.hold,
            overlay: launch.overlay,
        };
        let size = state.first_size();
        let (child, master, failed) = self.start(&plan, &env, &cwd, size)?;
        let pid = i64::from(child.id());
        let term = Arc::new(Mutex::new(Term::new(size.0, size.1)));
        for var in &launch.vars {
            let (k, v) = var.split_once('=').unwrap_or((var, ""));
            lock(&term).set_user_var(k, Some(&term::without_controls(v)));
        }
        let named = plan
            .command
            .as_ref()
            .filter(|_| launch.hold)
            .unwrap_or(&plan.argv);
        let first = named.first().map(String::as_str).unwrap_or_default();
        let terminal = Arc::new(master);
        let window = Window {
            id,
            created,
            pid,
            terminal: Some(Arc::clone(&terminal)),
            term: Arc::clone(&term),
            created_at: text::epoch_ns(),
            last_focused_at: self.now(),
            title: launch
                .title
                .as_deref()
                .map(term::clean_title)
                .filter(|t| !t.is_empty()),
            session: launch.session.clone(),
            start_directory: cwd,
            default_title: first.rsplit('/').next().unwrap_or_default().to_owned(),
            environment: env,
            utility: launch.message.is_some(),
            integrated: plan.integrated && !failed,
            size,
            last_directory: Mutex::new(None),
        };
        let place = over.map_or(Place::Beside(&launch.location), Place::Over);
        state
            .add_window(tab, window, place, launch.keep_focus)
            .ok_or("no such tab")?;
        self.watch(id, child, terminal, term);
        Ok(id)
    }

    fn start(
        &self,
        plan: &Plan,
        env: &Env,
        cwd: &str,
        size: (u16, u16),
    ) -> Result<(std::process::Child, OwnedFd, bool), String> {
        let program = |plan: &Plan, env: &Env| -> Result<Program, String> {
            Ok(Program {
                file: os(&plan.file)?,
                argv: plan.argv.iter().map(|a| os(a)).collect::<Result<_, _>>()?,
                env: env
                    .iter()
                    .map(|(k, v)| Ok((os(k)?, os(v)?)))
                    .collect::<Result<_, String>>()?,
                cwd: os(cwd)?,
                fallback_cwd: self.config.cwd.clone().into_os_string(),
            })
        };
        match spawn::on_terminal(program(plan, env)?, size) {
            Ok((child, master)) => Ok((child, master, false)),
            Err(e) => {
                let why = match e.raw_os_error() {
                    Some(7) => "Argument list too long".to_owned(),
                    Some(2) => "No such file or directory".to_owned(),
                    Some(13) => "Permission denied".to_owned(),
                    _ => e.to_string(),
                };
                let name = plan.argv.first().cloned().unwrap_or_default();
                let text = format!("Failed to launch child: {name}\nWith error: {why}");
                let mut env = env.clone();
                let plan = self.message_plan("__hold_till_enter__", &[], &text, &mut env);
                let shows = spawn::on_terminal(program(&plan, &env)?, size);
                // A variable too long for the program is too long for the message as well.
                let (child, master) = match shows {
                    Err(e) if e.raw_os_error() == Some(7) => spawn::dead_fork(size),
                    other => other,
                }
                .map_err(|e| e.to_string())?;
                Ok((child, master, true))
            }
        }
    }

    /// Threads of a window: one reads its terminal, one waits for its child.
    fn watch(
        self: &Arc<Self>,
        id: u64,
        mut child: std::process::Child,
        terminal: Arc<OwnedFd>,
        term: Arc<Mutex<Term>>,
    ) {
        let kitty = Arc::clone(self);
        std::thread::spawn(move || kitty.read_terminal(id, &terminal, &term));
        let kitty = Arc::clone(self);
        std::thread::spawn(move || {
            let _ = child.wait();
            // What the program wrote last is still on its way.
            std::thread::sleep(Duration::from_millis(10));
            kitty.close_window(id);
        });
    }

    fn read_terminal(self: &Arc<Self>, id: u64, terminal: &Arc<OwnedFd>, term: &Mutex<Term>) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Ok(mut file) = spawn::file_of(terminal) else {
            return;
        };
        let mut buffer = vec![0; 16 * 1024];
        let wait = Timespec {
            tv_sec: 0,
            tv_nsec: 250_000_000,
        };
        loop {
            let mut fds = [PollFd::new(terminal, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&wait));
            if self.stopping.load(Ordering::Relaxed) || !lock(&self.state).windows.contains_key(&id)
            {
                return;
            }
            if fds[0].revents().is_empty() {
                continue;
            }
            match file.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => {
                    let asks = lock(term).feed(&buffer[..n]);
                    for ask in asks {
                        self.answer(id, terminal, ask);
                    }
                }
                Err(e)
                    if matches!(
                        e.kind(),
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted
                    ) => {}
                // No program has the terminal open (any more, or yet).
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn answer(self: &Arc<Self>, id: u64, terminal: &OwnedFd, ask: Ask) {
        match ask {
            Ask::Reply(bytes) => drop(write_all(terminal, &bytes)),
            Ask::Command(json) => {
                let own = lock(&self.state)
                    .windows
                    .get(&id)
                    .is_some_and(|w| w.created.allow_remote_control);
                let kitty = Arc::clone(self);
                if let Some(reply) = crate::commands::over_terminal(&kitty, &json, id, own) {
                    drop(write_all(terminal, &crate::frame::wrap(&reply)));
                }
            }
        }
    }

    /// Takes a window out; the last one ends kitty.
    pub(crate) fn close_window(&self, id: u64) {
        let mut state = lock(&self.state);
        let Some(window) = state.remove_window(id) else {
            return;
        };
        let last = state.windows.is_empty();
        drop(state);
        let _ = rustix::process::Pid::from_raw(window.pid as i32)
            .map(|p| rustix::process::kill_process_group(p, rustix::process::Signal::HUP));
        if last && !self.config.no_window {
            self.end();
        }
    }

    /// Marks the emulator as ended.
    pub(crate) fn end(&self) {
        *lock(&self.ended.0) = true;
        self.ended.1.notify_all();
    }

    /// A new OS window without a tab yet.
    pub(crate) fn add_bare_os_window(
        &self,
        state: &mut State,
        class: Option<&str>,
        name: Option<&str>,
    ) -> u64 {
        let own_name = class.unwrap_or(&self.config.name);
        let name = name.unwrap_or(own_name);
        state.add_os_window(class.unwrap_or(&self.config.class), name)
    }

    /// A new OS window with one tab, for windows to be put in.
    pub(crate) fn add_os_window(
        &self,
        state: &mut State,
        class: Option<&str>,
        name: Option<&str>,
    ) -> u64 {
        let os = self.add_bare_os_window(state, class, name);
        self.add_tab(state, os)
    }

    /// A new, active tab with the default layout; its id.
    pub(crate) fn add_tab(&self, state: &mut State, os: u64) -> u64 {
        let enabled = self.config.enabled_layouts.clone();
        let layout = Layout::new(enabled.first().map_or("splits", String::as_str));
        state.add_tab(os, layout, enabled, true).unwrap_or_default()
    }
}

/// Writes to a terminal that may be slow to take it; gives up after two seconds.
pub fn write_all(terminal: &OwnedFd, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = spawn::file_of(terminal)?;
    let end = Instant::now() + Duration::from_secs(2);
    let mut left = bytes;
    while !left.is_empty() && Instant::now() < end {
        match file.write(left) {
            Ok(n) => left = &left[n..],
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(2))
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
