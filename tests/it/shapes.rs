//! What a window can be, and what becomes of it: typed lines of every kind, directories, config
//! directories, hostile arguments, overlays, stopped jobs.

use crate::rig::until;
use crate::scene::Scene;
use kittymux::resume::record::Mode;
use kittymux::resume::rewrite::record_text;
use kittymux::sys::json::Object;

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
