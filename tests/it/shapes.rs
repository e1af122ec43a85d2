//! What a window can be, and what becomes of it: typed lines of every kind, directories, config
//! directories, hostile arguments, overlays, stopped jobs.

use std::path::Path;

use crate::rig::{Kitty, Rig, announced, until};
use kittymux::kitty::launch_line::LaunchLine;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::{Mode, Record};
use kittymux::resume::rewrite::record_text;
use kittymux::sys::json::{self, JsonValue, Object};

/// A home, a kitty in it, and the windows that were opened.
struct Scene {
    rig: Rig,
    kitty: Kitty,
}

impl Scene {
    fn new() -> Self {
        let rig = Rig::new("/bin/bash", true);
        let kitty = rig.start_kitty(&[]);
        Self { rig, kitty }
    }

    /// Types a line into a new shell window; gives the window once `shows` is on its screen.
    fn type_in(&self, dir: &Path, line: &str, shows: &str) -> u64 {
        let id = self.kitty.launch(dir, &[]);
        self.kitty.shows(id, "$");
        self.kitty.send(id, &format!("{line}\r"));
        self.kitty.shows(id, shows);
        id
    }

    /// Says something to the agent of a window, so that its conversation is kept; gives its id.
    fn talk(&self, id: u64) -> String {
        self.kitty.send(id, &format!("word {id}\r"));
        let screen = self.kitty.shows(id, &format!("heard word {id}"));
        announced(&screen).unwrap_or_else(|| panic!("no id on\n{screen}"))
    }

    /// Saves under a name; the line of each window by its id.
    fn save(&self, name: &str) -> Saved {
        self.rig
            .kittymux_ok(Some(&self.kitty), &["sessions", "save", name]);
        Saved(SessionFile::read(
            &self.rig.saved(name),
            Origin::Person,
            &[],
        ))
    }

    /// Kills the kitty and restores the save in a new one.
    fn restore(self, name: &str) -> Self {
        let old = self.kitty.pid;
        let rig = self.rig;
        self.kitty.crash();
        rig.kittymux_ok(None, &["sessions", "restore", name]);
        let kitty = rig.new_kitty(old);
        Self { rig, kitty }
    }

    /// The window that asks for a conversation.
    fn asking(&self, sid: &str) -> u64 {
        until("the prompt's window", || {
            self.kitty
                .windows()
                .into_iter()
                .find(|w| w.var("kittymux_sid") == Some(sid))
        })
        .id
    }

    /// The words of the newest start of an agent, and its directory.
    fn last_start(&self) -> (Vec<String>, String) {
        let line = self.rig.starts().pop().expect("a start");
        let value = json::parse(line.as_bytes(), 1 << 20).expect("JSON");
        let words = match json::member(&value, "argv") {
            Some(JsonValue::Array(items)) => items
                .iter()
                .filter_map(|i| {
                    if let JsonValue::String(s) = i {
                        Some(s.clone())
                    } else {
                        None
                    }
                })
                .collect(),
            _ => Vec::new(),
        };
        (words, json::text_at(&value, "cwd").unwrap_or("").to_owned())
    }
}

/// A save, by window.
struct Saved(SessionFile);

impl Saved {
    fn line(&self, id: u64) -> &LaunchLine {
        self.0
            .launches()
            .find(|l| l.id() == Some(id))
            .unwrap_or_else(|| panic!("window {id} is not in the save"))
    }

    fn record(&self, id: u64) -> Record {
        let line = self.line(id);
        Record::read(record_text(line).unwrap_or_else(|| panic!("no record: {}", line.text())))
            .expect("a record")
    }
}

#[test]
fn the_process_decides_and_not_the_typed_line() {
    let scene = Scene::new();
    scene.rig.file(
        ".bashrc",
        "export FOO=1 PATH=$HOME/bin:$PATH PS1='$ '\nalias c='claude --model opus'\n",
    );
    let lines = [
        ("c", vec!["claude", "--model", "opus"]),
        (
            "mkdir -p sub && cd sub && claude --verbose",
            vec!["claude", "--verbose"],
        ),
        (
            "BAR=1 claude --model opus",
            vec!["claude", "--model", "opus"],
        ),
        (
            "claude --model opus | cat",
            vec!["claude", "--model", "opus"],
        ),
        ("claude --verbose; echo done", vec!["claude", "--verbose"]),
        (
            "bash -c 'claude --verbose; true'",
            vec!["claude", "--verbose"],
        ),
        (
            "timeout 900 claude 'a prompt' --verbose",
            vec!["claude", "--verbose"],
        ),
        ("(cd /; claude --verbose)", vec!["claude", "--verbose"]),
        (
            " claude --model 'typed with a blank before it'",
            vec!["claude", "--model", "typed with a blank before it"],
        ),
    ];
    let mut windows = Vec::new();
    for (n, (line, wanted)) in lines.iter().enumerate() {
        let id = scene.type_in(&scene.rig.dir(&format!("w{n}")), line, "(new)");
        windows.push((id, scene.talk(id), line, wanted));
    }
    let saved = scene.save("typed");
    for (id, sid, line, wanted) in windows {
        let record = saved.record(id);
        assert_eq!((record.mode, &record.sid), (Mode::Exact, &sid), "{line}");
        assert_eq!(record.orig, *wanted, "{line}");
        assert!(
            saved.line(id).startup().is_none(),
            "{line}: nothing is replayed"
        );
        assert_eq!(
            saved.line(id).program().get(1),
            Some(&"--rcfile"),
            "{line}: the shell comes back"
        );
    }
}

