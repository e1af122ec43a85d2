//! Saving by itself: what a person who never saves anything gets back.

use std::path::PathBuf;

use crate::rig::{Kitty, Rig, until};
use crate::scene::Scene;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::Record;
use kittymux::resume::rewrite::record_text;
use kittymux::sys::proc;

/// The save that a kitty has by itself.
pub fn own_save(rig: &Rig, kitty: &Kitty) -> PathBuf {
    let start = proc::start(kitty.pid).expect("it runs");
    let boot = kittymux::sys::clock::boot8();
    let name = format!("autosave-{boot}-{}-{start}.kitty-session", kitty.pid);
    rig.state().join("sessions").join(name)
}

pub fn text(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

pub fn windows(text: &str) -> usize {
    let file = SessionFile::read(text, Origin::Person, &[]);
    file.launches()
        .filter(|l| l.text().contains("kittymux_save="))
        .count()
}

pub fn sids(text: &str) -> Vec<String> {
    let file = SessionFile::read(text, Origin::Person, &[]);
    file.launches()
        .filter_map(record_text)
        .map(|t| Record::read(t).expect("a record").sid)
        .collect()
}

pub fn startup(rig: &Rig) -> String {
    text(&rig.state().join("sessions/startup.kitty-session"))
}

#[test]
fn the_desk_of_a_crash_is_offered_once_and_stays_last_until_it_was_brought_back() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude --model opus", "(new)");
    let sid = scene.talk(id);
    for _ in 0..3 {
        scene.kitty.launch(&dir, &[]);
    }
    let file = own_save(&scene.rig, &scene.kitty);
    scene.rig.tick(0);
    assert!(!file.exists(), "the first look is the baseline");
    scene.rig.tick(10);
    assert!(!file.exists(), "not still for long enough");
    scene.rig.tick(21);
    assert_eq!(
        (windows(&text(&file)), sids(&text(&file))),
        (5, vec![sid.clone()])
    );
    assert_eq!(windows(&startup(&scene.rig)), 0, "its kitty runs");
    let old = scene.kitty.pid;
    scene.kitty.crash();
    let rig = scene.rig;
    // A new kitty with one shell ticks for an hour.
    let new = rig.start_kitty(&[]);
    for later in (30..3600).step_by(300) {
        rig.tick(later);
    }
    assert!(!own_save(&rig, &new).exists(), "one bare shell is no desk");
    assert_eq!(sids(&startup(&rig)), std::slice::from_ref(&sid));
    let listed = rig.kittymux_ok(None, &["sessions", "restore", "--json"]);
    assert!(
        listed.contains("\"word\":\"last\"") && listed.contains("\"windows\":5"),
        "{listed}"
    );
    let said = rig.kittymux_ok(Some(&new), &["sessions", "restore", "last"]);
    assert!(said.contains("5 of 5 windows came back"), "{said}");
    assert_eq!(windows(&startup(&rig)), 0, "taken");
    let none = rig.kittymux(None, &["sessions", "restore", "last"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&none.stdout)
            .contains(&format!("kitty {old}, open in kitty {}", new.pid)),
        "{none:?}"
    );
    // It becomes the new kitty's own, and with that the old one is done with.
    rig.tick(3700);
    rig.tick(3730);
    let own = own_save(&rig, &new);
    assert_eq!((windows(&text(&own)), sids(&text(&own))), (6, vec![sid]));
    let listed = rig.kittymux_ok(None, &["sessions", "restore", "--json"]);
    assert!(listed.contains("\"state\":\"restored\""), "{listed}");
}

#[test]
fn a_taken_desk_whose_kitty_died_is_free_again() {
    let scene = Scene::new();
    scene.kitty.launch(&scene.rig.dir("p"), &[]);
    scene.rig.tick(0);
    scene.rig.tick(21);
    let rig = scene.rig;
    scene.kitty.crash();
    let second = rig.start_kitty(&[]);
    rig.kittymux_ok(Some(&second), &["sessions", "restore", "last"]);
    assert_eq!(
        rig.kittymux(None, &["sessions", "restore", "last"])
            .status
            .code(),
        Some(1)
    );
    second.crash();
    rig.tick(30);
    assert_eq!(windows(&startup(&rig)), 2);
    let third = rig.start_kitty(&[]);
    rig.kittymux_ok(Some(&third), &["sessions", "restore", "last"]);
}

