//! Rewriting a session file without kitty: nobody can be asked what runs, so only what the file
//! itself says twice is believed.
//!
//! A record of ours stays. A mark alone (anybody in a window can set one) only says that an agent was
//! there: such a window comes back with a new conversation, unless its own command names the same one.

use super::record::{Mode, Record};
use super::rewrite::{
    Content, ENV_RECORD, Form, LongRecords, Setting, Shell, VAR_AGENT, VAR_RESUME, VAR_SESSION,
    VAR_SID, WindowPlan, record_text, refresh, rewrite_line,
};
use crate::agents::argv::{Kind, Selector, argv_id, fresh, recognise, resume};
use crate::agents::definitions::{Definition, Definitions};
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::session_file::{Item, Origin, SessionFile};
use crate::kitty::words::{can_stand, split};

/// A start-up command longer than this is none that a person typed; it stays as it is (in words).
const MOST_WORDS: usize = 200;

/// The same in bytes of its line.
const MOST_BYTES: usize = 256 << 10;

/// What the file's text does not say.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The definitions.
    pub defs: &'a Definitions,
    /// Whether a definition may be used, and where its program is (empty: not found).
    pub program: &'a dyn Fn(&Definition, &str) -> Option<String>,
    /// The shell kitty starts by itself.
    pub kitty_shell: &'a str,
    /// The person's own ZDOTDIR, if they have one.
    pub zdotdir: Option<&'a str>,
    /// Now, RFC 3339.
    pub at: &'a str,
    /// Whether the file is a save of ours.
    pub ours: bool,
}

/// What was done to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Windows whose record stays.
    pub kept: usize,
    /// Windows whose mark and command name the same conversation.
    pub exact: usize,
    /// Windows that now begin a new conversation.
    pub new: usize,
    /// Windows of ours that run no agent any more.
    pub plain: usize,
    /// Windows that stay to the byte.
    pub as_saved: usize,
    /// Records too long for their line.
    pub long: LongRecords,
}

/// Who wrote a text that is no save of ours: kitty's saver gives every window its id, a person none.
#[must_use]
pub fn origin(text: &str) -> Origin {
    let mut windows = text.lines().filter(|l| {
        let mut words = l.split_whitespace();
        words.next() == Some("launch") && !words.any(|w| w == "--type=background")
    });
    let first = windows.next();
    let by_kitty = |line: &str| line.contains("kitty-unserialize-data=");
    if first.is_some_and(by_kitty) && windows.all(by_kitty) {
        Origin::Kitty
    } else {
        Origin::Person
    }
}

/// Rewrites the windows of `file` of which it can be told what they were.
#[must_use]
pub fn rewrite(file: &mut SessionFile, ground: Ground<'_>, setting: Setting<'_>) -> Done {
    let mut done = Done::default();
    let mut directory = String::new();
    let mut tab = String::new();
    for line in &mut file.lines {
        match &mut line.item {
            Item::NewTab(title) => {
                directory.clear();
                tab = title.replace("$$", "$");
            }
            Item::NewOsWindow => directory.clear(),
            Item::Cd(dir) => dir.clone_into(&mut directory),
            Item::Launch(launch) if launch.option("--type") != Some("background") => {
                let place = Place {
                    directory: &directory,
                    tab: &tab,
                };
                window(launch, place, ground, setting, &mut done);
            }
            _ => {}
        }
    }
    done
}

/// Where a window stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    directory: &'a str,
    tab: &'a str,
}

fn window(
    launch: &mut LaunchLine,
    place: Place<'_>,
    ground: Ground<'_>,
    setting: Setting<'_>,
    done: &mut Done,
) {
    if launch.text().len() > MOST_BYTES + super::record::MAX_IN_LINE {
        done.as_saved += 1;
        return;
    }
    let content = if let Some(text) = record_text(launch) {
        let record = Record::read(text).ok();
        match of_record(launch, record.as_ref(), place, ground) {
            Some(content) => content,
            None => {
                let save = record.map_or_else(|| setting.save.to_owned(), |r| r.save);
                let save = save.as_str();
                bring_up_to_date(launch, Setting { save, ..setting });
                done.kept += 1;
                return;
            }
        }
    } else {
        match of_marks(launch, place, ground) {
            Some(content) => content,
            None => {
                done.as_saved += 1;
                return;
            }
        }
    };
    match &content {
        Content::Ask { record, .. } if record.mode == Mode::New => done.new += 1,
        Content::Ask { .. } => done.exact += 1,
        Content::Plain { .. } | Content::AsSaved => done.plain += 1,
    }
    let session = launch.var(VAR_SESSION).unwrap_or("").replace("$$", "$");
    let plan = WindowPlan { content, session };
    let long = &mut done.long;
    rewrite_line(launch, Some(&plan), place.directory, setting, long);
}

