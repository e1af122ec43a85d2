//! What becomes of each window of a save: its plan, from what was seen of it and what was decided.

mod typed;

use std::collections::{BTreeMap, BTreeSet};

use super::plan::Choice;
use super::record::{Mode, Record};
use super::rewrite::{
    Content, ENV_RECORD, Form, Shell, VAR_ASKED, VAR_SAVE, VAR_SESSION, WindowPlan, is_ours,
    record_text,
};
use crate::agents::argv::{looks_secret, plain as plain_name, recognise};
use crate::agents::definitions::Definitions;
use crate::agents::window::{Shell as SeenShell, ShellKind, is_plain_start};
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::tree::Window;
use crate::kitty::words::can_stand;

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
#[derive(Clone, Copy)]
pub struct Common<'a> {
    /// The shell kitty starts in a window without a program.
    pub kitty_shell: &'a str,
    /// The person's shell, for windows that had none.
    pub own_shell: &'a str,
    /// When the save was taken, RFC 3339.
    pub at: &'a str,
    /// Whether it resumes without asking.
    pub direct: bool,
    /// The definitions, to tell an agent's line by.
    pub defs: &'a Definitions,
    /// The text of a record that lies in a file of its own; any other text as it is.
    pub record_of: &'a dyn Fn(&str) -> String,
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
        Runs::Other if is_pending(launch, window) => match saved_record(launch, common) {
            Some(record) => Content::Ask {
                record: Box::new(record),
                form: form(launch, false, seen, common),
            },
            _ => plain(launch, window, seen, common),
        },
        Runs::Other if is_ours(launch) => plain(launch, window, seen, common),
        Runs::Other => other(launch, window, seen, common),
    };
    WindowPlan {
        content,
        session: session(window),
    }
}

/// The kitty session of a window. A restored desk has the name of its file there: the session it
/// belonged to before is what counts.
fn session(window: &Window) -> String {
    let now = window.session_name.as_deref().unwrap_or("");
    if is_desk_name(now) {
        return window.var(VAR_SESSION).unwrap_or("").to_owned();
    }
    now.to_owned()
}

/// Whether a kitty session's name is that of a desk that was saved by itself, which no person gave.
#[must_use]
pub fn is_desk_name(name: &str) -> bool {
    name == "startup" || name.starts_with("autosave-")
}

/// A window in which no restore of ours ever was: kitty's own line, but for what must not be run again.
fn other(launch: &LaunchLine, window: &Window, seen: &Seen, common: Common<'_>) -> Content {
    let mut line = launch.clone();
    if let Some(Startup::Line(typed)) = launch.startup()
        && let Some(words) = typed::instead_of_line(&typed, window, seen.shell.as_ref())
    {
        line.set_startup(Some(&Startup::Words(words)));
    }
    if would_start_an_agent(&line, common.defs) {
        return Content::Plain {
            program: Vec::new(),
            startup: None,
        };
    }
    if line == *launch {
        return Content::AsSaved;
    }
    Content::Plain {
        program: line.program().into_iter().map(str::to_owned).collect(),
        startup: line.startup(),
    }
}

/// The record that a line of ours carries.
fn saved_record(launch: &LaunchLine, common: Common<'_>) -> Option<Record> {
    Record::read(&(common.record_of)(record_text(launch)?)).ok()
}

/// Programs behind which things are another machine's or another user's: their lines stay.
const FAR: [&str; 12] = [
    "ssh",
    "mosh",
    "docker",
    "podman",
    "tmux",
    "screen",
    "sudo",
    "su",
    "doas",
    "kitten",
    "machinectl",
    "nerdctl",
];

/// Programs that run the one that is named behind them.
const WRAPPERS: [&str; 16] = [
    "env", "exec", "command", "setsid", "nohup", "time", "timeout", "nice", "ionice", "stdbuf",
    "script", "sh", "bash", "zsh", "fish", "dash",
];

/// The word of a command that names its program, seen through wrappers, their options and assignments.
fn command_word<'a>(words: &[&'a str]) -> Option<&'a str> {
    words.iter().copied().find(|w| {
        let passed =
            w.starts_with('-') || w.contains('=') || w.starts_with(|c: char| c.is_ascii_digit());
        !passed && !WRAPPERS.contains(&plain_name(w).as_str())
    })
}

/// Whether kitty would start an agent by itself from this line, though none of its conversations is
/// in the window: a helper, a run without a screen, one on a terminal of its own. Their prompts are
/// never repeated.
#[must_use]
pub fn would_start_an_agent(launch: &LaunchLine, defs: &Definitions) -> bool {
    let starts_one = |words: &[&str]| {
        let Some(first) = command_word(words) else {
            return false;
        };
        let owned: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let far = words
            .first()
            .is_some_and(|w| FAR.contains(&plain_name(w).as_str()));
        !far && (defs.by_program(&plain_name(first)).is_some()
            || recognise(defs, &owned, None, "").is_some())
    };
    let by_startup = match launch.startup() {
        Some(Startup::Words(words)) => {
            starts_one(&words.iter().map(String::as_str).collect::<Vec<_>>())
        }
        // Each command of the line on its own; a far one takes what stands behind it along.
        Some(Startup::Line(line)) => {
            line.split([';', '|', '&', '(', ')', '`', '\n'])
                .any(|command| {
                    let words: Vec<&str> = command
                        .split(|c: char| c.is_whitespace() || c == '\'' || c == '"')
                        .filter(|w| !w.is_empty())
                        .collect();
                    starts_one(&words)
                })
        }
        None => false,
    };
    by_startup || starts_one(&launch.program())
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
            _ => original_program(launch, common),
        },
        env: agent.env.clone(),
        lost: agent
            .lost
            .iter()
            .cloned()
            .chain(secret_env(launch).map(|name| format!("--env={name}")))
            .collect(),
        direct: common.direct,
    }
}

