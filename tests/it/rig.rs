//! A throw-away home with shells, agents and kitties of its own. Nothing of the person's is touched:
//! every `KITTY_*` variable is cleared, HOME and all XDG directories are temporary.

mod detached;
mod kitty;

use detached::detached;
pub use kitty::Kitty;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use kittymux::kitty::address::Address;
use kittymux::kitty::client::Connection;
use kittymux::kitty::commands;

/// How long anything is waited for.
pub const WAIT: Duration = Duration::from_secs(15);

/// Whether the kitty of these tests is a real one.
pub fn is_real() -> bool {
    std::env::var_os("KITTYMUX_TEST_REAL").is_some()
}

/// Waits until `what` gives something.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + WAIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            Instant::now() < end,
            "waited {} s for: {what}",
            WAIT.as_secs()
        );
        std::thread::sleep(Duration::from_millis(25));
    }
}

/// The programs under test and their stand-ins.
struct Programs {
    kittymux: PathBuf,
    kitty: PathBuf,
    agent: PathBuf,
}

fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let given = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let kittymux = given("KITTYMUX_TEST_BIN")
            .unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_kittymux")));
        let beside = |name: &str| kittymux.with_file_name(name);
        let build = |name: &str| {
            // cargo builds no other member's program for these tests.
            let cargo = option_env!("CARGO").unwrap_or("cargo");
            let built = Command::new(cargo)
                .args(["build", "--quiet", "-p", name])
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status();
            assert!(built.is_ok_and(|s| s.success()), "cargo build -p {name}");
        };
        let program = |variable: &str, package: &str, name: &str| {
            given(variable).unwrap_or_else(|| {
                if !beside(name).exists() {
                    build(package);
                }
                beside(name)
            })
        };
        Programs {
            kitty: if is_real() {
                PathBuf::from("/usr/bin/kitty")
            } else {
                program("KITTYMUX_TEST_KITTY", "fake-kitty", "fake-kitty")
            },
            agent: program("KITTYMUX_TEST_AGENT", "fake-agents", "fake-agent"),
            kittymux,
        }
    })
}

/// Whether a shell is there; a test that needs one says so when it is not.
pub fn has_shell(path: &str) -> bool {
    let there = Path::new(path).exists();
    if !there {
        println!("left out: {path} is not installed here");
    }
    there
}

/// A throw-away home.
pub struct Rig {
    top: tempfile::TempDir,
    name: String,
    conf: String,
}

impl Rig {
    /// A home whose kitties start `shell`, with integration on or off. Its rc files export FOO, put
    /// `~/bin` on PATH and export DENV from a prompt hook, as direnv does.
    pub fn new(shell: &str, integration: bool) -> Self {
        Self::in_home("home", shell, integration)
    }

    /// As [`Rig::new`], with a home of this name.
    pub fn in_home(name: &str, shell: &str, integration: bool) -> Self {
        let top = tempfile::Builder::new()
            .prefix("kmx")
            .tempdir()
            .expect("a temporary directory");
        let on = if integration { "enabled" } else { "disabled" };
        let rig = Self {
            top,
            name: name.to_owned(),
            conf: format!("shell {shell}\nshell_integration {on}\n"),
        };
        rig.file(
            ".bashrc",
            "export FOO=1\nPATH=$HOME/bin:$PATH\nPS1='$ '\nPROMPT_COMMAND='export DENV=hook'\n",
        );
        rig.file(
            ".zshrc",
            "export FOO=1\npath=($HOME/bin $path)\nPS1='%% '\nprecmd() { export DENV=hook }\n",
        );
        rig.file(
            ".config/fish/config.fish",
            "set -gx FOO 1\nset -gx PATH $HOME/bin $PATH\nset -g fish_greeting\nfunction fish_prompt; echo '> '; end\nfunction hook --on-event fish_prompt; set -gx DENV hook; end\n",
        );
        for name in ["claude", "codex", "opencode", "node"] {
            rig.agent(&format!("bin/{name}"));
        }
        std::os::unix::fs::symlink(&programs().kitty, rig.dir("tools").join("kitty"))
            .expect("a link");
        std::os::unix::fs::symlink(&programs().kittymux, rig.dir("tools").join("kittymux"))
            .expect("a link");
        rig.dir("run");
        // A fish that finds these does not read all manual pages of the machine at its first start.
        rig.dir(".local/share/fish/generated_completions");
        rig.dir(".cache/fish/generated_completions");
        rig.write_conf("");
        rig
    }