#[test]
fn a_kitty_that_starts_with_the_desk_takes_it_and_the_next_one_does_not() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    let sid = scene.talk(id);
    scene.rig.tick(0);
    scene.rig.tick(21);
    let rig = scene.rig;
    scene.kitty.crash();
    rig.tick(30);
    let offered = rig.state().join("sessions/startup.kitty-session");
    let offered = offered.display().to_string();
    let first = rig.start_kitty(&["--session", &offered]);
    let scene = Scene { rig, kitty: first };
    scene.kitty.shows(scene.asking(&sid), "Enter resume");
    until("the offer is withdrawn", || {
        (windows(&startup(&scene.rig)) == 0).then_some(())
    });
    let second = scene.rig.start_kitty(&["--session", &offered]);
    assert_eq!(second.windows().len(), 1, "a plain shell");
    scene.resume(scene.asking(&sid), &sid);
}

#[test]
fn two_kitties_that_start_at_once_ask_once() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("p"), "claude", "(new)");
    scene.talk(id);
    scene.rig.tick(0);
    scene.rig.tick(21);
    let rig = scene.rig;
    scene.kitty.crash();
    rig.tick(30);
    let offered = rig.state().join("sessions/startup.kitty-session");
    // Both have read the file before either could withdraw it.
    let copy = |name: &str| {
        let dir = rig.dir(name);
        let path = dir.join("startup.kitty-session");
        std::fs::copy(&offered, &path).expect("copied");
        path.display().to_string()
    };
    let (a, b) = (copy("a"), copy("b"));
    let first = rig.start_kitty(&["--session", &a]);
    let second = rig.start_kitty(&["--session", &b]);
    let asks = |kitty: &Kitty| {
        kitty
            .windows()
            .iter()
            .any(|w| w.var("kittymux_save").is_some())
    };
    let plain = until("one of them to step back", || {
        [&first, &second].into_iter().find(|k| !asks(k))
    });
    assert_eq!(plain.windows().len(), 1, "a plain shell");
    let other = if std::ptr::eq(plain, &first) {
        &second
    } else {
        &first
    };
    until("the other one to ask", || {
        let waits = other
            .windows()
            .into_iter()
            .find(|w| w.var("kittymux_wait").is_some())?;
        other.text(waits.id).contains("Enter resume").then_some(())
    });
}

#[test]
fn each_kitty_session_of_a_desk_comes_back_as_its_own() {
    let rig = Rig::new("/bin/bash", true);
    let dir = rig.dir("p");
    for name in ["one", "two"] {
        let text = format!("new_tab {name}\ncd {}\nlaunch\n", dir.display());
        rig.file(&format!("{name}.kitty-session"), &text);
    }
    let kitty = rig.start_kitty(&[]);
    let scene = Scene { rig, kitty };
    for name in ["one", "two"] {
        let path = scene.rig.home().join(format!("{name}.kitty-session"));
        let path = path.display().to_string();
        scene.kitty.act(&format!("goto_session {path}"));
        until("its window", || {
            scene
                .kitty
                .windows()
                .into_iter()
                .find(|w| w.session_name.as_deref() == Some(name))
        });
    }
    let sessions = |kitty: &Kitty| {
        let mut names: Vec<String> = kitty
            .windows()
            .iter()
            .map(|w| w.session_name.clone().unwrap_or_default())
            .collect();
        names.sort();
        names
    };
    assert_eq!(sessions(&scene.kitty), ["", "one", "two"]);
    scene.rig.tick(0);
    scene.rig.tick(21);
    let rig = scene.rig;
    scene.kitty.crash();
    rig.tick(30);
    let wait = |kitty: &Kitty, wanted: [&str; 3]| {
        until(&format!("{wanted:?}"), || {
            (sessions(kitty) == wanted).then_some(())
        });
        let tree = kitty.tree();
        let visible = tree[0].tabs.iter().find(|t| t.is_active).expect("a tab");
        visible.windows[0].session_name.clone().unwrap_or_default()
    };
    // By a kitty that starts with the offered desk,
    let offered = rig.state().join("sessions/startup.kitty-session");
    let kitty = rig.start_kitty(&["--session", &offered.display().to_string()]);
    assert_eq!(wait(&kitty, ["desk", "one", "startup"]), "startup");
    // and the names last: the next save knows the session it was before.
    rig.tick(40);
    rig.tick(70);
    let saved = text(&own_save(&rig, &kitty));
    assert!(saved.contains("kittymux_session=two"), "{saved}");
    kitty.crash();
    rig.tick(80);
    // and by restore in a kitty that runs.
    let kitty = rig.start_kitty(&[]);
    let said = rig.kittymux_ok(Some(&kitty), &["sessions", "restore", "last"]);
    assert!(said.contains("3 of 3 windows came back"), "{said}");
    until("all", || (sessions(&kitty).len() == 4).then_some(()));
    let names = sessions(&kitty);
    assert!(
        names.contains(&"one".to_owned()) && names.contains(&"two".to_owned()),
        "{names:?}"
    );
}

