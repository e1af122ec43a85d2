//! A home directory, a pseudo-terminal, and programs on it.

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Where a test's things are.
pub struct Desk {
    top: tempfile::TempDir,
}

impl Desk {
    pub fn new() -> Self {
        let desk = Self {
            top: tempfile::tempdir().expect("a temporary directory"),
        };
        for dir in ["bin", "project", "home"] {
            fs::create_dir(desk.path(dir)).expect("mkdir");
        }
        desk
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.top.path().canonicalize().expect("there").join(below)
    }

    /// The native program under another name.
    pub fn program(&self, name: &str) -> String {
        let path = self.path("bin").join(name);
        if !path.exists() {
            // A link and no copy: a file that another thread's child still has open for writing
            // cannot be executed.
            fs::hard_link(env!("CARGO_BIN_EXE_fake-agent"), &path)
                .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_fake-agent"), &path).map(|_| ()))
                .expect("the program");
        }
        path.display().to_string()
    }

    /// A switch for every program of this desk.
    pub fn switch(&self, name: &str, value: &str) {
        let path = self.path("home/.fake-agent");
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        text.push_str(&format!("{name}={value}\n"));
        fs::write(path, text).expect("write");
    }

    /// Starts `words` on a terminal of its own, as the leader of a session.
    pub fn start(&self, words: &[&str]) -> Window {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&master).expect("grant");
        unlockpt(&master).expect("unlock");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let name = name.to_str().expect("plain").to_owned();
        let slave = || {
            let file = fs::File::options().read(true).write(true).open(&name);
            Stdio::from(file.expect("the terminal"))
        };
        let child = Command::new("setsid")
            .arg("--ctty")
            .args(words)
            .env_clear()
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", self.path("bin").display()),
            )
            .env("HOME", self.path("home"))
            .env("TERM", "xterm")
            .env("FOO", "bar")
            .env("FAKE_AGENT_LOG", self.path("log"))
            .current_dir(self.path("project"))
            .stdin(slave())
            .stdout(slave())
            .stderr(slave())
            .spawn()
            .expect("setsid");
        Window {
            child,
            master,
            seen: String::new(),
        }
    }

    /// The lines of the log.
    pub fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }
}

/// A terminal with a session on it.
pub struct Window {
    child: Child,
    master: OwnedFd,
    seen: String,
}

impl Window {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types text.
    pub fn send(&self, text: &str) {
        rustix::io::write(&self.master, text.as_bytes()).expect("write");
    }

    /// Waits until `text` is shown; gives what was shown up to its end, and forgets it.
    pub fn wait(&mut self, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            assert!(Instant::now() < until, "{text:?} not in {:?}", self.seen);
            let mut fds = [rustix::event::PollFd::new(
                &self.master,
                rustix::event::PollFlags::IN,
            )];
            let tick = rustix::event::Timespec {
                tv_sec: 0,
                tv_nsec: 50_000_000,
            };
            if matches!(rustix::event::poll(&mut fds, Some(&tick)), Ok(n) if n > 0) {
                let mut buffer = [0; 4096];
                let n = rustix::io::read(&self.master, &mut buffer).unwrap_or(0);
                self.seen.push_str(&String::from_utf8_lossy(&buffer[..n]));
            }
        }
    }

    /// Waits for the next banner; gives the id and how it came about.
    pub fn conversation(&mut self) -> (String, String) {
        self.wait(": conversation ");
        let text = self.wait(")");
        let (id, how) = text.split_once(" (").expect("id (how)");
        (id.to_owned(), how.trim_end_matches(')').to_owned())
    }

    /// Waits for the end; gives the exit status.
    pub fn end(&mut self) -> i32 {
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status.code().unwrap_or(-1);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it did not end: {:?}", self.seen);
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The words of a process.
pub fn words(pid: u32) -> Vec<String> {
    let mut bytes = Vec::new();
    let path = format!("/proc/{pid}/cmdline");
    let _ = fs::File::open(path).and_then(|mut f| f.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let text = text.strip_suffix('\0').unwrap_or(&text);
    text.split('\0').map(ToOwned::to_owned).collect()
}

/// A field of the stat line, counted from 1 as the manual does.
pub fn stat(pid: u32, field: usize) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a stat line");
    let rest = text.rsplit_once(") ").expect("a name").1;
    rest.split(' ')
        .nth(field - 3)
        .expect("a field")
        .trim()
        .to_owned()
}

/// The children of a process.
pub fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|p| p.parse().ok())
        .collect()
}

/// The regular files that a process holds open below `dir`, by name.
pub fn held(pid: u32, dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("its files")
        .flatten()
        .filter_map(|e| fs::read_link(e.path()).ok())
        .filter(|p| p.starts_with(dir))
        .filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// Waits until `check` holds.
pub fn until(what: &str, check: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !check() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