    /// Adds lines to its kitty.conf.
    pub fn write_conf(&self, more: &str) {
        let socket = self.top.path().join("run/k-{kitty_pid}");
        let base = "confirm_os_window_close 0\nupdate_check_interval 0\ncursor_blink_interval 0\nremember_window_size no\n\
                    initial_window_width 100c\ninitial_window_height 30c\nenabled_layouts splits\n";
        let text = format!(
            "{base}allow_remote_control socket-only\nlisten_on unix:{}\n{}{more}\n",
            socket.display(),
            self.conf
        );
        self.file(".config/kitty/kitty.conf", &text);
    }

    /// The home directory.
    pub fn home(&self) -> PathBuf {
        self.top.path().join(&self.name)
    }

    /// A directory below home, made.
    pub fn dir(&self, name: &str) -> PathBuf {
        let dir = if matches!(name, "tools" | "run") {
            self.top.path().join(name)
        } else {
            self.home().join(name)
        };
        std::fs::create_dir_all(&dir).expect("a directory");
        dir
    }

    /// A file below home.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// The stand-in agent under a name below home.
    pub fn agent(&self, name: &str) -> PathBuf {
        let path = self.home().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        // A link of the program itself: the agents tell what they are by the name they have.
        if std::fs::hard_link(&programs().agent, &path).is_err() {
            std::fs::copy(&programs().agent, &path).expect("a copy");
        }
        path
    }

    /// The environment of everything that runs here.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.home());
        let path = format!("{}:/usr/bin:/bin", self.top.path().join("tools").display());
        command
            .env("HOME", self.home())
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color");
        command
            .env("XDG_RUNTIME_DIR", self.top.path().join("run"))
            .env("SHELL", "/bin/bash")
            .env("NO_COLOR", "1");
        command.env("FAKE_AGENT_LOG", self.log_path());
        for name in ["DISPLAY", "LIBGL_ALWAYS_SOFTWARE", "XAUTHORITY"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    }

    fn log_path(&self) -> PathBuf {
        self.top.path().join("agents.log")
    }

    /// The starts of agents so far, one JSON line each.
    pub fn starts(&self) -> Vec<String> {
        std::fs::read_to_string(self.log_path())
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Runs kittymux as a person in a window of `kitty` would.
    pub fn kittymux(&self, kitty: Option<&Kitty>, words: &[&str]) -> Output {
        self.kittymux_with(kitty, words, &[])
    }

    /// As [`Rig::kittymux`], with more in its environment.
    pub fn kittymux_with(
        &self,
        kitty: Option<&Kitty>,
        words: &[&str],
        env: &[(&str, &str)],
    ) -> Output {
        let mut command = self.command(&self.top.path().join("tools/kittymux"));
        command.args(words).stdin(Stdio::null());
        command.envs(env.iter().copied());
        if let Some(kitty) = kitty {
            command
                .env("KITTY_LISTEN_ON", kitty.address.to_string())
                .env("KITTY_PID", kitty.pid.to_string());
        }
        let output = if kitty.is_some() {
            command.output().expect("kittymux runs")
        } else {
            detached(&command)
        };
        if words.first() == Some(&"sessions") && words.get(1) == Some(&"save") {
            self.dump();
        }
        output
    }

    /// One tick of the timer, `later` seconds from now by the boot clock.
    pub fn tick(&self, later: i64) {
        let shift = later.to_string();
        let output = self.kittymux_with(None, &["--tick"], &[("KITTYMUX_BOOT_SHIFT", &shift)]);
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
        self.dump();
    }

    /// The path of a program under test.
    pub fn tool(&self, name: &str) -> String {
        self.top
            .path()
            .join("tools")
            .join(name)
            .display()
            .to_string()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state/kittymux")
    }

    /// Copies every save to the directory whose files kitty's own parser is asked about.
    fn dump(&self) {
        let Some(dir) = std::env::var_os("KITTYMUX_TEST_DUMP").map(PathBuf::from) else {
            return;
        };
        let saves = std::fs::read_dir(self.home().join(".local/state/kittymux/sessions"))
            .into_iter()
            .flatten()
            .flatten();
        let top = self
            .top
            .path()
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        for save in saves.filter(|s| s.path().is_file()) {
            let name = format!("{top}-{}", save.file_name().to_string_lossy());
            std::fs::copy(save.path(), dir.join(name)).expect("dumped");
        }
    }

    /// As [`Rig::kittymux`]; it must succeed and say nothing on stderr. Gives its stdout.
    pub fn kittymux_ok(&self, kitty: Option<&Kitty>, words: &[&str]) -> String {
        let output = self.kittymux(kitty, words);
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success() && err.is_empty(),
            "kittymux {words:?}: {:?}\n{out}\n{err}",
            output.status
        );
        out.into_owned()
    }

