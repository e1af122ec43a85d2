//! `setup`: what a person would otherwise write by hand, shown first and done after a yes.

mod completions;
mod found;
mod hooks;
mod kitty_conf;
mod plain_saves;
mod remove;
mod timer;

pub(super) use completions::findings as completion_findings;
pub(super) use hooks::findings as hook_findings;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use super::exit::Exit;
use super::report::home_text;
use super::setting;
use super::table::{Args, Opt, Verb};
use crate::agents::hooks::edit::shell_word;
use crate::keep::assets;
use crate::keep::state::{State, stable_path};
use crate::kitty::conf;
use crate::resume::prompt::shown_directory;
use crate::sys::bytes::from_os;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::private_file::PrivateDir;

/// The verb, for the table.
pub const VERB: Verb = Verb {
    words: &["setup"],
    args: "",
    most: 0,
    about: "set all of it up, after showing it: kitty, timer, agents, shells",
    more: "It shows what it would write and why, and does it after a yes: files of our own, one line at the\n\
           top of kitty.conf, the timer that saves every kitty by itself, completions for your shells, and\n\
           the hooks of the agents on PATH in their own settings. With e it asks for each of these groups;\n\
           --yes is a yes to all that is shown. Once more, it changes nothing.\n\
           --remove takes all of it away but your saves and what they need to open; settings of others are\n\
           as they were, to the byte, unless they were changed since. Then it asks whether saves are to\n\
           start their agents by plain commands, since nothing is there to ask any more. --remove --yes\n\
           leaves saves alone; --plain-saves is a yes to that too. The old ones lie in .previous.",
    examples: &[
        ("kittymux setup --print", "only show what it would write"),
        ("kittymux setup --yes", "write all of it without asking"),
        (
            "kittymux setup --yes --keep-agents",
            "all but the agents' settings",
        ),
        (
            "kittymux setup --remove --print",
            "only show what it would take away",
        ),
    ],
    options: &[
        Opt {
            name: "print",
            value: "",
            about: "show it and write nothing",
        },
        Opt {
            name: "yes",
            value: "",
            about: "do it without asking",
        },
        Opt {
            name: "keep-conf",
            value: "",
            about: "leave kitty.conf alone",
        },
        Opt {
            name: "keep-agents",
            value: "",
            about: "leave the agents' settings alone",
        },
        Opt {
            name: "remove",
            value: "",
            about: "take it away again",
        },
        Opt {
            name: "plain-saves",
            value: "",
            about: "with --remove: saves start their agents by themselves",
        },
    ],
    listed: true,
    run,
};

/// What starts the timer at once.
pub(super) const TIMER_START: &[&str] = timer::START;

/// What gives this machine a timer, where it has none.
pub(super) fn timer_mend() -> &'static str {
    if timer::can_run() {
        "kittymux setup"
    } else {
        timer::NO_SYSTEMD
    }
}

/// Whether the timer is written, for this path of kittymux.
pub(super) fn timer_is_written(own: &Path) -> bool {
    timer::is_written(own)
}

const FILES: &str = "own files";

/// What one yes is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// Files of our own.
    Own,
    /// The line in kitty.conf.
    Conf,
    /// The settings of agents.
    Agents,
}

impl Group {
    /// What it is called in a question.
    fn question(self) -> &'static str {
        match self {
            Self::Own => "kittymux's own files, timer and completions",
            Self::Conf => "the line in kitty.conf",
            Self::Agents => "the hooks in the agents' settings",
        }
    }
}

/// How one step stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    /// It is to be done.
    ToDo,
    /// It is done already.
    Done,
    /// It cannot, or need not, be done here; why.
    Left(String),
}

/// One step.
pub(super) struct Step {
    /// What it is about, in a word or two.
    pub(super) name: &'static str,
    /// Which yes it is done for.
    pub(super) group: Group,
    /// What it writes and why.
    pub(super) does: String,
    /// How it stands.
    pub(super) status: Status,
    /// What does it.
    pub(super) act: Box<dyn Fn() -> Outcome<()>>,
}

