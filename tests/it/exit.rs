//! kitty ends: what was on the screen last is what comes back.
//!
//! A real kitty runs our watcher; the emulator loads no Python, so there the watcher's file is
//! written as it would be.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::rig::{Rig, is_real, until};
use crate::scene::Scene;
use kittymux::keep::assets::write_kitty_files;
use kittymux::keep::state::State;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::Record;
use kittymux::resume::rewrite::record_text;
use kittymux::sys::clock;
use kittymux::sys::json::Object;
use kittymux::sys::private_file::PrivateDir;
use kittymux::sys::proc;

/// A home whose kitty tells us of its end.
pub fn scene() -> Scene {
    let rig = Rig::new("/bin/bash", true);
    let dir = PrivateDir::open(&rig.state()).expect("a state directory");
    let own = rig.tool("kittymux");
    std::fs::write(rig.state().join("self-path"), format!("{own}\n")).expect("written");
    write_kitty_files(&State { dir }, Some(&own)).expect("written");
    let watcher = rig.state().join("kitty/kittymux_watcher.py");
    rig.write_conf(&format!("watcher {}\n", watcher.display()));
    let kitty = rig.start_kitty(&[]);
    Scene { rig, kitty }
}

fn saves(rig: &Rig) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(rig.state().join("sessions"));
    let mut found: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("autosave-"))
        })
        .collect();
    found.sort();
    found
}

fn exits(rig: &Rig) -> usize {
    std::fs::read_dir(rig.state().join("sessions/.exit"))
        .map(Iterator::count)
        .unwrap_or(0)
}

fn records(path: &PathBuf) -> Vec<Record> {
    let text = std::fs::read_to_string(path).expect("a save");
    let file = SessionFile::read(&text, Origin::Person, &[]);
    file.launches()
        .filter_map(record_text)
        .map(|t| Record::read(t).expect("a record"))
        .collect()
}

/// The watcher's file of all OS windows, as the emulator's kitty is now.
pub fn left(scene: &Scene, how: &str) -> PathBuf {
    left_as(scene, how, &|text| text)
}

/// As [`left`], with another text of its windows.
fn left_as(scene: &Scene, how: &str, change: &dyn Fn(String) -> String) -> PathBuf {
    let path = scene.rig.home().join("left.kitty-session");
    let shown = path.display();
    scene.kitty.act(&format!(
        "save_as_session --save-only --use-foreground-process {shown}"
    ));
    let text = change(std::fs::read_to_string(&path).expect("kitty saved"));
    let process = |pid: i32| {
        let start = proc::start(pid).expect("it runs");
        format!("[{pid},{start}]")
    };
    let mut procs = BTreeMap::new();
    for window in scene.kitty.windows() {
        let front = window.foreground_processes.iter().filter_map(|f| f.pid);
        let front: Vec<String> = front.map(process).collect();
        let child = process(window.pid.expect("a pid"));
        procs.insert(
            window.id.to_string(),
            format!("{{\"child\":{child},\"foreground\":[{}]}}", front.join(",")),
        );
    }
    let mut of_windows = Object::new();
    for (id, text) in &procs {
        of_windows = of_windows.raw(id, text);
    }
    let start = proc::start(scene.kitty.pid).expect("it runs");
    let document = Object::new()
        .number("v", 1)
        .text("how", how)
        .number("up", clock::boot_ns())
        .number("at", clock::wall_ns())
        .text("text", &text)
        .raw("ls", &scene.kitty.list())
        .raw("procs", &of_windows.finish())
        .finish();
    let dir = scene.rig.state().join("sessions/.exit");
    let dir = PrivateDir::open(&dir).expect("a directory");
    let name = format!("{}-{}-{start}-1.{how}", clock::boot8(), scene.kitty.pid);
    dir.write(&name, document.as_bytes()).expect("written");
    dir.join(name)
}

/// kitty ends by its own action, and what that starts is waited for.
fn quit(scene: Scene) -> Rig {
    let path = (!is_real()).then(|| left(&scene, "quit").display().to_string());
    let Scene { rig, kitty } = scene;
    std::thread::scope(|threads| {
        if let Some(path) = &path {
            let worker = threads.spawn(|| rig.kittymux_ok(None, &["exit-save", path]));
            until("the save", || (exits(&rig) == 0).then_some(()));
            kitty.crash();
            worker.join().expect("it went well");
        } else {
            kitty.act("quit");
            until("kitty to end", || {
                (!proc::is_alive(kitty.pid)).then_some(())
            });
            until("its file to be worked up", || {
                (exits(&rig) == 0).then_some(())
            });
        }
    });
    rig
}

