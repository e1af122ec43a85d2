//! What becomes of each window of a save: its plan, from what was seen of it and what was decided.

use super::plan::Choice;
use super::record::Record;
use super::rewrite::{
    Content, ENV_RECORD, Form, Shell, VAR_ASKED, VAR_SAVE, WindowPlan, is_ours, record_text,
};
use crate::agents::window::{Shell as SeenShell, ShellKind};
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::tree::Window;

/// The agent of a window, with all that a record needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSeen {
    /// The agent's name.
    pub agent: String,
    /// Its process is the window's own.
    pub is_window_process: bool,
    /// The file of its program; empty: not known.
    pub exe: String,
    /// Its directory as spelled.
    pub cwd: String,
    /// The command without prompt and selectors.
    pub fresh: Vec<String>,
    /// The command that resumes what was decided; empty for a new conversation.
    pub resume: Vec<String>,
    /// Options left out because they carry a secret.
    pub lost: Vec<String>,
    /// `NAME=value` of its configuration directory.
    pub env: Vec<String>,
    /// What was decided.
    pub choice: Choice,
}

/// What runs in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    /// An agent.
    Agent(Box<AgentSeen>),
    /// Our prompt, not answered yet; the text of its record, and whether it is the window's own process.
    Waiting {
        /// The record's text.
        record: String,
        /// Whether the prompt is the window's own process.
        is_window_process: bool,
    },
    /// Something else.
    Other,
}

/// One window as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What runs in it.
    pub runs: Runs,
    /// Its own process, when that is a shell.
    pub shell: Option<SeenShell>,
    /// The person's own ZDOTDIR, where a zsh window has one.
    pub zdotdir: Option<String>,
    /// The words of the last process in its foreground, when that is not the window's own.
    pub foreground: Option<Vec<String>>,
}

/// What all windows of a save share.
#[derive(Debug, Clone, Copy)]
pub struct Common<'a> {
    /// The shell kitty starts in a window without a program.
    pub kitty_shell: &'a str,
    /// The person's shell, for windows that had none.
    pub own_shell: &'a str,
    /// When the save was taken, RFC 3339.
    pub at: &'a str,
    /// Whether it resumes without asking.
    pub direct: bool,
}

/// Plans one window: its line as kitty saved it, what kitty shows of it, and what was seen.
#[must_use]
pub fn plan(
    launch: &LaunchLine,
    window: &Window,
    tab: &str,
    seen: &Seen,
    common: Common<'_>,
) -> WindowPlan {
    let content = match &seen.runs {
        Runs::Agent(agent) => Content::Ask {
            record: Box::new(record(launch, tab, agent, common)),
            form: form(launch, agent.is_window_process, seen, common),
        },
        Runs::Waiting {
            record,
            is_window_process,
        } => match Record::read(record) {
            Ok(mut record) => {
                record.direct |= common.direct;
                Content::Ask {
                    record: Box::new(record),
                    form: form(launch, *is_window_process, seen, common),
                }
            }
            Err(_) => Content::AsSaved,
        },
        Runs::Other if is_pending(launch, window) => match record_text(launch).map(Record::read) {
            Some(Ok(record)) => Content::Ask {
                record: Box::new(record),
                form: form(launch, false, seen, common),
            },
            _ => plain(launch, window, seen, common),
        },
        Runs::Other if is_ours(launch) => plain(launch, window, seen, common),
        Runs::Other => Content::AsSaved,
    };
    WindowPlan {
        content,
        session: window.session_name.clone().unwrap_or_default(),
    }
}

/// Whether a restored window's shell has not come to our prompt yet: its start-up files still run,
/// or put another shell in its place.
fn is_pending(launch: &LaunchLine, window: &Window) -> bool {
    launch.env(ENV_RECORD).is_some()
        && window.var(VAR_SAVE).is_some()
        && window.var(VAR_ASKED).is_none()
}

fn record(launch: &LaunchLine, tab: &str, agent: &AgentSeen, common: Common<'_>) -> Record {
    let choice = &agent.choice;
    Record {
        agent: agent.agent.clone(),
        mode: choice.mode,
        sid: choice.sid.clone(),
        orig: agent.fresh.clone(),
        resume: agent.resume.clone(),
        exe: agent.exe.clone(),
        cwd: choice.cwd.clone().unwrap_or_else(|| agent.cwd.clone()),
        tab: tab.to_owned(),
        save: String::new(),
        at: common.at.to_owned(),
        was: match record_text(launch) {
            None if agent.is_window_process => agent.fresh.clone(),
            // What held a secret is forgotten whole: it may stand in any of these words.
            None if !agent.lost.is_empty() => Vec::new(),
            _ => original_program(launch),
        },
        env: agent.env.clone(),
        lost: agent.lost.clone(),
        direct: common.direct,
    }
}

