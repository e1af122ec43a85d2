//! Disks that are full and state directories that are not ours to write in.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::{Alone, Ran, Saved, tree};
use crate::rig::Rig;

const SAVE: &[&str] = &["sessions", "save", "work"];

/// The files whose names say that somebody broke off.
fn litter(state: &Path) -> Vec<String> {
    tree(state)
        .into_keys()
        .filter(|name| name.contains(".tmp-") || name.contains(".pending-"))
        .collect()
}

#[test]
fn a_save_that_fails_anywhere_leaves_the_old_or_the_new_one_whole() {
    if !cfg!(debug_assertions) {
        println!("left out: only a debug build can be told where to fail");
        return;
    }
    let saved = Saved::new();
    let state = saved.rig.home().join(".local/state/kittymux");
    let file = state.join("sessions/work.kitty-session");
    let run = |fault: &str| {
        let mut command = saved.rig.command(&saved.rig.dir("tools").join("kittymux"));
        command
            .args(SAVE)
            .env("KITTYMUX_TARGET", saved.address())
            .env("KITTYMUX_FAULT_AT", fault);
        command
    };
    let mut failed = 0;
    for step in 0.. {
        assert!(step < 200, "it never gets through");
        let old = std::fs::read(&file).expect("the save");
        let ran = Ran::of(run(&step.to_string()));
        let now = std::fs::read(&file).expect("the save");
        assert_eq!(litter(&state), [""; 0], "step {step}");
        if ran.code == Some(0) {
            assert_ne!(now, old, "step {step}: it was saved");
            // A fault that costs nothing is no fault; behind the last point there is none at all.
            if ran.err.is_empty() && Ran::of(run("100000")).code == Some(0) && step > 60 {
                break;
            }
            continue;
        }
        failed += 1;
        ran.says(1, &["could not ", "no space left on device\n"]);
        let is_whole = now == old || now.ends_with(b"\n");
        assert!(is_whole && !now.is_empty(), "step {step}");
        if now != old {
            assert!(ran.err.contains("could not sync "), "step {step}: {ran:?}");
        }
    }
    assert!(failed >= 5, "only {failed} points were passed");
    // Killed at any point: the next save works and takes the litter away.
    for step in 0..70 {
        let old = std::fs::read(&file).expect("the save");
        let output = run(&format!("{step}:kill")).output().expect("it runs");
        let now = std::fs::read(&file).expect("the save");
        if output.status.code().is_none() {
            assert!(now == old || now.ends_with(b"\n"), "step {step}");
        }
    }
    let ran = saved.at(&saved.address(), SAVE);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let left: Vec<String> = litter(&state.join("sessions"));
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_disk_that_is_really_full() {
    let rig = Rig::new("/bin/bash", false);
    let small = rig.dir("small");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=192k,mode=700", "tmpfs"])
        .arg(&small)
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !mounted {
        println!("left out: no small disk can be made here (that takes root and mount)");
        return;
    }
    struct Unmount<'a>(&'a Path);
    impl Drop for Unmount<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg("-l").arg(self.0).status();
        }
    }
    let _unmount = Unmount(&small);
    let kitty = rig.start_kitty(&[]);
    let run = || {
        let mut command = rig.command(&rig.dir("tools").join("kittymux"));
        command
            .args(SAVE)
            .env("KITTYMUX_TARGET", kitty.address.to_string())
            .env("KITTYMUX_STATE_DIR", small.join("state"));
        Ran::of(command)
    };
    let ran = run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let file = small.join("state/sessions/work.kitty-session");
    let old = std::fs::read(&file).expect("the save");
    // Fill it to the last block.
    let mut size = 64 << 10;
    let mut n = 0;
    while size > 0 {
        n += 1;
        if std::fs::write(small.join(format!("fill{n}")), vec![b'x'; size]).is_err() {
            size /= 2;
        }
    }
    let ran = run();
    ran.says(1, &["could not ", "no space left on device\n"]);
    ran.within(5);
    assert_eq!(std::fs::read(&file).expect("the save"), old);
    assert_eq!(litter(&small), [""; 0]);
    for fill in 1..=n {
        let _ = std::fs::remove_file(small.join(format!("fill{fill}")));
    }
    let ran = run();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
}

