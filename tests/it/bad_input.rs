//! What can be wrong with kitty, with files and with words: one clear line, the right exit code, the
//! old save untouched, nothing left behind, and an end within bounded time.

mod definitions;
mod disk;
mod files;
mod misbehaving;
mod sockets;
mod ticks;
mod words;

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::rig::{Kitty, Rig, is_real, until};

/// Whether the kitty of these tests can be told to misbehave; says so when not.
fn can_misbehave() -> bool {
    if is_real() {
        println!("left out: a real kitty cannot be told to misbehave");
    }
    !is_real()
}

/// How a run went.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
    took: Duration,
}

impl Ran {
    fn of(mut command: Command) -> Self {
        let begin = Instant::now();
        let output = command.output().expect("it runs");
        let ran = Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: begin.elapsed(),
        };
        for wrong in ["panicked", "os error", "RUST_BACKTRACE", "Errno"] {
            assert!(!ran.err.contains(wrong), "{ran:?}");
        }
        assert!(
            !ran.err.chars().any(|c| c.is_control() && c != '\n'),
            "{ran:?}"
        );
        ran
    }

    /// It said one thing on stderr, which holds all of `parts`, and nothing on stdout.
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.err.matches("kittymux: ").count(), 1, "{self:?}");
        assert!(self.err.starts_with("kittymux: "), "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in {self:?}");
        }
        assert_eq!(self.out, "", "{self:?}");
    }

    fn within(&self, seconds: u64) {
        assert!(self.took < Duration::from_secs(seconds), "{self:?}");
    }
}

/// A home whose programs run as a user of their own: no kitty but its own is to be seen from there.
struct Alone {
    rig: Rig,
    uid: u32,
}

impl Alone {
    /// `None`, and says so, where this test is not run by root.
    fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            println!("left out: only root can play another user");
            return None;
        }
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let uid = 20_000 + (std::process::id() * 16 + n) % 30_000;
        let alone = Self {
            rig: Rig::new("/bin/bash", false),
            uid,
        };
        alone.own();
        Some(alone)
    }

    fn top(&self) -> PathBuf {
        self.rig.dir("run").parent().expect("a parent").to_owned()
    }

    /// Gives everything to that user.
    fn own(&self) {
        let done = Command::new("chown")
            .args(["-hR", &format!("{0}:{0}", self.uid)])
            .arg(self.top())
            .status();
        assert!(done.is_ok_and(|s| s.success()), "chown");
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = self.rig.command(program);
        command.args(words).uid(self.uid).gid(self.uid);
        command.stdin(Stdio::null());
        command
    }

    fn kittymux(&self, words: &[&str]) -> Command {
        self.command(&self.rig.dir("tools").join("kittymux"), words)
    }

    fn run(&self, words: &[&str]) -> Ran {
        Ran::of(self.kittymux(words))
    }

    fn kitty(&self, words: &[&str]) -> Odd {
        let command = self.command(&self.rig.dir("tools").join("kitty"), words);
        Odd::start(command, &self.rig)
    }
}

/// A kitty that may not answer.
struct Odd {
    child: Child,
    socket: PathBuf,
}

impl Odd {
    fn start(mut command: Command, rig: &Rig) -> Self {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("kitty starts");
        let socket = rig.dir("run").join(format!("k-{}", child.id()));
        Self { child, socket }
    }

    /// One that misbehaves, with its one window. It has another program's name, so that the searches
    /// of other tests do not come upon it.
    fn misbehaving(rig: &Rig, how: &[&str]) -> Self {
        Self::misbehaving_with(rig, how, &[])
    }

    /// As [`Odd::misbehaving`], with more words on its command line.
    fn misbehaving_with(rig: &Rig, how: &[&str], words: &[&str]) -> Self {
        let program = rig.dir("tools").join("oddity");
        if !program.exists() {
            let kitty = rig.dir("tools").join("kitty");
            std::os::unix::fs::symlink(kitty, &program).expect("a link");
        }
        let mut command = rig.command(&program);
        for word in how {
            command.args(["--misbehave", word]);
        }
        command.args(words);
        let odd = Self::start(command, rig);
        odd.listens();
        odd
    }

    fn listens(&self) {
        until("its socket", || self.socket.exists().then_some(()));
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    fn address(&self) -> String {
        format!("unix:{}", self.socket.display())
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// kittymux with this kitty and no other in mind.
fn at(rig: &Rig, address: &str, words: &[&str]) -> Ran {
    let mut command = rig.command(&rig.dir("tools").join("kittymux"));
    command
        .args(words)
        .env("KITTYMUX_TARGET", address)
        .stdin(Stdio::null());
    Ran::of(command)
}

/// A home with a good save called `work`, taken from a kitty that still runs.
struct Saved {
    rig: Rig,
    kitty: Kitty,
}

impl Saved {
    fn new() -> Self {
        let rig = Rig::new("/bin/bash", false);
        let kitty = rig.start_kitty(&[]);
        rig.kittymux_ok(Some(&kitty), &["sessions", "save", "work"]);
        Self { rig, kitty }
    }

    fn at(&self, address: &str, words: &[&str]) -> Ran {
        at(&self.rig, address, words)
    }

    fn address(&self) -> String {
        self.kitty.address.to_string()
    }

    /// Everything in the state directory: path and content.
    fn state(&self) -> BTreeMap<String, Vec<u8>> {
        tree(&self.rig.home().join(".local/state/kittymux"))
    }
}

/// All files below `top`, by their path from there. Locks have no content that matters.
fn tree(top: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![top.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(top).expect("below").display().to_string();
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                found.insert(format!("{name}/"), Vec::new());
                dirs.push(path);
            } else if !name.starts_with("locks/") && !name.ends_with(".lock") {
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}
