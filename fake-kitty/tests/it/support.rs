//! Help for the tests: captures, a private home, a client of the socket.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file of the captures.
pub fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A directory of its own that goes with the test.
pub struct Dir(pub PathBuf);

impl Dir {
    pub fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("fk-test-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    pub fn path(&self, rest: &str) -> PathBuf {
        self.0.join(rest)
    }

    pub fn write(&self, rest: &str, body: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(rest);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, body).unwrap();
        path
    }

    /// An executable script.
    pub fn script(&self, rest: &str, body: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(rest, body);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A connection to the socket.
pub struct Client(pub UnixStream, Vec<u8>);

impl Client {
    pub fn connect(address: &str) -> Client {
        let stream = match address.strip_prefix("unix:@") {
            Some(name) => {
                use std::os::linux::net::SocketAddrExt;
                let addr =
                    std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
                UnixStream::connect_addr(&addr).unwrap()
            }
            None => UnixStream::connect(address.strip_prefix("unix:").unwrap()).unwrap(),
        };
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        Client(stream, Vec::new())
    }

    pub fn send(&mut self, body: &str) {
        self.0.write_all(&fake_kitty::frame::wrap(body)).unwrap();
    }

    /// The next reply, or nothing within `limit`.
    pub fn receive(&mut self, limit: Duration) -> Option<String> {
        self.0.set_read_timeout(Some(limit)).unwrap();
        let mut chunk = vec![0; 65536];
        let mut look = true;
        loop {
            // A long reply is looked through only when its end may have come.
            if look && let Some(inside) = fake_kitty::frame::take(&mut self.1) {
                return Some(String::from_utf8(inside).unwrap());
            }
            match self.0.read(&mut chunk) {
                Ok(0) | Err(_) => return None,
                Ok(n) => self.1.extend_from_slice(&chunk[..n]),
            }
            look = self.1.contains(&0x1b) && self.1.ends_with(b"\\") || self.1.len() < 1 << 20;
        }
    }

    /// One command and its decoded reply.
    pub fn call(&mut self, cmd: &str, payload: Value) -> Value {
        self.send(&json!({"cmd": cmd, "version": [0, 26, 0], "payload": payload}).to_string());
        let reply = self
            .receive(Duration::from_secs(10))
            .unwrap_or_else(|| panic!("{cmd}: no reply"));
        fake_kitty::json::parse(&reply).unwrap()
    }

    /// `ls`, decoded.
    pub fn ls(&mut self, payload: Value) -> Value {
        let reply = self.call("ls", payload);
        fake_kitty::json::parse(reply["data"].as_str().unwrap_or_else(|| panic!("{reply}")))
            .unwrap()
    }

    /// Windows of `ls`.
    pub fn windows(&mut self) -> Vec<Value> {
        windows_of(&self.ls(json!({})))
    }

    pub fn action(&mut self, line: &str) -> Value {
        self.call("action", json!({"action": line}))
    }
}

pub fn windows_of(list: &Value) -> Vec<Value> {
    let tabs = list
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|o| o["tabs"].as_array().unwrap());
    tabs.flat_map(|t| t["windows"].as_array().unwrap().clone())
        .collect()
}

/// The person of the captures in a directory of their own: `<dir>/home/user` with `bin/agent.sh` and the
/// like. Texts are compared after the directory is cut out of them.
pub struct Person {
    pub dir: Dir,
}

impl Person {
    pub fn new(name: &str) -> Person {
        let dir = Dir::new(name);
        dir.script("home/user/bin/agent.sh", "#!/bin/bash\nread -r _\n");
        dir.script("home/user/bin/codex-native", "#!/bin/bash\nread -r _\n");
        let claude =
            "#!/usr/bin/env node\nprocess.title = 'claude';\nsetInterval(() => {}, 100000);\n";
        dir.script("home/user/bin/claude", claude);
        for sub in ["proj/a", "proj/b", "proj/with space", "sessions"] {
            std::fs::create_dir_all(dir.path("home/user").join(sub)).unwrap();
        }
        let rc = "export FOO=1\nPS1='$ '\nHISTCONTROL=ignoreboth\n";
        dir.write("home/user/.bashrc", rc);
        dir.write("home/user/.profile", "PATH=~/bin:$PATH\n. ~/.bashrc\n");
        dir.write("home/user/.zshrc", "export FOO=1\nPS1='$ '\n");
        dir.write(
            "home/user/.config/fish/config.fish",
            "set -gx FOO 1\nset -g fish_greeting\n",
        );
        // Without its list of completions made already, fish makes it in the background at the first start.
        std::fs::create_dir_all(dir.path("home/user/.local/share/fish/generated_completions"))
            .unwrap();
        Person { dir }
    }

    pub fn home(&self) -> String {
        self.dir.path("home/user").display().to_string()
    }

    /// kitty as in the captures: bash, the layouts of the captures' kitty.conf.
    pub fn config(&self) -> fake_kitty::Config {
        let home = self.home();
        fake_kitty::Config::new()
            .env_only([
                ("HOME".to_owned(), home.clone()),
                (
                    "PATH".into(),
                    format!("{home}/bin:/usr/local/bin:/usr/bin:/bin"),
                ),
                ("SHELL".into(), "/bin/bash".into()),
                ("USER".into(), "user".into()),
                ("LANG".into(), "C.UTF-8".into()),
            ])
            .cwd(home)
            .shell("/bin/bash")
            .enabled_layouts("splits,tall,stack,grid,fat")
    }

    /// A text with the person's directory cut out.
    pub fn scrub(&self, text: &str) -> String {
        text.replace(&self.dir.0.display().to_string(), "")
    }

    /// What `save_as_session --use-foreground-process` writes now.
    pub fn save(&self, client: &mut Client, options: &str) -> String {
        let file = self.dir.path("saved.kitty-session");
        let _ = std::fs::remove_file(&file);
        let line = format!(
            "save_as_session --use-foreground-process --save-only {options} {}",
            file.display()
        );
        assert_eq!(client.action(&line), json!({"ok": true}));
        self.scrub(&std::fs::read_to_string(&file).unwrap())
    }
}

/// Waits until `test` holds; half a minute is for machines with much else to do.
#[track_caller]
pub fn eventually(what: &str, mut test: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + Duration::from_secs(30);
    while !test() {
        assert!(std::time::Instant::now() < end, "never came: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a program is there; a missing one is said, and the test passes without it.
pub fn installed(program: &str) -> bool {
    let found = Path::new(program).exists();
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}
