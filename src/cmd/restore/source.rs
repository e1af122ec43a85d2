//! The file that is restored, and the private copy of it that kitty gets.

use std::path::PathBuf;

use crate::cmd::autosaved::is_autosave;
use crate::keep::assets;
use crate::keep::autosaves::read_header;
use crate::keep::names::ENDING;
use crate::keep::publish::LIMIT;
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::kitty::session_file::{Line, Origin, SessionFile};
use crate::kitty::words::{is_separator, quote};
use crate::resume::parts::parts;
use crate::resume::rewrite::{self, VAR_PLACE, VAR_SAVE};
use crate::resume::window::is_desk_name;
use crate::sys::bytes::{from_bytes, from_os, to_bytes, to_path};
use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::out;
use crate::sys::private_file::{PrivateDir, read_foreign};
use crate::sys::token::random_id;

/// How long a private copy stays: kitty reads a session's file again when it is opened again.
const KEEP_COPY_NS: u64 = 7 * 86_400 * 1_000_000_000;

/// The file that is restored.
pub(super) struct Source {
    path: PathBuf,
    pub(super) stem: String,
    dir: Option<PrivateDir>,
    /// The id of a desk that was saved by itself.
    pub(super) desk: Option<String>,
}

impl Source {
    pub(super) fn find(state: &State, wanted: &str) -> Outcome<Self> {
        if wanted.contains('/') || wanted.ends_with(ENDING) {
            let path = std::path::absolute(to_path(wanted))
                .map_err(|e| Fault::file("find", &to_path(wanted), e))?;
            let file = path.file_name().map(from_os).unwrap_or_default();
            let stem = file.strip_suffix(ENDING).unwrap_or(&file).to_owned();
            return Ok(Self {
                path,
                stem,
                dir: None,
                desk: None,
            });
        }
        let sessions = state.sessions()?;
        let file = format!("{wanted}{ENDING}");
        let known = saves(state)?;
        if known.iter().all(|s| s.name != wanted) {
            let shown = out::clip(&out::visible(wanted), 40);
            let near: Vec<String> = known.iter().take(5).map(|s| s.name.clone()).collect();
            let there = if near.is_empty() {
                "nothing is saved yet: kittymux sessions save NAME".to_owned()
            } else {
                format!("there is: {}", near.join(", "))
            };
            return Err(Fault::refused(format!(
                "no save is called \"{shown}\"; {there}"
            )));
        }
        Ok(Self {
            desk: is_autosave(wanted)
                .then(|| read_header(&sessions, &file))
                .flatten()
                .map(|h| h.save),
            path: sessions.join(&file),
            stem: wanted.to_owned(),
            dir: Some(sessions),
        })
    }

    /// Reads it; a file kitty would refuse is refused here, before kitty is asked.
    pub(super) fn read(&self) -> Outcome<SessionFile> {
        let bytes = match &self.dir {
            Some(dir) => dir
                .read(&format!("{}{ENDING}", self.stem), LIMIT)?
                .unwrap_or_default(),
            None => {
                let bytes = read_foreign(&self.path, LIMIT)?;
                // A session file is a list of commands to run: somebody else's is not run by its name.
                let owner = std::os::unix::fs::MetadataExt::uid(
                    &std::fs::metadata(&self.path)
                        .map_err(|e| Fault::file("look at", &self.path, e))?,
                );
                if owner != rustix::process::geteuid().as_raw() && owner != 0 {
                    return Err(Fault::refused(format!(
                        "{} belongs to another user: copy it and look into it first",
                        shown_path(&self.path)
                    )));
                }
                bytes
            }
        };
        let file = SessionFile::read(&from_bytes(&bytes), Origin::Person, &[]);
        if let Some((line, why)) = file.refusal() {
            return Err(Fault::refused(format!(
                "kitty would refuse {} for line {line}: {why}",
                shown_path(&self.path)
            )));
        }
        if !file.has_windows() {
            return Err(Fault::refused(format!(
                "{} holds no window",
                shown_path(&self.path)
            )));
        }
        Ok(file)
    }
}

/// Who opens the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd) enum Loads {
    /// We do, in a kitty that runs.
    Us,
    /// A kitty that starts, which then runs a line of ours for what one file cannot bring.
    NewKitty,
    /// A kitty that starts by itself, by its own configuration.
    ByItself,
}

/// A desk made ready to be opened.
pub(in crate::cmd) struct Prepared {
    /// The id that its windows carry.
    pub(in crate::cmd) windows: String,
    /// What is opened first: the session that was visible.
    pub(in crate::cmd) first: SessionFile,
    /// The name it gets as kitty session.
    pub(in crate::cmd) stem: String,
    /// The files of the other sessions.
    pub(in crate::cmd) others: Vec<String>,
    /// The private directory of this restore.
    pub(in crate::cmd) dir: PrivateDir,
}

