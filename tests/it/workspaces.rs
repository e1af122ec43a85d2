//! Sessions as workspaces: made from templates, switched, renamed, deleted.

use crate::rig::{Kitty, Rig, until};
use crate::scene::Scene;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::Record;
use kittymux::resume::rewrite::record_text;

fn says(rig: &Rig, words: &[&str], code: i32, part: &str) {
    let done = rig.kittymux(None, words);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(code), "{words:?}: {done:?}");
    assert!(said.contains(part), "{words:?}: {said}");
}

/// PATH of the rig does not lead to its agents; a person's does.
fn new(rig: &Rig, words: &[&str]) -> std::process::Output {
    let path = format!("{}:/usr/bin:/bin", rig.home().join("bin").display());
    let words: Vec<&str> = ["sessions", "new"].iter().chain(words).copied().collect();
    rig.kittymux_with(None, &words, &[("PATH", &path)])
}

#[test]
fn every_template_is_filled_in_and_loads() {
    let rig = Rig::new("/bin/bash", true);
    let dir = rig.dir("my $NOPE's dir");
    let dir = dir.display().to_string();
    for template in ["plain", "agent", "duo", "review"] {
        let words = [
            template,
            "--template",
            template,
            "--agent",
            "claude",
            "--agent2",
            "codex",
            "--cwd",
            &dir,
        ];
        let done = new(&rig, &words);
        assert!(done.status.success(), "{done:?}");
        let text = rig.saved(template);
        let file = SessionFile::read(&text, Origin::Person, &[]);
        assert_eq!(file.refusal(), None);
        assert!(
            !text.contains('@') && text.contains("my $$NOPE's dir"),
            "{text}"
        );
    }
    // The directory and the agent are where they were asked for.
    let kitty = rig.start_kitty(&[]);
    let said = rig.kittymux_ok(Some(&kitty), &["sessions", "restore", "agent"]);
    assert!(said.contains("2 of 2 windows came back"), "{said}");
    // Its program is found by what the person's own start-up files say.
    until("claude", || {
        rig.starts().pop().filter(|s| s.contains("claude"))
    });
    let windows = kitty.windows();
    assert!(
        windows
            .iter()
            .filter(|w| w.cwd.as_deref() == Some(&dir))
            .count()
            == 2,
        "{windows:?}"
    );
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let rig = Rig::new("/bin/bash", true);
    for (words, part) in [
        (&["sessions", "new"][..], "needs a name"),
        (&["sessions", "new", "../evil"], "is no session name"),
        (&["sessions", "new", "startup"], "kittymux uses itself"),
        (
            &["sessions", "new", "a", "--template", "none"],
            "there is no template",
        ),
        (
            &["sessions", "new", "a", "--template", "agent"],
            "needs an agent",
        ),
        (&["sessions", "new", "a", "--agent", "x; rm"], "is known"),
        (
            &["sessions", "new", "a", "--agent", "opencode"],
            "is not installed",
        ),
        (
            &["sessions", "new", "a", "--cwd", "/nonexistent"],
            "is no directory",
        ),
        (
            &["sessions", "rename", "a"],
            "needs the old and the new name",
        ),
        (&["sessions", "delete"], "needs a name"),
    ] {
        says(&rig, words, 2, part);
    }
    for (words, part) in [
        (
            &["sessions", "rename", "a", "b"][..],
            "no save is called \"a\"",
        ),
        (&["sessions", "delete", "a"], "no save is called \"a\""),
    ] {
        says(&rig, words, 1, part);
    }
    assert!(!rig.state().join("sessions/a.kitty-session").exists());
}

#[test]
fn a_template_of_ones_own_comes_first_and_an_odd_one_is_refused() {
    let rig = Rig::new("/bin/bash", true);
    rig.file(
        ".config/kittymux/templates/plain.kitty-session",
        "# plain: mine\nnew_tab @NAME@\nlaunch --title=@NAME@ @SHELL@\n",
    );
    rig.file(
        ".config/kittymux/templates/odd.kitty-session",
        "launch @WHAT@\n",
    );
    let listed = rig.kittymux_ok(None, &["sessions", "templates"]);
    assert!(listed.contains("plain   mine  (yours)"), "{listed}");
    rig.kittymux_ok(None, &["sessions", "new", "one"]);
    assert_eq!(
        rig.saved("one"),
        "# plain: mine\nnew_tab one\nlaunch --title=one /bin/bash\n"
    );
    says(
        &rig,
        &["sessions", "new", "two", "--template", "odd"],
        2,
        "there is no mark @WHAT@",
    );
    says(
        &rig,
        &["sessions", "new", "ONE"],
        1,
        "there is a save \"one\" already",
    );
    says(&rig, &["sessions", "new", "one"], 1, "--force");
    rig.kittymux_ok(None, &["sessions", "new", "one", "--force"]);
    assert!(
        rig.state()
            .join("sessions/.previous/one.kitty-session")
            .exists()
    );
}

