//! A save's text and a plan → the text that asks for each conversation.
//!
//! kitty saves the command a window was created with, or the line that was typed; both can be
//! stale, wrong or missing (facts 5.7–5.10 and 10.7 of `docs/kitty-facts.md`). So the plan of what
//! really runs decides, by window id, never the text.

mod missing;
pub mod plain;

pub use missing::{Replaced, Shells, replace_missing};

use std::collections::BTreeMap;

use super::record::{MAX_IN_LINE, Mode, Record};
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::session_file::{Item, SessionFile};
use crate::kitty::words::{can_stand, double_dollars, quote};
use crate::sys::json::Object;

/// The start-up record's environment name.
pub const ENV_RECORD: &str = "KITTYMUX_RECORD";
/// Where the start-up file finds us.
pub const ENV_BIN: &str = "KITTYMUX_BIN";
/// Set for a bash that was a login shell.
pub const ENV_LOGIN: &str = "KITTYMUX_LOGIN";
/// The person's own ZDOTDIR, where they have one.
pub const ENV_ZDOTDIR: &str = "KITTYMUX_ZDOTDIR";

/// User variable: the save a window came from.
pub const VAR_SAVE: &str = "kittymux_save";
/// User variable: the place of a window in the file it was restored from, counted from 0.
pub const VAR_PLACE: &str = "kittymux_place";
/// User variable: the kitty session it belonged to.
pub const VAR_SESSION: &str = "kittymux_session";
/// User variable: the agent that runs in it.
pub const VAR_AGENT: &str = "kittymux_agent";
/// User variable: how surely its conversation is known.
pub const VAR_RESUME: &str = "kittymux_resume";
/// User variable: its session id.
pub const VAR_SID: &str = "kittymux_sid";
/// User variable: our prompt is waiting in it.
pub const VAR_WAIT: &str = "kittymux_wait";

/// User variable: our prompt has begun in it.
pub const VAR_ASKED: &str = "kittymux_asked";

/// A window's shell, as the window's own process is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shell {
    /// bash: comes back by a start-up file of ours.
    Bash {
        /// Its program file.
        path: String,
        /// Whether it was a login shell.
        login: bool,
    },
    /// zsh: comes back by a ZDOTDIR of ours.
    Zsh {
        /// Its program file.
        path: String,
        /// The person's own ZDOTDIR, if they have one.
        zdotdir: Option<String>,
        /// Whether it is the shell kitty starts by itself.
        is_kittys: bool,
    },
    /// fish: comes back by `-C`.
    Fish {
        /// Its program file.
        path: String,
    },
    /// Any other: comes back behind kitty's `run-shell`, without the environment of its start-up files.
    Other {
        /// Its program file.
        path: String,
    },
    /// As [`Shell::Other`], with the options it was started with.
    Started {
        /// Its program file and its options.
        words: Vec<String>,
    },
}

/// What a window is, which decides how its agent comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// The agent is the window's own program: leaving it closes the window.
    Program,
    /// A shell that runs the agent: the same shell comes back and runs the prompt as a job.
    Shell(Shell),
}

/// What becomes of a window's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// An agent, or our prompt still waiting for one.
    Ask {
        /// What the prompt will know.
        record: Box<Record>,
        /// How it comes back.
        form: Form,
    },
    /// A window of ours that runs no agent now: as if it had been made as what it is.
    Plain {
        /// Its program; empty: kitty's own shell.
        program: Vec<String>,
        /// What runs in its shell.
        startup: Option<Startup>,
    },
    /// As kitty wrote it.
    AsSaved,
}

/// The plan for one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowPlan {
    /// What becomes of it.
    pub content: Content,
    /// The kitty session it belongs to; empty: none.
    pub session: String,
}

/// What all lines of one save share.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The stable path of kittymux.
    pub kittymux: &'a str,
    /// Our state directory.
    pub state: &'a str,
    /// The save's id.
    pub save: &'a str,
    /// The constant text for fish's `-C`.
    pub fish: &'a str,
}

/// What the rewrite leaves to be done: records too long for a launch line, by their file name.
pub type LongRecords = BTreeMap<String, String>;

/// Rewrites every window of `file` by `plans`. Windows without a plan stay as kitty wrote them, but
/// for our own variables.
pub fn rewrite(
    file: &mut SessionFile,
    plans: &BTreeMap<u64, WindowPlan>,
    setting: Setting<'_>,
) -> LongRecords {
    let mut long = LongRecords::new();
    let mut directory = String::new();
    for line in &mut file.lines {
        match &mut line.item {
            Item::NewTab(_) | Item::NewOsWindow => directory.clear(),
            Item::Cd(dir) => dir.clone_into(&mut directory),
            Item::Launch(launch) => {
                let plan = launch.id().and_then(|id| plans.get(&id));
                rewrite_line(launch, plan, &directory, setting, &mut long);
            }
            _ => {}
        }
    }
    long
}

