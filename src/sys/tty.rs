//! The terminal: raw mode, size, and waiting for bytes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{
    self, InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios,
};

/// The controlling terminal in raw mode; dropping it, or [`Raw::restore`], gives it back as it was.
#[derive(Debug)]
pub struct Raw {
    fd: OwnedFd,
    before: Termios,
}

impl Raw {
    /// Opens the controlling terminal and turns off echo, line editing, signals and flow control,
    /// so that ^C, ^D, ^Z and ^\ are bytes like any other.
    ///
    /// # Errors
    /// When there is no terminal.
    pub fn open() -> std::io::Result<Self> {
        let fd = open(
            "/dev/tty",
            OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY,
            Mode::empty(),
        )?;
        let before = termios::tcgetattr(&fd)?;
        let mut raw = before.clone();
        raw.local_modes -=
            LocalModes::ISIG | LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
        raw.input_modes -= InputModes::IXON | InputModes::ICRNL | InputModes::INLCR;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        termios::tcsetattr(&fd, OptionalActions::Flush, &raw)?;
        Ok(Self { fd, before })
    }

    /// The terminal's settings before.
    #[must_use]
    pub fn before(&self) -> &Termios {
        &self.before
    }

    /// Columns and rows; 80 × 24 where the terminal does not say.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        match termios::tcgetwinsize(&self.fd) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (size.ws_col.into(), size.ws_row.into())
            }
            _ => (80, 24),
        }
    }

    /// Writes all of `text`; a terminal that went away is no error.
    pub fn write(&self, text: &str) {
        let mut bytes = text.as_bytes();
        while !bytes.is_empty() {
            match rustix::io::write(&self.fd, bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Reads what is there; 0 bytes: the terminal is gone.
    #[must_use]
    pub fn read(&self) -> Vec<u8> {
        let mut buf = [0; 4096];
        loop {
            match rustix::io::read(&self.fd, &mut buf) {
                Ok(n) => return buf[..n].to_vec(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Vec::new(),
            }
        }
    }

    /// Throws away what has been typed and not read.
    pub fn drop_input(&self) {
        let _ = termios::tcflush(&self.fd, QueueSelector::IFlush);
    }

    /// Gives the terminal back as it was.
    pub fn restore(&self) {
        let _ = termios::tcsetattr(&self.fd, OptionalActions::Drain, &self.before);
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.restore();
    }
}

impl AsFd for Raw {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Waits until one of `fds` can be read (or has hung up), or `wait` is over; says which can.
#[must_use]
pub fn wait_readable<const N: usize>(
    fds: [BorrowedFd<'_>; N],
    wait: Option<Duration>,
) -> [bool; N] {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let limit = wait.map(|w| Timespec {
        tv_sec: i64::try_from(w.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: w.subsec_nanos().into(),
    });
    match poll(&mut polled, limit.as_ref()) {
        Ok(_) => polled.map(|p| !p.revents().is_empty()),
        Err(_) => [false; N],
    }
}