#[test]
fn only_new_agents_rewrite_the_save_without_asking_kitty() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    scene.rig.tick(0);
    scene.rig.tick(21);
    let file = own_save(&scene.rig, &scene.kitty);
    assert_eq!(sids(&text(&file)), [""], "nothing was said yet");
    let sid = scene.talk(id);
    scene.rig.tick(30);
    assert_eq!((windows(&text(&file)), sids(&text(&file))), (2, vec![sid]));
    let history = scene.rig.state().join("sessions/.history");
    assert!(!history.exists(), "the windows are the same");
    scene.kitty.launch(&dir, &[]);
    scene.rig.tick(200);
    scene.rig.tick(230);
    assert_eq!(windows(&text(&file)), 3);
    assert_eq!(std::fs::read_dir(history).expect("kept").count(), 1);
    // A quarter of an hour later nothing differs: only the date is new.
    let before = text(&file);
    scene.rig.tick(230 + 901);
    let after = text(&file);
    let body = |t: &str| t.split_once('\n').expect("a first line").1.to_owned();
    assert_ne!(before, after);
    assert_eq!(body(&before), body(&after));
}

#[test]
fn it_is_off_where_the_file_says_so() {
    let scene = Scene::new();
    scene.kitty.launch(&scene.rig.dir("p"), &[]);
    scene.rig.file(".local/state/kittymux/autosave-off", "");
    for later in [0, 21, 60, 2000] {
        scene.rig.tick(later);
    }
    assert!(!own_save(&scene.rig, &scene.kitty).exists());
}

#[test]
fn of_twenty_ticks_at_once_one_works_and_none_harms() {
    let scene = Scene::new();
    scene.kitty.launch(&scene.rig.dir("p"), &[]);
    for round in [0, 21, 90] {
        std::thread::scope(|threads| {
            for _ in 0..20 {
                threads.spawn(|| scene.rig.tick(round));
            }
        });
    }
    assert_eq!(windows(&text(&own_save(&scene.rig, &scene.kitty))), 2);
    let sessions = scene.rig.state().join("sessions");
    let litter = |dir: PathBuf| {
        let names = std::fs::read_dir(dir).expect("a directory").flatten();
        let mut names = names.map(|e| e.file_name().to_string_lossy().into_owned());
        names.find(|n| n.starts_with(".tmp-"))
    };
    assert_eq!((litter(sessions), litter(scene.rig.state())), (None, None));
}

