//! The command `action`: `save_as_session`, `goto_session`, `close_session`, `quit` and a few plain ones.

use crate::commands::Answer;
use crate::config::Misbehave;
use crate::engine::Kitty;
use crate::launch::Launch;
use crate::matching;
use crate::model::lock;
use crate::options;
use crate::save;
use crate::state::State;
use crate::text;
use crate::words;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs an action line.
pub fn run(kitty: &Arc<Kitty>, line: &str, me: Option<u64>) -> Answer {
    let line = text::strip(line);
    if line.is_empty() {
        return Answer::Error("Must specify an action".into());
    }
    let (name, rest) = text::split_word(line);
    let old = kitty.is(&Misbehave::Old);
    if !KNOWN.contains(&name) || (old && name.ends_with("_session")) {
        return Answer::Error(format!("Unknown action: {name}"));
    }
    // Variables are expanded in the whole line before it is taken apart, so quotes do not protect them.
    let words = match words::split(&text::expand_vars(rest, &|n| kitty.var(n)), false) {
        Ok(w) => w,
        Err(e) => {
            kitty.show(
                &mut lock(&kitty.state),
                "__show_error__",
                "Failed to parse action",
                &e,
            );
            return Answer::Done;
        }
    };
    match name {
        "save_as_session" => save_as_session(kitty, &words, me).unwrap_or_else(Answer::Error),
        "goto_session" => {
            kitty.goto_session(&words);
            Answer::Done
        }
        "close_session" => {
            close_session(kitty, words.first().map_or(".", String::as_str));
            Answer::Done
        }
        "quit" => {
            kitty.end();
            Answer::Done
        }
        name => plain(kitty, name).map_or_else(Answer::Error, |()| Answer::Done),
    }
}

const KNOWN: [&str; 13] = [
    "save_as_session",
    "goto_session",
    "close_session",
    "quit",
    "new_window",
    "new_window_with_cwd",
    "new_tab",
    "new_os_window",
    "close_window",
    "close_tab",
    "close_os_window",
    "next_tab",
    "previous_tab",
];

fn plain(kitty: &Arc<Kitty>, name: &str) -> Result<(), String> {
    let mut state = lock(&kitty.state);
    let focused = state
        .focused_os_window()
        .map(|o| (o.id, o.active_tab, o.tabs.len()));
    let doomed: Vec<u64> = match (name, focused) {
        ("close_window", _) => state.active_window().into_iter().collect(),
        ("close_tab", _) => state
            .active_tab()
            .map(|t| t.window_ids().collect())
            .unwrap_or_default(),
        ("close_os_window", _) => {
            let os = state.focused_os_window();
            os.map(|o| {
                o.tabs
                    .iter()
                    .flat_map(crate::model::Tab::window_ids)
                    .collect()
            })
            .unwrap_or_default()
        }
        ("next_tab" | "previous_tab", Some((os, at, n))) => {
            let to = if name == "next_tab" {
                at + 1
            } else {
                at + n - 1
            } % n.max(1);
            if let Some(o) = state.os_windows.iter_mut().find(|o| o.id == os) {
                o.activate(to);
            }
            return Ok(());
        }
        _ => Vec::new(),
    };
    if name.starts_with("close") {
        drop(state);
        for id in doomed {
            kitty.close_window(id);
        }
        return Ok(());
    }
    let mut launch = Launch::default();
    let tab = match (name, focused) {
        ("new_os_window", _) | (_, None) => kitty.add_os_window(&mut state, None, None),
        ("new_tab", Some((os, ..))) => kitty.add_tab(&mut state, os),
        (name, Some(_)) => {
            if name.ends_with("_with_cwd") {
                launch.cwd = Some("current".into());
                let active = state.active_window().and_then(|w| state.windows.get(&w));
                launch.session = active.map(|w| w.session.clone()).unwrap_or_default();
            }
            state.active_tab().map(|t| t.id).unwrap_or_default()
        }
    };
    let id = kitty.add_window(&mut state, tab, launch, None)?;
    state.focus_window(id, kitty.now());
    Ok(())
}

/// `close_session NAME`: unknown names do nothing; asks when something other than a prompt runs.
fn close_session(kitty: &Arc<Kitty>, name: &str) {
    let mut state = lock(&kitty.state);
    let active = state
        .active_window()
        .and_then(|w| state.windows.get(&w))
        .map(|w| w.session.clone());
    let name = if name == "." {
        active.unwrap_or_default()
    } else {
        crate::session_file::session_name(name)
    };
    let ids: Vec<u64> = state
        .window_ids()
        .into_iter()
        .filter(|id| {
            state
                .windows
                .get(id)
                .is_some_and(|w| !name.is_empty() && w.session == name)
        })
        .collect();
    let busy = ids
        .iter()
        .filter_map(|id| state.windows.get(id))
        .any(|w| !crate::inspect::at_prompt(w));
    if busy {
        kitty.show(
            &mut state,
            "ask",
            "Close session",
            &format!("Are you sure you want to close {name}?"),
        );
        return;
    }
    drop(state);
    for id in ids {
        kitty.close_window(id);
    }
}