#[test]
fn every_argument_comes_back_exactly() {
    let nasty = [
        "blank s",
        "tab\there",
        "it's",
        "say \"x\"",
        "back\\slash",
        "a,b",
        "$HOME",
        "`id`",
        "*",
        "#no",
        ";",
        "&&",
        "{}",
        "~",
        "é日本😀",
        "new\nline",
        "sep\u{2028}sep",
        "$(id)",
        "''",
        "%s",
        "!x",
        "-",
        "a=b",
        "\u{1b}[31m",
    ];
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let mut words: Vec<&str> = vec![&claude];
    for word in &nasty {
        words.extend(["--append-system-prompt", word]);
    }
    let long = "x".repeat(20_000);
    words.extend(["--append-system-prompt", &long]);
    let id = scene.kitty.launch(&dir, &words);
    scene.kitty.shows(id, "(new)");
    let sid = scene.talk(id);
    let wanted: Vec<String> = words[1..].iter().map(|w| (*w).to_owned()).collect();
    let saved = scene.save("nasty");
    assert_eq!(saved.record(id).orig[1..], wanted[..]);
    let scene = scene.restore("nasty");
    let id = scene.asking(&sid);
    scene.kitty.shows(id, "Enter resume");
    std::thread::sleep(std::time::Duration::from_millis(250));
    scene.kitty.send(id, "\r");
    scene.kitty.shows(id, "(resumed)");
    let (got, _) = scene.last_start();
    let got: Vec<String> = got
        .into_iter()
        .skip(1)
        .filter(|w| *w != "--resume" && *w != sid)
        .collect();
    assert_eq!(got, wanted);
}

#[test]
fn the_conversation_is_resumed_where_it_lives() {
    let scene = Scene::new();
    let (dir, sub) = (scene.rig.dir("p"), scene.rig.dir("p/src"));
    let id = scene.type_in(&dir, "claude", "(new)");
    let sid = scene.talk(id);
    scene.kitty.send(id, "/exit\r");
    scene.kitty.shows(id, "$");
    scene
        .kitty
        .send(id, &format!("cd src && claude --resume {sid}\r"));
    scene.kitty.shows(id, "(resumed)");
    let record = scene.save("owner").record(id);
    assert_eq!(record.sid, sid);
    assert_eq!(
        record.cwd,
        dir.display().to_string(),
        "not {}",
        sub.display()
    );
}

#[test]
fn two_spellings_of_a_directory_are_one() {
    let scene = Scene::new();
    let real = scene.rig.dir("data/api");
    std::os::unix::fs::symlink(scene.rig.home().join("data"), scene.rig.home().join("code"))
        .expect("a link");
    let spelled = scene.rig.home().join("code/api");
    let one = scene.type_in(&spelled, "opencode", "(new)");
    let saved = scene.save("one");
    assert_eq!(
        saved.record(one).mode,
        Mode::Latest,
        "the only one may take the latest"
    );
    assert_eq!(
        saved.record(one).cwd,
        spelled.display().to_string(),
        "the spelling stays"
    );
    let two = scene.type_in(&real, "opencode", "(new)");
    let saved = scene.save("two");
    assert_eq!(
        (saved.record(one).mode, saved.record(two).mode),
        (Mode::New, Mode::New)
    );
}

#[test]
fn the_agents_own_config_directory_is_looked_into_and_carried() {
    let scene = Scene::new();
    let work = scene.rig.home().join(".claude-work");
    let id = scene.type_in(
        &scene.rig.dir("p"),
        &format!("CLAUDE_CONFIG_DIR={} claude", work.display()),
        "(new)",
    );
    let sid = scene.talk(id);
    let record = scene.save("work").record(id);
    assert_eq!((record.mode, &record.sid), (Mode::Exact, &sid));
    assert_eq!(
        record.env,
        [format!("CLAUDE_CONFIG_DIR={}", work.display())]
    );
    let scene = scene.restore("work");
    let id = scene.asking(&sid);
    scene.kitty.shows(id, "Enter resume");
    std::thread::sleep(std::time::Duration::from_millis(250));
    scene.kitty.send(id, "\r");
    scene.kitty.shows(id, &format!("{sid} (resumed)"));
}