/// Our own path and that of our files, where they are others now. Where they are not, no byte moves.
fn bring_up_to_date(launch: &mut LaunchLine, setting: Setting<'_>) {
    if launch.env(ENV_RECORD).is_some() && launch.startup().is_some() {
        launch.set_startup(None);
    }
    let mut new = launch.clone();
    refresh(&mut new, setting);
    let sorted = |line: &LaunchLine| {
        let mut options: Vec<(String, Option<String>)> = line
            .options()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.map(str::to_owned)))
            .collect();
        options.sort();
        options
    };
    let same = sorted(launch) == sorted(&new) && launch.program() == new.program();
    if !same {
        *launch = new;
    }
}

/// What becomes of a line with a record; `None`: it stays. kitty adds what runs in the window's shell
/// when it saves by itself: that the prompt was answered, and how.
fn of_record(
    launch: &LaunchLine,
    record: Option<&Record>,
    place: Place<'_>,
    ground: Ground<'_>,
) -> Option<Content> {
    let startup = launch.startup()?;
    let record = record?;
    launch.env(ENV_RECORD)?;
    // What a repair puts there for a directory that kitty cannot be told.
    if matches!(&startup, Startup::Words(words) if words.first().is_some_and(|w| w == "cd")) {
        return None;
    }
    let shell = shell_of(launch, ground);
    let Some(call) = called(&startup, ground) else {
        let words = launch.program();
        let own = words.first().copied().unwrap_or("");
        let program = if !record.was.is_empty() && base(&record.was[0]) == base(own) {
            record.was.clone()
        } else if own.is_empty() || base(own) == base(ground.kitty_shell) {
            Vec::new()
        } else {
            vec![own.to_owned()]
        };
        return Some(Content::Plain {
            program,
            startup: Some(startup),
        });
    };
    let same = call.def.name == record.agent && call.words.contains(&record.sid);
    if same && !record.sid.is_empty() {
        return None;
    }
    let made = made(&call, None, launch, place, ground)?;
    Some(Content::Ask {
        record: Box::new(Record {
            was: record.was.clone(),
            ..made
        }),
        form: Form::Shell(shell?),
    })
}

/// What becomes of a line with marks and no record; `None`: it stays.
fn of_marks(launch: &LaunchLine, place: Place<'_>, ground: Ground<'_>) -> Option<Content> {
    let agent = launch.var(VAR_AGENT)?;
    let program: Vec<String> = launch.program().iter().map(|w| (*w).to_owned()).collect();
    let (call, form) = match recognised(&program, ground) {
        Some(call) => (call, Form::Program),
        None => (
            called(&launch.startup()?, ground)?,
            Form::Shell(shell_of(launch, ground)?),
        ),
    };
    if call.def.name != agent {
        return None;
    }
    let sid = launch.var(VAR_SID).unwrap_or("");
    let exact = launch.var(VAR_RESUME) == Some(Mode::Exact.word())
        && argv_id(call.def, &call.words).as_deref() == Some(sid);
    if ground.ours && form == Form::Program && is_direct(launch, &call, exact) {
        return None;
    }
    let record = made(&call, exact.then_some(sid), launch, place, ground)?;
    Some(Content::Ask {
        record: Box::new(record),
        form,
    })
}

/// Whether a save of ours put this very command there, to be run without asking.
fn is_direct(launch: &LaunchLine, call: &Call<'_>, exact: bool) -> bool {
    let same = |made: Result<crate::agents::argv::Rewritten, String>| {
        made.is_ok_and(|r| r.words == call.words)
    };
    match launch.var(VAR_RESUME).and_then(Mode::from_word) {
        Some(Mode::Exact) => exact,
        Some(Mode::Latest) => same(resume(call.def, &call.words, Selector::Latest)),
        Some(Mode::New) => same(fresh(call.def, &call.words)),
        None => false,
    }
}

/// An agent's command as the file has it.
struct Call<'a> {
    def: &'a Definition,
    words: Vec<String>,
    env: Vec<String>,
}

fn recognised<'a>(words: &[String], ground: Ground<'a>) -> Option<Call<'a>> {
    if words.len() > MOST_WORDS || words.first()?.starts_with('-') {
        return None;
    }
    let call = recognise(ground.defs, words, None, "")?;
    (call.kind == Kind::Interactive).then_some(Call {
        def: ground.defs.get(&call.agent)?,
        words: call.words,
        env: Vec::new(),
    })
}

