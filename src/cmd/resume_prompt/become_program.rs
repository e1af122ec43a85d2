//! Becoming another program: the agent, or the person's shell.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use rustix::termios::{OptionalActions, Termios, tcsetattr};

use super::screen::CALM;
use crate::sys::bytes::{to_os, to_path};
use crate::sys::dirs;
use crate::sys::fault::plain_cause;
use crate::sys::out;
use crate::sys::tty::Raw;

/// The program to become.
#[derive(Debug, Clone, Copy)]
pub struct Next<'a> {
    /// Its words.
    pub words: &'a [String],
    /// Where it was found when it was saved, for when PATH is poorer now.
    pub exe: &'a str,
    /// The directory.
    pub cwd: &'a str,
    /// Its configuration directory.
    pub env: &'a [(String, String)],
    /// Variables that name such a directory and were not set when it was saved.
    pub unset: &'a [String],
}

impl Next<'_> {
    /// Becomes it; comes back only when that failed, and then as a shell.
    #[must_use]
    pub fn exec(&self) -> i32 {
        let Some(word) = self.words.first() else {
            return shell_now("there is no command to run", self.cwd);
        };
        let name = out::clip(&out::visible(word), 60);
        let found = dirs::find_program(&to_path(word))
            .or_else(|| {
                Some(to_path(self.exe)).filter(|p| p.is_absolute() && dirs::is_executable(p))
            })
            .or_else(|| {
                // A full path that is gone: the same program from PATH.
                let base = word.rsplit('/').next()?;
                dirs::find_program(&to_path(base)).filter(|_| base != word)
            });
        let Some(program) = found else {
            let why = if word.contains('/') && to_path(word).exists() {
                "cannot be executed: look at its permissions"
            } else {
                "is not installed here, or not on PATH"
            };
            return shell_now(&format!("{name} {why}"), self.cwd);
        };
        if !self.cwd.is_empty()
            && let Err(e) = std::env::set_current_dir(to_path(self.cwd))
        {
            return shell_now(
                &format!(
                    "cannot go to {}: {}",
                    out::visible(self.cwd),
                    plain_cause(&e)
                ),
                self.cwd,
            );
        }
        let mut command = Command::new(&program);
        command
            .arg0(to_os(word))
            .args(self.words[1..].iter().map(|w| to_os(w)));
        for name in self.unset {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(n, v)| (n, to_os(v))));
        if !self.cwd.is_empty() {
            command.env("PWD", to_os(self.cwd));
        }
        let fault = command.exec();
        shell_now(
            &format!("could not start {name}: {}", plain_cause(&fault)),
            self.cwd,
        )
    }
}

/// Gives the person a shell, with one line that says why (if there is something to say).
///
/// Where a shell runs us it takes over by itself: then this only ends. In a window that was the
/// agent it becomes the person's shell, in the nearest directory that exists.
#[must_use]
pub fn shell_now(why: &str, cwd: &str) -> i32 {
    if !why.is_empty() {
        out::message(why);
    }
    if !leads_session() {
        return 0;
    }
    let mut dir = if cwd.is_empty() {
        None
    } else {
        Some(to_path(cwd))
    };
    let shell = dirs::shell();
    let mut command = Command::new(&shell);
    while let Some(place) = dir {
        if std::env::set_current_dir(&place).is_ok() {
            command.env("PWD", &place);
            break;
        }
        dir = place.parent().map(PathBuf::from);
    }
    let fault = command.exec();
    out::message(&format!(
        "could not start {}: {}",
        shell.display(),
        plain_cause(&fault)
    ));
    let _ = Command::new("/bin/sh").exec();
    1
}

/// Whether we are the window's own process.
fn leads_session() -> bool {
    rustix::process::getsid(None).is_ok_and(|sid| sid == rustix::process::getpid())
}

static BEFORE: OnceLock<Termios> = OnceLock::new();

/// Remembers how the terminal was, for [`survive_panic`].
pub fn remember(raw: &Raw) {
    let _ = BEFORE.set(raw.before().clone());
}

/// Should we fail in a way nobody foresaw, the terminal is given back and the person has a shell.
pub fn survive_panic() {
    std::panic::set_hook(Box::new(|_| {
        let tty = std::fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/tty");
        if let (Some(before), Ok(mut tty)) = (BEFORE.get(), tty) {
            let _ = tty.write_all(format!("\r\n{CALM}").as_bytes());
            let _ = tcsetattr(&tty, OptionalActions::Now, before);
        }
        std::process::exit(shell_now("it failed inside; the save is as it was", ""));
    }));
}
