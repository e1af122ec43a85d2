//! `sessions rewrite`: session files rewritten in place, without kitty.

use std::path::{Path, PathBuf};

use super::exit::Exit;
use super::report::home_text;
use super::setting;
use super::table::Args;
use crate::agents::definitions::{Definition, Definitions};
use crate::keep::assets;
use crate::keep::beside;
use crate::keep::names::ENDING;
use crate::keep::publish::LIMIT;
use crate::keep::state::State;
use crate::kitty::session_file::{Item, Origin, SessionFile};
use crate::resume::offline::{self, Done, Ground};
use crate::resume::prompt::shown_directory;
use crate::resume::rewrite::Setting;
use crate::sys::bytes::{from_bytes, from_os, to_bytes, to_path};
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::private_file::{PrivateDir, read_foreign};
use crate::sys::token::{is_token, random_id};

/// How the first line of a file of ours begins.
const OURS: &str = "# kittymux ";

/// Rewrites each file and says what became of it.
///
/// # Errors
/// When the state directory is not ours.
pub fn run(args: &Args) -> Outcome<Exit> {
    if args.words.is_empty() {
        out::message("which file? kittymux sessions rewrite FILE");
        return Ok(Exit::UsedWrongly);
    }
    let state = State::open()?;
    let work = Work {
        sessions: state.sessions()?,
        defs: setting::checked_definitions(Some(&state)),
        km: setting::own_path(&state)?,
        shell: kitty_shell(),
        zdotdir: own_zdotdir(),
        state,
    };
    let mut exit = Exit::Done;
    for word in &args.words {
        match work.one(word) {
            Ok(said) => out::data(&said),
            Err(fault) => {
                out::message(&fault.to_string());
                exit = Exit::CouldNot;
            }
        }
    }
    Ok(exit)
}

/// What all files share.
struct Work {
    state: State,
    sessions: PrivateDir,
    defs: Definitions,
    km: String,
    shell: String,
    zdotdir: Option<String>,
}

/// A file that is to be rewritten.
struct Source {
    path: PathBuf,
    /// Its name in our sessions directory, if it lies there.
    name: Option<String>,
    bytes: Vec<u8>,
}

impl Work {
    fn find(&self, word: &str) -> Outcome<Source> {
        let as_path = to_path(word);
        let as_name = self.sessions.join(format!("{word}{ENDING}"));
        let path = if !word.contains('/') && !as_path.exists() && as_name.exists() {
            as_name
        } else {
            std::path::absolute(&as_path).map_err(|e| Fault::file("find", &as_path, e))?
        };
        let in_sessions = path
            .parent()
            .and_then(|p| p.canonicalize().ok())
            .is_some_and(|p| self.sessions.path().canonicalize().is_ok_and(|s| s == p));
        let name = path.file_name().filter(|_| in_sessions).map(from_os);
        let bytes = match &name {
            Some(name) => self.sessions.read(name, LIMIT)?,
            None => Some(read_foreign(&path, LIMIT)?),
        };
        let bytes = bytes.ok_or_else(|| {
            Fault::file(
                "read",
                &path,
                std::io::Error::from(std::io::ErrorKind::NotFound),
            )
        })?;
        Ok(Source { path, name, bytes })
    }

    /// One file; what to say of it.
    fn one(&self, word: &str) -> Outcome<String> {
        let source = self.find(word)?;
        let shown = shown_directory(&from_os(source.path.as_os_str()), &home_text());
        let text = from_bytes(&source.bytes);
        let ours = text.starts_with(OURS);
        let origin = if ours {
            Origin::Person
        } else {
            offline::origin(&text)
        };
        let mut file = SessionFile::read(&text, origin, &[]);
        let mut said = Vec::new();
        if origin == Origin::Kitty && !loses_a_window(&file) {
            said = file.repair(&|name| dirs::var(name).is_some());
        }
        if let Some((line, why)) = file.refusal() {
            return Err(Fault::refused(format!(
                "{shown}: kitty would refuse it for line {line}: {why}; it is left alone"
            )));
        }
        if !file.has_windows() {
            return Ok(format!(
                "{shown}: there is no window in it; it is left alone\n"
            ));
        }
        let id = save_id(&text).unwrap_or_else(random_id);
        let at = clock::rfc3339(clock::wall_ns());
        let program = |def: &Definition, word: &str| self.program(def, word);
        let ground = Ground {
            defs: &self.defs,
            program: &program,
            kitty_shell: &self.shell,
            zdotdir: self.zdotdir.as_deref(),
            at: &at,
            ours,
        };
        let setting = Setting {
            kittymux: &self.km,
            state: &self.state.text(),
            save: &id,
            fish: assets::fish_line(),
        };
        let windows = file.launches().count();
        let done = offline::rewrite(&mut file, ground, setting);
        let mut new = file.text();
        if new == text {
            return Ok(format!("{shown}: {}\n", untouched(&done)));
        }
        if origin == Origin::Kitty {
            // From now on its `$` are ours: they must not be doubled once more.
            new = format!(
                "{OURS}1 rewritten={at} save={id}\n{}",
                new.trim_start_matches('\n')
            );
        }
        let proof = SessionFile::read(&new, Origin::Person, &[]);
        if let Some((line, why)) = proof.refusal() {
            return Err(Fault::refused(format!(
                "{shown}: it would not load (line {line}: {why}); it is left alone"
            )));
        }
        if proof.launches().count() != windows {
            return Err(Fault::refused(format!(
                "{shown}: its windows cannot be told apart; it is left alone"
            )));
        }
        let original = self.write(&source, &new, &done)?;
        let original = shown_directory(&from_os(original.as_os_str()), &home_text());
        let mut report = format!("{shown}: {}; the old file is {original}\n", changes(&done));
        for line in said {
            report.push_str(&format!("  {line}\n"));
        }
        Ok(report)
    }