    /// The text of a save.
    pub fn saved(&self, name: &str) -> String {
        let path = self.home().join(format!(
            ".local/state/kittymux/sessions/{name}.kitty-session"
        ));
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Starts a kitty and waits until it answers.
    pub fn start_kitty(&self, words: &[&str]) -> Kitty {
        let log = std::fs::File::create(self.top.path().join("kitty.log")).expect("a log");
        let mut command = self.command(&self.top.path().join("tools/kitty"));
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().expect("kitty starts");
        let pid = i32::try_from(child.id()).expect("a pid");
        self.attach(pid, Some(child))
    }

    /// Starts a kitty that has its socket by `kittymux.conf` alone.
    pub fn start_as_set_up(&self, words: &[&str]) -> Kitty {
        let mut command = self.command(&self.top.path().join("tools/kitty"));
        command
            .args(words)
            .env("TMPDIR", self.dir("run"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().expect("kitty starts");
        let pid = i32::try_from(child.id()).expect("a pid");
        let address = Address::Path(self.dir("run").join(format!("kittymux-{pid}")));
        self.attach_at(pid, Some(child), address)
    }

    /// The kitty that kittymux itself started.
    pub fn new_kitty(&self, not: i32) -> Kitty {
        let pid = until("a new kitty", || {
            let found = std::fs::read_dir(self.top.path().join("run")).ok()?;
            found.flatten().find_map(|e| {
                let pid: i32 = e.file_name().to_str()?.strip_prefix("k-")?.parse().ok()?;
                (pid != not && kittymux::sys::proc::is_alive(pid)).then_some(pid)
            })
        });
        self.attach(pid, None)
    }

    fn attach(&self, pid: i32, child: Option<Child>) -> Kitty {
        let address = Address::Path(self.top.path().join(format!("run/k-{pid}")));
        self.attach_at(pid, child, address)
    }

    fn attach_at(&self, pid: i32, child: Option<Child>, address: Address) -> Kitty {
        let log = self.top.path().join("kitty.log");
        until(
            &format!(
                "kitty to answer; it said: {}",
                std::fs::read_to_string(log).unwrap_or_default()
            ),
            || {
                Connection::open(&address)
                    .ok()?
                    .ask(&commands::ls(None), Duration::from_secs(2))
                    .ok()
            },
        );
        Kitty {
            pid,
            address,
            child,
        }
    }
}

/// The session ids an agent announced, in the order of a screen.
pub fn announced(screen: &str) -> Option<String> {
    let joined = screen.replace('\n', "");
    let at = joined.rfind("conversation ")? + "conversation ".len();
    let sid: String = joined[at..]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    (sid.len() > 8).then_some(sid)
}
