//! The way back: a window that asks by us becomes one that kitty opens without us, its agent started
//! by the plain command that resumes it.

use super::{ENV_LOGIN, ENV_RECORD, clear_ours, info_of, record_text, set_directory};
use crate::agents::window::is_plain_start;
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::session_file::{Item, SessionFile};
use crate::kitty::words::{can_stand, quote, split};
use crate::resume::record::Record;
use crate::sys::bytes::is_raw;

/// Goes where the first word says and becomes the rest: for directories that a launch line cannot name.
const FROM_THERE: &str = "cd -- \"$1\" && shift && exec \"$@\"";

/// What the file's text does not say.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The record behind its text, if what it would run is an agent and nothing else.
    pub record: &'a dyn Fn(&str) -> Option<Record>,
    /// The shell kitty starts by itself.
    pub kitty_shell: &'a str,
    /// Whether kitty's integration is in its shells: only that runs a window's start-up command (fact 9.4).
    pub integrates: bool,
    /// Our state directory.
    pub state: &'a str,
}

/// What was done to a file, in windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Those that start their agent.
    pub agents: usize,
    /// Those that come back as a shell: what their record names may not be run, or cannot be written.
    pub shells: usize,
    /// Those that never asked.
    pub as_saved: usize,
}

/// Takes all of ours out of `file`, but for its first line.
#[must_use]
pub fn make_plain(file: &mut SessionFile, ground: Ground<'_>) -> Done {
    let mut done = Done::default();
    let mut directory = String::new();
    for line in &mut file.lines {
        match &mut line.item {
            Item::NewTab(_) | Item::NewOsWindow => directory.clear(),
            Item::Cd(dir) => dir.clone_into(&mut directory),
            Item::Launch(launch) if launch.option("--type") != Some("background") => {
                window(launch, &directory, ground, &mut done);
            }
            _ => {}
        }
    }
    done
}

/// What a window is without the question.
enum Shape {
    /// Its agent is its program.
    Program,
    /// A shell that kitty starts, by its words; none: kitty's own.
    Shell(Vec<String>),
    /// A shell behind kitty's `run-shell`, by its words.
    Behind(Vec<String>),
}

fn window(launch: &mut LaunchLine, directory: &str, ground: Ground<'_>, done: &mut Done) {
    let Some(text) = record_text(launch).map(str::to_owned) else {
        // A line with marks alone keeps its bytes but for them.
        clear_ours(launch, ground.state);
        done.as_saved += 1;
        return;
    };
    let record = (ground.record)(&text);
    let shape = shape(launch, record.as_ref(), ground);
    clear_ours(launch, ground.state);
    let command = record.and_then(|r| command(launch, &r, directory, &shape, ground));
    let started = command.is_some_and(|words| start(launch, &words, &shape, ground));
    if started {
        done.agents += 1;
    } else {
        launch.set_startup(None);
        launch.set_program(match &shape {
            Shape::Program => &[][..],
            Shape::Shell(words) | Shape::Behind(words) => words,
        });
        done.shells += 1;
    }
}

fn shape(launch: &LaunchLine, record: Option<&Record>, ground: Ground<'_>) -> Shape {
    let words = launch.program();
    if launch.env(ENV_RECORD).is_none() {
        let option = words.iter().find_map(|w| w.strip_prefix("--shell="));
        let shell = option.filter(|_| info_of(&words).is_some()).map(split);
        return match shell {
            Some(Ok(shell)) => Shape::Behind(shell.into_iter().map(|w| w.text).collect()),
            _ => Shape::Program,
        };
    }
    let own = words.first().copied().unwrap_or("");
    let was: &[String] = record.map_or(&[], |r| &r.was);
    let views: Vec<&str> = was.iter().map(String::as_str).collect();
    Shape::Shell(
        if was.first().is_some_and(|w| base(w) == base(own)) && is_plain_start(&views) {
            was.to_vec()
        } else if own.is_empty() {
            Vec::new()
        } else if launch.env(ENV_LOGIN).is_some() {
            vec![own.to_owned(), "-l".to_owned()]
        } else if base(own) == base(ground.kitty_shell) {
            Vec::new()
        } else {
            vec![own.to_owned()]
        },
    )
}

/// The words that start the agent where its conversation is; `None`: kitty cannot be told them.
fn command(
    launch: &mut LaunchLine,
    record: &Record,
    tabs: &str,
    shape: &Shape,
    ground: Ground<'_>,
) -> Option<Vec<String>> {
    let mut words = if record.resume.is_empty() {
        record.orig.clone()
    } else {
        record.resume.clone()
    };
    // Before the person's start-up files have run, PATH is kitty's own: the file says where it is.
    let has_path = match shape {
        Shape::Shell(shell) => {
            let path = shell.first().map_or(ground.kitty_shell, String::as_str);
            ground.integrates && base(path) != "fish"
        }
        Shape::Program | Shape::Behind(_) => false,
    };
    let first = words.first_mut()?;
    if !has_path && !first.contains('/') && !record.exe.is_empty() {
        first.clone_from(&record.exe);
    }
    let mut before: Vec<String> = Vec::new();
    if !record.cwd.is_empty() {
        set_directory(launch, &record.cwd, tabs);
        // kitty expands a `$` in a directory once more as it starts the window.
        if !can_stand(&record.cwd) || record.cwd.contains('$') {
            before = ["sh", "-c", FROM_THERE, "sh"].map(str::to_owned).to_vec();
            before.push(record.cwd.clone());
        }
    }
    if !record.env.is_empty() {
        before.push("env".to_owned());
        before.extend(record.env.iter().cloned());
    }
    before.extend(words);
    // What is not UTF-8 would end kitty as it reads it.
    (!before.iter().any(|w| is_raw(w))).then_some(before)
}

/// Puts the words into the line; `false`: no form carries them.
fn start(launch: &mut LaunchLine, words: &[String], shape: &Shape, ground: Ground<'_>) -> bool {
    let stand = words.iter().all(|w| can_stand(w));
    // kitty drops empty words of a start-up command.
    let by_integration =
        ground.integrates && launch.id().is_some() && !words.iter().any(String::is_empty);
    let behind = |shell: &[String]| {
        let shell: Vec<String> = shell.iter().map(|w| quote(w)).collect();
        let mut all = vec!["kitten".to_owned(), "run-shell".to_owned()];
        all.push(format!("--shell={}", shell.join(" ")));
        all.extend(words.iter().cloned());
        all
    };
    let kittys = [ground.kitty_shell.to_owned()];
    let (shell, direct) = match shape {
        Shape::Program => (&[][..], stand.then(|| words.to_vec())),
        Shape::Behind(shell) => (&shell[..], stand.then(|| behind(shell))),
        Shape::Shell(shell) if by_integration => (&shell[..], None),
        Shape::Shell(shell) => {
            let named = if shell.is_empty() { &kittys[..] } else { shell };
            (&shell[..], stand.then(|| behind(named)))
        }
    };
    if let Some(direct) = direct {
        launch.set_startup(None);
        launch.set_program(&direct);
        return true;
    }
    if by_integration {
        launch.set_program(shell);
        launch.set_startup(Some(&Startup::Words(words.to_vec())));
    }
    by_integration
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