/// The program the window was made with before any restore of ours.
fn original_program(launch: &LaunchLine) -> Vec<String> {
    match record_text(launch) {
        Some(text) => Record::read(text).map(|r| r.was).unwrap_or_default(),
        None => launch.program().into_iter().map(str::to_owned).collect(),
    }
}

fn form(launch: &LaunchLine, is_window_process: bool, seen: &Seen, common: Common<'_>) -> Form {
    // kitty starts a held program behind a wrapper of its own: the window still is the program.
    if is_window_process || (launch.has("--hold") && !launch.program().is_empty()) {
        return Form::Program;
    }
    match seen.shell.as_ref().filter(|s| s.interactive) {
        Some(shell) => Form::Shell(of_seen(shell, launch, seen, common)),
        None => Form::Shell(by_path(common.own_shell, None)),
    }
}

fn of_seen(shell: &SeenShell, launch: &LaunchLine, seen: &Seen, common: Common<'_>) -> Shell {
    let path = shell
        .exe
        .clone()
        .filter(|p| p.starts_with('/'))
        .unwrap_or_else(|| common.own_shell.to_owned());
    // A shell told to leave the person's files out stays one that our start-up files would change.
    let bare = shell.argv.iter().skip(1).any(|w| {
        matches!(
            w.as_str(),
            "--norc" | "--noprofile" | "--init-file" | "-f" | "--no-rcs" | "--no-config" | "-N"
        )
    });
    if bare {
        return Shell::Other { path };
    }
    let kittys = launch.program().is_empty() || is_ours(launch);
    match shell.kind {
        ShellKind::Bash => Shell::Bash {
            path,
            login: shell.login,
        },
        ShellKind::Zsh => Shell::Zsh {
            is_kittys: kittys && same_program(&path, common.kitty_shell),
            zdotdir: seen.zdotdir.clone(),
            path,
        },
        ShellKind::Fish => Shell::Fish { path },
        ShellKind::Other(_) => Shell::Other { path },
    }
}

/// The form for a shell known by its path only.
fn by_path(path: &str, zdotdir: Option<String>) -> Shell {
    let path = path.to_owned();
    match path.rsplit('/').next().unwrap_or("") {
        "bash" => Shell::Bash { path, login: false },
        "zsh" => Shell::Zsh {
            path,
            zdotdir,
            is_kittys: false,
        },
        "fish" => Shell::Fish { path },
        _ => Shell::Other { path },
    }
}

fn same_program(a: &str, b: &str) -> bool {
    let base = |p: &str| p.rsplit('/').next().unwrap_or("").to_owned();
    a == b || (!b.starts_with('/') && base(a) == b) || (base(a) == base(b) && is_usr_twin(a, b))
}

/// `/bin` is a link to `/usr/bin` on merged systems.
fn is_usr_twin(a: &str, b: &str) -> bool {
    a.strip_prefix("/usr").unwrap_or(a) == b.strip_prefix("/usr").unwrap_or(b)
}

/// A window of ours without an agent: written as the shell it is now, with what runs in it by kitty's
/// own rules (the typed line, else the words of the last process in front).
fn plain(launch: &LaunchLine, window: &Window, seen: &Seen, common: Common<'_>) -> Content {
    let Some(shell) = &seen.shell else {
        return Content::Plain {
            program: window.cmdline.clone(),
            startup: None,
        };
    };
    let path = shell.exe.clone().unwrap_or_default();
    let was = original_program(launch);
    let program = if was
        .first()
        .is_some_and(|w| w.starts_with('/') && same_program(w, &path))
    {
        was
    } else if same_program(&path, common.kitty_shell) || path.is_empty() {
        Vec::new()
    } else {
        vec![path]
    };
    let startup = seen.foreground.as_ref().map(|words| {
        match window
            .last_reported_cmdline
            .as_deref()
            .filter(|line| !line.trim().is_empty() && !window.at_prompt)
        {
            Some(line) => Startup::Line(line.to_owned()),
            None => Startup::Words(words.clone()),
        }
    });
    Content::Plain { program, startup }
}
