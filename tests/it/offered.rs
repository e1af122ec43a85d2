//! Which desk is offered, and which is *last*: one that was left, whatever else lies beside it.

use crate::autosave::{own_save, sids, startup, text, windows};
use crate::exit::left;
use crate::rig::{Kitty, Rig, is_real, until};
use crate::scene::Scene;
use kittymux::kitty::tree::Window;
use kittymux::sys::lock::Lock;
use kittymux::sys::private_file::PrivateDir;
use kittymux::sys::proc;
use kittymux::sys::token::fingerprint;

/// Crashes a kitty with a desk of its own name, so that it is left; gives the rig.
fn left_desk(rig: Rig, dir: &str, at: i64) -> Rig {
    let kitty = rig.start_kitty(&[]);
    let id = kitty.launch(&rig.dir(dir), &[]);
    kitty.shows(id, "$");
    rig.tick(at);
    rig.tick(at + 21);
    kitty.crash();
    rig.tick(at + 25);
    rig
}

#[test]
fn one_that_went_after_another_was_brought_back_is_offered_too() {
    let rig = Rig::new("/bin/bash", true);
    let older = rig.start_kitty(&[]);
    older.launch(&rig.dir("older"), &[]);
    rig.tick(0);
    rig.tick(21);
    let rig = left_desk(rig, "newer", 100);
    assert!(startup(&rig).contains("/newer"), "{}", startup(&rig));
    let taker = rig.start_kitty(&[]);
    rig.kittymux_ok(Some(&taker), &["sessions", "restore", "last"]);
    assert_eq!(windows(&startup(&rig)), 0);
    older.crash();
    rig.tick(200);
    assert!(startup(&rig).contains("/older"), "{}", startup(&rig));
}

#[test]
fn a_desk_that_cannot_be_loaded_hides_no_other() {
    let rig = left_desk(Rig::new("/bin/bash", true), "one", 0);
    let rig = left_desk(rig, "two", 100);
    let sessions = rig.state().join("sessions");
    let damaged = std::fs::read_dir(&sessions)
        .expect("there")
        .flatten()
        .map(|e| e.path())
        .find(|p| {
            text(p).contains("/two")
                && p.file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("autosave-"))
        })
        .expect("the newer one");
    let first_line = text(&damaged).lines().next().expect("a line").to_owned();
    std::fs::write(&damaged, first_line + "\nlaunch --bogus\n").expect("written");
    let later = [("KITTYMUX_BOOT_SHIFT", "200")];
    let tick = rig.kittymux_with(None, &["--tick"], &later);
    assert!(tick.status.success(), "{tick:?}");
    assert!(startup(&rig).contains("/one"), "{}", startup(&rig));
    let said = rig.kittymux_ok(None, &["sessions", "restore", "--dry-run", "last"]);
    assert!(said.contains("/one"), "{said}");
}

#[test]
fn a_copy_that_a_person_made_is_theirs() {
    let mut rig = left_desk(Rig::new("/bin/bash", true), "one", 0);
    let sessions = rig.state().join("sessions");
    let own = sessions.join("autosave-keep.kitty-session");
    let any = std::fs::read_dir(&sessions)
        .expect("there")
        .flatten()
        .map(|e| e.path())
        .find(|p| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("autosave-"))
        })
        .expect("a desk");
    std::fs::copy(any, &own).expect("copied");
    for n in 1..7 {
        rig = left_desk(rig, &format!("d{n}"), n * 100);
    }
    assert!(own.exists());
    let desks = std::fs::read_dir(&sessions).expect("there").flatten();
    let desks = desks.filter(|e| {
        let name = e.file_name().to_string_lossy().into_owned();
        name.starts_with("autosave-") && name != "autosave-keep.kitty-session"
    });
    assert_eq!(desks.count(), 5);
}

