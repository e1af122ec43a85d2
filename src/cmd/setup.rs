//! `setup`: what a person would otherwise write by hand, shown first and done after a yes.

mod kitty_conf;
mod timer;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use super::exit::Exit;
use super::report::home_text;
use super::setting;
use super::table::{Args, Opt, Verb};
use crate::keep::assets;
use crate::keep::state::{State, stable_path};
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
    about: "write what kitty and the timer need, after showing it",
    more: "It shows what it would write and why, and does it after a yes: files of our own, one line at the \
           top of kitty.conf, and the timer that saves every kitty by itself. Once more, it changes \
           nothing. --remove takes all of it away but your saves and what they need to open.",
    examples: &[
        ("kittymux setup --print", "only show what it would write"),
        ("kittymux setup --yes", "write it without asking"),
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
            name: "remove",
            value: "",
            about: "take it away again",
        },
    ],
    listed: true,
    run,
};

/// What starts the timer at once.
pub(super) const TIMER_START: &[&str] = timer::START;

/// Whether the timer is written, for this path of kittymux.
pub(super) fn timer_is_written(own: &Path) -> bool {
    timer::is_written(own)
}

const FILES: &str = "files for kitty";

/// What stays at a removal: saves, and what they need to open.
const STAYS: [&str; 2] = ["sessions", "shell"];

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
    let wrong = [("print", "yes"), ("print", "remove")]
        .iter()
        .find(|(a, b)| args.has(a) && args.has(b));
    if let Some((a, b)) = wrong {
        out::message(&format!("--{a} and --{b} do not go together"));
        return Ok(Exit::UsedWrongly);
    }
    if args.has("remove") {
        return remove(args.has("yes"));
    }
    let dir = dirs::state()?;
    let steps = steps(&dir, &own_path(&dir)?, args.has("keep-conf"));
    out::data(&list(&steps));
    let due = steps.iter().filter(|s| s.status == Status::ToDo).count();
    if due == 0 {
        out::data("\nNothing is left to do.\n");
        return Ok(Exit::Done);
    }
    if args.has("print") {
        out::data("\nNothing was written: --print only shows.\n");
        return Ok(Exit::Done);
    }
    if !args.has("yes") && !is_yes("\nWrite this? [y/N] ") {
        out::message("nothing was written; kittymux setup --yes writes it without asking");
        return Ok(Exit::CouldNot);
    }
    let mut failed = false;
    for step in steps.iter().filter(|s| s.status == Status::ToDo) {
        match (step.act)() {
            Ok(()) => out::data(&format!("done: {}\n", step.name)),
            Err(fault) => {
                failed = true;
                out::message(&format!("{}: {fault}", step.name));
            }
        }
    }
    out::data(&next(&steps));
    Ok(if failed { Exit::CouldNot } else { Exit::Done })
}

/// Our stable path; nothing is written to find it.
fn own_path(dir: &Path) -> Outcome<PathBuf> {
    let known = PrivateDir::existing(dir)?.and_then(|dir| State { dir }.self_path());
    known.or_else(stable_path).ok_or_else(|| {
        Fault::refused("cannot tell where kittymux is: start it by its full path once")
    })
}

fn steps(dir: &Path, own: &Path, keep_conf: bool) -> Vec<Step> {
    let is_there = assets::are_written(dir, &from_os(own.as_os_str()));
    let files = Step {
        name: FILES,
        does: format!(
            "in {}:\nkeys and watcher for kitty, start-up files for shells",
            shown(dir)
        ),
        status: if is_there { Status::Done } else { Status::ToDo },
        act: Box::new(|| {
            let state = State::open()?;
            let own = setting::own_path(&state)?;
            assets::write_kitty_files(&state, Some(&own))?;
            assets::write_shell_files(&state)
        }),
    };
    vec![files, kitty_conf::step(dir, keep_conf), timer::step(own)]
}

