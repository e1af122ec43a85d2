//! The other agents from end to end: each conversation is found, saved and resumed.

use kittymux::resume::record::Mode;

use crate::scene::Scene;

/// Agents that say of themselves, or whose store says, which conversation they have.
const FOUND: [(&str, &str); 8] = [
    ("pi", "--verbose"),
    ("omp", "--no-lsp"),
    ("qwen", "--yolo"),
    ("copilot", "--banner"),
    ("droid", "--use-spec"),
    ("gemini", "--debug"),
    ("vibe", "--trust"),
    ("qodercli", "--debug"),
];

#[test]
fn every_agent_comes_back_on_its_own_conversation() {
    let scene = Scene::new();
    let mut sids = Vec::new();
    for (name, flag) in FOUND {
        scene.rig.agent(&format!("bin/{name}"));
        let dir = scene.rig.dir(&format!("code/{name}"));
        let id = scene.type_in(&dir, &format!("{name} {flag}"), "(new)");
        sids.push((id, scene.talk(id)));
    }
    let listed = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "list"]);
    let saved = scene.save("all");
    for ((id, sid), (name, flag)) in sids.iter().zip(FOUND) {
        let record = saved.record(*id);
        assert_eq!(
            (record.mode, &record.sid),
            (Mode::Exact, sid),
            "{name}\n{listed}"
        );
        // pi's own options cannot be known, and none is invented.
        let words: Vec<&str> = record.orig.iter().map(String::as_str).collect();
        let expected: &[&str] = if name == "pi" { &["pi"] } else { &[name, flag] };
        assert_eq!(words, expected);
    }
    let gone = "the options it was started with are gone";
    assert_eq!(listed.matches(gone).count(), 1, "{listed}");
    let scene = scene.restore("all");
    for (_, sid) in &sids {
        let id = scene.asking(sid);
        scene.resume(id, sid);
    }
}

#[test]
fn one_that_nobody_ran_needs_to_be_asked_once() {
    let scene = Scene::new();
    scene.rig.agent("bin/devin");
    let dir = scene.rig.dir("code/api");
    let id = scene.type_in(&dir, "devin", "(new)");
    let sid = scene.talk(id);
    let record = scene.save("before").record(id);
    assert_eq!((record.mode, record.sid.as_str()), (Mode::New, ""));
    let listed = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "list"]);
    assert!(
        listed.contains("run kittymux sessions check devin"),
        "{listed}"
    );
    let mut check = scene.rig.command(&scene.rig.dir("tools").join("kittymux"));
    let path = format!("{}:/usr/bin:/bin", scene.rig.home().join("bin").display());
    check.env("PATH", path).args(["sessions", "check", "devin"]);
    let output = check.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let record = scene.save("after").record(id);
    assert_eq!((record.mode, record.sid), (Mode::Exact, sid));
}

/// `/clear` makes another conversation under the same process.
#[test]
fn what_is_cleared_is_not_resumed() {
    let scene = Scene::new();
    let mut windows = Vec::new();
    for name in ["qwen", "vibe", "omp"] {
        scene.rig.agent(&format!("bin/{name}"));
        let dir = scene.rig.dir(&format!("code/{name}"));
        let id = scene.type_in(&dir, name, "(new)");
        let first = scene.talk(id);
        scene.kitty.send(id, "/clear\r");
        let second = scene.talk(id);
        assert_ne!(first, second, "{name}");
        windows.push((id, second, name));
    }
    let saved = scene.save("cleared");
    for (id, sid, name) in windows {
        assert_eq!(saved.record(id).sid, sid, "{name}");
    }
}

/// Two windows of one agent in one directory: each has its own, or a new one, never the other's.
#[test]
fn two_windows_in_one_directory_do_not_share() {
    let scene = Scene::new();
    for name in ["qwen", "droid"] {
        scene.rig.agent(&format!("bin/{name}"));
    }
    let dir = scene.rig.dir("code/api");
    let pair = |name: &str| {
        [(); 2].map(|()| {
            let id = scene.type_in(&dir, name, "(new)");
            (id, scene.talk(id))
        })
    };
    let (qwen, droid) = (pair("qwen"), pair("droid"));
    let saved = scene.save("pairs");
    for (id, sid) in qwen {
        assert_eq!(saved.record(id).sid, sid, "a record of its own");
    }
    for (id, _) in droid {
        assert_eq!(saved.record(id).mode, Mode::New, "nothing tells them apart");
    }
}