#[test]
fn a_tick_killed_at_any_point_leaves_a_whole_save_and_the_next_one_works() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    let sid = scene.talk(id);
    scene.rig.tick(0);
    scene.rig.tick(21);
    let file = own_save(&scene.rig, &scene.kitty);
    let mut later = 21;
    let mut passed = false;
    for point in 0..80 {
        scene.kitty.launch(&dir, &[]);
        let before = windows(&text(&file));
        later += 100;
        scene.rig.tick(later);
        later += 30;
        let shift = later.to_string();
        let at = format!("{point}:kill");
        let env = [
            ("KITTYMUX_BOOT_SHIFT", shift.as_str()),
            ("KITTYMUX_FAULT_AT", at.as_str()),
        ];
        let tick = scene.rig.kittymux_with(None, &["--tick"], &env);
        let now = text(&file);
        let count = windows(&now);
        assert!(
            count >= before,
            "killed at {point}: {before} and now {count}"
        );
        assert_eq!(sids(&now), std::slice::from_ref(&sid), "killed at {point}");
        let file = SessionFile::read(&now, Origin::Person, &[]);
        assert_eq!(file.refusal(), None, "killed at {point}");
        later += 70;
        scene.rig.tick(later);
        if tick.status.success() {
            passed = true;
            break;
        }
    }
    assert!(passed, "every point of a save was tried");
    assert_eq!(windows(&text(&file)), scene.kitty.windows().len());
}

#[test]
fn clocks_that_jump_and_a_boot_with_the_same_pids_harm_nothing() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    scene.kitty.launch(&dir, &[]);
    let tick = |later: i64, wall: i64| {
        let (boot, wall) = (later.to_string(), wall.to_string());
        let env = [
            ("KITTYMUX_BOOT_SHIFT", boot.as_str()),
            ("KITTYMUX_WALL_SHIFT", wall.as_str()),
        ];
        let done = scene.rig.kittymux_with(None, &["--tick"], &env);
        assert!(done.status.success(), "{done:?}");
    };
    let file = own_save(&scene.rig, &scene.kitty);
    tick(0, 0);
    tick(21, 0);
    assert_eq!(windows(&text(&file)), 2);
    // The wall clock goes back a day, then forward a year; the machine sleeps for eight hours.
    for (later, wall) in [(200, -86_400), (400, 31_536_000), (29_200, 31_536_000)] {
        let count = windows(&text(&file));
        scene.kitty.launch(&dir, &[]);
        tick(later, wall);
        tick(later + 25, wall);
        assert_eq!(windows(&text(&file)), count + 1, "{later} {wall}");
    }
    // A kitty of an earlier boot had the same pid and start time: it is gone, this one is not.
    let name = file
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let boot = kittymux::sys::clock::boot8();
    let earlier = text(&file).replace(&format!("boot={boot}"), "boot=00000001");
    let other = file.with_file_name(name.replace(&boot, "00000001"));
    std::fs::write(&other, earlier).expect("written");
    tick(29_300, 0);
    assert!(other.exists() && file.exists());
    let listed = scene
        .rig
        .kittymux_ok(None, &["sessions", "restore", "--json"]);
    let states: Vec<&str> = listed
        .split("\"state\":\"")
        .skip(1)
        .filter_map(|s| s.split('"').next())
        .collect();
    assert_eq!(states, ["running", "free"], "{listed}");
}

#[test]
fn kitties_that_churn_never_push_out_the_desk_of_one_that_crashed() {
    let rig = Rig::new("/bin/bash", true);
    let dir = rig.dir("p");
    let first = rig.start_kitty(&[]);
    for _ in 0..11 {
        first.launch(&dir, &[]);
    }
    rig.tick(0);
    rig.tick(21);
    let crashed = own_save(&rig, &first);
    first.crash();
    let others: Vec<Kitty> = (0..6).map(|_| rig.start_kitty(&[])).collect();
    for round in 1..=6 {
        for kitty in &others {
            kitty.launch(&dir, &[]);
        }
        rig.tick(round * 100);
        rig.tick(round * 100 + 25);
    }
    assert_eq!(windows(&text(&crashed)), 12);
    for kitty in &others {
        assert_eq!(windows(&text(&own_save(&rig, kitty))), 7);
    }
    // Of each that runs, the last four sets before the one it has.
    let history = std::fs::read_dir(rig.state().join("sessions/.history")).expect("kept");
    assert_eq!(history.count(), 6 * 4);
    let said = rig.kittymux_ok(Some(&others[0]), &["sessions", "restore", "last"]);
    assert!(said.contains("12 of 12 windows came back"), "{said}");
}