#[test]
fn a_quit_saves_what_was_on_the_screen_last() {
    let scene = scene();
    let dir = scene.rig.dir("p");
    let typed = scene.type_in(&dir, "claude --model opus", "(new)");
    let first = scene.talk(typed);
    scene.rig.tick(0);
    // Nothing of what follows is saved by a tick.
    let claude = scene.rig.home().join("bin/claude").display().to_string();
    let started = scene.kitty.launch(&scene.rig.dir("q"), &[&claude]);
    scene.kitty.shows(started, "(new)");
    let second = scene.talk(started);
    scene.kitty.launch(&dir, &[]);
    scene.rig.tick(5);
    let rig = quit(scene);
    let saved = saves(&rig);
    assert_eq!(saved.len(), 1, "one quit saves once");
    let records = records(&saved[0]);
    let words: Vec<String> = records.iter().map(|r| r.resume.join(" ")).collect();
    assert_eq!(
        words,
        [
            format!("claude --model opus --resume {first}"),
            format!("{claude} --resume {second}")
        ]
    );
    // The next kitty is offered it at once, before any tick.
    let offered = rig.state().join("sessions/startup.kitty-session");
    let kitty = rig.start_kitty(&["--session", &offered.display().to_string()]);
    let scene = Scene { rig, kitty };
    scene.resume(scene.asking(&first), &first);
}

#[test]
fn a_conversation_that_no_tick_saw_comes_back_by_what_its_command_line_says() {
    let scene = scene();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    let sid = scene.talk(id);
    scene.kitty.leave(id);
    scene.type_in(
        &dir,
        &format!("claude --model opus --resume {sid}"),
        "(resumed)",
    );
    let rig = quit(scene);
    let records = records(&saves(&rig)[0]);
    assert_eq!(records.len(), 1);
    assert_eq!(
        records[0].resume,
        ["claude", "--model", "opus", "--resume", &sid]
    );
}

#[test]
fn a_bare_shell_that_ends_pushes_nothing_away() {
    let scene = scene();
    let rig = quit(scene);
    assert_eq!(saves(&rig), Vec::<PathBuf>::new());
    assert_eq!(exits(&rig), 0);
}

#[test]
fn what_a_worker_did_not_finish_the_next_tick_does() {
    if is_real() {
        return;
    }
    let scene = scene();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    let sid = scene.talk(id);
    scene.rig.tick(0);
    let path = left(&scene, "quit").display().to_string();
    // Killed at each point of its work: the file stays, or the save is there whole.
    for point in 0..60 {
        let at = format!("{point}:kill");
        let env = [("KITTYMUX_FAULT_AT", at.as_str())];
        let done = scene.rig.kittymux_with(None, &["exit-save", &path], &env);
        if done.status.success() {
            break;
        }
        for save in saves(&scene.rig) {
            assert_eq!(records(&save)[0].sid, sid, "killed at {point}");
        }
    }
    let rig = scene.rig;
    scene.kitty.crash();
    rig.tick(10);
    assert_eq!((saves(&rig).len(), exits(&rig)), (1, 0));
    assert_eq!(records(&saves(&rig)[0])[0].sid, sid);
    let offered = std::fs::read_to_string(rig.state().join("sessions/startup.kitty-session"));
    assert!(offered.expect("there").contains(&sid));
}

#[test]
fn an_os_window_that_was_closed_is_no_desk() {
    if is_real() {
        return;
    }
    let scene = scene();
    let id = scene.type_in(&scene.rig.dir("p"), "claude", "(new)");
    scene.talk(id);
    scene.rig.tick(0);
    let path = left(&scene, "closed").display().to_string();
    let shift = [("KITTYMUX_BOOT_SHIFT", "11")];
    let done = scene.rig.kittymux_with(None, &["exit-save", &path], &shift);
    assert!(done.status.success(), "{done:?}");
    assert_eq!((saves(&scene.rig).len(), exits(&scene.rig)), (0, 0));
    let closed = scene.rig.state().join("sessions/.closed");
    assert_eq!(std::fs::read_dir(closed).expect("kept").count(), 1);
    // One of a kitty that is gone with it is its desk.
    let path = left(&scene, "closed").display().to_string();
    let rig = scene.rig;
    scene.kitty.crash();
    rig.kittymux_ok(None, &["exit-save", &path]);
    assert_eq!((saves(&rig).len(), exits(&rig)), (1, 0));
}

