//! What a tick that looks no further than it must could miss: a kitty that was too busy, a
//! conversation that was left while it looked.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::quiet::{known, settle, tick_text};
use crate::rig::{Rig, until};
use crate::scene::Scene;
use kittymux::sys::json;
use kittymux::sys::lock::Lock;
use kittymux::sys::private_file::PrivateDir;

fn fault(rig: &Rig) -> String {
    let value = json::parse(tick_text(rig).as_bytes(), 1 << 20).expect("JSON");
    json::text_at(&value, "fault")
        .unwrap_or_default()
        .to_owned()
}

fn knows(rig: &Rig, pid: u32) -> bool {
    known(rig).iter().any(|(known, _)| *known == i64::from(pid))
}

/// What a later tick finds was there when it began.
fn rest() {
    std::thread::sleep(Duration::from_millis(200));
}

fn signal(pid: i32, name: &str) {
    let sent = Command::new("/bin/kill")
        .args([name, &pid.to_string()])
        .status();
    assert!(sent.is_ok_and(|s| s.success()));
}

#[test]
fn a_kitty_that_is_too_busy_to_answer_as_it_comes_is_found_at_the_next_tick() {
    let rig = Rig::new("/bin/bash", true);
    let _first = rig.start_kitty(&[]);
    settle(&rig);
    let second = rig.start_kitty(&[]);
    signal(second.pid, "-STOP");
    rest();
    rig.tick(3);
    signal(second.pid, "-CONT");
    until("its answer", || (!second.list().is_empty()).then_some(()));
    rig.tick(13);
    assert!(knows(&rig, second.pid.unsigned_abs()));
}

/// Something of ours that listens as kitty does; `answer` gets how often it was asked before.
fn listen(rig: &Rig, answer: impl Fn(usize) -> String + Send + 'static) {
    let path = rig.dir("run").join(format!("k-{}", std::process::id()));
    let listener = UnixListener::bind(path).expect("bound");
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().flatten().enumerate() {
            let (mut stream, mut asked) = (stream, [0; 4096]);
            if stream.read(&mut asked).is_ok_and(|n| n > 0) {
                let frame = format!("\x1bP@kitty-cmd{}\x1b\\", answer(n));
                let _ = stream.write_all(frame.as_bytes());
                let _ = stream.read(&mut asked);
            }
        }
    });
}

#[test]
fn one_that_refuses_is_asked_again_and_told_of_as_long_as_it_does() {
    let refusal = r#"{"ok": false, "error": "not now"}"#.to_owned();
    let rig = Rig::new("/bin/bash", true);
    let first = rig.start_kitty(&[]);
    settle(&rig);
    let list = first.list();
    listen(&rig, move |n| match n {
        0..3 => refusal.clone(),
        _ => json::Object::new()
            .flag("ok", true)
            .text("data", &list)
            .finish(),
    });
    rest();
    for later in [3, 13, 23] {
        rig.tick(later);
        assert!(fault(&rig).contains("not now"), "{later}: {}", fault(&rig));
    }
    rig.tick(33);
    assert!(knows(&rig, std::process::id()));
    assert_eq!(fault(&rig), "");
}

/// Starts a kitty that reads a kitty.conf that has just come, and says whether the next tick finds it.
fn is_found(rig: &Rig, dir: &str, env: &[(&str, &str)]) -> bool {
    let mut command = rig.command(Path::new(&rig.tool("kitty")));
    command.envs(env.iter().copied()).stdin(Stdio::null());
    let mut child = command.spawn().expect("kitty starts");
    let socket = rig.home().join(format!("{dir}/k-{}", child.id()));
    until("its socket", || socket.exists().then_some(()));
    rest();
    let all = [env, &[("KITTYMUX_BOOT_SHIFT", "3")]].concat();
    assert!(rig.kittymux_with(None, &["--tick"], &all).status.success());
    let is_found = knows(rig, child.id());
    let _ = child.kill();
    let _ = child.wait();
    is_found
}

/// A kitty.conf that has kitties listen in `dir`, dated as files of a store are.
fn conf_for(rig: &Rig, name: &str, dir: &str) -> std::path::PathBuf {
    let base = std::fs::read_to_string(rig.home().join(".config/kitty/kitty.conf"));
    let socket = rig.dir(dir).join("k-{kitty_pid}");
    let text = format!(
        "{}listen_on unix:{}\n",
        base.expect("there"),
        socket.display()
    );
    let path = rig.file(name, &text);
    let file = std::fs::File::options().write(true).open(&path);
    let store = std::time::UNIX_EPOCH + Duration::from_secs(1);
    file.and_then(|f| f.set_modified(store)).expect("dated");
    path
}