    /// Writes what the lines name first, then the file; gives the path of the old one.
    fn write(&self, source: &Source, new: &str, done: &Done) -> Outcome<PathBuf> {
        assets::write_shell_files(&self.state)?;
        let records = self.state.records()?;
        for (name, text) in &done.long {
            records.write(name, text.as_bytes())?;
        }
        match &source.name {
            Some(name) => {
                if self.sessions.read(name, LIMIT)?.as_ref() != Some(&source.bytes) {
                    return Err(Fault::refused(format!(
                        "{}: it was saved anew meanwhile; it is left alone",
                        out::visible(name)
                    )));
                }
                let previous = self.sessions.sub(".previous")?;
                self.sessions
                    .replace(name, &to_bytes(new), Some(&previous))?;
                Ok(previous.join(name))
            }
            None => beside::replace(&source.path, &source.bytes, &to_bytes(new)),
        }
    }

    /// Where an agent's program is; `None`: its definition may not be used.
    fn program(&self, def: &Definition, word: &str) -> Option<String> {
        let found = dirs::find_program(Path::new(word)).filter(|p| p.is_absolute());
        self.defs.may_use(def, found.clone()).ok()?;
        Some(found.map_or_else(String::new, |p| from_os(p.as_os_str())))
    }
}

/// Whether a repair would leave out a window: a quote that does not end can hide anything.
fn loses_a_window(file: &SessionFile) -> bool {
    file.lines.iter().any(|line| {
        matches!(line.item, Item::Refused(_)) && line.text().trim_start().starts_with("launch")
    })
}

/// The save that a file of ours is.
fn save_id(text: &str) -> Option<String> {
    let first = text.lines().next()?.strip_prefix(OURS)?;
    first
        .split(' ')
        .find_map(|w| w.strip_prefix("save="))
        .filter(|id| is_token(id))
        .map(str::to_owned)
}

fn count(n: usize, what: &str) -> Option<String> {
    (n > 0).then(|| format!("{n} {what}"))
}

fn changes(done: &Done) -> String {
    let parts = [
        count(done.kept, "as recorded"),
        count(done.exact, "exact"),
        count(done.new, "new"),
        count(done.plain, "without an agent now"),
        count(done.as_saved, "as saved"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let windows = done.kept + done.exact + done.new + done.plain + done.as_saved;
    let s = if windows == 1 { "" } else { "s" };
    format!("{windows} window{s}: {}", parts.join(", "))
}

fn untouched(done: &Done) -> String {
    format!("nothing to do, {}", changes(done))
}

/// The shell kitty starts by itself: `shell` of kitty.conf, else the person's.
pub(super) fn kitty_shell() -> String {
    let configured = crate::kitty::conf::read().shell;
    let word = configured
        .as_deref()
        .and_then(|s| s.split_whitespace().next())
        .filter(|s| *s != ".");
    let path = match word {
        Some(word) => dirs::find_program(Path::new(word)).unwrap_or_else(|| to_path(word)),
        None => dirs::shell(),
    };
    from_os(path.as_os_str())
}

/// The person's own ZDOTDIR, behind kitty's integration and ours.
fn own_zdotdir() -> Option<String> {
    let foreign =
        |dir: &String| !dir.ends_with("/shell/zsh") && !dir.contains("/shell-integration/");
    ["KITTYMUX_ZDOTDIR", "KITTY_ORIG_ZDOTDIR", "ZDOTDIR"]
        .iter()
        .filter_map(|name| dirs::var(name))
        .map(|value| from_os(&value))
        .find(foreign)
}