#[test]
fn files_that_are_none_of_the_watchers_are_left_alone() {
    let scene = scene();
    let state = scene.rig.state();
    let odd = scene.rig.file("odd", "x").display().to_string();
    for path in [
        odd,
        state.join("self-path").display().to_string(),
        state
            .join("sessions/.exit/../../self-path")
            .display()
            .to_string(),
        "relative".to_owned(),
    ] {
        let done = scene.rig.kittymux(None, &["exit-save", &path]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("is no file of kitty's watcher"), "{said}");
    }
    // One that is broken is put aside, never read again and never in the way.
    let dir = PrivateDir::open(&state.join("sessions/.exit")).expect("a directory");
    let name = format!("{}-1-1-1.quit", clock::boot8());
    dir.write(&name, b"{\"v\":1,\"text\":").expect("written");
    scene.rig.tick(0);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(dir.names().expect("names"), [format!("bad-{name}")]);
}

#[test]
fn windows_that_went_just_before_kitty_are_of_its_desk() {
    if is_real() {
        return;
    }
    let scene = scene();
    let id = scene.type_in(&scene.rig.dir("p"), "claude", "(new)");
    let sid = scene.talk(id);
    scene.rig.tick(0);
    // An OS window that ended first, and the rest that was told to end.
    let early = left_as(&scene, "last", &|text| {
        text.replace("\"id\": ", "\"id\": 90")
    });
    let first = early.with_file_name(
        early
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .replace("-1.last", "-0.last"),
    );
    std::fs::rename(&early, &first).expect("renamed");
    let late = left(&scene, "signal").display().to_string();
    let rig = scene.rig;
    scene.kitty.crash();
    rig.kittymux_ok(None, &["exit-save", &late]);
    assert_eq!((saves(&rig).len(), exits(&rig)), (1, 0));
    let text = std::fs::read_to_string(&saves(&rig)[0]).expect("a save");
    let file = SessionFile::read(&text, Origin::Person, &[]);
    assert_eq!(file.launches().count(), 4, "{text}");
    assert_eq!(text.matches("\nnew_os_window").count(), 1, "{text}");
    assert_eq!(
        text.matches(&format!("--resume\",\"{sid}")).count(),
        1,
        "once: {text}"
    );
}

#[test]
fn a_shell_that_is_left_by_typing_exit_is_no_desk() {
    if is_real() {
        return;
    }
    let scene = scene();
    let path = left_as(&scene, "last", &|text| {
        text.replace("\"id\": 1", "\"id\": 1, \"cmd_at_shell_startup\": \"exit\"")
    });
    let text = std::fs::read_to_string(&path).expect("there");
    assert!(text.contains("\\\"exit\\\""), "{text}");
    let rig = scene.rig;
    scene.kitty.crash();
    rig.kittymux_ok(None, &["exit-save", &path.display().to_string()]);
    assert_eq!((saves(&rig).len(), exits(&rig)), (0, 0));
}

#[test]
fn a_prompt_that_waits_keeps_its_record_though_no_tick_saw_it() {
    let first = scene();
    let dir = first.rig.dir("p");
    let id = first.type_in(&dir, "claude --model opus", "(new)");
    let sid = first.talk(id);
    first.rig.tick(0);
    let rig = quit(first);
    let mut rig = rig;
    for generation in 0..3 {
        let offered = rig.state().join("sessions/startup.kitty-session");
        let kitty = rig.start_kitty(&["--session", &offered.display().to_string()]);
        let scene = Scene { rig, kitty };
        scene.kitty.shows(scene.asking(&sid), "Enter resume");
        rig = quit(scene);
        let newest = saves(&rig)
            .into_iter()
            .max_by_key(|p| std::fs::metadata(p).and_then(|m| m.modified()).ok())
            .expect("a save");
        let records = records(&newest);
        assert_eq!(records.len(), 1, "generation {generation}");
        assert_eq!(records[0].sid, sid);
        assert_eq!(records[0].orig, ["claude", "--model", "opus"]);
    }
}
