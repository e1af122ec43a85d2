//! The running emulator: starting and ending windows, and what watches them.

use crate::config::Config;
use crate::layout::Layout;
use crate::model::{Created, Place, State, Window, lock};
use crate::options::Parsed;
use crate::procfs;
use crate::shells::{self, Env, Files, Shell};
use crate::spawn::{self, Program};
use crate::term::{self, Ask, Term};
use crate::text;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
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
    pub(crate) started: Instant,
    /// Set when the last window is gone or `quit` was asked for.
    pub(crate) ended: (Mutex<bool>, Condvar),
    pub(crate) capture: Option<crate::capture::Saved>,
}

/// A window to make.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The program; empty for kitty's shell.
    pub argv: Vec<String>,
    /// Where.
    pub cwd: Option<String>,
    /// `--env`, after one expansion.
    pub env: Vec<String>,
    /// `--var`.
    pub vars: Vec<String>,
    /// `--title`.
    pub title: Option<String>,
    /// `--hold`.
    pub hold: bool,
    /// `--allow-remote-control`.
    pub allow_remote_control: bool,
    /// Passwords.
    pub passwords: Vec<String>,
    /// Colours.
    pub colors: Vec<String>,
    /// Watchers.
    pub watchers: Vec<String>,
    /// `overlay` or `overlay-main`.
    pub overlay: Option<&'static str>,
    /// `--location`.
    pub location: String,
    /// `--keep-focus`.
    pub keep_focus: bool,
    /// The session it belongs to.
    pub session: String,
    /// What the shell runs at its start.
    pub startup: Option<Startup>,
    /// A text to show in a window of kitty's own.
    pub message: Option<String>,
}

/// A command for the shell, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// A line.
    Line(String),
    /// Words.
    Words(Vec<String>),
}

impl Launch {
    /// The options of a `launch` line or remote command that describe the window itself.
    pub fn from_options(p: &Parsed) -> Launch {
        let list = |key| p.all(key).map(str::to_owned).collect();
        Launch {
            argv: p.words.clone(),
            cwd: p.get("--cwd").map(str::to_owned),
            env: list("--env"),
            vars: list("--var"),
            title: p.get("--title").map(str::to_owned),
            hold: p.flag("--hold"),
            allow_remote_control: p.flag("--allow-remote-control"),
            passwords: list("--remote-control-password"),
            colors: list("--color"),
            watchers: list("--watcher"),
            overlay: match p.get("--type") {
                Some("overlay") => Some("overlay"),
                Some("overlay-main") => Some("overlay-main"),
                _ => None,
            },
            location: p.get("--location").unwrap_or_default().to_owned(),
            keep_focus: p.flag("--keep-focus"),
            ..Launch::default()
        }
    }
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