/// Where the copies of the other sessions lie, in the private directory of a restore.
const OTHERS: &str = "others";

/// The private directory of the restore whose windows carry `windows`.
#[must_use]
pub(in crate::cmd) fn restore_dir(windows: &str) -> String {
    format!(".restore-{windows}")
}

/// The files of the other sessions of a restore.
pub(in crate::cmd) fn others(dir: &PrivateDir) -> Vec<String> {
    let Ok(Some(others)) = PrivateDir::existing(&dir.join(OTHERS)) else {
        return Vec::new();
    };
    let names = others.names().unwrap_or_default();
    names
        .iter()
        .filter(|n| n.ends_with(ENDING))
        .map(|n| from_os(others.join(n).as_os_str()))
        .collect()
}

/// Makes a desk ready: every window gets a fresh id and our own path as it is now, and each kitty
/// session a file of its own.
///
/// # Errors
/// When a copy cannot be written.
pub(in crate::cmd) fn prepare(
    state: &State,
    stem: &str,
    file: &SessionFile,
    km: &str,
    loads: Loads,
) -> Outcome<Prepared> {
    let windows = random_id();
    let mut file = file.clone();
    let of_state = state.text();
    refresh(&mut file, &windows, km, &of_state);
    let sessions = state.sessions()?;
    sweep_copies(&sessions);
    let dir = sessions.sub(&restore_dir(&windows))?;
    let mut found = parts(&file, &|name| can_be_a_stem(name)).into_iter();
    let (mut first, session) = found
        .next()
        .map_or_else(|| (file, String::new()), |p| (p.file, p.session));
    let stem = if loads != Loads::ByItself && is_autosave(stem) && !session.is_empty() {
        session
    } else {
        stem.to_owned()
    };
    let mut others = Vec::new();
    for part in found {
        // Its tabs of no session stay with the desk's own name.
        let name = if part.session.is_empty() {
            "desk"
        } else {
            &part.session
        };
        let name = format!("{name}{ENDING}");
        let of_others = dir.sub(OTHERS)?;
        of_others.write(&name, &to_bytes(&part.file.text()))?;
        others.push(from_os(of_others.join(&name).as_os_str()));
    }
    if loads == Loads::ByItself || (loads == Loads::NewKitty && !others.is_empty()) {
        let km = quote(km);
        first.lines.push(Line::new(&format!(
            "launch --type=background --allow-remote-control {km} sessions restored {windows}"
        )));
    }
    Ok(Prepared {
        windows,
        first,
        stem,
        others,
        dir,
    })
}

/// Whether a kitty session's name can be that of a file again.
fn can_be_a_stem(name: &str) -> bool {
    name.len() <= 100
        && !name.starts_with('.')
        && !name.contains(['/', '\0'])
        && !is_desk_name(name)
        && !name.chars().any(is_separator)
}

/// Gives every window the id of this restore, and our own path as it is now.
fn refresh(file: &mut SessionFile, save: &str, km: &str, state: &str) {
    let setting = rewrite::Setting {
        kittymux: km,
        state,
        save,
        fish: assets::fish_line(),
    };
    let windows = file
        .launches_mut()
        .filter(|l| l.option("--type") != Some("background"));
    for (place, launch) in windows.enumerate() {
        launch.set_pair("--var", VAR_SAVE, Some(save));
        launch.set_pair("--var", VAR_PLACE, Some(&place.to_string()));
        rewrite::refresh(launch, setting);
    }
}

/// Writes the copy that kitty gets, under the name of its session.
pub(super) fn write_first(prepared: &Prepared) -> Outcome<String> {
    let name = format!("{}{ENDING}", prepared.stem);
    prepared
        .dir
        .write(&name, &to_bytes(&prepared.first.text()))?;
    Ok(from_os(prepared.dir.join(&name).as_os_str()))
}

/// Removes copies that no kitty will read again.
fn sweep_copies(sessions: &PrivateDir) {
    let now = clock::wall_ns();
    let names = sessions.names().unwrap_or_default();
    for old in names.iter().filter(|n| n.starts_with(".restore-")) {
        let outdated = sessions
            .written_ns(old)
            .is_some_and(|w| now.saturating_sub(w) > KEEP_COPY_NS);
        if outdated && let Ok(dir) = sessions.sub(old) {
            empty(&dir);
            let _ = sessions.remove_dir(old);
        }
    }
}

fn empty(dir: &PrivateDir) {
    if let Ok(Some(others)) = PrivateDir::existing(&dir.join(OTHERS)) {
        empty(&others);
        let _ = dir.remove_dir(OTHERS);
    }
    for name in dir.names().unwrap_or_default() {
        let _ = dir.remove(&name);
    }
}