fn save_as_session(
    kitty: &Arc<Kitty>,
    words: &[String],
    me: Option<u64>,
) -> Result<Answer, String> {
    let options = options::save(words)?;
    let mut state = lock(&kitty.state);
    let [path] = options.words.as_slice() else {
        if options.words.is_empty() {
            kitty.show(
                &mut state,
                "ask",
                "Save session",
                "Enter the path to save to",
            );
        } else {
            let why = "Only a single path may be given";
            kitty.show(
                &mut state,
                "__show_error__",
                "Invalid save_as_session command line",
                why,
            );
        }
        return Ok(Answer::Done);
    };
    if kitty.is(&Misbehave::NoFile) {
        return Ok(Answer::Done);
    }
    let path = text::expand_user(path, &kitty.config.home());
    let own = text::from_os(kitty.config.cwd.as_os_str().as_bytes());
    let base = options
        .get("--base-dir")
        .map_or(own, |d| text::expand_user(d, &kitty.config.home()));
    let path = text::join_path(&base, &path);
    let text = if kitty.is(&Misbehave::EmptyFile) {
        String::new()
    } else {
        let windows = match options.get("--match").filter(|m| !m.is_empty()) {
            Some(m) => Some(matching::windows(&state, m, me)?),
            None => None,
        };
        let directory = path.rsplit_once('/').map(|(d, _)| d.to_owned());
        let wanted = save::Wanted {
            foreground: options.flag("--use-foreground-process"),
            windows,
            relative_to: directory.filter(|_| options.flag("--relocatable")),
            ..save::Wanted::default()
        };
        save::desk(&state, &wanted)?
    };
    drop(state);
    write_file(&path, &text)?;
    if options.flag("--save-only") {
        Ok(Answer::Done)
    } else {
        Err("Replacement index 1 out of range for positional args tuple".into())
    }
}

/// Writes a file as kitty does: a temporary file beside the target, renamed over it. A link is followed, a
/// new file is private, the mode of an old one is kept.
///
/// # Errors
/// Python's text of the failure.
pub fn write_file(path: &str, text: &str) -> Result<(), String> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
    if let Some(e) = text::encode_error(text) {
        return Err(e);
    }
    let target = real_path(PathBuf::from(OsString::from_vec(text::to_os(path)?)));
    let dir = target.parent().unwrap_or(Path::new("/")).to_owned();
    let shown = |p: &Path| text::from_os(p.as_os_str().as_bytes());
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(&dir)
        .map_err(|e| python_error(&e, &shown(&dir)))?;
    let temp = dir.join(format!("tmp{}.tmp", random_name()));
    let made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temp);
    let mut file = made.map_err(|e| python_error(&e, &shown(&temp)))?;
    let result = file
        .write_all(text.as_bytes())
        .map_err(|e| python_error(&e, ""))
        .and_then(|()| {
            if let Ok(old) = std::fs::metadata(&target)
                && old.is_file()
            {
                let mode = old.permissions().mode() & 0o7777;
                let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
            }
            std::fs::rename(&temp, &target).map_err(|e| {
                let pair = format!("'{}' -> '{}'", shown(&temp), shown(&target));
                format!(
                    "[Errno {}] {}: {pair}",
                    e.raw_os_error().unwrap_or(0),
                    reason(&e)
                )
            })
        });
    if result.is_err() {
        let _ = std::fs::remove_file(&temp);
    }
    result
}

/// The end of a chain of links, also when nothing is there.
fn real_path(mut path: PathBuf) -> PathBuf {
    for _ in 0..40 {
        let Ok(to) = std::fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("/")).join(to);
    }
    path
}

/// The system's words without Rust's addition.
fn reason(e: &std::io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// `str(OSError)` of Python.
pub fn python_error(e: &std::io::Error, path: &str) -> String {
    let number = e.raw_os_error().unwrap_or(0);
    if path.is_empty() {
        format!("[Errno {number}] {}", reason(e))
    } else {
        format!("[Errno {number}] {}: '{path}'", reason(e))
    }
}

fn random_name() -> String {
    use std::hash::{BuildHasher, Hasher};
    let mut n = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789_";
    (0..8)
        .map(|_| {
            let c = LETTERS[(n % LETTERS.len() as u64) as usize];
            n /= LETTERS.len() as u64;
            char::from(c)
        })
        .collect()
}

/// The state's windows that are not skipped, of the OS windows asked for.
pub fn chosen_windows(state: &State, os_windows: Option<&[u64]>, skip: &[u64]) -> Vec<u64> {
    state
        .os_windows
        .iter()
        .filter(|o| os_windows.is_none_or(|l| l.contains(&o.id)))
        .flat_map(|o| &o.tabs)
        .flat_map(crate::model::Tab::window_ids)
        .filter(|w| !skip.contains(w))
        .collect()
}
