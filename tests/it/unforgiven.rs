//! What a person would not forgive: a prompt sent again, a conversation opened twice or lost, a save
//! that hides behind another.

use crate::rig::{announced, until};
use crate::scene::Scene;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::Mode;
use kittymux::resume::rewrite::record_text;

#[test]
fn a_run_without_a_screen_is_never_started_again() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    // Names of agents that only wait: what counts is the line.
    for name in ["claude", "codex"] {
        std::fs::remove_file(scene.rig.home().join(format!("bin/{name}"))).expect("removed");
        let path = scene.rig.file(
            &format!("bin/{name}"),
            "#!/bin/bash\necho runs; sleep 1000\n",
        );
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("chmod");
    }
    let lines = [
        "claude -p 'deploy to production'",
        "codex exec 'drop the database'",
        "setsid -w claude 'force push'",
        "cd / && claude mcp serve",
        "bash -c 'claude -p again'",
    ];
    let mut windows: Vec<u64> = lines
        .iter()
        .map(|line| scene.type_in(&dir, line, "runs"))
        .collect();
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    windows.push(scene.kitty.launch(&dir, &[&claude, "-p", "deploy again"]));
    scene.rig.dir("p/codex");
    let others = [
        "echo other runs; sleep 987",
        "cd codex && echo other runs; sleep 986",
        "echo other runs claude codex; sleep 985",
    ]
    .map(|line| scene.type_in(&dir, line, "other runs"));
    let saved = scene.save("one");
    for id in windows {
        let line = saved.line(id);
        assert!(
            line.startup().is_none() && line.program().is_empty(),
            "{}",
            line.text()
        );
    }
    for id in others {
        assert!(
            saved.line(id).startup().is_some(),
            "any other program is as kitty saves it: {}",
            saved.line(id).text()
        );
    }
    let shown = scene
        .rig
        .kittymux_ok(None, &["sessions", "restore", "--dry-run", "one"]);
    assert!(
        shown.contains("shell, runs: echo other runs; sleep 987") && !shown.contains("deploy"),
        "{shown}"
    );
}

#[test]
fn a_printed_mark_hides_no_agent_from_a_save() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("p"), "claude", "(new)");
    let sid = scene.talk(id);
    scene.kitty.set_vars(id, &[("kittymux_utility", "1")]);
    assert_eq!(scene.save("one").record(id).sid, sid);
}

#[test]
fn saves_without_a_name_do_not_replace_each_other() {
    let scene = Scene::new();
    for _ in 0..3 {
        scene
            .rig
            .kittymux_ok(Some(&scene.kitty), &["sessions", "save"]);
    }
    let sessions = scene.rig.home().join(".local/state/kittymux/sessions");
    let saves = std::fs::read_dir(sessions)
        .expect("listed")
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().starts_with("saved-"))
        .count();
    assert_eq!(saves, 3);
    scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "save", "named"]);
    let said = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "save", "named"]);
    assert!(said.contains("kept in sessions/.previous"), "{said}");
}

#[test]
fn a_conversation_whose_directory_is_gone_is_resumed_where_the_agent_is() {
    let scene = Scene::new();
    let (old, new) = (scene.rig.dir("worktree"), scene.rig.dir("main"));
    let id = scene.type_in(&old, "claude", "(new)");
    let sid = scene.talk(id);
    scene.kitty.leave(id);
    scene.kitty.send(
        id,
        &format!(
            "cd {} && rm -r {} && claude --resume {sid}\r",
            new.display(),
            old.display()
        ),
    );
    scene.kitty.shows(id, "(resumed)");
    let record = scene.save("one").record(id);
    assert_eq!((record.sid, record.cwd), (sid, new.display().to_string()));
}

#[test]
fn two_prompts_for_one_conversation_are_saved_as_one() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("p"), "claude", "(new)");
    let sid = scene.talk(id);
    scene.save("one");
    let text = scene.rig.saved("one");
    let path = scene.rig.file("two.kitty-session", &text);
    let scene = scene.restore("one");
    scene.kitty.shows(scene.asking(&sid), "Enter resume");
    scene.rig.kittymux_ok(
        Some(&scene.kitty),
        &["sessions", "restore", &path.display().to_string()],
    );
    until("the second prompt", || {
        (scene
            .kitty
            .windows()
            .iter()
            .filter(|w| w.var("kittymux_wait").is_some())
            .count()
            == 2)
            .then_some(())
    });
    scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "save", "--all", "both"]);
    let file = SessionFile::read(&scene.rig.saved("both"), Origin::Person, &[]);
    let exact = file
        .launches()
        .filter_map(record_text)
        .filter(|t| t.contains("\"exact\""))
        .count();
    assert_eq!(exact, 1, "{}", file.text());
}

#[test]
fn direct_keeps_the_account_and_opens_nothing_twice() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let work = scene.rig.home().join(".claude-work").display().to_string();
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let payload = kittymux::sys::json::Object::new()
        .text("type", "tab")
        .text("cwd", &dir.display().to_string());
    let id = scene.kitty.launch_with(
        payload
            .texts("args", &[&claude])
            .texts("env", &[format!("CLAUDE_CONFIG_DIR={work}")]),
    );
    scene.kitty.shows(id, "(new)");
    let sid = scene.talk(id);
    scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "save", "--direct", "one"]);
    let text = scene
        .rig
        .saved("one")
        .replace(&format!("--env=CLAUDE_CONFIG_DIR={work} "), "");
    let path = scene.rig.file("again.kitty-session", &text);
    let scene = scene.restore("one");
    scene
        .kitty
        .shows(scene.asking(&sid), &format!("{sid} (resumed)"));
    scene.rig.kittymux_ok(
        Some(&scene.kitty),
        &["sessions", "restore", &path.display().to_string()],
    );
    until("the second window", || {
        scene
            .kitty
            .windows()
            .into_iter()
            .filter(|w| w.var("kittymux_sid") == Some(&sid))
            .find(|w| scene.kitty.text(w.id).contains("was opened meanwhile"))
    });
    assert_eq!(
        scene
            .rig
            .starts()
            .iter()
            .filter(|s| s.contains("--resume"))
            .count(),
        1,
        "started once"
    );
}

#[test]
fn an_agents_latest_is_not_opened_beside_one_that_runs() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "opencode", "(new)");
    scene.kitty.send(id, "hello\r");
    announced(&scene.kitty.shows(id, "heard hello")).expect("an id");
    assert_eq!(scene.save("one").record(id).mode, Mode::Latest);
    scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "restore", "one"]);
    let asking = until("its prompt", || {
        scene
            .kitty
            .windows()
            .into_iter()
            .find(|w| w.var("kittymux_wait").is_some())
    })
    .id;
    scene.kitty.shows(asking, "open elsewhere");
}
