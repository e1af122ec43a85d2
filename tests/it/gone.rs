//! What is not there any more when a save is restored: a shell, a directory, the agent, a PATH.

use std::path::PathBuf;

use crate::rig::{Kitty, Rig, announced, has_shell, until};
use crate::scene::Scene;
use kittymux::kitty::tree::Window;
use kittymux::sys::proc;

/// A copy of a shell below home, which a test can take away.
fn copy(rig: &Rig, shell: &str) -> PathBuf {
    let name = shell.rsplit('/').next().expect("a name");
    let path = rig.dir("shells").join(name);
    std::fs::copy(shell, &path).expect("copied");
    path
}

/// Starts claude in a window and says a word; its session id.
fn talk(kitty: &Kitty, id: u64, claude: &str) -> String {
    until("a prompt", || {
        kitty
            .text(id)
            .trim_end()
            .ends_with(['$', '#', '%', '>'])
            .then_some(())
    });
    kitty.send(id, &format!("{claude} --model opus\r"));
    kitty.shows(id, "(new)");
    kitty.send(id, "hello\r");
    announced(&kitty.shows(id, "heard hello")).expect("an id")
}

/// Kills and restores; the kitty, and what was said on stderr.
fn restore(rig: &Rig, kitty: Kitty, name: &str) -> (Kitty, String) {
    let old = kitty.pid;
    kitty.crash();
    let output = rig.kittymux(None, &["sessions", "restore", name]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (rig.new_kitty(old), said)
}

fn asking(kitty: &Kitty, sid: &str) -> u64 {
    until("its window", || {
        let mut windows = kitty.windows().into_iter();
        windows.find(|w| w.var("kittymux_sid") == Some(sid))
    })
    .id
}

fn resume(kitty: &Kitty, id: u64, sid: &str) {
    kitty.shows(id, "Enter resume");
    std::thread::sleep(std::time::Duration::from_millis(250));
    kitty.send(id, "\r");
    kitty.shows(id, &format!("{sid} (resumed)"));
}

/// Whether the window's own program is what is in front, and nothing else.
fn is_in_front(window: &Window) -> bool {
    let front = &window.foreground_processes;
    front.len() == 1 && front[0].pid == window.pid
}

fn program_of(window: &Window) -> String {
    window
        .pid
        .and_then(|pid| proc::exe(pid).found())
        .unwrap_or_default()
}

#[test]
fn a_shell_that_moved_is_found_by_its_name() {
    for shell in ["/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"] {
        if !has_shell(shell) {
            continue;
        }
        let rig = Rig::new("/bin/dash", true);
        let path = copy(&rig, shell);
        let words = [path.display().to_string()];
        let kitty = rig.start_kitty(&[]);
        let id = kitty.launch(&rig.dir("p"), &[&words[0]]);
        kitty.launch(&rig.dir("p"), &[&words[0]]);
        let claude = rig.home().join("bin/claude").display().to_string();
        let sid = talk(&kitty, id, &claude);
        rig.kittymux_ok(Some(&kitty), &["sessions", "save", "one"]);
        std::fs::remove_file(&path).expect("removed");
        let (kitty, said) = restore(&rig, kitty, "one");
        assert!(
            said.contains(&format!(
                "{} is not here any more: 2 windows open",
                words[0]
            )),
            "{said}"
        );
        let id = asking(&kitty, &sid);
        resume(&kitty, id, &sid);
        let start = rig.starts().pop().expect("a start");
        assert!(start.contains("\"FOO\":\"1\""), "its files: {start}");
        kitty.send(id, "/exit\r");
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        until("both to be that shell", || {
            let windows = kitty.windows();
            let those = windows
                .iter()
                .filter(|w| program_of(w).ends_with(&format!("/{name}")));
            (those.count() == 2).then_some(())
        });
    }
}

#[test]
fn a_shell_that_is_gone_is_the_persons_own_and_still_asks() {
    let rig = Rig::new("/bin/bash", true);
    // A stand-in for nushell: no other of its name is on PATH.
    let nu = rig.agent("shells/nu").display().to_string();
    let kitty = rig.start_kitty(&[]);
    let id = kitty.launch(&rig.dir("p"), &[&nu]);
    let plain = kitty.launch(&rig.dir("p"), &[&nu]);
    let claude = rig.home().join("bin/claude").display().to_string();
    let sid = talk(&kitty, id, &claude);
    kitty.shows(plain, "nu>");
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "one"]);
    std::fs::remove_file(&nu).expect("removed");
    let (kitty, said) = restore(&rig, kitty, "one");
    assert!(
        said.contains(&format!("{nu} is not here any more: 2 windows open with "))
            && said.contains("/bash instead"),
        "{said}"
    );
    let id = asking(&kitty, &sid);
    resume(&kitty, id, &sid);
    let start = rig.starts().pop().expect("a start");
    assert!(start.contains("\"FOO\":\"1\""), "its files: {start}");
    kitty.send(id, "/exit\r");
    until("all to be bash", || {
        let windows = kitty.windows();
        windows
            .iter()
            .all(|w| program_of(w).ends_with("/bash") && is_in_front(w))
            .then_some(())
    });
    // It is that shell's from now on.
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "two"]);
    assert!(!rig.saved("two").contains(&nu), "{}", rig.saved("two"));
}

