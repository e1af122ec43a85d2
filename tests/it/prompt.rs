//! The prompt of a restored window on a terminal of the test's own making: as the window's own
//! program, and as a job of a shell.

mod keys;
mod programs;
mod records;
mod second_question;
mod switches;
mod terminal;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::pty::Pty;
use crate::rig::Rig;
use kittymux::resume::record::{Mode, Record};
use kittymux::sys::json::{self, JsonValue};

/// A home with one conversation of claude, and the record that asks for it.
pub struct Case {
    pub rig: Rig,
    pub record: Record,
}

impl Case {
    pub fn new() -> Self {
        let rig = Rig::new("/bin/bash", false);
        let cwd = rig.dir("work/api");
        // One of its own for each test: other agents of this machine are looked at too.
        let sid = format!(
            "0a1b2c3d-0000-4000-8000-{}",
            kittymux::sys::token::random_id()
        );
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let record = Record {
            agent: "claude".into(),
            mode: Mode::Exact,
            sid: sid.clone(),
            orig: words("claude --model opus"),
            resume: words(&format!("claude --resume {sid} --model opus")),
            exe: rig.home().join("bin/claude").display().to_string(),
            cwd: cwd.display().to_string(),
            tab: "api work".into(),
            save: "s1".into(),
            at: kittymux::sys::clock::rfc3339(kittymux::sys::clock::wall_ns() - 720_000_000_000),
            was: Vec::new(),
            env: Vec::new(),
            lost: Vec::new(),
            direct: false,
        };
        let case = Self { rig, record };
        case.transcript(&sid);
        case
    }

    /// As [`Case::new`], changed.
    pub fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut case = Self::new();
        change(&mut case);
        case
    }

    /// A conversation that was written to.
    pub fn transcript(&self, sid: &str) {
        let line = format!(
            "{{\"type\":\"user\",\"sessionId\":\"{sid}\",\"cwd\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n",
            self.record.cwd
        );
        self.rig
            .file(&format!(".claude/projects/p/{sid}.jsonl"), &line);
    }

    pub fn kittymux(&self) -> PathBuf {
        self.rig.dir("tools").join("kittymux")
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.rig.command(&self.kittymux());
        command.args(words);
        command
    }

    pub fn asking(&self) -> Command {
        self.command(&["resume-prompt", "--info", &self.record.text()])
    }

    /// The window's own program asks.
    pub fn prompt(&self) -> Pty {
        Pty::start(self.asking(), b"")
    }

    /// `script` in a shell, with `$KM` and the record as `$R`.
    pub fn script(&self, script: &str) -> Command {
        let mut command = self.rig.command(&PathBuf::from("/bin/sh"));
        command
            .args(["-c", script])
            .env("KM", self.kittymux())
            .env("R", self.record.text());
        command
    }

    /// A shell asks, says with which status that ended, and stays.
    pub fn in_shell(&self) -> Pty {
        let script = r#""$KM" resume-prompt --info "$R"; echo "status=$?."; exec sleep 60"#;
        Pty::start(self.script(script), b"")
    }

    /// The words with which agents were started.
    pub fn starts(&self) -> Vec<Vec<String>> {
        let argv = |line: &String| {
            let value = json::parse(line.as_bytes(), 1 << 20).expect("a start");
            match json::member(&value, "argv") {
                Some(JsonValue::Array(items)) => items
                    .iter()
                    .map(|i| match i {
                        JsonValue::String(word) => word.clone(),
                        _ => String::new(),
                    })
                    .collect(),
                _ => Vec::new(),
            }
        };
        self.rig.starts().iter().map(argv).collect()
    }

    /// The agent started exactly once, with these words.
    pub fn started(&self, words: &[String]) {
        assert_eq!(self.starts(), [words]);
    }

    /// The file `name` of the state directory.
    pub fn state(&self, name: &str) -> PathBuf {
        self.rig.home().join(".local/state/kittymux").join(name)
    }

    /// Puts a file of `mode` there.
    pub fn program(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.rig.file(name, text);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&path, mode).expect("a mode");
        path
    }
}

/// Waits until the window's program is the person's shell; gives what was said before it.
pub fn is_a_shell(pty: &mut Pty) -> String {
    pty.shows("$ ");
    pty.send(b"echo sh\"\"ell in $PWD, pid $$\r");
    let text = pty.shows("shell in ");
    let pid = pty.pid();
    pty.shows(&format!(", pid {pid}\n"));
    text
}

/// The directory the shell said it is in.
pub fn shell_dir(pty: &mut Pty) -> String {
    is_a_shell(pty);
    let text = pty.shows("shell in ");
    let (_, rest) = text.rsplit_once("shell in ").expect("said");
    rest.split(", pid").next().unwrap_or("").to_owned()
}

/// Nothing was started and the question stands.
pub fn still_asks(case: &Case, pty: &mut Pty) {
    pty.bytes(Duration::from_millis(120));
    assert_eq!(case.starts(), Vec::<Vec<String>>::new(), "{}", pty.text());
    let argv = kittymux::sys::proc::argv(pty.pid()).found();
    assert!(
        argv.is_some_and(|a| a.get(1).is_some_and(|w| w == "resume-prompt")),
        "it does not ask any more:\n{}",
        pty.text()
    );
}