/// The agent that a start-up command is: exact words, or one simple command line.
fn called<'a>(startup: &Startup, ground: Ground<'a>) -> Option<Call<'a>> {
    let line = match startup {
        Startup::Words(words) => return recognised(words, ground),
        Startup::Line(line) => line,
    };
    let mut words = simple_command(line)?;
    let begin = words.iter().position(|w| !is_assignment(w))?;
    let env: Vec<String> = words.drain(..begin).collect();
    let call = recognised(&words, ground)?;
    // A variable that cannot be carried is part of what was typed: then the line stays.
    let carried = |entry: &String| {
        let name = entry.split('=').next().unwrap_or("");
        call.def.env.iter().any(|n| n == name)
    };
    env.iter().all(carried).then_some(Call { env, ..call })
}

/// The words of a line that a shell takes as one simple command, whatever shell it is: no operators,
/// nothing that is expanded. `None` for all else.
#[must_use]
pub fn simple_command(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            // Inside '…' all is plain, but fish takes a backslash there.
            (Some(_), '\\') => return None,
            (Some('"'), '$' | '`' | '!') => return None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if "|&;<>()$`\\*?[]{}~#!^%\n\r".contains(c) => return None,
            (None, _) => {}
        }
        if c.is_control() && c != '\t' {
            return None;
        }
    }
    let words: Vec<String> = split(line).ok()?.into_iter().map(|w| w.text).collect();
    (!words.is_empty()).then_some(words)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The record of an agent's command: a new conversation, or the one that mark and command name.
fn made(
    call: &Call<'_>,
    sid: Option<&str>,
    launch: &LaunchLine,
    place: Place<'_>,
    ground: Ground<'_>,
) -> Option<Record> {
    let exe = (ground.program)(call.def, &call.words[0])?;
    let new = fresh(call.def, &call.words).ok()?;
    let resumed = sid.and_then(|sid| {
        let made = resume(call.def, &call.words, Selector::Exact(sid)).ok()?;
        Some((Mode::Exact, sid.to_owned(), made.words))
    });
    let (mode, sid, resume) = resumed.unwrap_or((Mode::New, String::new(), Vec::new()));
    let program = launch.program();
    let secret = !new.dropped_secrets.is_empty();
    Some(Record {
        agent: call.def.name.clone(),
        mode,
        sid,
        resume,
        exe,
        cwd: directory(launch.option("--cwd").unwrap_or(place.directory)),
        tab: place.tab.to_owned(),
        save: String::new(),
        at: ground.at.to_owned(),
        // What held a secret is forgotten whole.
        was: match recognised(&owned(&program), ground) {
            Some(_) => new.words.clone(),
            None if secret => Vec::new(),
            None => owned(&program),
        },
        orig: new.words,
        env: call.env.clone(),
        lost: new.dropped_secrets,
        direct: false,
    })
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// A directory as it is, if the file says it without anything that kitty would expand.
fn directory(written: &str) -> String {
    let plain = written.replace("$$", "");
    if written.starts_with('/') && !plain.contains('$') && can_stand(written) {
        written.replace("$$", "$")
    } else {
        String::new()
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The shell of a window, if that is all its program is.
fn shell_of(launch: &LaunchLine, ground: Ground<'_>) -> Option<Shell> {
    let words = launch.program();
    let zsh = |path: &str, is_kittys| Shell::Zsh {
        path: path.to_owned(),
        zdotdir: ground.zdotdir.map(str::to_owned),
        is_kittys,
    };
    let mut login = false;
    if launch.env(ENV_RECORD).is_none() {
        // One told how to start is another shell than ours would be.
        for word in words.iter().skip(1) {
            match *word {
                "-l" | "--login" => login = true,
                "-i" => {}
                _ => return None,
            }
        }
    }
    let is_kittys = words.is_empty();
    let path = words.first().copied().unwrap_or(ground.kitty_shell);
    let path = path.to_owned();
    match base(&path) {
        "bash" => Some(Shell::Bash { path, login }),
        "zsh" => Some(zsh(&path, is_kittys)),
        "fish" => Some(Shell::Fish { path }),
        "sh" | "dash" | "ksh" | "mksh" | "nu" | "elvish" | "xonsh" | "tcsh" => {
            Some(Shell::Other { path })
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "offline_tests.rs"]
mod tests;
