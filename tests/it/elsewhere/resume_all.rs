//! `a`: the other prompts of this restore go one after the other.

use std::time::{Duration, Instant};

use super::{asks, is_a_shell, prompt_in, still_asks};
use crate::prompt::Case;
use crate::rig::{Kitty, WAIT, until};
use kittymux::sys::clock;
use kittymux::sys::token::random_id;

/// The same home with another conversation, of the save `save`.
fn another(case: &mut Case, save: &str) -> String {
    let sid = format!("0a1b2c3d-0000-4000-8000-{}", random_id());
    case.transcript(&sid);
    let old = std::mem::replace(&mut case.record.sid, sid.clone());
    for word in &mut case.record.resume {
        if *word == old {
            word.clone_from(&sid);
        }
    }
    case.record.save = save.to_owned();
    sid
}

/// Opens `n` prompts of `save`; their windows.
fn prompts(kitty: &Kitty, case: &mut Case, save: &str, n: usize) -> Vec<u64> {
    let ids: Vec<u64> = (0..n)
        .map(|_| {
            another(case, save);
            prompt_in(kitty, case)
        })
        .collect();
    for id in &ids {
        asks(kitty, *id);
    }
    ids
}

#[test]
fn those_of_this_save_in_this_kitty_go_one_after_the_other() {
    let mut case = Case::new();
    let kitty = case.rig.start_kitty(&[]);
    let other_kitty = case.rig.start_kitty(&[]);
    let ids = prompts(&kitty, &mut case, "s1", 4);
    let other_save = prompts(&kitty, &mut case, "s2", 1);
    let elsewhere = prompts(&other_kitty, &mut case, "s1", 1);
    kitty.send(ids[1], "a");
    let mut moments = Vec::new();
    let end = Instant::now() + WAIT;
    while moments.len() < ids.len() && Instant::now() < end {
        let started = case.rig.starts().len();
        while moments.len() < started {
            moments.push(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(moments.len(), ids.len(), "all of them went");
    for pair in moments.windows(2) {
        let gap = pair[1] - pair[0];
        assert!(
            gap >= Duration::from_millis(280),
            "they go one after the other: {gap:?}"
        );
    }
    for id in &ids {
        kitty.shows(*id, "(resumed)");
    }
    std::thread::sleep(Duration::from_millis(800));
    assert!(still_asks(&kitty, other_save[0]), "another save");
    assert!(still_asks(&other_kitty, elsewhere[0]), "another kitty");
    assert_eq!(case.starts().len(), ids.len());
    // One that comes up later goes by itself while the permission lasts.
    another(&mut case, "s1");
    let late = prompt_in(&kitty, &case);
    kitty.shows(late, &format!("conversation {} (resumed)", case.record.sid));
}

#[test]
fn a_permission_that_is_over_or_of_another_time_is_none() {
    let mut case = Case::new();
    let kitty = case.rig.start_kitty(&[]);
    let write = |until: u64, boot: &str, save: &str, kitty: i32| {
        case.rig.file(
            ".local/state/kittymux/resume-all-until",
            &format!(
                "{{\"v\":1,\"save\":\"{save}\",\"kitty\":{kitty},\"boot\":\"{boot}\",\"until\":{until}}}"
            ),
        );
    };
    let now = clock::boot_ns();
    let second = 1_000_000_000;
    let boot = clock::boot8();
    for (what, until, boot, save, of) in [
        ("over", now - second, boot.as_str(), "s1", kitty.pid),
        (
            "far in the future",
            now + 3600 * second,
            &boot,
            "s1",
            kitty.pid,
        ),
        (
            "of another boot",
            now + 60 * second,
            "00000000",
            "s1",
            kitty.pid,
        ),
        ("of another save", now + 60 * second, &boot, "s2", kitty.pid),
        (
            "of another kitty",
            now + 60 * second,
            &boot,
            "s1",
            kitty.pid + 1,
        ),
    ] {
        write(until, boot, save, of);
        let id = prompt_in(&kitty, &case);
        asks(&kitty, id);
        std::thread::sleep(Duration::from_millis(200));
        assert!(still_asks(&kitty, id), "{what}");
        kitty.send(id, "s");
        is_a_shell(&kitty, id);
    }
    case.rig
        .file(".local/state/kittymux/resume-all-until", "garbage");
    let id = prompt_in(&kitty, &case);
    asks(&kitty, id);
    assert!(still_asks(&kitty, id), "garbage");
    // A record without a save belongs to no restore.
    write(clock::boot_ns() + 60 * second, &boot, "", kitty.pid);
    let save = std::mem::take(&mut case.record.save);
    let id = prompt_in(&kitty, &case);
    asks(&kitty, id);
    std::thread::sleep(Duration::from_millis(200));
    assert!(still_asks(&kitty, id), "no save");
    assert_eq!(case.starts().len(), 0);
    // And one that holds, so that the form above is known to count.
    case.record.save = save;
    case.rig.file(
        ".local/state/kittymux/resume-all-until",
        &format!(
            "{{\"v\":1,\"save\":\"s1\",\"kitty\":{},\"boot\":\"{boot}\",\"until\":{}}}",
            kitty.pid,
            clock::boot_ns() + 60 * second
        ),
    );
    let id = prompt_in(&kitty, &case);
    kitty.shows(id, "(resumed)");
}

#[test]
fn who_waits_for_its_turn_can_still_leave() {
    let mut case = Case::new();
    let kitty = case.rig.start_kitty(&[]);
    // Somebody else's turn, for as long as this test likes.
    let path = case.rig.file(".local/state/kittymux/locks/resume-all", "");
    let file = std::fs::File::options()
        .write(true)
        .open(&path)
        .expect("the lock");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    let ids = prompts(&kitty, &mut case, "s1", 3);
    kitty.send(ids[0], "a");
    kitty.shows(ids[0], "(resumed)");
    for id in &ids[1..] {
        kitty.shows(*id, "resume all: waiting for its turn   s shell");
    }
    kitty.send(ids[1], "s");
    is_a_shell(&kitty, ids[1]);
    assert!(still_asks(&kitty, ids[2]));
    drop(file);
    kitty.shows(ids[2], "(resumed)");
    assert_eq!(case.starts().len(), 2);
}

#[test]
fn one_key_for_all_prompts_at_once_starts_each_once() {
    let mut case = Case::new();
    let kitty = case.rig.start_kitty(&[]);
    let ids = prompts(&kitty, &mut case, "s1", 4);
    for id in &ids {
        kitty.send(*id, "a");
    }
    for id in &ids {
        kitty.shows(*id, "(resumed)");
    }
    until("all of them", || {
        (case.starts().len() >= ids.len()).then_some(())
    });
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(case.starts().len(), ids.len());
}