/// Rewrites one window. `directory` is that of its tab, as the file writes it.
pub(super) fn rewrite_line(
    launch: &mut LaunchLine,
    plan: Option<&WindowPlan>,
    directory: &str,
    setting: Setting<'_>,
    long: &mut LongRecords,
) {
    if launch.option("--type") == Some("background") {
        return;
    }
    clear_ours(launch, setting.state);
    let mut marks = None;
    match plan.map(|p| &p.content) {
        Some(Content::Ask { record, form }) => {
            let mut record = (**record).clone();
            setting.save.clone_into(&mut record.save);
            launch.set_startup(None);
            let secret: Vec<String> = super::window::secret_env(launch).collect();
            launch.remove_options(|option, value| {
                option == "--env"
                    && value
                        .and_then(|v| v.split_once('='))
                        .is_some_and(|(name, _)| secret.iter().any(|s| s == name))
            });
            set_directory(launch, &record.cwd, directory);
            ask(launch, &record, form, setting, long);
            marks = Some((record.agent, record.mode, record.sid));
        }
        Some(Content::Plain { program, startup }) => {
            launch.set_program(program);
            launch.set_startup(startup.as_ref());
        }
        Some(Content::AsSaved) | None => {}
    }
    launch.set_pair("--var", VAR_SAVE, Some(setting.save));
    if let Some(plan) = plan
        && !plan.session.is_empty()
        && can_stand(&plan.session)
    {
        launch.set_pair("--var", VAR_SESSION, Some(&double_dollars(&plan.session)));
    }
    if let Some((agent, mode, sid)) = marks {
        launch.set_pair("--var", VAR_AGENT, Some(&agent));
        launch.set_pair("--var", VAR_RESUME, Some(mode.word()));
        launch.set_pair("--var", VAR_SID, (!sid.is_empty()).then_some(sid.as_str()));
    }
}

/// Takes away what earlier saves put there: our variables and the environment of our start-up files.
fn clear_ours(launch: &mut LaunchLine, state: &str) {
    let ours_env = [ENV_RECORD, ENV_BIN, ENV_LOGIN, ENV_ZDOTDIR];
    let zdotdir = format!("ZDOTDIR={}", zsh_directory(state));
    launch.remove_options(|option, value| {
        let value = value.unwrap_or("");
        let name = value.split('=').next().unwrap_or("");
        match option {
            "--var" => name.starts_with("kittymux_"),
            "--env" => {
                ours_env.contains(&name)
                    || value.replace("$$", "$") == zdotdir
                    || is_our_zdotdir(value)
            }
            _ => false,
        }
    });
}

/// A ZDOTDIR of ours under another state directory (moved, or of an older version).
fn is_our_zdotdir(value: &str) -> bool {
    value.starts_with("ZDOTDIR=") && value.ends_with("/kittymux/shell/zsh")
}

fn zsh_directory(state: &str) -> String {
    format!("{state}/shell/zsh")
}

/// The window opens where the conversation lives; a directory kitty cannot write is left to the prompt.
fn set_directory(launch: &mut LaunchLine, wanted: &str, tabs: &str) {
    if wanted.is_empty() || !can_stand(wanted) {
        return;
    }
    let written = double_dollars(wanted);
    let now = launch.option("--cwd").unwrap_or(tabs);
    if now == written {
        return;
    }
    launch.remove_options(|option, _| option == "--cwd");
    if written != tabs {
        launch.add_option(&format!("--cwd={written}"));
    }
}

fn ask(
    launch: &mut LaunchLine,
    record: &Record,
    form: &Form,
    setting: Setting<'_>,
    long: &mut LongRecords,
) {
    let mut text = record.text();
    if text.len() > MAX_IN_LINE {
        let name = format!(
            "{}-{:016x}",
            setting.save,
            crate::sys::token::fingerprint(text.as_bytes())
        );
        let named = Object::new()
            .number("v", super::record::VERSION)
            .text("file", &name)
            .finish();
        long.insert(name, std::mem::replace(&mut text, named));
    }
    put(launch, &text, form, setting);
}

