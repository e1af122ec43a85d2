//! Starting a program on a terminal of its own. The only module with unsafe code: `pre_exec`.

#![allow(unsafe_code)]

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// What to start.
#[derive(Debug)]
pub struct Program {
    /// The file to execute.
    pub file: OsString,
    /// Its arguments, the name it is called by first.
    pub argv: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it starts; when that cannot be entered, silently where kitty is.
    pub cwd: OsString,
    /// Where kitty is.
    pub fallback_cwd: OsString,
}

impl Program {
    fn command(self) -> io::Result<Command> {
        let mut argv = self.argv.into_iter();
        let mut command = Command::new(&self.file);
        command
            .arg0(argv.next().unwrap_or(self.file))
            .args(argv)
            .env_clear()
            .envs(self.env);
        let dirs = [
            CString::new(self.fallback_cwd.into_vec()).map_err(io::Error::other)?,
            CString::new(self.cwd.into_vec()).map_err(io::Error::other)?,
        ];
        // SAFETY: the closure runs between fork and exec and only makes plain system calls on strings
        // allocated before the fork.
        unsafe {
            command.pre_exec(move || {
                for dir in &dirs {
                    let _ = rustix::process::chdir(dir.as_c_str());
                }
                Ok(())
            });
        }
        Ok(command)
    }
}

/// Starts `program` as leader of a new session on a new terminal; gives the terminal's master side.
///
/// # Errors
/// Those of the system, for example a missing file.
pub fn on_terminal(program: Program, size: (u16, u16)) -> io::Result<(Child, OwnedFd)> {
    start(program, size, || Ok(()))
}

/// Starts `program` on a new terminal; `before` runs in the new process, last of all. It may only make
/// plain system calls.
fn start(
    program: Program,
    size: (u16, u16),
    before: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<(Child, OwnedFd)> {
    let master =
        rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let name = rustix::pty::ptsname(&master, Vec::new())?;
    let slave = rustix::fs::open(
        name.as_c_str(),
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    set_size(&slave, size)?;
    let mut command = program.command()?;
    command
        .stdin(Stdio::from(slave.try_clone()?))
        .stdout(Stdio::from(slave.try_clone()?))
        .stderr(Stdio::from(slave));
    // SAFETY: as above; descriptor 0 is the terminal by then.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
            Ok(())
        });
        command.pre_exec(before);
    }
    let child = command.spawn()?;
    rustix::io::ioctl_fionbio(&master, true)?;
    Ok((child, master))
}

/// A fork of this process that does not become another program, as leader of a new session on a new
/// terminal: what kitty leaves in a window when not even the program that shows its message can be
/// started. It ends with its terminal.
///
/// # Errors
/// Those of the system.
pub fn dead_fork(size: (u16, u16)) -> io::Result<(Child, OwnedFd)> {
    let nothing = Program {
        file: "/".into(),
        argv: Vec::new(),
        env: Vec::new(),
        cwd: "/".into(),
        fallback_cwd: "/".into(),
    };
    start(nothing, size, || {
        // Only what waits for the program to begin still holds on to these; it has no more to wait for.
        for fd in 3..4096 {
            // SAFETY: nothing behind these descriptors is used any more in this process.
            unsafe {
                if rustix::io::fcntl_getfd(std::os::fd::BorrowedFd::borrow_raw(fd)).is_ok() {
                    rustix::io::close(fd);
                }
            }
        }
        while rustix::termios::tcgetattr(rustix::stdio::stdin()).is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        Ok(())
    })
}

/// Starts a background program: no terminal, kitty's own session and group, kitty's output. With `socket`
/// that descriptor is inherited (under its number).
///
/// # Errors
/// Those of the system.
pub fn in_background(program: Program, socket: Option<&OwnedFd>) -> io::Result<Child> {
    let mut command = program.command()?;
    command.stdin(Stdio::null());
    if let Some(fd) = socket {
        let raw = fd.as_raw_fd();
        // SAFETY: as above; the descriptor is open in the parent until spawn has returned.
        unsafe {
            command.pre_exec(move || {
                let fd = std::os::fd::BorrowedFd::borrow_raw(raw);
                rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?;
                Ok(())
            });
        }
    }
    command.spawn()
}

/// Sets the size of a terminal, in cells.
///
/// # Errors
/// Those of the system.
pub fn set_size(fd: impl AsFd, (cols, rows): (u16, u16)) -> io::Result<()> {
    let size = Winsize {
        ws_row: rows.max(1),
        ws_col: cols.max(1),
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    Ok(rustix::termios::tcsetwinsize(fd, size)?)
}

/// A second handle on a descriptor as a file, for reading and writing.
///
/// # Errors
/// Those of the system.
pub fn file_of(fd: &OwnedFd) -> io::Result<File> {
    Ok(File::from(fd.try_clone()?))
}