/// Shows what is to be written, asks, and writes it; or takes it away.
///
/// # Errors
/// What could not be written.
pub fn run(args: &Args) -> Outcome<Exit> {
    let wrong = [
        ("print", "yes"),
        ("remove", "keep-conf"),
        ("remove", "keep-agents"),
    ]
    .iter()
    .find(|(a, b)| args.has(a) && args.has(b));
    if let Some((a, b)) = wrong {
        out::message(&format!("--{a} and --{b} do not go together"));
        return Ok(Exit::UsedWrongly);
    }
    if args.has("plain-saves") && !args.has("remove") {
        out::message("--plain-saves goes with --remove: kittymux setup --remove --plain-saves");
        return Ok(Exit::UsedWrongly);
    }
    if args.has("remove") {
        return remove::run(args);
    }
    let dir = dirs::state()?;
    let steps = steps(&dir, &own_path(&dir)?, args);
    out::data(&(found::text() + "\n" + &list(&steps)));
    let mut due: Vec<&Step> = steps.iter().filter(|s| s.status == Status::ToDo).collect();
    if due.is_empty() {
        out::data("\nNothing is left to do.\n");
        out::data(&next(&[]));
        return Ok(Exit::Done);
    }
    if args.has("print") {
        out::data("\nNothing was written: --print only shows.\n");
        return Ok(Exit::Done);
    }
    if !args.has("yes") {
        let wanted = asked(&due);
        due.retain(|s| wanted.contains(&s.group));
    }
    if due.is_empty() {
        out::message("nothing was written; kittymux setup --yes writes it without asking");
        return Ok(Exit::CouldNot);
    }
    let mut failed = false;
    for step in &due {
        match (step.act)() {
            Ok(()) => out::data(&format!("done: {}\n", step.name)),
            Err(fault) => {
                failed = true;
                out::message(&format!("{}: {fault}", step.name));
            }
        }
    }
    out::data(&next(&due));
    Ok(if failed { Exit::CouldNot } else { Exit::Done })
}

/// The groups that the person says yes to.
fn asked(due: &[&Step]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for step in due {
        if !groups.contains(&step.group) {
            groups.push(step.group);
        }
    }
    if groups.len() == 1 {
        groups.retain(|_| is_yes("\nWrite this? [y/N] "));
        return groups;
    }
    match answer("\nWrite all of this? [y]es, [N]o, [e]ach asked for: ").as_str() {
        "y" | "yes" => groups,
        "e" | "each" => {
            let mut wanted: Vec<Group> = Vec::new();
            for group in groups {
                // kitty.conf and the agents name what is ours: without that, nothing.
                let rests = wanted.is_empty() && group != Group::Own && is_due(due, Group::Own);
                if !rests && is_yes(&format!("  {}? [y/N] ", group.question())) {
                    wanted.push(group);
                }
            }
            wanted
        }
        _ => Vec::new(),
    }
}

fn is_due(due: &[&Step], group: Group) -> bool {
    due.iter().any(|s| s.group == group)
}

/// Our stable path; nothing is written to find it.
fn own_path(dir: &Path) -> Outcome<PathBuf> {
    let known = PrivateDir::existing(dir)?.and_then(|dir| State { dir }.self_path());
    known.or_else(stable_path).ok_or_else(|| {
        Fault::refused("cannot tell where kittymux is: start it by its full path once")
    })
}

fn steps(dir: &Path, own: &Path, args: &Args) -> Vec<Step> {
    let is_there = assets::are_written(dir, &from_os(own.as_os_str()));
    let files = Step {
        name: FILES,
        group: Group::Own,
        does: format!("{}: keys, watcher, shells' start-up files", shown(dir)),
        status: if is_there { Status::Done } else { Status::ToDo },
        act: Box::new(|| {
            let state = State::open()?;
            let own = setting::own_path(&state)?;
            assets::write_kitty_files(&state, Some(&own))?;
            assets::write_shell_files(&state)
        }),
    };
    vec![
        files,
        timer::step(own),
        completions::step(),
        kitty_conf::step(dir, args.has("keep-conf")),
        hooks::step(own, args.has("keep-agents")),
    ]
}