/// Makes a line the one that asks by the record `text`.
fn put(launch: &mut LaunchLine, text: &str, form: &Form, setting: Setting<'_>) {
    let prompt = [setting.kittymux, "resume-prompt", "--info", text];
    // kitty takes the shell apart as a shell would: a blank in its path needs quotes.
    let behind_run_shell = |shell: &str| {
        let shell = format!("--shell={shell}");
        let mut words = vec!["kitten".to_owned(), "run-shell".to_owned(), shell];
        words.extend(prompt.map(str::to_owned));
        words
    };
    // Values of --env are expanded twice by kitty.
    let env_value = |value: &str| double_dollars(&double_dollars(value));
    match form {
        Form::Program => launch.set_program(&prompt),
        Form::Shell(Shell::Other { path }) => {
            launch.set_program(&behind_run_shell(&quote(path)));
        }
        Form::Shell(Shell::Started { words }) => {
            let words: Vec<String> = words.iter().map(|w| quote(w)).collect();
            launch.set_program(&behind_run_shell(&words.join(" ")));
        }
        Form::Shell(shell) => {
            launch.add_option(&format!("--env={ENV_RECORD}={text}"));
            launch.add_option(&format!("--env={ENV_BIN}={}", env_value(setting.kittymux)));
            match shell {
                Shell::Bash { path, login } => {
                    if *login {
                        launch.add_option(&format!("--env={ENV_LOGIN}=1"));
                    }
                    let rcfile = format!("{}/shell/kittymux.bash", setting.state);
                    launch.set_program(&[path.as_str(), "--rcfile", rcfile.as_str()]);
                }
                Shell::Zsh {
                    path,
                    zdotdir,
                    is_kittys,
                } => {
                    launch.add_option(&format!(
                        "--env=ZDOTDIR={}",
                        env_value(&zsh_directory(setting.state))
                    ));
                    if let Some(own) = zdotdir.as_deref().filter(|d| can_stand(d)) {
                        launch.add_option(&format!("--env={ENV_ZDOTDIR}={}", env_value(own)));
                    }
                    if *is_kittys {
                        launch.set_program::<&str>(&[]);
                    } else {
                        launch.set_program(&[path]);
                    }
                }
                Shell::Fish { path } => launch.set_program(&[path.as_str(), "-C", setting.fish]),
                Shell::Other { .. } | Shell::Started { .. } => {}
            }
        }
    }
}

/// Brings the paths of a line of ours up to date: kittymux may have moved since the save. The
/// record stays as it is, but for the save it now belongs to; one that belongs to it already stays to
/// the byte.
pub fn refresh(launch: &mut LaunchLine, setting: Setting<'_>) {
    let text = record_text(launch).map(|text| match Record::read(text) {
        Ok(mut record) if record.save != setting.save => {
            setting.save.clone_into(&mut record.save);
            record.text()
        }
        _ => text.to_owned(),
    });
    let Some(text) = text else { return };
    let env_value = |value: &str| double_dollars(&double_dollars(value));
    let words: Vec<String> = launch.program().iter().map(|w| (*w).to_owned()).collect();
    if launch.env(ENV_RECORD).is_some() {
        launch.set_pair("--env", ENV_RECORD, Some(&text));
        launch.set_pair("--env", ENV_BIN, Some(&env_value(setting.kittymux)));
        if launch.env("ZDOTDIR").is_some() {
            launch.set_pair(
                "--env",
                "ZDOTDIR",
                Some(&env_value(&zsh_directory(setting.state))),
            );
        }
        if let [shell, option, _] = words.as_slice() {
            match option.as_str() {
                "--rcfile" => {
                    let rcfile = format!("{}/shell/kittymux.bash", setting.state);
                    launch.set_program(&[shell, option, &rcfile]);
                }
                "-C" => launch.set_program(&[shell.as_str(), option, setting.fish]),
                _ => {}
            }
        }
        return;
    }
    let Some(at) = words.iter().position(|w| w == "resume-prompt") else {
        return;
    };
    let mut words = words;
    setting.kittymux.clone_into(&mut words[at - 1]);
    if let Some(info) = words.iter().position(|w| w == "--info")
        && info + 1 < words.len()
    {
        words[info + 1] = text;
    }
    launch.set_program(&words);
}

/// The record that a line of ours carries, by whichever form: its JSON text.
#[must_use]
pub fn record_text(launch: &LaunchLine) -> Option<&str> {
    if let Some(text) = launch.env(ENV_RECORD) {
        return Some(text);
    }
    info_of(&launch.program())
}

/// The record in the words of a prompt of ours.
#[must_use]
pub fn info_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words.iter().position(|w| *w == "resume-prompt")?;
    let program = words.get(at.checked_sub(1)?)?;
    if program.rsplit('/').next() != Some("kittymux") {
        return None;
    }
    let info = words[at..].iter().position(|w| *w == "--info")?;
    words.get(at + info + 1).copied()
}

/// Whether a line is one of ours, by whichever form.
#[must_use]
pub fn is_ours(launch: &LaunchLine) -> bool {
    record_text(launch).is_some()
}

/// Which modes a rewritten file asks for, counted.
#[must_use]
pub fn count_modes(plans: &BTreeMap<u64, WindowPlan>) -> BTreeMap<Mode, usize> {
    let mut counts = BTreeMap::new();
    for plan in plans.values() {
        if let Content::Ask { record, .. } = &plan.content {
            *counts.entry(record.mode).or_default() += 1;
        }
    }
    counts
}