#[test]
fn a_state_directory_that_may_not_be_written() {
    let Some(alone) = Alone::new() else { return };
    let kitty = alone.kitty(&[]);
    kitty.listens();
    let ran = alone.run(SAVE);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let state = alone.rig.home().join(".local/state/kittymux");
    let before = tree(&state);
    let modes = |mode: u32| {
        for dir in ["sessions", "claims", "locks", "shell", "kitty", ""] {
            let dir = state.join(dir);
            if dir.exists() {
                std::fs::set_permissions(dir, std::fs::Permissions::from_mode(mode))
                    .expect("a mode");
            }
        }
    };
    modes(0o500);
    let ran = alone.run(SAVE);
    ran.says(
        1,
        &["could not ", ".local/state/kittymux", "permission denied\n"],
    );
    ran.within(3);
    // Looking does not need to write.
    let ran = alone.run(&["sessions", "list"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    modes(0o700);
    assert_eq!(tree(&state), before);
    // Not even there, and it cannot be made.
    let blocked = alone.rig.dir("blocked");
    std::fs::set_permissions(&blocked, std::fs::Permissions::from_mode(0o500)).expect("a mode");
    alone.own();
    let mut command = alone.kittymux(SAVE);
    command.env("KITTYMUX_STATE_DIR", blocked.join("a/b"));
    Ran::of(command).says(1, &["could not create ", "permission denied\n"]);
}

#[test]
fn a_state_directory_of_another_kind() {
    let rig = Rig::new("/bin/bash", false);
    let kitty = rig.start_kitty(&[]);
    let run = |dir: &str, words: &[&str]| {
        let mut command = rig.command(&rig.dir("tools").join("kittymux"));
        command
            .args(words)
            .env("KITTYMUX_TARGET", kitty.address.to_string())
            .env("KITTYMUX_STATE_DIR", dir);
        Ran::of(command)
    };
    let real = rig.dir("real");
    std::os::unix::fs::symlink(&real, rig.home().join("link")).expect("a link");
    let file = rig.file("file", "");
    let words = [SAVE, &["sessions", "list"], &["sessions", "restore", "x"]];
    for verb in words {
        let link = rig.home().join("link").display().to_string();
        run(&link, verb).says(
            1,
            &[&format!(
                "{link} is a symbolic link; kittymux keeps private files only in a real directory: set KITTYMUX_STATE_DIR to one\n"
            )],
        );
        let shown = file.display().to_string();
        run(&shown, verb).says(1, &[&format!("could not open {shown}: not a directory\n")]);
        run("relative", verb).says(1, &["KITTYMUX_STATE_DIR is not an absolute path"]);
    }
    assert_eq!(std::fs::read_dir(&real).expect("it").count(), 0);
    if !rustix::process::geteuid().is_root() {
        println!("left out: only root can give a directory away");
        return;
    }
    let theirs = rig.dir("theirs");
    std::os::unix::fs::chown(&theirs, Some(1234), Some(1234)).expect("chown");
    let shown = theirs.display().to_string();
    for verb in words {
        run(&shown, verb).says(
            1,
            &[&format!(
                "{shown} belongs to another user; set KITTYMUX_STATE_DIR to a directory of your own\n"
            )],
        );
    }
    assert_eq!(std::fs::read_dir(&theirs).expect("it").count(), 0);
}

#[test]
fn modes_that_are_too_wide_are_tightened() {
    let saved = Saved::new();
    let state = saved.rig.home().join(".local/state/kittymux");
    let file = state.join("sessions/work.kitty-session");
    let wide = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    wide(&state, 0o755);
    wide(&state.join("sessions"), 0o777);
    wide(&file, 0o666);
    let ran = saved.at(
        &saved.address(),
        &["sessions", "restore", "--dry-run", "work"],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(
        (mode(&state), mode(&state.join("sessions")), mode(&file)),
        (0o700, 0o700, 0o600)
    );
    for (name, _) in tree(&state) {
        let bits = mode(&state.join(&name));
        assert_eq!(bits & 0o077, 0, "{name}: {bits:o}");
    }
}

#[test]
fn without_a_home_directory() {
    let Some(alone) = Alone::new() else { return };
    for home in [None, Some(""), Some("relative")] {
        for verb in [SAVE, &["sessions", "list"], &["sessions", "restore"], &[]] {
            let mut command = alone.kittymux(verb);
            command.env_remove("HOME");
            if let Some(home) = home {
                command.env("HOME", home);
            }
            Ran::of(command).says(1, &["no home directory: set HOME\n"]);
        }
    }
}
