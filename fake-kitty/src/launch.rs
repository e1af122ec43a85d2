//! What is started for a window, and with which environment.

use crate::engine::Kitty;
use crate::environment::path_of;
use crate::options::Parsed;
use crate::procfs;
use crate::shells::{self, Env, Shell};
use crate::text;
use std::path::Path;

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
    /// A window of kitty's own that shows a text: run as `kitten WORD …`.
    pub(crate) fn message_plan(
        &self,
        word: &str,
        args: &[String],
        text: &str,
        env: &mut Env,
    ) -> Plan {
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
    pub(crate) fn plan_program(&self, launch: &Launch, env: &mut Env) -> Result<Plan, String> {
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
    pub(crate) fn add_own_programs(&self, env: &mut Env) {
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
}

/// What is started.
#[derive(Debug)]
pub struct Plan {
    pub file: String,
    pub argv: Vec<String>,
    /// The command to save, when it is not the shell.
    pub command: Option<Vec<String>>,
    pub integrated: bool,
}

/// The name of the emulator's own kitten, as the real one's.
const KITTEN: &str = "/usr/bin/kitten";

fn executable(path: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o111 != 0)
}