#[test]
fn a_save_is_renamed_and_deleted_to_where_it_can_be_had_back() {
    let rig = Rig::new("/bin/bash", true);
    for name in ["one", "other"] {
        rig.kittymux_ok(None, &["sessions", "new", name]);
    }
    let text = rig.saved("one");
    says(
        &rig,
        &["sessions", "rename", "one", "other"],
        1,
        "there is a save \"other\" already",
    );
    rig.kittymux_ok(None, &["sessions", "rename", "one", "two"]);
    assert_eq!(rig.saved("two"), text);
    let said = rig.kittymux_ok(None, &["sessions", "delete", "two"]);
    let path = said.rsplit("restore ").next().expect("a path").trim();
    let kitty = rig.start_kitty(&[]);
    let said = rig.kittymux_ok(Some(&kitty), &["sessions", "restore", path]);
    assert!(said.contains("2 of 2 windows came back"), "{said}");
    let listed = rig.kittymux_ok(None, &["sessions", "restore", "--json"]);
    assert!(
        !listed.contains("\"two\"") && listed.contains("\"other\""),
        "{listed}"
    );
}

fn visible(kitty: &Kitty) -> String {
    let tree = kitty.tree();
    let tab = tree[0].tabs.iter().find(|t| t.is_active).expect("a tab");
    tab.windows[0].session_name.clone().unwrap_or_default()
}

fn switch(scene: &Scene, words: &[&str]) -> String {
    let words: Vec<&str> = ["sessions", "switch"]
        .iter()
        .chain(words)
        .copied()
        .collect();
    scene.rig.kittymux_ok(Some(&scene.kitty), &words)
}

#[test]
fn a_switch_saves_what_is_left_and_keeps_it_alive() {
    let rig = Rig::new("/bin/bash", true);
    for name in ["one", "two"] {
        rig.kittymux_ok(None, &["sessions", "new", name]);
    }
    let kitty = rig.start_kitty(&[]);
    let scene = Scene { rig, kitty };
    let before = scene.kitty.windows().len();
    let said = switch(&scene, &["one"]);
    assert_eq!(said, "opened one: 2 of 2 windows came back\n");
    assert_eq!(visible(&scene.kitty), "one");
    // An agent in it, then away: it is in the save of that session, and nothing else is.
    let dir = scene.rig.dir("p");
    let window = scene
        .kitty
        .windows()
        .into_iter()
        .find(|w| w.session_name.as_deref() == Some("one"))
        .expect("a window");
    scene.kitty.shows(window.id, "$");
    scene
        .kitty
        .send(window.id, &format!("cd {} && claude\r", dir.display()));
    scene.kitty.shows(window.id, "(new)");
    let sid = scene.talk(window.id);
    let said = switch(&scene, &["two"]);
    assert_eq!(said, "saved one; opened two: 2 of 2 windows came back\n");
    assert_eq!(visible(&scene.kitty), "two");
    let file = SessionFile::read(&scene.rig.saved("one"), Origin::Person, &[]);
    assert_eq!(file.launches().count(), 2);
    let records: Vec<Record> = file
        .launches()
        .filter_map(record_text)
        .map(|t| Record::read(t).expect("a record"))
        .collect();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].sid, sid);
    // Nothing was started anew by going back.
    let said = switch(&scene, &["--previous"]);
    assert_eq!(said, "saved two; went to one\n");
    until("the first one", || {
        (visible(&scene.kitty) == "one").then_some(())
    });
    scene.kitty.shows(window.id, &sid);
    assert_eq!(scene.kitty.windows().len(), before + 4);
    switch(&scene, &["--next"]);
    until("the second one", || {
        (visible(&scene.kitty) == "two").then_some(())
    });
    let here = switch(&scene, &["two"]);
    assert_eq!(here, "two is here already\n");
    let none = scene
        .rig
        .kittymux(Some(&scene.kitty), &["sessions", "switch", "none"]);
    assert_eq!(none.status.code(), Some(1), "{none:?}");
    assert_eq!(visible(&scene.kitty), "two");
}

#[test]
fn a_workspace_without_a_name_gets_none() {
    let rig = Rig::new("/bin/bash", true);
    rig.kittymux_ok(None, &["sessions", "new", "one"]);
    let kitty = rig.start_kitty(&[]);
    let scene = Scene { rig, kitty };
    assert_eq!(
        switch(&scene, &["one"]),
        "opened one: 2 of 2 windows came back\n"
    );
    let names: Vec<String> = std::fs::read_dir(scene.rig.state().join("sessions"))
        .expect("there")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| !n.starts_with('.') && n != "startup.kitty-session")
        .collect();
    assert_eq!(names, ["one.kitty-session"]);
    let outside = scene.rig.kittymux(None, &["sessions", "switch", "one"]);
    assert_eq!(outside.status.code(), Some(1), "{outside:?}");
}
