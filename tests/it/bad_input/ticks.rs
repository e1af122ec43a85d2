//! A tick beside kitties that misbehave, without room on the disk, with files that are damaged: it
//! ends soon and quietly, keeps what there is, and remembers why.

use super::{Odd, can_misbehave};
use crate::rig::{Kitty, Rig, until};

fn own_save(rig: &Rig, kitty: &Kitty) -> Option<String> {
    let sessions = rig.state().join("sessions");
    let begin = format!("autosave-{}-{}-", kittymux::sys::clock::boot8(), kitty.pid);
    let files = std::fs::read_dir(sessions).ok()?.flatten();
    let file = files.map(|e| e.path()).find(|p| {
        p.file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with(&begin))
    })?;
    std::fs::read_to_string(file).ok()
}

fn fault(rig: &Rig) -> String {
    let text = std::fs::read_to_string(rig.state().join("tick.json")).unwrap_or_default();
    let value = kittymux::sys::json::parse(text.as_bytes(), 1 << 20).expect("JSON");
    let fault = kittymux::sys::json::text_at(&value, "fault");
    fault.unwrap_or_default().to_owned()
}

/// A kitty with two windows.
fn desk(rig: &Rig) -> Kitty {
    let kitty = rig.start_kitty(&[]);
    kitty.launch(&rig.dir("p"), &[]);
    kitty
}

#[test]
fn a_kitty_that_does_not_answer_holds_up_no_other() {
    if !can_misbehave() {
        return;
    }
    for how in ["silent", "reset", "half-frame", "wrong-ok"] {
        let rig = Rig::new("/bin/bash", true);
        let kitty = desk(&rig);
        let _odd = Odd::misbehaving(&rig, &[how]);
        rig.tick(0);
        rig.tick(21);
        assert!(own_save(&rig, &kitty).is_some(), "{how}");
    }
}

#[test]
fn a_save_that_is_none_keeps_the_old_one_and_is_tried_again() {
    if !can_misbehave() {
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    let two = rig.file("two.kitty-session", "launch\nlaunch\n");
    let two = two.display().to_string();
    let _odd = Odd::misbehaving_with(&rig, &["empty-file"], &["--session", &two]);
    rig.tick(0);
    assert_eq!(fault(&rig), "");
    for later in [21, 31] {
        rig.tick(later);
        assert!(
            fault(&rig).contains("kitty's save holds no window"),
            "{}",
            fault(&rig)
        );
    }
    let sessions = std::fs::read_dir(rig.state().join("sessions")).expect("there");
    let saved = sessions
        .flatten()
        .any(|e| e.file_name().to_string_lossy().starts_with("autosave-"));
    assert!(!saved);
}

#[test]
fn without_room_it_is_quiet_and_remembers_why() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = desk(&rig);
    rig.tick(0);
    rig.tick(21);
    let before = own_save(&rig, &kitty).expect("saved");
    let new = kitty.launch(&rig.dir("p"), &[]);
    // Once it stands still, the first thing written is the save.
    until("its prompt", || {
        kitty.window(new).filter(|w| w.at_prompt).map(|_| ())
    });
    rig.tick(100);
    rig.tick(101);
    // The save of this tick finds the disk full at one point after the other.
    let mut failed = 0;
    for point in 0..60 {
        let shift = (130 + point).to_string();
        let at = point.to_string();
        let env = [
            ("KITTYMUX_BOOT_SHIFT", shift.as_str()),
            ("KITTYMUX_FAULT_AT", &at),
        ];
        let done = rig.kittymux_with(None, &["--tick"], &env);
        assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
        let now = own_save(&rig, &kitty).expect("a save");
        if now != before {
            break;
        }
        failed += 1;
        let sessions = std::fs::read_dir(rig.state().join("sessions")).expect("there");
        let litter = sessions
            .flatten()
            .find(|e| e.file_name().to_string_lossy().starts_with(".tmp-"));
        assert!(litter.is_none(), "{litter:?}");
    }
    assert!(failed > 3, "{failed}");
    rig.tick(400);
    assert_eq!(fault(&rig), "", "all is well again");
}

#[test]
fn damaged_files_of_its_own_are_nothing_to_it() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = desk(&rig);
    rig.tick(0);
    for (n, bad) in ["", "{", "[]", "{\"v\":1,\"boot\":3}", "\u{0}"]
        .iter()
        .enumerate()
    {
        for name in ["tick.json", "plan.json"] {
            std::fs::write(rig.state().join(name), bad).expect("written");
        }
        std::fs::write(rig.state().join("sessions/startup.kitty-session"), bad).expect("written");
        let later = 100 * i64::try_from(n).expect("small");
        rig.tick(later);
        rig.tick(later + 30);
    }
    assert!(own_save(&rig, &kitty).is_some());
    let offered = std::fs::read_to_string(rig.state().join("sessions/startup.kitty-session"));
    assert!(
        offered
            .expect("there")
            .starts_with("# kittymux keeps this file")
    );
}