#[test]
fn the_id_follows_clear_and_a_killed_agent_leaves_nothing_to_believe() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    let first = scene.talk(id);
    scene.kitty.send(id, "/clear\r");
    until("another id", || {
        announced(&scene.kitty.text(id)).filter(|s| *s != first)
    });
    let empty = scene.save("empty").record(id);
    assert_eq!(
        (empty.mode, empty.sid.as_str()),
        (Mode::New, ""),
        "nothing was said in the new one yet"
    );
    let second = scene.talk(id);
    assert_eq!(scene.save("second").record(id).sid, second);
    // Killed, it leaves its registry entry behind; another agent may get the window.
    scene.kitty.send(id, "/exit\r");
    scene.kitty.shows(id, "$");
    let saved = scene.save("gone");
    assert!(
        record_text(saved.line(id)).is_none(),
        "a plain shell: {}",
        saved.line(id).text()
    );
    assert_eq!(saved.line(id).var("kittymux_sid"), None);
}

#[test]
fn a_stopped_agent_is_still_the_windows() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("p"), "claude --model opus", "(new)");
    let sid = scene.talk(id);
    scene.kitty.send(id, "\x1a");
    until("the shell", || {
        let window = scene.kitty.window(id)?;
        (window.foreground_processes.len() == 1 && window.foreground_processes[0].pid == window.pid)
            .then_some(())
    });
    let record = scene.save("stopped").record(id);
    assert_eq!((record.mode, record.sid), (Mode::Exact, sid));
    assert!(
        scene
            .rig
            .kittymux_ok(Some(&scene.kitty), &["sessions", "list"])
            .contains(" stopped ")
    );
}

#[test]
fn helpers_remote_and_other_programs_are_left_as_they_are() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    scene
        .rig
        .file("bin/ssh", "#!/bin/bash\necho connected; sleep 1000\n");
    std::fs::set_permissions(
        scene.rig.home().join("bin/ssh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("chmod");
    let remote = scene.type_in(&dir, "ssh host -t claude", "connected");
    let print = scene.type_in(&dir, "sleep 1000 # claude -p x", "sleep");
    let saved = scene.save("others");
    for id in [remote, print] {
        assert!(
            record_text(saved.line(id)).is_none(),
            "{}",
            saved.line(id).text()
        );
    }
    // Kitties of other tests are listed too.
    let list = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "list", "--json"]);
    assert!(
        !list.contains(&format!("\"kitty\":{},", scene.kitty.pid)),
        "{list}"
    );
}

#[test]
fn a_secret_never_reaches_a_file() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let typed = scene.type_in(
        &dir,
        "claude --api-key sk-ant-SECRET1 --model opus",
        "(new)",
    );
    scene.talk(typed);
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let launched = scene.kitty.launch(
        &dir,
        &[
            &claude,
            "--mcp-config",
            "{\"env\":{\"KEY\":\"SECRET2\"}}",
            "--model",
            "opus",
        ],
    );
    scene.kitty.shows(launched, "(new)");
    scene.talk(launched);
    let saved = scene.save("secret");
    assert_eq!(saved.record(typed).orig, ["claude", "--model", "opus"]);
    assert_eq!(saved.record(typed).lost, ["--api-key"]);
    let state = scene.rig.home().join(".local/state/kittymux");
    let found = std::process::Command::new("grep")
        .args(["-rlE", "SECRET[12]"])
        .arg(&state)
        .output()
        .expect("grep");
    assert_eq!(
        String::from_utf8_lossy(&found.stdout),
        "",
        "no file of ours holds it"
    );
    let list = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "list"]);
    assert!(
        list.contains("left out for secrecy: --api-key") && !list.contains("SECRET"),
        "{list}"
    );
}

#[test]
fn overlays_held_windows_and_window_options_stay_what_they_are() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let base = scene.kitty.launch(&dir, &[]);
    let payload = |kind: &str| {
        Object::new()
            .text("type", kind)
            .text("cwd", &dir.display().to_string())
    };
    let overlay = scene
        .kitty
        .launch_with(payload("overlay").texts("args", &[&claude, "--verbose"]));
    let held = scene.kitty.launch_with(
        payload("tab")
            .texts("args", &[&claude, "--model", "opus"])
            .flag("hold", true),
    );
    let own = payload("tab")
        .texts("args", &[&claude])
        .texts("env", &["X=a\"b"])
        .texts("var", &["note=it's $HOME"])
        .text("window_title", "cost $5");
    let dressed = scene.kitty.launch_with(own);
    let mut sids = Vec::new();
    for id in [overlay, held, dressed] {
        scene.kitty.shows(id, "(new)");
        sids.push(scene.talk(id));
    }
    let saved = scene.save("forms");
    assert_eq!(saved.line(overlay).option("--type"), Some("overlay"));
    assert_eq!(saved.record(overlay).sid, sids[0]);
    assert!(record_text(saved.line(base)).is_none());
    assert!(
        saved.line(held).has("--hold") && saved.line(held).program().contains(&"resume-prompt"),
        "{}",
        saved.line(held).text()
    );
    assert_eq!(saved.record(held).sid, sids[1]);
    let line = saved.line(dressed);
    assert_eq!(
        (line.env("X"), line.var("note"), line.option("--title")),
        (Some("a\"b"), Some("it's $$HOME"), Some("cost $$5"))
    );
    let scene = scene.restore("forms");
    let window = scene.kitty.window(scene.asking(&sids[2])).expect("there");
    assert_eq!(
        window.user_vars.get("note").map(String::as_str),
        Some("it's $HOME")
    );
}