#[test]
fn a_clock_that_is_set_forgets_no_conversation() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("p"), "codex", "(new)");
    scene.kitty.send(id, "hello\r");
    scene.kitty.shows(id, "heard hello");
    scene.rig.tick(0);
    scene.rig.tick(21);
    let file = own_save(&scene.rig, &scene.kitty);
    let before = sids(&text(&file));
    assert!(before.len() == 1 && !before[0].is_empty(), "{before:?}");
    for (later, wall) in [(30, 60), (100, 7200), (200, -3600)] {
        let (later, wall) = (later.to_string(), (wall).to_string());
        let env = [
            ("KITTYMUX_BOOT_SHIFT", later.as_str()),
            ("KITTYMUX_WALL_SHIFT", wall.as_str()),
        ];
        let done = scene.rig.kittymux_with(None, &["--tick"], &env);
        assert!(done.status.success(), "{done:?}");
        assert_eq!(sids(&text(&file)), before, "{later} {wall}");
    }
}

#[test]
fn a_session_that_is_open_already_is_named_as_what_is_missing() {
    let rig = Rig::new("/bin/bash", true);
    let path = rig.file("one.kitty-session", "new_tab one\nlaunch\n");
    let open_one = format!("goto_session {}", path.display());
    let kitty = rig.start_kitty(&[]);
    kitty.act(&open_one);
    until("its window", || (kitty.windows().len() == 2).then_some(()));
    rig.tick(0);
    rig.tick(21);
    kitty.crash();
    let kitty = rig.start_kitty(&[]);
    kitty.act(&open_one);
    until("its window", || (kitty.windows().len() == 2).then_some(()));
    let done = rig.kittymux(Some(&kitty), &["sessions", "restore", "last"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        said.contains("the session \"one\" is open already"),
        "{said}"
    );
}

/// Starts a kitty as `startup_session` has it.
fn open_kitty(rig: &Rig) -> Kitty {
    open_as(rig, &[])
}

fn open_as(rig: &Rig, first: &[&str]) -> Kitty {
    let file = rig.state().join("sessions/startup.kitty-session");
    let file = file.display().to_string();
    rig.start_kitty(&[first, &["--session", &file]].concat())
}

/// A kitty with a conversation that was saved by itself, and was killed; no tick has seen that.
fn just_killed() -> (Rig, String) {
    let scene = Scene::new();
    let agent = scene.type_in(&scene.rig.dir("p"), "claude", "(new)");
    let sid = scene.talk(agent);
    scene.rig.tick(0);
    scene.rig.tick(21);
    assert_eq!(windows(&startup(&scene.rig)), 0, "its kitty runs");
    // One more that opens while it runs is a plain shell.
    let other = open_kitty(&scene.rig);
    let only = other.windows()[0].id;
    other.shows(only, "$");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(other.windows().len(), 1);
    other.crash();
    scene.kitty.crash();
    (scene.rig, sid)
}

#[test]
fn kitty_opened_right_after_a_crash_brings_the_desk_back() {
    let (rig, sid) = just_killed();
    let kitty = open_kitty(&rig);
    let scene = Scene { rig, kitty };
    let asking = scene.asking(&sid);
    // What kitty opened by itself makes room.
    desk_alone(&scene.kitty, 2);
    scene.resume(asking, &sid);
    let next = open_kitty(&scene.rig);
    let only = next.windows()[0].id;
    next.shows(only, "$");
    assert_eq!(next.windows().len(), 1, "it was offered once");
    // The next tick has nothing to say against it.
    scene.rig.tick(40);
    assert_eq!(windows(&startup(&scene.rig)), 0);
}

#[test]
fn two_kitties_opened_right_after_a_crash_ask_once() {
    let (rig, sid) = just_killed();
    let kitties = [open_kitty(&rig), open_kitty(&rig)];
    let asking = |k: &Kitty| {
        let all = k.windows();
        all.iter().any(|w| w.var("kittymux_sid") == Some(&sid))
    };
    until("one of them to ask", || {
        kitties.iter().any(asking).then_some(())
    });
    until("the other to be a plain shell", || {
        let plain = kitties.iter().find(|k| !asking(k))?;
        let all = plain.windows();
        (all.len() == 1 && all[0].foreground_processes.len() == 1).then_some(())
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(kitties.iter().filter(|k| asking(k)).count(), 1);
}

/// The windows of a desk, once nothing else is there.
fn desk_alone(kitty: &Kitty, count: usize) {
    until("only the desk", || {
        let all = kitty.windows();
        let is_desks = |w: &Window| w.var("kittymux_save").is_some();
        (all.len() == count && all.iter().all(is_desks)).then_some(())
    });
}

#[test]
fn a_kitty_that_opens_while_the_last_end_is_worked_up_waits_for_it() {
    if is_real() {
        return;
    }
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.kitty.launch(&dir, &[]);
    scene.kitty.shows(id, "$");
    scene.rig.tick(-21);
    scene.rig.tick(0);
    // One more that no tick saw, only the watcher; a worker is at it.
    let id = scene.kitty.launch(&dir, &[]);
    scene.kitty.shows(id, "$");
    let path = left(&scene, "quit");
    let name = path.file_name().expect("a name").to_string_lossy();
    let group = name.rsplit_once('-').expect("a number").0;
    let locks = PrivateDir::open(&scene.rig.state().join("locks")).expect("locks");
    let slot = format!("exit-{}", fingerprint(group.as_bytes()) % 16);
    let worker = Lock::try_take(&locks, &slot).expect("a lock");
    assert!(worker.is_some());
    let rig = scene.rig;
    scene.kitty.crash();
    let kitty = open_kitty(&rig);
    std::thread::sleep(std::time::Duration::from_millis(700));
    assert_eq!(kitty.windows().len(), 1, "not the desk of the tick before");
    drop(worker);
    desk_alone(&kitty, 3);
    assert_eq!(windows(&startup(&rig)), 0, "nor is that offered after it");
}

#[test]
fn an_end_that_cannot_be_worked_up_hides_no_desk() {
    let (rig, sid) = just_killed();
    let exits = rig.state().join("sessions/.exit");
    let exits = PrivateDir::open(&exits).expect("a directory");
    let name = "0011aabb-1-1-1.quit";
    exits.write(name, b"{broken").expect("written");
    // What it is to be put aside as is taken.
    std::fs::create_dir(exits.join(format!("bad-{name}"))).expect("a directory");
    let kitty = open_kitty(&rig);
    let scene = Scene { rig, kitty };
    scene.asking(&sid);
    assert!(exits.join(name).exists());
}

#[test]
fn what_no_worker_has_finished_is_last_too() {
    if is_real() {
        return;
    }
    let scene = Scene::new();
    let agent = scene.type_in(&scene.rig.dir("p"), "claude", "(new)");
    let sid = scene.talk(agent);
    scene.rig.tick(0);
    left(&scene, "signal");
    let rig = scene.rig;
    scene.kitty.crash();
    let said = rig.kittymux_ok(None, &["sessions", "restore", "--dry-run", "last"]);
    assert!(said.contains(&sid[..8]), "{said}");
}

#[test]
fn the_quick_access_terminal_takes_no_desk() {
    if is_real() {
        println!("left out: a panel needs a compositor");
        return;
    }
    let (rig, sid) = just_killed();
    let panel = || open_as(&rig, &["+kitten", "panel"]);
    let plain = |kitty: &Kitty| {
        until("one plain window", || {
            let all = kitty.windows();
            let is_desks = all.iter().any(|w| w.var("kittymux_save").is_some());
            (all.len() == 1 && !is_desks).then_some(())
        });
    };
    // Before a tick has seen that the kitty is gone, and after it.
    let early = panel();
    std::thread::sleep(std::time::Duration::from_millis(500));
    plain(&early);
    rig.tick(40);
    assert!(startup(&rig).contains(&sid));
    let late = panel();
    plain(&late);
    assert!(startup(&rig).contains(&sid), "it is still offered");
    let kitty = open_kitty(&rig);
    let scene = Scene { rig, kitty };
    scene.asking(&sid);
}

#[test]
fn a_kitty_that_nobody_has_waited_for_is_gone() {
    let scene = Scene::new();
    scene.kitty.launch(&scene.rig.dir("p"), &[]);
    scene.rig.tick(0);
    scene.rig.tick(21);
    let pid = rustix::process::Pid::from_raw(scene.kitty.pid).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
    until("its end", || {
        (!proc::is_alive(scene.kitty.pid)).then_some(())
    });
    assert!(proc::start(scene.kitty.pid).is_some(), "not waited for");
    scene.rig.tick(25);
    assert_eq!(windows(&startup(&scene.rig)), 2);
}

#[test]
fn a_desk_that_could_not_be_opened_is_not_taken() {
    for is_link in [false, true] {
        let rig = Rig::new("/bin/bash", true);
        rig.tick(-100);
        let nothing = rig.file("nothing.kitty-session", &startup(&rig));
        let rig = left_desk(rig, "one", 0);
        let sessions = rig.state().join("sessions");
        let entries = std::fs::read_dir(&sessions).expect("there").flatten();
        let names: Vec<String> = entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        let of = |start: &str| names.iter().find(|n| n.starts_with(start));
        let odd = sessions.join(of(".restore-").expect("its copies"));
        if is_link {
            // Its directory is no directory of ours any more.
            let elsewhere = rig.home().join("elsewhere");
            std::fs::rename(&odd, &elsewhere).expect("moved");
            std::os::unix::fs::symlink(&elsewhere, &odd).expect("a link");
        } else {
            // Where its file would be written is something else.
            std::fs::create_dir(odd.join(of("autosave-").expect("a save"))).expect("a directory");
        }
        let early = rig.start_kitty(&["--session", &nothing.display().to_string()]);
        until("it to have tried", || {
            (windows(&startup(&rig)) == 0).then_some(())
        });
        let next = open_kitty(&rig);
        desk_alone(&next, 2);
        assert_eq!(early.windows().len(), 1);
    }
}

/// A kitty that starts ends when the program of such a line is not there (fact 12.9).
#[test]
fn kitty_starts_though_kittymux_was_removed() {
    let rig = left_desk(Rig::new("/bin/bash", true), "one", 0);
    let file = rig.state().join("sessions/startup.kitty-session");
    let offering = startup(&rig);
    let taker = rig.start_kitty(&[]);
    rig.kittymux_ok(Some(&taker), &["sessions", "restore", "last"]);
    for (text, count) in [(offering, 2), (startup(&rig), 1)] {
        let own = rig.tool("kittymux");
        assert!(text.contains(&own), "{text}");
        std::fs::write(&file, text.replace(&own, "/gone/kittymux")).expect("written");
        let kitty = open_kitty(&rig);
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(kitty.windows().len(), count);
    }
}

#[test]
fn what_a_reboot_left_unfinished_is_brought_back_by_the_first_kitty() {
    if is_real() {
        return;
    }
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    let sid = scene.talk(id);
    scene.kitty.leave(id);
    scene.type_in(&dir, &format!("claude --resume {sid}"), "(resumed)");
    scene.rig.tick(0);
    let path = left(&scene, "signal");
    let name = path.file_name().expect("a name").to_string_lossy();
    let (_, rest) = name.split_once('-').expect("a boot");
    std::fs::rename(&path, path.with_file_name(format!("0011aabb-{rest}"))).expect("renamed");
    let Scene { rig, kitty } = scene;
    kitty.crash();
    let kitty = open_kitty(&rig);
    let scene = Scene { rig, kitty };
    scene.asking(&sid);
    desk_alone(&scene.kitty, 3);
}

#[test]
fn nothing_comes_back_by_itself_where_the_file_says_so() {
    let scene = Scene::new();
    scene.kitty.launch(&scene.rig.dir("p"), &[]);
    scene.rig.tick(0);
    scene.rig.tick(21);
    let rig = scene.rig;
    scene.kitty.crash();
    rig.tick(100);
    assert_eq!(windows(&startup(&rig)), 2);
    rig.file(".local/state/kittymux/autosave-off", "");
    rig.tick(200);
    assert_eq!(windows(&startup(&rig)), 0);
    let said = rig.kittymux_ok(None, &["sessions", "restore", "last", "--dry-run"]);
    assert!(said.contains("/p"), "asked for, it is there: {said}");
}
