//! The timer that runs a tick every ten seconds: user units of systemd, an agent of launchd.

use std::path::{Path, PathBuf};

use super::{Group, Status, Step, config_file, shown};
use crate::keep::units;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome};

pub(super) const NAME: &str = "timer";

/// What starts it at once.
#[cfg(not(target_os = "macos"))]
pub(super) const START: &[&str] = &[
    "systemctl --user daemon-reload",
    "systemctl --user start kittymux.timer",
];
#[cfg(target_os = "macos")]
pub(super) const START: &[&str] =
    &["launchctl load ~/Library/LaunchAgents/io.github.kittymux.tick.plist"];

/// What ends it at once, when its files are gone.
#[cfg(not(target_os = "macos"))]
pub(super) const STOP: &[&str] = &[
    "systemctl --user stop kittymux.timer",
    "systemctl --user daemon-reload",
];
#[cfg(target_os = "macos")]
pub(super) const STOP: &[&str] = &["launchctl remove io.github.kittymux.tick"];

/// Where systemd looks for what is started with the timers.
const WANTS: &str = "systemd/user/timers.target.wants";

/// The files of the timer, as they may be there.
pub(super) fn files() -> Vec<PathBuf> {
    if cfg!(target_os = "macos") {
        return agent_file().into_iter().collect();
    }
    let unit = |name: &str| config_file(&format!("systemd/user/{name}"));
    [
        unit(units::SERVICE),
        unit(units::TIMER),
        config_file(&format!("{WANTS}/{}", units::TIMER)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Those that are there and were written by us: a unit that is a link is masked, or the person's own.
pub(super) fn present() -> Vec<PathBuf> {
    let mut there = files();
    there.retain(|path| {
        let is_enabled = path.parent().is_some_and(|dir| dir.ends_with(WANTS));
        path.symlink_metadata()
            .is_ok_and(|m| m.is_symlink() == is_enabled)
    });
    there
}

/// Whether a unit of that name is a link, as it is where it is masked.
fn is_masked() -> bool {
    let is_link = |p: &PathBuf| p.symlink_metadata().is_ok_and(|m| m.is_symlink());
    files().iter().take(2).any(is_link)
}

fn agent_file() -> Option<PathBuf> {
    let name = format!("Library/LaunchAgents/{}.plist", units::LAUNCH_AGENT);
    dirs::home().ok().map(|h| h.join(name))
}

/// What gives nobody a timer here: systemd is what starts the units.
pub(super) const NO_SYSTEMD: &str = "no systemd here: have another timer run kittymux --tick";

/// Whether setup can write a timer that runs here.
pub(super) fn can_run() -> bool {
    cfg!(target_os = "macos") || Path::new("/run/systemd/system").exists()
}

/// Whether the timer is written, as it would be written now.
pub(super) fn is_written(own: &Path) -> bool {
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let files = files();
    match files.as_slice() {
        [service, timer, wanted] => {
            text(service) == units::service(own)
                && text(timer) == units::timer()
                && wanted.symlink_metadata().is_ok()
        }
        [agent] => units::launch_agent(own).is_ok_and(|wanted| text(agent) == wanted),
        _ => false,
    }
}

pub(super) fn step(own: &Path) -> Step {
    let own = own.to_owned();
    let files = files();
    let dir = files
        .first()
        .and_then(|f| f.parent())
        .map(shown)
        .unwrap_or_default();
    let status = if is_written(&own) {
        Status::Done
    } else if files.is_empty() {
        Status::Left("there is no home directory".to_owned())
    } else if is_masked() {
        Status::Left("masked, or a link of yours: it is left alone".to_owned())
    } else if !can_run() {
        Status::Left(NO_SYSTEMD.to_owned())
    } else {
        Status::ToDo
    };
    Step {
        name: NAME,
        group: Group::Own,
        does: match status {
            Status::Left(_) => String::new(),
            _ => format!(
                "{dir}/kittymux.*:\nkittymux --tick every 10 s, which saves every kitty by itself"
            ),
        },
        status,
        act: Box::new(move || write(&own)),
    }
}

fn write(own: &Path) -> Outcome<()> {
    let put = |path: &Path, text: &str| {
        let dir = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(dir).map_err(|e| Fault::file("create", dir, e))?;
        std::fs::write(path, text).map_err(|e| Fault::file("write", path, e))
    };
    match files().as_slice() {
        [service, timer, wanted] => {
            put(service, &units::service(own))?;
            put(timer, units::timer())?;
            let dir = wanted.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(dir).map_err(|e| Fault::file("create", dir, e))?;
            // What `systemctl --user enable` would do.
            match std::os::unix::fs::symlink(timer, wanted) {
                Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                    Err(Fault::file("link", wanted, e))
                }
                _ => Ok(()),
            }
        }
        [agent] => put(agent, &units::launch_agent(own)?),
        _ => Ok(()),
    }
}
