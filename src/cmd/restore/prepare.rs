//! A desk made ready for kitty: private copies, one for each kitty session, in which every window has
//! the id of this restore and a shell and a directory that are there.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cmd::autosaved::{is_autosave, offered, taking};
use crate::cmd::rewrite_files::kitty_shell;
use crate::keep::assets;
use crate::keep::names::ENDING;
use crate::keep::state::State;
use crate::kitty::session_file::{Item, Line, SessionFile};
use crate::kitty::words::{can_stand, double_dollars, is_separator};
use crate::resume::parts::parts;
use crate::resume::rewrite::{self, VAR_PLACE, VAR_SAVE};
use crate::resume::window::is_desk_name;
use crate::sys::bytes::{from_os, to_bytes, to_path};
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::Outcome;
use crate::sys::out;
use crate::sys::private_file::PrivateDir;
use crate::sys::token::random_id;

/// How long a private copy stays: kitty reads a session's file again when it is opened again.
const KEEP_COPY_NS: u64 = 7 * 86_400 * 1_000_000_000;

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
    /// How many windows there are in all of them.
    pub(in crate::cmd) count: usize,
    /// What is not here any more, and what takes its place.
    pub(in crate::cmd) said: Vec<String>,
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
    let said = refresh(&mut file, &windows, km, &of_state);
    let sessions = state.sessions()?;
    sweep_copies(&sessions);
    let count = file
        .launches()
        .filter(|l| l.option("--type") != Some("background"))
        .count();
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
        first.lines.push(Line::new(&taking(km, &windows)));
    }
    Ok(Prepared {
        windows,
        first,
        stem,
        others,
        dir,
        count,
        said,
    })
}

/// Whether a kitty session's name can be that of a file again.
pub(in crate::cmd) fn can_be_a_stem(name: &str) -> bool {
    name.len() <= 100
        && !name.starts_with('.')
        && !name.contains(['/', '\0'])
        && !is_desk_name(name)
        && !name.chars().any(is_separator)
}

/// Gives every window the id of this restore, our own path as it is now, and a shell and a directory
/// that are there; says which were not.
fn refresh(file: &mut SessionFile, save: &str, km: &str, state: &str) -> Vec<String> {
    let setting = rewrite::Setting {
        kittymux: km,
        state,
        save,
        fish: assets::fish_line(),
    };
    let find = |name: &str| dirs::find_program(&to_path(name)).map(|p| from_os(p.as_os_str()));
    let kittys = find(&kitty_shell());
    let own = kittys
        .clone()
        .unwrap_or_else(|| from_os(dirs::shell().as_os_str()));
    let shells = rewrite::Shells {
        find: &find,
        own: &own,
        is_kittys: kittys.is_some(),
    };
    let mut replaced: BTreeMap<rewrite::Replaced, usize> = BTreeMap::new();
    let windows = file
        .launches_mut()
        .filter(|l| l.option("--type") != Some("background"));
    for (place, launch) in windows.enumerate() {
        launch.set_pair("--var", VAR_SAVE, Some(save));
        launch.set_pair("--var", VAR_PLACE, Some(&place.to_string()));
        rewrite::refresh(launch, setting);
        if let Some(gone) = rewrite::replace_missing(launch, shells, setting) {
            *replaced.entry(gone).or_default() += 1;
        }
    }
    let of_shell = |(shell, windows): (rewrite::Replaced, usize)| {
        format!(
            "{} is not here any more: {} with {} instead{}",
            out::visible(&shell.gone),
            if windows == 1 {
                "1 window opens".to_owned()
            } else {
                format!("{windows} windows open")
            },
            out::visible(&shell.by),
            if shell.lost_line {
                ", without what was typed there"
            } else {
                ""
            }
        )
    };
    let mut said: Vec<String> = replaced.into_iter().map(of_shell).collect();
    said.extend(go_where_one_can(file));
    said
}

/// kitty passes over a directory that is gone and opens the window wherever it was started itself
/// (fact 6.7): the nearest one above it is better.
fn go_where_one_can(file: &mut SessionFile) -> Vec<String> {
    let mut said = Vec::new();
    let mut near = |written: &str| {
        let dir = written.replace("$$", "$");
        // One that names a variable is kitty's to read.
        if !dir.starts_with('/') || double_dollars(&dir) != written {
            return None;
        }
        let is_gone = |dir: &Path| {
            let kind = std::fs::metadata(dir).err().map(|e| e.kind());
            matches!(
                kind,
                Some(std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
            )
        };
        let path = to_path(&dir);
        let above = path
            .ancestors()
            .find(|p| !is_gone(p))
            .filter(|p| *p != path)?;
        let above = from_os(above.as_os_str());
        if !can_stand(&above) || above.ends_with(char::is_whitespace) {
            return None;
        }
        let line = format!(
            "{} is not there any more: its windows open in {}",
            out::visible(&dir),
            out::visible(&above)
        );
        if !said.contains(&line) {
            said.push(line);
        }
        Some(double_dollars(&above))
    };
    for line in &mut file.lines {
        match &mut line.item {
            Item::Cd(dir) => {
                if let Some(above) = near(dir) {
                    *line = Line::new(&format!("cd {above}"));
                }
            }
            Item::Launch(launch) => {
                let own = launch.option("--cwd").map(str::to_owned);
                if let Some(above) = own.as_deref().and_then(&mut near) {
                    launch.change_options(|name, _| (name == "--cwd").then(|| above.clone()));
                }
            }
            _ => {}
        }
    }
    said
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
    // What is offered needs its copies, however old they are.
    let needed = offered(sessions).map(|o| restore_dir(&o.windows));
    let copies = names
        .iter()
        .filter(|n| n.starts_with(".restore-") && needed.as_ref() != Some(*n));
    for old in copies {
        let outdated = sessions
            .written_ns(old)
            .is_some_and(|w| now.saturating_sub(w) > KEEP_COPY_NS);
        if outdated {
            remove(sessions, old);
        }
    }
}

/// Removes the private copies of the restore whose windows carry `windows`.
pub(in crate::cmd) fn remove_copies(sessions: &PrivateDir, windows: &str) {
    remove(sessions, &restore_dir(windows));
}

fn remove(sessions: &PrivateDir, name: &str) {
    if let Ok(Some(dir)) = PrivateDir::existing(&sessions.join(name)) {
        empty(&dir);
        let _ = sessions.remove_dir(name);
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