#[test]
fn without_its_directory_a_window_opens_above_it_and_keeps_its_question() {
    let scene = Scene::new();
    let dir = scene.rig.dir("work/gone/$deep");
    let typed = scene.type_in(&dir, "claude", "(new)");
    let in_shell = scene.talk(typed);
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let own = scene.kitty.launch(&dir, &[&claude]);
    scene.kitty.shows(own, "(new)");
    let program = scene.talk(own);
    scene.kitty.launch(&dir, &[]);
    scene.save("one");
    std::fs::remove_dir_all(scene.rig.home().join("work/gone")).expect("removed");
    let Scene { rig, kitty } = scene;
    let (kitty, said) = restore(&rig, kitty, "one");
    let above = rig.home().join("work").display().to_string();
    assert!(
        said.contains(&format!(
            "{} is not there any more: its windows open in {above}\n",
            dir.display()
        )),
        "{said}"
    );
    let asks = [&in_shell, &program].map(|sid| {
        let id = asking(&kitty, sid);
        kitty.shows(id, "its directory is not there any more");
        id
    });
    let there = kitty
        .windows()
        .iter()
        .filter(|w| w.cwd.as_deref() == Some(&above))
        .count();
    assert_eq!(there, 3, "all of them");
    // Nothing is lost by a save now: once the directory is back, the conversation is.
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "two"]);
    std::fs::create_dir_all(&dir).expect("made");
    for id in asks {
        kitty.send(id, "s");
    }
    let (kitty, said) = restore(&rig, kitty, "two");
    assert_eq!(said, "");
    for sid in [&in_shell, &program] {
        resume(&kitty, asking(&kitty, sid), sid);
    }
    let places: Vec<bool> = rig.starts()[2..]
        .iter()
        .map(|s| s.contains("work/gone/$deep"))
        .collect();
    assert_eq!(places, [true, true]);
}

#[test]
fn an_agent_that_is_gone_is_a_shell_and_a_line_and_a_poorer_path_is_no_matter() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let typed = scene.type_in(&dir, "claude", "(new)");
    let in_shell = scene.talk(typed);
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let own = scene.kitty.launch(&dir, &[&claude]);
    scene.kitty.shows(own, "(new)");
    let program = scene.talk(own);
    scene.save("one");
    // No start-up file puts the agent's directory on PATH now.
    scene.rig.file(".bashrc", "PS1='$ '\n");
    let mut scene = scene.restore("one");
    for sid in [&in_shell, &program] {
        resume(&scene.kitty, asking(&scene.kitty, sid), sid);
    }
    // And now there is no agent at all.
    std::fs::remove_file(&claude).expect("removed");
    let asks = |scene: &Scene| {
        [&in_shell, &program].map(|sid| {
            let id = asking(&scene.kitty, sid);
            scene.kitty.shows(id, "i commands");
            id
        })
    };
    scene = scene.restore("one");
    let ids = asks(&scene);
    std::thread::sleep(std::time::Duration::from_millis(250));
    for id in ids {
        scene.kitty.send(id, "\r");
        scene
            .kitty
            .shows(id, "is not installed here, or not on PATH");
        until("a shell", || {
            let window = scene.kitty.window(id)?;
            (program_of(&window).ends_with("/bash") && is_in_front(&window)).then_some(())
        });
    }
    // The save still has both.
    scene.rig.agent("bin/claude");
    let scene = scene.restore("one");
    for sid in [&in_shell, &program] {
        resume(&scene.kitty, asking(&scene.kitty, sid), sid);
    }
}
