//! Opening a prepared desk: in a kitty that runs, or in a new one; and counting what came.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Report;
use super::prepare::Prepared;
use crate::cmd::capture::watch;
use crate::cmd::look::{SeenKitty, conf_lines};
use crate::keep::names::ENDING;
use crate::keep::state::State;
use crate::kitty::commands;
use crate::kitty::discover::{self, Surroundings};
use crate::kitty::tree::{self, OsWindow};
use crate::resume::rewrite::{VAR_PLACE, VAR_SAVE};
use crate::sys::bytes::from_bytes;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::proc::{self, ProcId};

/// How long windows in a running kitty are waited for, and in a new one.
const WAIT: Duration = Duration::from_secs(5);
const WAIT_NEW: Duration = Duration::from_secs(15);

/// The windows of this restore that exist, by their place in the file.
fn of_save(tree: &[OsWindow], save: &str) -> BTreeSet<usize> {
    tree::windows(tree)
        .filter(|p| p.window.var(VAR_SAVE) == Some(save))
        .filter_map(|p| p.window.var(VAR_PLACE)?.parse().ok())
        .collect()
}

/// Opens it in a running kitty: the session that was visible, the others, and back to the first.
pub(super) fn into(kitty: &mut SeenKitty, prepared: &Prepared, copy: &str) -> Outcome<Report> {
    let is_open = |stem: &str| {
        tree::windows(&kitty.tree).any(|p| p.window.session_name.as_deref() == Some(stem))
    };
    let others = prepared.others.iter().map(|path| stem_of(path));
    let sessions: Vec<String> = std::iter::once(prepared.stem.clone())
        .chain(others)
        .collect();
    let open: Vec<&String> = sessions.iter().filter(|s| is_open(s)).collect();
    let mut report = Report {
        there: BTreeSet::new(),
        wanted: prepared.count,
        said: Vec::new(),
        counted: true,
        switched: open.len() == sessions.len(),
    };
    if !report.switched {
        report.said.extend(open.iter().map(|stem| {
            format!(
                "the session \"{}\" is open already: close it, then restore again for its windows",
                out::visible(stem)
            )
        }));
    }
    goto(kitty, copy)?;
    for other in &prepared.others {
        goto(kitty, other)?;
    }
    if !prepared.others.is_empty() {
        goto(kitty, copy)?;
    }
    if report.switched {
        return Ok(report);
    }
    // kitty answers ok whatever happened: only the windows themselves count. Those of a session that
    // was open already are not waited for.
    let wait = if open.is_empty() {
        WAIT
    } else {
        Duration::from_secs(1)
    };
    let (save, wanted) = (&prepared.windows, prepared.count);
    let tree = watch(&mut kitty.connection, wait, |t| {
        of_save(t, save).len() >= wanted
    });
    match tree {
        Some(tree) => report.there = of_save(&tree, save),
        // Not to have looked is not to have seen none.
        None => {
            report.counted = false;
            report.said.push(
                "kitty did not answer in time, so the windows could not be counted".to_owned(),
            );
        }
    }
    Ok(report)
}

fn stem_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(ENDING).unwrap_or(file).to_owned()
}

/// Goes to a session by the path of its file; kitty says ok whatever comes of it.
///
/// # Errors
/// When kitty does not answer, or knows no sessions.
pub(in crate::cmd) fn goto(kitty: &mut SeenKitty, path: &str) -> Outcome<()> {
    let answer = kitty
        .connection
        .ask(&commands::goto_session(path), Duration::from_secs(10));
    let reply =
        answer.map_err(|why| Fault::refused(format!("kitty {}: {why}", kitty.process.pid)))?;
    let done = reply.into_data().map_err(|why| {
        Fault::refused(if commands::is_too_old(&why) {
            "this kitty is too old for sessions: kitty 0.43 or newer is needed".to_owned()
        } else {
            format!("kitty could not open the session: {}", out::visible(&why))
        })
    });
    done.map(drop)
}

/// Opens it in a new kitty.
pub(super) fn anew(
    state: &State,
    copy: &str,
    prepared: &Prepared,
    started: &mut dyn FnMut(ProcId) -> Outcome<()>,
) -> Outcome<(Report, Outcome<()>)> {
    let (save, wanted) = (prepared.windows.as_str(), prepared.count);
    let program = dirs::find_program(Path::new("kitty")).ok_or_else(|| {
        Fault::refused("kitty is not on PATH: run this inside kitty, or put kitty on PATH")
    })?;
    let log_dir = state.dir.sub("log")?;
    log_dir.write("new-kitty.log", b"")?;
    let log = std::fs::OpenOptions::new()
        .append(true)
        .open(log_dir.join("new-kitty.log"))
        .map_err(|e| Fault::file("open", &log_dir.join("new-kitty.log"), e))?;
    let mut command = Command::new(&program);
    command
        .arg("--session")
        .arg(crate::sys::bytes::to_os(copy))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    for name in [
        "KITTY_LISTEN_ON",
        "KITTY_WINDOW_ID",
        "KITTY_PID",
        "KITTY_PUBLIC_KEY",
    ] {
        command.env_remove(name);
    }
    // Its own process group: ^C in this shell is not for that kitty.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|e| Fault::file("start", &program, e))?;
    let pid = i32::try_from(child.id()).unwrap_or(0);
    let end = Instant::now() + WAIT_NEW;
    let mut report = Report {
        there: BTreeSet::new(),
        wanted,
        said: Vec::new(),
        counted: false,
        switched: false,
    };
    let marked = match proc::start(pid) {
        Some(start) => started(ProcId { pid, start }),
        None => Ok(()),
    };
    let listens = crate::kitty::conf::read().listens();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            let log = log_dir
                .read("new-kitty.log", 1 << 20)
                .ok()
                .flatten()
                .unwrap_or_default();
            let last = from_bytes(&log)
                .lines()
                .rev()
                .find(|l| !l.trim().is_empty())
                .map(out::visible)
                .unwrap_or_default();
            return Err(Fault::refused(format!(
                "the new kitty ended at once ({status}): {}",
                if last.is_empty() {
                    "it said nothing"
                } else {
                    &last
                }
            )));
        }
        let found = discover::find(&Surroundings::default(), Some(&state.dir))?;
        if let Some(mut kitty) = found.kitties.into_iter().find(|k| k.process.pid == pid) {
            report.counted = true;
            let left = end.saturating_duration_since(Instant::now());
            let tree = watch(&mut kitty.connection, left.min(WAIT), |t| {
                of_save(t, save).len() >= wanted
            });
            match tree {
                Some(tree) => report.there = of_save(&tree, save),
                None => {
                    report.counted = false;
                    report.said.push(format!(
                        "the new kitty (pid {pid}) did not answer in time, so its windows could not be counted"
                    ));
                }
            }
            break;
        }
        if Instant::now() >= end
            || (!listens
                && end.saturating_duration_since(Instant::now())
                    < WAIT_NEW.saturating_sub(Duration::from_secs(2)))
        {
            report.said.push(format!(
                "the new kitty (pid {pid}) has no socket, so its windows could not be counted\n{}",
                conf_lines()
            ));
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok((report, marked))
}