#[test]
fn a_kitty_conf_that_comes_first_or_is_another_one_is_seen() {
    if crate::rig::is_real() {
        // Where kitty looks for its file is no matter of this test.
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    let _first = rig.start_kitty(&[]);
    let xdg = rig.dir("xdg").display().to_string();
    let env = [("XDG_CONFIG_HOME", xdg.as_str())];
    for later in ["0", "1", "2"] {
        let all = [&env[..], &[("KITTYMUX_BOOT_SHIFT", later)]].concat();
        rig.kittymux_with(None, &["--tick"], &all);
        rest();
    }
    conf_for(&rig, "xdg/kitty/kitty.conf", "bb");
    assert!(is_found(&rig, "bb", &env), "before the one that was read");

    let rig = Rig::new("/bin/bash", true);
    let _first = rig.start_kitty(&[]);
    let conf = rig.home().join(".config/kitty/kitty.conf");
    let both = ["aa", "bb"].map(|dir| conf_for(&rig, &format!("store/{dir}.conf"), dir));
    for (n, target) in both.iter().enumerate() {
        std::fs::remove_file(&conf).expect("removed");
        std::os::unix::fs::symlink(target, &conf).expect("linked");
        if n == 0 {
            settle(&rig);
        }
    }
    assert!(is_found(&rig, "bb", &[]), "of the same size and date");
}

fn saved(rig: &Rig) -> String {
    let names = std::fs::read_dir(rig.state().join("sessions")).expect("there");
    let own = names
        .flatten()
        .filter(|n| n.file_name().to_string_lossy().starts_with("autosave-"));
    own.map(|n| std::fs::read_to_string(n.path()).expect("a save"))
        .collect()
}

/// A desk with one agent that was saved, and all is quiet.
fn quiet_desk(registry: bool, line: &str) -> (Scene, u64, String) {
    let scene = Scene::new();
    let mut conf = format!("FAKE_AGENT_REGISTRY={}\n", u8::from(registry));
    if !registry {
        let km = scene.rig.tool("kittymux");
        conf.push_str(&format!("FAKE_AGENT_HOOK='{km}' hook claude\n"));
    }
    scene.rig.file(".fake-agent", &conf);
    let id = scene.type_in(&scene.rig.dir("p"), line, "(new)");
    let sid = scene.talk(id);
    settle(&scene.rig);
    scene.rig.tick(30);
    assert!(saved(&scene.rig).contains(&sid));
    rest();
    scene.rig.tick(32);
    scene.rig.tick(34);
    (scene, id, sid)
}

#[test]
fn a_conversation_left_while_a_tick_looks_is_seen_by_the_next_one() {
    for registry in [true, false] {
        let (scene, id, before) = quiet_desk(registry, "claude");
        let rig = &scene.rig;
        // Another kittymux holds the plan, so that the look takes its time.
        let locks = PrivateDir::open(&rig.state().join("locks")).expect("locks");
        let held = Lock::try_take(&locks, "plan").expect("a lock");
        assert!(held.is_some());
        let mut tick = rig.command(Path::new(&rig.tool("kittymux")));
        tick.arg("--tick").env("KITTYMUX_BOOT_SHIFT", "100");
        let mut tick = tick.spawn().expect("it runs");
        std::thread::sleep(Duration::from_millis(700));
        scene.kitty.send(id, "/clear\r");
        let after = scene.talk(id);
        assert_ne!(before, after);
        if registry {
            renamed_with_an_earlier_date(rig);
        }
        assert!(tick.try_wait().expect("its state").is_none(), "it looks");
        drop(held);
        assert!(tick.wait().expect("it ends").success());
        rig.tick(110);
        assert!(saved(rig).contains(&after), "registry: {registry}");
    }
}

#[test]
fn a_conversation_of_an_agent_in_a_wrapper_is_seen_to_change() {
    let (scene, id, before) = quiet_desk(true, "env FAKE_AGENT_SHAPE=wrapper claude");
    scene.kitty.send(id, "/clear\r");
    let after = scene.talk(id);
    assert_ne!(before, after);
    rest();
    scene.rig.tick(44);
    assert!(saved(&scene.rig).contains(&after));
}

/// As an agent does that writes a file beside, takes its time, and renames it.
fn renamed_with_an_earlier_date(rig: &Rig) {
    let entries = std::fs::read_dir(rig.home().join(".claude/sessions")).expect("there");
    for entry in entries.flatten() {
        let (path, beside) = (entry.path(), rig.home().join("beside"));
        std::fs::copy(&path, &beside).expect("copied");
        let file = std::fs::File::options().write(true).open(&beside);
        let earlier = std::time::SystemTime::now() - Duration::from_millis(3300);
        file.and_then(|f| f.set_modified(earlier)).expect("dated");
        std::fs::rename(beside, path).expect("renamed");
    }
}

#[test]
fn what_a_tick_could_not_write_down_the_next_one_does_though_nothing_happens() {
    for lock in ["journal", "plan"] {
        let (scene, id, sid) = quiet_desk(true, "claude");
        let rig = &scene.rig;
        let locks = PrivateDir::open(&rig.state().join("locks")).expect("locks");
        let held = Lock::try_take(&locks, lock).expect("a lock");
        assert!(held.is_some());
        scene.kitty.send(id, "/exit\r");
        until("the shell", || {
            scene.kitty.window(id).filter(|w| w.at_prompt).map(|_| ())
        });
        rest();
        rig.tick(40);
        assert_ne!(fault(rig), "", "{lock}");
        drop(held);
        rig.tick(50);
        assert_eq!(fault(rig), "", "{lock}");
        let text = |name| std::fs::read_to_string(rig.state().join(name)).expect("there");
        let (journal, plan) = (text("agent-sessions.json"), text("plan.json"));
        assert!(journal.contains(&sid) && !journal.contains("\"open\":true"));
        assert!(!plan.contains(&sid), "{lock}: {plan}");
    }
}

#[test]
fn a_save_that_somebody_removed_is_made_again() {
    let (scene, _, sid) = quiet_desk(true, "claude");
    let names = std::fs::read_dir(scene.rig.state().join("sessions")).expect("there");
    for name in names.flatten() {
        if name.file_name().to_string_lossy().starts_with("autosave-") {
            std::fs::remove_file(name.path()).expect("removed");
        }
    }
    scene.rig.tick(40);
    scene.rig.tick(50);
    assert!(saved(&scene.rig).contains(&sid));
}
