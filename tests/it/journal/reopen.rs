//! `sessions reopen`.

use super::{close, file, history, leave};
use crate::hook::switch_on;
use crate::rig::{Kitty, Rig, has_shell, until};
use crate::scene::Scene;
use kittymux::kitty::tree;

/// Runs `reopen`; what it said on either stream, and its exit code.
fn reopen(rig: &Rig, kitty: Option<&Kitty>, key: &[&str]) -> (i32, String) {
    let output = rig.kittymux(kitty, &[&["sessions", "reopen"], key].concat());
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code().expect("ended"),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

/// The window in which the conversation was resumed.
fn resumed(kitty: &Kitty, sid: &str) -> u64 {
    until("the resumed conversation", || {
        let shows = format!("conversation {sid} (resumed)");
        let mut windows = kitty.windows().into_iter();
        windows.find(|w| kitty.text(w.id).replace('\n', "").contains(&shows))
    })
    .id
}

#[test]
fn the_last_one_comes_first_and_once_more_the_one_before() {
    let scene = Scene::new();
    let mut sids = Vec::new();
    for name in ["work/a", "work/b b$X"] {
        let id = scene.type_in(&scene.rig.dir(name), "claude --model opus", "(new)");
        sids.push(scene.talk(id));
        scene.save("work");
        leave(&scene.kitty, id);
        close(&scene.kitty, id);
        // Closed is when it was seen to be.
        scene.save("work");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let left = scene.type_in(&scene.rig.dir("work/c"), "claude", "(new)");
    let gone_on = scene.talk(left);
    scene.save("work");
    scene.kitty.send(left, "/clear\r");
    scene.talk(left);
    let (rig, kitty) = (&scene.rig, &scene.kitty);
    let starts = rig.starts().len();
    for sid in sids.iter().rev() {
        // Twice at once: the second call comes before the first one's agent is there.
        let (code, said) = reopen(rig, Some(kitty), &[]);
        assert_eq!(code, 0, "{said}");
        assert!(
            said.starts_with(&format!("reopened claude {} in ~/work/", &sid[..8])),
            "{said}"
        );
    }
    for (sid, name) in sids.iter().zip(["work/a", "work/b b$X"]) {
        let id = resumed(kitty, sid);
        let tree = kitty.tree();
        let place = tree::windows(&tree).find(|p| p.window.id == id);
        assert_eq!(
            place.expect("there").tab.windows.len(),
            1,
            "a tab of its own"
        );
        // It runs in the person's shell, with their start-up files, in its directory.
        leave(kitty, id);
        kitty.send(id, "echo at=$PWD FOO=$FOO.\r");
        kitty.shows(
            id,
            &format!("at={} FOO=1.", rig.home().join(name).display()),
        );
    }
    let argv: Vec<bool> = rig.starts()[starts..]
        .iter()
        .map(|l| l.contains("--resume") && l.contains("\"--model\",\"opus\""))
        .collect();
    assert_eq!(argv, [true, true], "each was started once");
    // What was left inside comes after those; the two are closed again.
    let (_, said) = reopen(rig, Some(kitty), &[]);
    assert!(!said.contains(&gone_on[..8]), "{said}");
    let (_, said) = reopen(rig, Some(kitty), &[]);
    assert!(!said.contains(&gone_on[..8]), "{said}");
    let (_, said) = reopen(rig, Some(kitty), &[]);
    assert!(said.contains(&gone_on[..8]), "{said}");
    let (code, said) = reopen(rig, Some(kitty), &[]);
    assert_eq!(
        (code, said.as_str()),
        (0, "nothing to reopen: no conversation was closed\n")
    );
}

#[test]
fn a_window_that_was_its_agent_comes_back_without_a_save_between() {
    let scene = Scene::new();
    switch_on(&scene.rig, "");
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let id = scene.kitty.launch(&scene.rig.dir("work"), &[&claude]);
    scene.kitty.shows(id, "(new)");
    let sid = scene.talk(id);
    // Never looked at: the hook alone told of it.
    scene.kitty.send(id, "/exit\r");
    until("the window to close", || {
        scene.kitty.window(id).is_none().then_some(())
    });
    let (code, said) = reopen(&scene.rig, Some(&scene.kitty), &[]);
    assert_eq!(code, 0, "{said}");
    resumed(&scene.kitty, &sid);
    assert_eq!(history(&scene.rig, &[]).len(), 1);
}

#[test]
fn by_the_beginning_of_its_id() {
    let scene = Scene::new();
    let mut sids = Vec::new();
    for name in ["work/a", "work/b"] {
        let id = scene.type_in(&scene.rig.dir(name), "claude", "(new)");
        sids.push(scene.talk(id));
        scene.save("work");
        leave(&scene.kitty, id);
    }
    scene.save("work");
    let (rig, kitty) = (&scene.rig, &scene.kitty);
    // The same beginning, for one that has none in common by chance.
    let text = std::fs::read_to_string(file(rig)).expect("a journal");
    let twin = text.replace(&sids[1], &format!("{}-other", &sids[0][..9]));
    std::fs::write(file(rig), twin).expect("written");
    for (key, why) in [
        ("zz", "no session id begins with \"zz\"; there is: claude "),
        ("", "no session id begins with \"\""),
        (&sids[0][..8], "several session ids begin with "),
        ("a\u{1b}", "no session id begins with \"a\\u{1b}\""),
    ] {
        let (code, said) = reopen(rig, Some(kitty), &[key]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(why) && said.contains(&sids[0][..8]), "{said}");
    }
    let (code, said) = reopen(rig, Some(kitty), &[&sids[0]]);
    assert_eq!(code, 0, "{said}");
    resumed(kitty, &sids[0]);
    let (code, said) = reopen(rig, Some(kitty), &[&sids[0]]);
    assert!(
        code == 1 && said.contains("cannot be reopened: it is open in window"),
        "{said}"
    );
    let (code, said) = reopen(rig, None, &[]);
    assert_eq!(code, 1);
    assert!(
        said.lines().count() == 1 && said.contains("run this inside kitty"),
        "{said}"
    );
}

#[test]
fn a_tab_comes_back_where_paths_hold_a_variables_name() {
    if !has_shell("/bin/zsh") {
        return;
    }
    let rig = Rig::in_home("it's $HOME b", "/bin/zsh", true);
    let kitty = rig.start_kitty(&[]);
    let claude = rig.home().join("bin/claude").display().to_string();
    let id = kitty.launch(&rig.dir("run"), &[&claude]);
    let scene = Scene { rig, kitty };
    scene.kitty.shows(id, "(new)");
    let sid = scene.talk(id);
    scene.save("work");
    scene.kitty.send(id, "/exit\r");
    until("the window to close", || {
        scene.kitty.window(id).is_none().then_some(())
    });
    // kitty finds our start-up file by the environment, which has the path of the home in it.
    let km = scene.rig.dir("tools").join("kittymux");
    let mut command = scene.rig.command(&km);
    command
        .args(["sessions", "reopen"])
        .env("SHELL", "/bin/zsh")
        .env("KITTY_LISTEN_ON", scene.kitty.address.to_string())
        .env("KITTY_PID", scene.kitty.pid.to_string());
    let output = command.output().expect("kittymux runs");
    assert!(output.status.success(), "{output:?}");
    let id = resumed(&scene.kitty, &sid);
    leave(&scene.kitty, id);
    scene.kitty.send(id, "echo FOO=$FOO, Z=${ZDOTDIR-}.\r");
    scene.kitty.shows(id, "FOO=1, Z=.");
}
