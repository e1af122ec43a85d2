//! `setup` and `doctor`: what is written is shown first, written once, and given back to the byte.

mod groups;
mod others_files;
mod plain_saves;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::rig::{Rig, is_real};

/// All files below `top`, but the locks.
fn files(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![top.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                dirs.push(path);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

fn has_systemd() -> bool {
    let has = Path::new("/run/systemd/system").exists();
    if !has {
        println!("left out: the timer, since no systemd runs here");
    }
    has
}

#[test]
fn print_shows_and_writes_nothing() {
    let rig = Rig::new("/bin/bash", true);
    let before = files(&rig.home());
    let said = rig.kittymux_ok(None, &["setup", "--print"]);
    assert_eq!(files(&rig.home()), before);
    for part in ["include ", "kittymux.conf", "timer", "--print only shows"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(
        said.lines()
            .all(|l| l.chars().count() <= 80 || l.contains("include ")),
        "{said}"
    );
    // Without a terminal nobody can say yes.
    let asked = rig.kittymux(None, &["setup"]);
    assert_eq!(asked.status.code(), Some(1), "{asked:?}");
    assert_eq!(files(&rig.home()), before);
}

#[test]
fn it_is_written_once_and_taken_away_to_the_byte() {
    let odd = "# mine\r\nfont_size 11\n\n  map f1 no_op".to_owned();
    let rig = Rig::new("/bin/bash", true);
    let conf = rig.file(".config/kitty/kitty.conf", &odd);
    std::fs::set_permissions(&conf, PermissionsExt::from_mode(0o640)).expect("a mode");
    rig.kittymux_ok(None, &["setup", "--yes"]);
    let line = format!("include {}/kitty/kittymux.conf\n", rig.state().display());
    assert_eq!(
        std::fs::read_to_string(&conf).expect("there"),
        line.clone() + &odd
    );
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&conf), 0o640);
    let units = rig.home().join(".config/systemd/user");
    if has_systemd() {
        let service = std::fs::read_to_string(units.join("kittymux.service")).expect("a unit");
        assert!(
            service.contains(&format!("{}\" --tick", rig.tool("kittymux"))),
            "{service}"
        );
        assert!(units.join("timers.target.wants/kittymux.timer").exists());
    }
    let before = files(&rig.home());
    let again = rig.kittymux_ok(None, &["setup", "--yes"]);
    assert!(again.contains("Nothing is left to do"), "{again}");
    assert_eq!(files(&rig.home()), before, "twice changes nothing");
    let kept = rig.kittymux(None, &["setup", "--remove"]);
    assert_eq!(kept.status.code(), Some(1));
    assert_eq!(files(&rig.home()), before, "nobody said yes");
    // A save and what it needs stay.
    let save = rig.file(
        ".local/state/kittymux/sessions/mine.kitty-session",
        "launch\n",
    );
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    assert_eq!(std::fs::read_to_string(&conf).expect("there"), odd);
    assert_eq!(mode(&conf), 0o640);
    assert!(!conf.with_file_name("kitty.conf.before-kittymux").exists());
    assert!(!units.join("kittymux.service").exists());
    assert!(save.exists() && rig.state().join("shell/kittymux.bash").exists());
    let left: Vec<String> = std::fs::read_dir(rig.state())
        .expect("there")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn what_changed_meanwhile_is_kept() {
    let rig = Rig::new("/bin/bash", true);
    let conf = rig.file(".config/kitty/kitty.conf", "font_size 11\n");
    rig.kittymux_ok(None, &["setup", "--yes"]);
    let text = std::fs::read_to_string(&conf).expect("there") + "font_size 12\n";
    std::fs::write(&conf, text).expect("written");
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    let now = std::fs::read_to_string(&conf).expect("there");
    assert_eq!(now, "font_size 11\nfont_size 12\n");
    // One that was not there before goes again.
    std::fs::remove_file(&conf).expect("removed");
    let _ = std::fs::remove_file(conf.with_file_name("kitty.conf.before-kittymux"));
    rig.kittymux_ok(None, &["setup", "--yes"]);
    assert!(conf.exists());
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    assert!(!conf.exists());
}

#[test]
fn what_forbids_remote_control_is_named_and_left_to_the_person() {
    let rig = Rig::new("/bin/bash", true);
    rig.file(
        ".config/kitty/kitty.conf",
        "allow_remote_control password\nfont_size 11\n",
    );
    let said = rig.kittymux_ok(None, &["setup", "--yes"]);
    let line = "in place of \"allow_remote_control password\"";
    assert!(
        said.contains("kitty.conf says allow_remote_control password") && said.contains(line),
        "{said}"
    );
    let (_, said) = doctor(&rig, None);
    assert!(said.contains(line) || is_real(), "{said}");
}

#[test]
fn keep_conf_leaves_kitty_conf_alone() {
    let rig = Rig::new("/bin/bash", true);
    let conf = rig.file(".config/kitty/kitty.conf", "font_size 11\n");
    let said = rig.kittymux_ok(None, &["setup", "--yes", "--keep-conf"]);
    assert!(said.contains("--keep-conf"), "{said}");
    assert_eq!(
        std::fs::read_to_string(&conf).expect("there"),
        "font_size 11\n"
    );
}

fn doctor(rig: &Rig, kitty: Option<&crate::rig::Kitty>) -> (Option<i32>, String) {
    let done = rig.kittymux(kitty, &["doctor"]);
    assert!(done.stderr.is_empty(), "{done:?}");
    (
        done.status.code(),
        String::from_utf8_lossy(&done.stdout).into_owned(),
    )
}

#[test]
fn the_doctor_names_what_is_wrong_and_what_mends_it() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let (_, said) = doctor(&rig, Some(&kitty));
    assert!(
        said.contains("nothing is set up\n         → kittymux setup"),
        "{said}"
    );
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "work"]);
    let (code, said) = doctor(&rig, Some(&kitty));
    let version = if is_real() {
        "version 0.48"
    } else {
        "version "
    };
    for part in [
        &format!("kitty (pid {}) answers: 1 window, {version}", kitty.pid),
        "has not loaded our watcher",
        "nothing is saved by itself but at the end of kitty",
        "1 save",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(code, Some(0), "warnings only: {said}");
    rig.tick(0);
    let (_, said) = doctor(&rig, Some(&kitty));
    assert!(said.contains("the timer runs: last tick "), "{said}");
    // What is wrong in the files.
    rig.file(
        ".local/state/kittymux/sessions/odd.kitty-session",
        "launch --no-such-option\nlaunch psql --password=hunter2\n",
    );
    let loose = rig.file(".local/state/kittymux/loose", "");
    std::fs::set_permissions(&loose, PermissionsExt::from_mode(0o644)).expect("a mode");
    rig.file(".local/state/kittymux/autosave-off", "");
    let (code, said) = doctor(&rig, Some(&kitty));
    for part in [
        "kitty would refuse the save \"odd\" for line 1",
        "the save \"odd\" holds what looks like a secret in 1 of its commands",
        "others can read ",
        "saving by itself is switched off",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(code, Some(1), "{said}");
    let json = rig.kittymux(Some(&kitty), &["doctor", "--json"]);
    let value = kittymux::sys::json::parse(&json.stdout, 1 << 20).expect("JSON");
    assert!(kittymux::sys::json::member(&value, "findings").is_some());
}

#[test]
fn a_kitty_without_a_socket_is_a_problem_with_its_mend() {
    let rig = Rig::new("/bin/bash", true);
    rig.file(".config/kitty/kitty.conf", "font_size 11\n");
    let before = files(&rig.home());
    let (code, said) = doctor(&rig, None);
    assert_eq!(files(&rig.home()), before, "it changes nothing");
    assert!(said.contains("kittymux") && said.contains("→"), "{said}");
    if said.contains("kitty (pid ") {
        // The kitty of a test beside this one has a socket.
        println!("left out: kitty.conf without a socket, since another kitty runs here");
        return;
    }
    assert!(said.contains("kitty.conf gives kitty no socket"), "{said}");
    assert_eq!(code, Some(1), "{said}");
}