fn list(steps: &[Step]) -> String {
    let width = steps.iter().map(|s| out::width(s.name)).max().unwrap_or(0);
    let mut text = String::new();
    for step in steps {
        let name = out::pad(step.name, width);
        let (mark, why) = match &step.status {
            Status::ToDo => ("+", None),
            Status::Done => {
                text.push_str(&format!("= {name}  there already\n"));
                continue;
            }
            Status::Left(why) => ("-", Some(format!("({why})"))),
        };
        let lines = step.does.lines().chain(why.iter().flat_map(|w| w.lines()));
        for (n, line) in lines.enumerate() {
            if n == 0 {
                text.push_str(&format!("{mark} {name}  {line}"));
            } else {
                text.push_str(&format!("\n  {}  {line}", " ".repeat(width)));
            }
        }
        text.push('\n');
    }
    text
}

/// What is left for the person, after what was done.
fn next(done: &[&Step]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let did = |name: &str| done.iter().any(|s| s.name == name);
    if did(timer::NAME) {
        lines.extend(timer::START.iter().map(|line| (*line).to_owned()));
    }
    if did(kitty_conf::NAME) || did(FILES) {
        lines
            .push("close kitty and start it again: it reads its configuration at its start".into());
    }
    if let Some(line) = conf::read().forbids() {
        lines.push(format!(
            "in kitty.conf, in place of \"{line}\", which wins over ours:\n    allow_remote_control socket-only"
        ));
    }
    if did(hooks::NAME) {
        lines.push("agents that run now tell nothing until they are started anew".into());
    }
    if let Some(line) = completions::zsh_line() {
        lines.push(format!(
            "for zsh's completions, in ~/.zshrc above compinit:\n    {line}"
        ));
    }
    if dirs::find_program(Path::new("kittymux")).is_none()
        && let Some(dir) = stable_path().as_deref().and_then(Path::parent)
    {
        let dir = in_shell(dir);
        lines.push(format!(
            "kittymux is not on PATH: in your shell's start-up file\n    PATH={dir}:$PATH"
        ));
    }
    if !done.is_empty() {
        lines.push("kittymux doctor    looks whether all is well".into());
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.iter().fold("\nNow:\n".to_owned(), |text, line| {
        text + "  " + line + "\n"
    })
}

/// Asks on the terminal; without one nobody answers.
fn answer(question: &str) -> String {
    if !rustix::termios::isatty(rustix::stdio::stdin()) {
        return String::new();
    }
    out::data(question);
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(read) => {
            // The end of the input leaves the cursor behind the question.
            if read == 0 {
                out::data("\n");
            }
            line.trim().to_ascii_lowercase()
        }
        Err(_) => String::new(),
    }
}

/// Anything but a yes is a no.
fn is_yes(question: &str) -> bool {
    matches!(answer(question).as_str(), "y" | "yes")
}

/// A path for a person: below home as `~/…`.
fn shown(path: &Path) -> String {
    shown_directory(&from_os(path.as_os_str()), &home_text())
}

/// A path for a line of a shell: below home as `~/…`.
fn in_shell(path: &Path) -> String {
    let text = shown(path);
    match text.strip_prefix("~/") {
        Some(below) => format!("~/{}", shell_word(below)),
        None => shell_word(&text),
    }
}

/// Where a file of the person's configuration lies.
fn config_file(below: &str) -> Option<PathBuf> {
    let base = crate::sys::dirs::base("XDG_CONFIG_HOME", ".config").ok()?;
    Some(base.join(below))
}