fn list(steps: &[Step]) -> String {
    let width = steps.iter().map(|s| out::width(s.name)).max().unwrap_or(0);
    let mut text = String::new();
    for step in steps {
        let (mark, more) = match &step.status {
            Status::ToDo => ("+", String::new()),
            Status::Done => ("=", " (there already)".to_owned()),
            Status::Left(why) => ("-", format!(" ({why})")),
        };
        let mut lines = step.does.lines();
        let first = lines.next().unwrap_or("");
        text.push_str(&format!("{mark} {}  {first}", out::pad(step.name, width)));
        for line in lines {
            text.push_str(&format!("\n  {}  {line}", " ".repeat(width)));
        }
        if !more.is_empty() {
            text.push_str(&format!("\n  {} {more}", " ".repeat(width)));
        }
        text.push('\n');
    }
    text
}

fn next(steps: &[Step]) -> String {
    let mut text = String::from("\nNow:\n");
    let did = |name: &str| {
        steps
            .iter()
            .any(|s| s.name == name && s.status == Status::ToDo)
    };
    if did(timer::NAME) {
        for line in timer::START {
            text.push_str(&format!("  {line}\n"));
        }
    }
    if did(kitty_conf::NAME) || did(FILES) {
        text.push_str(
            "  close kitty and start it again: it reads its configuration at its start\n",
        );
    }
    text + "  kittymux hooks setup   has agents tell themselves which conversation they are in\n  \
            kittymux doctor        looks whether all is well\n"
}

/// Asks on the terminal; anything but a yes is a no, and so is no terminal.
fn is_yes(question: &str) -> bool {
    if !rustix::termios::isatty(rustix::stdio::stdin()) {
        return false;
    }
    out::data(question);
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes" | "Yes")
}

fn remove(yes: bool) -> Outcome<Exit> {
    let Some(state) = State::existing()? else {
        out::data("nothing is set up\n");
        return Ok(Exit::Done);
    };
    let dir = state.dir.path().to_owned();
    let mut text = String::from("This is taken away:\n");
    let conf = kitty_conf::is_included(&dir);
    if conf {
        text.push_str("  the line in kitty.conf that includes kittymux.conf\n");
    }
    for path in timer::files()
        .iter()
        .filter(|p| p.symlink_metadata().is_ok())
    {
        text.push_str(&format!("  {}\n", shown(path)));
    }
    let names: Vec<String> = state
        .dir
        .names()?
        .into_iter()
        .filter(|n| !STAYS.contains(&n.as_str()))
        .collect();
    if !names.is_empty() {
        text.push_str(&format!(
            "  in {}: {}\n",
            shown(&dir),
            out::visible(&names.join(" "))
        ));
    }
    text.push_str(&format!(
        "These stay, your saves and what they need to open:\n  {0}/sessions\n  {0}/shell\n",
        shown(&dir)
    ));
    out::data(&text);
    if !yes && !is_yes("Take it away? [y/N] ") {
        out::message(
            "nothing was taken away; kittymux setup --remove --yes does it without asking",
        );
        return Ok(Exit::CouldNot);
    }
    if conf {
        kitty_conf::take_out(&dir)?;
    }
    let had_timer = timer::files().iter().any(|p| p.symlink_metadata().is_ok());
    for path in timer::files() {
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(Fault::file("remove", &path, e));
            }
            _ => {}
        }
    }
    for name in names {
        take_away(&state.dir, &name)?;
    }
    out::data("done; kitty forgets it at its next start\n");
    if had_timer && cfg!(target_os = "linux") {
        out::data("  systemctl --user daemon-reload    ends the timer now\n");
    }
    Ok(Exit::Done)
}

/// Removes a file or a directory of ours with all in it.
fn take_away(dir: &PrivateDir, name: &str) -> Outcome<()> {
    let path = dir.join(name);
    let is_dir = path.symlink_metadata().is_ok_and(|m| m.is_dir());
    if !is_dir {
        return dir.remove(name);
    }
    let inner = dir.sub(name)?;
    for name in inner.names()? {
        take_away(&inner, &name)?;
    }
    dir.remove_dir(name)
}

/// A path for a person: below home as `~/…`.
fn shown(path: &Path) -> String {
    shown_directory(&from_os(path.as_os_str()), &home_text())
}

/// Where a file of the person's configuration lies.
fn config_file(below: &str) -> Option<PathBuf> {
    let base = crate::sys::dirs::base("XDG_CONFIG_HOME", ".config").ok()?;
    Some(base.join(below))
}
