//! A throw-away home with one emulated kitty: real windows, shells and agents.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kittymux::kitty::wire::request;
use kittymux::sys::clock;
use kittymux::sys::json::{self, JsonValue, Object};

/// How long the desk may take to stand.
const WAIT: Duration = Duration::from_secs(180);

/// The programs that are measured or used.
#[derive(Debug, Clone)]
pub struct Programs {
    /// What is measured.
    pub kittymux: PathBuf,
    /// The emulated kitty.
    pub kitty: PathBuf,
    /// The stand-in for agents.
    pub agent: PathBuf,
}

/// A home, its kitty, and how many windows and agents it shows.
pub struct Desk {
    top: PathBuf,
    programs: Programs,
    kitty: Child,
    socket: PathBuf,
}

/// One agent window with a known conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The agent.
    pub agent: String,
    /// The session id.
    pub sid: String,
    /// Its directory.
    pub cwd: String,
}

impl Desk {
    /// Opens `windows` windows with bash, ten to a tab, and starts an agent in every third.
    ///
    /// # Errors
    /// When the kitty or its agents do not come up.
    pub fn open(programs: &Programs, windows: usize) -> io::Result<Self> {
        let top = std::env::temp_dir().join(format!("kmxb-{:x}", clock::wall_ns()));
        for dir in ["home/bin", "home/.config/kitty", "tools", "run"] {
            fs::create_dir_all(top.join(dir))?;
        }
        fs::write(
            top.join("home/.config/kitty/kitty.conf"),
            format!(
                "shell /bin/bash\nallow_remote_control socket-only\nlisten_on unix:{}\nenabled_layouts grid\n",
                top.join("run/k-{kitty_pid}").display()
            ),
        )?;
        fs::write(top.join("home/.bashrc"), "PATH=$HOME/bin:$PATH\nPS1='$ '\n")?;
        for name in ["claude", "codex"] {
            let path = top.join("home/bin").join(name);
            if fs::hard_link(&programs.agent, &path).is_err() {
                fs::copy(&programs.agent, &path)?;
            }
        }
        std::os::unix::fs::symlink(&programs.kitty, top.join("tools/kitty"))?;
        std::os::unix::fs::symlink(&programs.kittymux, top.join("tools/kittymux"))?;
        let mut session = String::new();
        for n in 0..windows {
            if n % 10 == 0 {
                session.push_str(&format!("new_tab tab {}\n", n / 10 + 1));
            }
            let dir = top.join(format!("home/code/project-{n}"));
            fs::create_dir_all(&dir)?;
            session.push_str(&format!("cd {}\nlaunch\n", dir.display()));
        }
        let session_file = top.join("desk.kitty-session");
        fs::write(&session_file, session)?;
        let kitty = command_in(&top, &top.join("tools/kitty"))
            .arg("--session")
            .arg(&session_file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(top.join("kitty.log"))?)
            .spawn()?;
        let socket = top.join(format!("run/k-{}", kitty.id()));
        let mut desk = Self {
            top,
            programs: programs.clone(),
            kitty,
            socket,
        };
        desk.stand(windows)?;
        Ok(desk)
    }

    /// Waits for the windows, then for the agents in them.
    fn stand(&mut self, windows: usize) -> io::Result<()> {
        let end = Instant::now() + WAIT;
        let ids = loop {
            let ids = self.answer().map(|a| window_ids(&a)).unwrap_or_default();
            if ids.len() == windows {
                break ids;
            }
            self.patience(end, &format!("{} of {windows} windows", ids.len()))?;
        };
        let agents: Vec<(usize, u64)> = ids.into_iter().step_by(3).enumerate().collect();
        // A shell that still starts may throw away what was typed: it is typed again.
        loop {
            let running = windows_of(&self.rows());
            let missing = agents.iter().filter(|(_, id)| !running.contains(id));
            let missing: Vec<(usize, u64)> = missing.copied().collect();
            if missing.is_empty() {
                break;
            }
            for (n, id) in &missing {
                let agent = if n % 3 == 2 { "codex" } else { "claude" };
                self.send(*id, &format!("{agent}\r"))?;
            }
            for _ in 0..10 {
                self.patience(end, &format!("{} agents are missing", missing.len()))?;
                if self.rows().len() == agents.len() {
                    break;
                }
            }
        }
        // A conversation is stored once something was said in it.
        for (_, id) in &agents {
            self.send(*id, "hello\r")?;
        }
        loop {
            let known = self.rows().iter().filter_map(conversation_of).count();
            if known == agents.len() {
                return Ok(());
            }
            self.patience(end, &format!("{known} of {} conversations", agents.len()))?;
        }
    }

