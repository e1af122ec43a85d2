//! The program: command line, kitty.conf, start and end.

use crate::support::{Client, Person, eventually};
use serde_json::json;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fake-kitty");

/// The program, ended with this.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn command(person: &Person, args: &[&str]) -> Command {
    let home = person.home();
    let mut c = Command::new(PROGRAM);
    c.args(args)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", format!("{home}/bin:/usr/local/bin:/usr/bin:/bin"))
        .env("SHELL", "/bin/bash")
        .env("LANG", "C.UTF-8")
        .env("TMPDIR", &person.dir.0)
        .current_dir(&home)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    c
}

pub fn start(person: &Person, args: &[&str]) -> Running {
    Running(command(person, args).spawn().unwrap())
}

fn conf(person: &Person, text: &str) -> std::path::PathBuf {
    person.dir.write("home/user/.config/kitty/kitty.conf", text)
}

pub fn connect(path: &std::path::Path) -> Client {
    eventually("the socket", || path.exists());
    Client::connect(&format!("unix:{}", path.display()))
}

fn end(mut running: Running) -> (Option<i32>, String) {
    let mut text = String::new();
    let status = {
        let end = std::time::Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(s) = running.0.try_wait().unwrap() {
                break s;
            }
            assert!(std::time::Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    running
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    (status.code(), text)
}

#[test]
fn it_says_the_version() {
    let out = Command::new(PROGRAM).arg("--version").output().unwrap();
    assert_eq!(out.stdout, b"kitty 0.48.2 created by Kovid Goyal\n");
    let out = Command::new(PROGRAM).arg("--frob").output().unwrap();
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn the_socket_is_that_of_kitty_conf_and_goes_on_sigterm_with_the_windows() {
    let person = Person::new("term");
    let h = person.home();
    person.dir.write(
        "home/user/.config/kitty/more.conf",
        "# more\nallow_remote_control socket-only\n",
    );
    conf(
        &person,
        &format!("include more.conf\nlisten_on unix:{h}/sock\nmap f1 new_tab\n"),
    );
    person.dir.script(
        "home/user/bin/hangup",
        "#!/bin/bash\ntrap 'echo hup >~/hup; exit' HUP\nread -r _\n",
    );
    let running = start(&person, &["hangup"]);
    let pid = running.0.id();
    let socket = person.dir.path(&format!("home/user/sock-{pid}"));
    let mut c = connect(&socket);
    let windows = c.windows();
    assert_eq!(windows[0]["env"]["KITTY_PID"], pid.to_string());
    assert_eq!(
        windows[0]["env"]["KITTY_LISTEN_ON"],
        format!("unix:{}", socket.display())
    );
    let child = windows[0]["pid"].as_i64().unwrap();
    Command::new("kill").arg(pid.to_string()).status().unwrap();
    assert_eq!(end(running).0, Some(0));
    assert!(!socket.exists());
    assert_eq!(
        std::fs::read_to_string(person.dir.path("home/user/hup")).unwrap(),
        "hup\n"
    );
    assert!(!std::path::Path::new(&format!("/proc/{child}")).exists());
    let left: Vec<_> = std::fs::read_dir(&person.dir.0)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["home"], "nothing is left in the temporary directory");
}

#[test]
fn without_allow_remote_control_there_is_no_socket() {
    let person = Person::new("noremote");
    let h = person.home();
    conf(&person, &format!("listen_on unix:{h}/sock\n"));
    person.dir.script(
        "home/user/bin/env.sh",
        "#!/bin/bash\necho \"<${KITTY_LISTEN_ON-none}>\" >~/env.new; mv ~/env.new ~/env\n",
    );
    let running = start(&person, &["--listen-on", &format!("unix:{h}/cl"), "env.sh"]);
    // The only window ends, and with it kitty.
    assert_eq!(end(running).0, Some(0));
    assert_eq!(
        std::fs::read_to_string(person.dir.path("home/user/env")).unwrap(),
        "<none>\n"
    );
    assert!(!person.dir.path("home/user/cl").exists());
}

#[test]
fn sessions_of_the_command_line_and_of_kitty_conf() {
    let person = Person::new("startup");
    let h = person.home();
    let session = person.dir.write(
        "home/user/.config/kitty/desk.kitty-session",
        format!("launch {h}/bin/agent.sh s\n"),
    );
    conf(
        &person,
        "allow_remote_control yes\nstartup_session desk.kitty-session\n",
    );
    let socket = person.dir.path("home/user/s");
    let listen = format!("unix:{}", socket.display());
    let first = |args: &[&str]| {
        let mut all = vec!["--listen-on", listen.as_str()];
        all.extend(args);
        let running = start(&person, &all);
        let mut c = connect(&socket);
        let windows = c.windows();
        let told = (
            windows.len(),
            windows[0]["session_name"].clone(),
            windows[0]["cmdline"].clone(),
            windows[0]["cwd"].clone(),
        );
        drop(c);
        Command::new("kill")
            .arg(running.0.id().to_string())
            .status()
            .unwrap();
        let (_, log) = end(running);
        (told, log)
    };
    let agent = json!(["/bin/bash", format!("{h}/bin/agent.sh"), "s"]);
    let shell = json!(["/bin/bash", "--posix"]);
    assert_eq!(first(&[]).0, (1, json!("desk"), agent.clone(), json!(h)));
    assert_eq!(
        first(&["-d", "/usr"]).0,
        (1, json!("desk"), agent.clone(), json!("/usr"))
    );
    assert_eq!(first(&["--session", "none"]).0.1, json!(""));
    let none = first(&["sleep", "100"]).0;
    assert_eq!(
        (none.1, none.2),
        (json!(""), json!(["/usr/bin/sleep", "100"]))
    );
    // With --session a command is ignored.
    assert_eq!(
        first(&["--session", session.to_str().unwrap(), "sleep", "100"])
            .0
            .2,
        agent
    );
    // A missing one: --session shows it, startup_session only logs.
    assert_eq!(first(&["--session", "/nowhere/x"]).0.0, 2);
    let (told, log) = first(&["-o", "startup_session=/nowhere/y"]);
    assert_eq!((told.0, told.2), (1, shell.clone()));
    assert!(
        log.contains("Failed to read from session file, ignoring: /nowhere/y"),
        "{log}"
    );
    std::fs::write(&session, "# only comments\n").unwrap();
    assert_eq!(first(&[]).0, (1, json!("desk"), shell, json!(h)));
}

#[test]
fn a_session_that_cannot_be_launched_ends_it_with_a_traceback() {
    let person = Person::new("dies");
    let file = person.dir.write(
        "x.kitty-session",
        "launch sleep 1000\nlaunch --type=background\n",
    );
    let (code, log) = end(start(&person, &["--session", file.to_str().unwrap()]));
    assert_eq!(code, Some(1));
    assert!(
        log.starts_with("Traceback (most recent call last):\n"),
        "{log}"
    );
    assert!(
        log.contains("The cmd to run must be specified when running a background process"),
        "{log}"
    );
}

#[test]
fn quit_and_the_watcher() {
    use std::os::unix::fs::PermissionsExt;
    let person = Person::new("watcher");
    conf(
        &person,
        "allow_remote_control yes\nwatcher /somewhere/other.py\nwatcher kittymux_watcher.py\n",
    );
    let socket = person.dir.path("home/user/s");
    let listen = format!("unix:{}", socket.display());
    let running = start(
        &person,
        &[
            "--listen-on",
            &listen,
            "--override",
            "shell_integration=disabled",
        ],
    );
    let mut c = connect(&socket);
    let dir = person.dir.path("home/user/.local/state/kittymux/kitties");
    eventually("the note", || {
        std::fs::read_dir(&dir).is_ok_and(|d| d.count() == 1)
    });
    let file = std::fs::read_dir(&dir)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let pid = running.0.id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start: u64 = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .nth(19)
        .unwrap()
        .parse()
        .unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(
        file.file_name().unwrap().to_str().unwrap(),
        format!("{}-{pid}-{start}", &boot[..8])
    );
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    // The file is there a moment before its text.
    let note: serde_json::Value = (0..200)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            serde_json::from_str(&std::fs::read_to_string(&file).ok()?).ok()
        })
        .unwrap();
    assert_eq!(
        note,
        json!({"v": 1, "socket": listen, "pid": pid, "start": start})
    );
    assert_eq!(c.action("quit"), json!({"ok": true}));
    assert_eq!(end(running).0, Some(0));
}
