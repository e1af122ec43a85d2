//! A terminal of the test's own making, and a program that has it as controlling terminal.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::rig::{WAIT, until};
use kittymux::sys::proc;

/// The terminal with its program, which leads the session on it.
pub struct Pty {
    master: Option<OwnedFd>,
    child: Child,
    raw: Vec<u8>,
    /// The terminal's modes before the program ran.
    pub before: Termios,
}

impl Pty {
    /// Starts `command` on a new terminal of 100 columns and 24 rows. `typed` is there before it runs.
    pub fn start(mut command: Command, typed: &[u8]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&master).expect("grantpt");
        unlockpt(&master).expect("unlockpt");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(&name, flags, Mode::empty()).expect("its other end");
        set_size(&master, 100, 24);
        let before = tcgetattr(&slave).expect("modes");
        rustix::io::write(&master, typed).expect("typed");
        for redirect in [Command::stdin, Command::stdout, Command::stderr] {
            redirect(&mut command, slave.try_clone().expect("a copy"));
        }
        // SAFETY: two system calls between fork and exec, no memory is touched.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                Ok(())
            });
        }
        let child = command.spawn().expect("it starts");
        rustix::io::ioctl_fionbio(&master, true).expect("non-blocking");
        Self {
            master: Some(master),
            child,
            raw: Vec::new(),
            before,
        }
    }

    fn master(&self) -> &OwnedFd {
        self.master.as_ref().expect("not hung up")
    }

    /// The program's pid.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    /// Types.
    pub fn send(&self, bytes: &[u8]) {
        let mut left = bytes;
        while !left.is_empty() {
            match rustix::io::write(self.master(), left) {
                Ok(n) => left = &left[n..],
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Changes the size.
    pub fn resize(&self, columns: u16, rows: u16) {
        set_size(self.master(), columns, rows);
    }

    /// The modes as they are now.
    pub fn modes(&self) -> Termios {
        tcgetattr(self.master()).expect("modes")
    }

    /// Whether the modes are those from before the program ran.
    pub fn is_as_before(&self) -> bool {
        let facts = |t: &Termios| {
            (
                t.input_modes,
                t.output_modes,
                t.control_modes,
                t.local_modes,
                format!("{:?}", t.special_codes),
            )
        };
        facts(&self.modes()) == facts(&self.before)
    }

    /// Takes what the program wrote within `wait`; gives all of it so far.
    pub fn bytes(&mut self, wait: Duration) -> &[u8] {
        let end = Instant::now() + wait;
        while let Some(master) = &self.master {
            let mut buffer = [0; 8192];
            match rustix::io::read(master, &mut buffer) {
                Ok(n) if n > 0 => {
                    self.raw.extend_from_slice(&buffer[..n]);
                    continue;
                }
                Err(rustix::io::Errno::AGAIN) => {}
                _ => break,
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let limit = Timespec {
                tv_sec: i64::try_from(left.as_secs()).expect("seconds"),
                tv_nsec: left.subsec_nanos().into(),
            };
            let _ = poll(
                &mut [PollFd::from_borrowed_fd(master.as_fd(), PollFlags::IN)],
                Some(&limit),
            );
        }
        &self.raw
    }

    /// All it wrote so far, without escape sequences.
    pub fn text(&mut self) -> String {
        let bytes = self.bytes(Duration::ZERO).to_vec();
        plain(&String::from_utf8_lossy(&bytes))
    }

    /// Forgets what was written so far, after waiting `wait` for more of it.
    pub fn clear(&mut self, wait: Duration) {
        self.bytes(wait);
        self.raw.clear();
    }

    /// Waits until it wrote `what`; gives all it wrote.
    pub fn shows(&mut self, what: &str) -> String {
        let end = Instant::now() + WAIT;
        loop {
            let text = self.text();
            if text.contains(what) {
                return text;
            }
            assert!(
                Instant::now() < end,
                "never showed {what:?}; it shows:\n{text}"
            );
            self.bytes(Duration::from_millis(20));
        }
    }

    /// Waits until the question is there and keys count.
    pub fn asks(&mut self) -> String {
        self.shows("i commands");
        std::thread::sleep(Duration::from_millis(200));
        // Under load it can be late: keys count once it waits for them and does nothing else.
        let mut last = None;
        until("it to wait for a key", || {
            let now = self.prompt_pid().map(wake_ups);
            let same = now.is_some() && now == last;
            last = now;
            std::thread::sleep(Duration::from_millis(20));
            same.then_some(())
        });
        self.text()
    }

    /// The process that asks: the program itself, or a job of it.
    pub fn prompt_pid(&self) -> Option<i32> {
        let mut pids = vec![self.pid()];
        while let Some(pid) = pids.pop() {
            let argv = proc::argv(pid).found().unwrap_or_default();
            if argv.get(1).is_some_and(|w| w == "resume-prompt") {
                return Some(pid);
            }
            pids.extend(proc::children(pid));
        }
        None
    }

    /// Hangs up.
    pub fn hang_up(&mut self) {
        self.master = None;
    }

    /// Waits until the program has ended.
    pub fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + WAIT;
        loop {
            self.bytes(Duration::from_millis(10));
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status;
            }
            assert!(Instant::now() < end, "it did not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.master = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How often a process has been on and off a processor.
pub fn wake_ups(pid: i32) -> Vec<String> {
    std::fs::read_to_string(format!("/proc/{pid}/status"))
        .unwrap_or_default()
        .lines()
        .filter(|l| l.contains("ctxt_switches") || l.starts_with("State"))
        .map(str::to_owned)
        .collect()
}

fn set_size(master: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size).expect("a size");
}

/// `text` without escape sequences and carriage returns.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => match chars.next() {
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']' | 'P' | '_') => loop {
                    match chars.next() {
                        Some('\x1b') => {
                            chars.next();
                            break;
                        }
                        Some('\x07') | None => break,
                        _ => {}
                    }
                },
                _ => {}
            },
            '\r' => {}
            c => out.push(c),
        }
    }
    out
}