    /// Types into a window.
    fn send(&self, id: u64, text: &str) -> io::Result<()> {
        let payload = Object::new()
            .text("match", &format!("id:{id}"))
            .text("data", &format!("text:{text}"));
        self.ask("send-text", &payload.finish()).map(drop)
    }

    fn patience(&mut self, end: Instant, have: &str) -> io::Result<()> {
        if Instant::now() > end || self.kitty.try_wait()?.is_some() {
            let log = fs::read_to_string(self.top.join("kitty.log")).unwrap_or_default();
            return Err(io::Error::other(format!(
                "the desk does not stand: {have}; {log}"
            )));
        }
        std::thread::sleep(Duration::from_millis(300));
        Ok(())
    }

    /// A program with the environment of this home, as a window of the kitty would have it.
    #[must_use]
    pub fn command(&self, program: &Path) -> Command {
        let mut command = command_in(&self.top, program);
        command
            .env("KITTY_LISTEN_ON", format!("unix:{}", self.socket.display()))
            .env("KITTY_PID", self.kitty.id().to_string());
        command
    }

    /// kittymux in this home.
    #[must_use]
    pub fn kittymux(&self, words: &[&str]) -> Command {
        let mut command = self.command(&self.programs.kittymux);
        command.args(words);
        command
    }

    /// kitty's whole answer to the question for its windows, as it comes.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn answer(&self) -> io::Result<Vec<u8>> {
        self.ask("ls", "{}")
    }

    fn ask(&self, cmd: &str, payload: &str) -> io::Result<Vec<u8>> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.write_all(&request(cmd, payload, None))?;
        let mut answer = Vec::new();
        let mut buffer = vec![0; 65_536];
        while !answer.ends_with(b"\x1b\\") {
            match stream.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => answer.extend_from_slice(&buffer[..n]),
            }
        }
        Ok(answer)
    }

    fn rows(&self) -> Vec<JsonValue> {
        let output = self.kittymux(&["sessions", "list", "--json"]).output();
        let stdout = output.map(|o| o.stdout).unwrap_or_default();
        let value = json::parse(&stdout, 16 << 20);
        match value.ok().as_ref().and_then(|v| json::member(v, "windows")) {
            Some(JsonValue::Array(rows)) => rows.clone(),
            _ => Vec::new(),
        }
    }

    /// One of the conversations.
    #[must_use]
    pub fn conversation(&self) -> Option<Conversation> {
        self.rows().iter().find_map(conversation_of)
    }
}

/// The windows that rows of the list are about.
fn windows_of(rows: &[JsonValue]) -> Vec<u64> {
    let number = |row| json::number_at(row, "window");
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    rows.iter().filter_map(number).map(|n| n as u64).collect()
}

/// What a row of the list says of a conversation that is known by its id.
fn conversation_of(row: &JsonValue) -> Option<Conversation> {
    let text = |key| json::text_at(row, key).map(str::to_owned);
    Some(Conversation {
        agent: text("agent")?,
        sid: text("session_id")?,
        cwd: text("cwd")?,
    })
}

fn command_in(top: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", top.join("home"))
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", top.join("tools").display()),
        )
        .env("XDG_RUNTIME_DIR", top.join("run"))
        .env("SHELL", "/bin/bash")
        .env("LANG", "C.UTF-8")
        .env("TERM", "xterm-256color");
    command
}

/// The ids of all windows in kitty's answer, whose data is JSON in a JSON string.
fn window_ids(answer: &[u8]) -> Vec<u64> {
    let body = &answer[answer.iter().position(|b| *b == b'{').unwrap_or(0)..answer.len() - 2];
    let Ok(outer) = json::parse(body, 64 << 20) else {
        return Vec::new();
    };
    let text = json::text_at(&outer, "data").unwrap_or("[]");
    let tree = kittymux::kitty::tree::read(text).unwrap_or_default();
    kittymux::kitty::tree::windows(&tree)
        .map(|p| p.window.id)
        .collect()
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.kitty.kill();
        let _ = self.kitty.wait();
        // Its windows end with their terminals, and may write a last line until then.
        for _ in 0..100 {
            if fs::remove_dir_all(&self.top).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
