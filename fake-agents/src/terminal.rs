//! The terminal as the agents use it: raw, so that ^C and ^Z are theirs to answer.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcsetattr,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// What a person did.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A line was sent.
    Line(String),
    /// The input ended, or ^C twice within a second, or ^D.
    End,
    /// This signal came.
    Signal(i32),
}

/// The terminal (or pipe) on standard input.
pub struct Terminal {
    cooked: Option<Termios>,
    text: String,
    escape: bool,
    pending: Vec<u8>,
    interrupted: Option<Instant>,
    signal: Arc<AtomicUsize>,
}

impl Terminal {
    /// Takes the terminal over.
    pub fn open() -> Self {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGHUP, SIGINT, SIGTERM] {
            let value = usize::try_from(number).unwrap_or(1);
            let _ = signal_hook::flag::register_usize(number, Arc::clone(&signal), value);
        }
        let mut terminal = Self {
            cooked: None,
            text: String::new(),
            escape: false,
            pending: Vec::new(),
            interrupted: None,
            signal,
        };
        terminal.make_raw();
        terminal
    }

    fn make_raw(&mut self) {
        let stdin = rustix::stdio::stdin();
        if !isatty(stdin) {
            return;
        }
        if let Ok(cooked) = tcgetattr(stdin) {
            let mut raw = cooked.clone();
            raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
            raw.special_codes[SpecialCodeIndex::VMIN] = 1;
            raw.special_codes[SpecialCodeIndex::VTIME] = 0;
            let _ = tcsetattr(stdin, OptionalActions::Drain, &raw);
            self.cooked.get_or_insert(cooked);
        }
    }

    fn make_cooked(&self) {
        if let Some(cooked) = &self.cooked {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, cooked);
        }
    }

    /// Stops itself, as at ^Z, and takes the terminal over again when it goes on.
    fn stop(&mut self) {
        self.make_cooked();
        let _ = kill_process(getpid(), Signal::TSTP);
        self.make_raw();
    }

    /// Waits for what the person does next.
    pub fn next(&mut self) -> Event {
        let tick = Timespec {
            tv_sec: 0,
            tv_nsec: 100_000_000,
        };
        loop {
            while !self.pending.is_empty() {
                let byte = self.pending.remove(0);
                if let Some(event) = self.take(byte) {
                    return event;
                }
            }
            let signal = self.signal.load(Ordering::Relaxed);
            if signal != 0 {
                return Event::Signal(i32::try_from(signal).unwrap_or(1));
            }
            let stdin = rustix::stdio::stdin();
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&tick)) {
                Ok(n) if n > 0 => {}
                _ => continue,
            }
            let mut buffer = [0; 512];
            match rustix::io::read(stdin, &mut buffer) {
                Ok(0) => return self.ended(),
                Ok(n) => self.pending.extend_from_slice(&buffer[..n]),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => return Event::End,
            }
        }
    }

    /// The last line may lack its end.
    fn ended(&mut self) -> Event {
        if self.text.is_empty() {
            Event::End
        } else {
            Event::Line(std::mem::take(&mut self.text))
        }
    }

    fn take(&mut self, byte: u8) -> Option<Event> {
        if self.escape {
            // The rest of a key or of a paste mark, up to its letter or `~`.
            self.escape = !(byte.is_ascii_alphabetic() || byte == b'~');
            return None;
        }
        match byte {
            b'\r' | b'\n' => {
                say("");
                return Some(Event::Line(std::mem::take(&mut self.text)));
            }
            3 => {
                let now = Instant::now();
                let twice = self.interrupted.replace(now);
                if twice.is_some_and(|t| now - t < Duration::from_secs(1)) {
                    return Some(Event::End);
                }
                self.text.clear();
                say("(^C again to leave)");
            }
            4 if self.text.is_empty() => return Some(Event::End),
            26 if self.cooked.is_some() => self.stop(),
            27 => self.escape = true,
            8 | 127 => {
                self.text.pop();
            }
            byte => {
                self.text.push(char::from(byte));
                let mut out = std::io::stdout();
                let _ = out.write_all(&[byte]).and_then(|()| out.flush());
            }
        }
        None
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.make_cooked();
    }
}

/// Prints one line; a terminal that is gone is no reason to fail.
pub fn say(line: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