    /// The directory a window starts in: variables and `~` are expanded once more; a relative one starts
    /// from kitty's.
    fn start_directory(&self, state: &State, cwd: Option<&str>) -> String {
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
    fn child_environment(
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
                let (child, master) =
                    spawn::on_terminal(program(&plan, &env)?, size).map_err(|e| e.to_string())?;
                Ok((child, master, true))
            }
        }
    }

    /// A window of kitty's own that shows a text: run as `kitten WORD …`.
    fn message_plan(&self, word: &str, args: &[String], text: &str, env: &mut Env) -> Plan {
        shells::set(env, "FAKE_KITTY_TEXT", Some(text));
        let path = env
            .iter()
            .find(|(k, _)| k == "PATH")
            .map(|(_, v)| v.clone())
            .unwrap_or_default();
        let bin = self.files.bin().to_string_lossy().into_owned();
        shells::set(env, "PATH", Some(&format!("{bin}:{path}")));
        let mut argv = vec!["kitten".to_owned(), word.to_owned()];
        argv.extend_from_slice(args);
        Plan {
            file: "/bin/bash".into(),
            argv,
            command: None,
            integrated: false,
        }
    }

    /// Decides what is really started for a launch.
    fn plan_program(&self, launch: &Launch, env: &mut Env) -> Result<Plan, String> {
        if let Some(text) = &launch.message {
            return Ok(self.message_plan(
                launch.argv.first().map_or("__show_error__", String::as_str),
                launch.argv.get(1..).unwrap_or_default(),
                text,
                env,
            ));
        }
        let shell = &self.config.shell;
        let path = path_of(env);
        let own_bin = self.files.bin();
        let resolve = |argv: &[String]| -> Vec<String> {
            let mut argv = argv.to_vec();
            if let Some(found) = argv.first().and_then(|a| procfs::which(a, &path)) {
                let own = Path::new(&found).parent() == Some(&own_bin);
                argv[0] = if own { KITTEN.to_owned() } else { found };
            }
            argv
        };
        let asked = if launch.argv.is_empty() {
            shell.clone()
        } else {
            launch.argv.clone()
        };
        let mut argv = resolve(&asked);
        let is_shell = asked == *shell || argv == *shell;
        let command = (!is_shell).then(|| argv.clone());
        if asked
            .first()
            .is_some_and(|a| a.contains('/') && Path::new(a).is_file() && !executable(a))
        {
            // kitty asks what to do with a file that is not executable; the answer is a shell.
            argv.clone_from(shell);
        }
        let mut integrated = false;
        let kind = argv.first().and_then(|a| Shell::of(a));
        if launch.hold && command.is_some() {
            return Ok(self.held(argv, command, env));
        }
        if let Some(kind) = kind.filter(|_| self.config.integrates()) {
            let before = argv.clone();
            self.files.integrate(
                kind,
                &mut argv,
                env,
                &self.config.home(),
                &self.config.integration,
            );
            integrated = kind != Shell::Bash || argv != before;
            let line = match &launch.startup {
                Some(Startup::Line(l)) => Some(l.clone()),
                Some(Startup::Words(w)) => Some(kind.command_text(w)),
                None => None,
            };
            if let Some(line) = line {
                // The variable is a C string: a NUL cuts it.
                let line = line.split('\0').next().unwrap_or_default().to_owned();
                shells::set(env, "KITTY_SI_RUN_COMMAND_AT_STARTUP", Some(&line));
            }
        } else if let (None, Some(Startup::Words(w)), true) =
            (kind, &launch.startup, self.config.integrates() && is_shell)
        {
            // Another shell: kitten runs the words and then becomes the shell.
            let mut plan = vec![
                "kitten".to_owned(),
                "run-shell".into(),
                "--shell".into(),
                shell.join(" "),
                "--shell-integration".into(),
                self.config.integration.clone(),
            ];
            plan.extend(w.iter().cloned());
            argv = resolve(&plan);
        }
        for word in argv.iter().chain(env.iter().map(|(_, v)| v)) {
            text::to_os(word)?;
        }
        Ok(self.kitten_plan(argv, command, integrated, env))
    }

    /// `--hold PROG`: kitten runs it, then becomes kitty's shell.
    fn held(&self, argv: Vec<String>, command: Option<Vec<String>>, env: &mut Env) -> Plan {
        let mut words = vec![
            self.kitten_path(env),
            "run-shell".into(),
            format!("--shell={}", self.config.shell.join(" ")),
            format!("--shell-integration={}", self.config.integration),
            "--env=KITTY_HOLD=1".into(),
        ];
        words.extend(argv);
        self.kitten_plan(words, command, false, env)
    }

    /// Where kitten is: on PATH, else the emulator's own under the name the real one has.
    fn kitten_path(&self, env: &Env) -> String {
        let own = self.files.bin();
        procfs::which("kitten", &path_of(env))
            .filter(|found| Path::new(found).parent() != Some(&own))
            .unwrap_or_else(|| KITTEN.to_owned())
    }

    /// The emulator's own kitten is a script: bash runs it under the name it is called by, so that the
    /// command line is that of the real one.
    fn kitten_plan(
        &self,
        argv: Vec<String>,
        command: Option<Vec<String>>,
        integrated: bool,
        env: &mut Env,
    ) -> Plan {
        let first = argv.first().cloned().unwrap_or_default();
        let file = if first == KITTEN && !Path::new(KITTEN).exists() {
            self.add_own_programs(env);
            "/bin/bash".to_owned()
        } else {
            first
        };
        Plan {
            file,
            argv,
            command,
            integrated,
        }
    }

    /// Puts the emulator's kitten at the end of PATH.
    fn add_own_programs(&self, env: &mut Env) {
        let path = env
            .iter()
            .find(|(k, _)| k == "PATH")
            .map(|(_, v)| v.clone())
            .unwrap_or_default();
        let bin = self.files.bin().to_string_lossy().into_owned();
        if !path.split(':').any(|d| d == bin) {
            shells::set(env, "PATH", Some(&format!("{path}:{bin}")));
        }
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

    /// A new OS window with one tab, for windows to be put in.
    pub(crate) fn add_os_window(
        &self,
        state: &mut State,
        class: Option<&str>,
        name: Option<&str>,
    ) -> u64 {
        let class = class.unwrap_or("kitty");
        let os = state.add_os_window(class, name.unwrap_or(class));
        self.add_tab(state, os)
    }

    /// A new, active tab with the default layout; its id.
    pub(crate) fn add_tab(&self, state: &mut State, os: u64) -> u64 {
        let enabled = self.config.enabled_layouts.clone();
        let layout = Layout::new(enabled.first().map_or("splits", String::as_str));
        state.add_tab(os, layout, enabled, true).unwrap_or_default()
    }
}

/// What is started.
#[derive(Debug)]
struct Plan {
    file: String,
    argv: Vec<String>,
    /// The command to save, when it is not the shell.
    command: Option<Vec<String>>,
    integrated: bool,
}

/// The name of the emulator's own kitten, as the real one's.
const KITTEN: &str = "/usr/bin/kitten";

/// PATH in a child's environment.
fn path_of(env: &Env) -> OsString {
    let path = env
        .iter()
        .find(|(k, _)| k == "PATH")
        .map(|(_, v)| text::to_os(v).unwrap_or_default());
    OsString::from_vec(path.unwrap_or_else(|| b"/usr/local/bin:/usr/bin:/bin".to_vec()))
}

fn os(s: &str) -> Result<OsString, String> {
    let bytes = text::to_os(s)?;
    if bytes.contains(&0) {
        return Err("embedded null byte".into());
    }
    Ok(OsString::from_vec(bytes))
}

fn executable(path: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o111 != 0)
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