/// Variables of a window's line that hold a secret by their name.
pub fn secret_env(launch: &LaunchLine) -> impl Iterator<Item = String> {
    let names: Vec<String> = launch
        .options()
        .into_iter()
        .filter(|(option, _)| *option == "--env")
        .filter_map(|(_, value)| Some(value?.split_once('=')?.0.to_owned()))
        .filter(|name| looks_secret(name))
        .collect();
    names.into_iter()
}

/// The program the window was made with before any restore of ours.
fn original_program(launch: &LaunchLine, common: Common<'_>) -> Vec<String> {
    if record_text(launch).is_some() {
        return saved_record(launch, common)
            .map(|r| r.was)
            .unwrap_or_default();
    }
    let program: Vec<String> = launch.program().into_iter().map(str::to_owned).collect();
    // A shell and its options; the text of `sh -c` may hold anything, secrets too.
    let words: Vec<&str> = program.iter().map(String::as_str).collect();
    if is_plain_start(&words) {
        program
    } else {
        Vec::new()
    }
}

fn form(launch: &LaunchLine, is_window_process: bool, seen: &Seen, common: Common<'_>) -> Form {
    // kitty starts a held program behind a wrapper of its own: the window still is the program.
    if is_window_process || (launch.has("--hold") && !launch.program().is_empty()) {
        return Form::Program;
    }
    match seen.shell.as_ref().filter(|s| s.interactive) {
        Some(shell) => Form::Shell(of_seen(shell, seen, common)),
        None => Form::Shell(shell_by_path(common.own_shell, None)),
    }
}

fn of_seen(shell: &SeenShell, seen: &Seen, common: Common<'_>) -> Shell {
    let usable = |p: &String| p.starts_with('/') || !(p.is_empty() || p.contains('/'));
    let Some(path) = shell.exe.clone().filter(usable) else {
        return shell_by_path(common.own_shell, seen.zdotdir.clone());
    };
    let as_started = |path: String| {
        let options = shell.options().iter().cloned();
        let words: Vec<String> = std::iter::once(path.clone()).chain(options).collect();
        if words.len() > 1 && words.iter().all(|w| can_stand(w) && !w.is_empty()) {
            Shell::Started { words }
        } else {
            Shell::Other { path }
        }
    };
    // A shell told to leave the person's files out stays one that our start-up files would change.
    let bare = shell.argv.iter().skip(1).any(|w| {
        matches!(
            w.as_str(),
            "--norc" | "--noprofile" | "--init-file" | "-f" | "--no-rcs" | "--no-config" | "-N"
        )
    });
    if bare {
        return as_started(path);
    }
    match shell.kind {
        ShellKind::Bash => Shell::Bash {
            path,
            login: shell.login,
        },
        ShellKind::Zsh => Shell::Zsh {
            // By its path: where it is restored another shell may be kitty's own.
            is_kittys: false,
            zdotdir: seen.zdotdir.clone(),
            path,
        },
        ShellKind::Fish => Shell::Fish { path },
        ShellKind::Other(_) => as_started(path),
    }
}

/// The form for a shell known by its path only.
#[must_use]
pub fn shell_by_path(path: &str, zdotdir: Option<String>) -> Shell {
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
    let was = original_program(launch, common);
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
            Some(line) => match typed::instead_of_line(line, window, Some(shell)) {
                Some(words) => Startup::Words(words),
                None => Startup::Line(line.to_owned()),
            },
            None => Startup::Words(words.clone()),
        }
    });
    Content::Plain { program, startup }
}

/// One conversation is opened once, also over prompts that still wait: the window in which the agent
/// runs keeps it, else the first; the others start a new one.
pub fn open_each_once(plans: &mut BTreeMap<u64, WindowPlan>, running: &dyn Fn(u64) -> bool) {
    let mut order: Vec<u64> = plans.keys().copied().collect();
    order.sort_by_key(|id| (!running(*id), *id));
    let mut open = BTreeSet::new();
    for id in order {
        let Some(WindowPlan {
            content: Content::Ask { record, .. },
            ..
        }) = plans.get_mut(&id)
        else {
            continue;
        };
        if record.mode == Mode::Exact && !open.insert((record.agent.clone(), record.sid.clone())) {
            record.mode = Mode::New;
            record.sid.clear();
            record.resume.clear();
        }
    }
}
