//! What agents tell, counted once.

use super::*;
use crate::keep::journal::scene::{A, Desk, ONE, events, look, owner, process, seen, shown};

#[test]
fn runs_and_work_are_counted_once() {
    use Event::{Done, End, Prompt, Start, Waiting};
    let story = [
        (1000, Start, A, "startup"),
        (1010, Prompt, A, ""),
        (1130, Done, A, ""),
        // An idle agent also says that it waits.
        (1190, Waiting, A, "waiting for your input"),
        (1200, Prompt, A, ""),
        (1230, Waiting, A, "may I?"),
        (1300, Done, A, ""),
        (1301, Done, A, ""),
        (1400, Prompt, A, ""),
        // Made shorter while it works.
        (1410, Start, A, "compact"),
        (1460, End, A, "exit"),
    ];
    let mut said = Vec::new();
    let mut journal = Journal::default();
    for n in 0..=story.len() {
        let mut now = seen(A, 1, 10);
        now.events = events(&story[..n]);
        let changed = look(&mut journal, std::slice::from_ref(&now), &ONE, 1000);
        let again = look(&mut journal, &[now], &ONE, 1001);
        let s = journal.find("claude", A).expect("there");
        said.push(format!(
            "{}: {} {} runs {} s {}{changed} {again}",
            n,
            s.state.word(),
            s.runs,
            s.work_secs(),
            if s.waiting_for.is_empty() {
                String::new()
            } else {
                format!("({}) ", s.waiting_for)
            },
        ));
    }
    expect_test::expect![[r#"
        0: seen 0 runs 0 s true false
        1: seen 0 runs 0 s true false
        2: working 0 runs 0 s true false
        3: done 1 runs 120 s true false
        4: done 1 runs 120 s true false
        5: working 1 runs 120 s true false
        6: waiting 1 runs 150 s (may I?) true false
        7: done 2 runs 150 s true false
        8: done 2 runs 150 s true false
        9: working 2 runs 150 s true false
        10: working 2 runs 150 s true false
        11: seen 2 runs 210 s true false"#]]
    .assert_eq(&said.join("\n"));
    // All at once is the same.
    let mut at_once = Journal::default();
    let mut now = seen(A, 1, 10);
    now.events = events(&story);
    assert!(look(&mut at_once, &[now], &ONE, 1001));
    assert_eq!(
        at_once.find("claude", A).map(|s| (s.runs, s.work_ms)),
        journal.find("claude", A).map(|s| (s.runs, s.work_ms))
    );
}

#[test]
fn clocks_that_step_do_no_harm() {
    use Event::{Done, Prompt};
    let mut journal = Journal::default();
    let mut now = seen(A, 1, 10);
    now.events = events(&[(1000, Prompt, A, ""), (900, Done, A, "")]);
    look(&mut journal, std::slice::from_ref(&now), &ONE, 1000);
    let found = |journal: &Journal| {
        let s = journal.find("claude", A).expect("there");
        (s.runs, s.work_secs())
    };
    assert_eq!(found(&journal), (1, 0));
    now.events = events(&[
        (1000, Prompt, A, ""),
        (900, Done, A, ""),
        (2000, Prompt, A, ""),
        (9_000_000, Done, A, ""),
    ]);
    look(&mut journal, &[now.clone()], &ONE, 1001);
    assert_eq!(found(&journal), (2, 24 * 3600));
    // The wall clock went back by an hour: the record's time is put right.
    assert!(look(&mut journal, &[now], &ONE, 10));
    assert!(shown(&journal).contains("..10,"), "{}", shown(&journal));
}

#[test]
fn closing_counts_the_work_up_to_the_last_look() {
    let mut journal = Journal::default();
    let mut now = seen(A, 1, 10);
    now.events = events(&[(10, Event::Prompt, A, "")]);
    look(&mut journal, &[now], &ONE, 70);
    let gone = Desk {
        kitties: &[(1, &[2])],
        alive: &[],
        opening: &[],
    };
    assert!(look(&mut journal, &[], &gone, 100_000));
    assert_eq!(
        shown(&journal),
        "a: closed at 100000, working, 0 runs, 60 s, 70..70, window 1, process 10"
    );
}

#[test]
fn a_resumed_conversation_goes_on_in_its_record() {
    use Event::{Done, Prompt, Start};
    let mut journal = Journal::default();
    let mut now = seen(A, 1, 10);
    now.events = events(&[(0, Start, A, ""), (1, Prompt, A, "")]);
    look(&mut journal, &[now], &ONE, 61);
    // After a reboot, in another kitty; its clock began anew.
    let mut again = seen(A, 2, 10);
    again.kitty = Owner {
        boot: "22334455".into(),
        ..owner(1)
    };
    again.events = events(&[
        (1, Start, A, "resume"),
        (2, Prompt, A, ""),
        (5, Done, A, ""),
    ]);
    assert!(look(&mut journal, &[again.clone()], &ONE, 1000));
    assert!(!look(&mut journal, &[again], &ONE, 1001));
    assert_eq!(
        shown(&journal),
        "a: open, done, 1 runs, 63 s, 61..1000, window 2, process 10"
    );
}

#[test]
fn two_processes_with_one_conversation_count_both_and_do_not_take_turns() {
    use Event::{Done, Prompt};
    let mut first = seen(A, 1, 10);
    first.events = events(&[(0, Prompt, A, ""), (10, Done, A, "")]);
    let mut second = seen(A, 2, 11);
    second.events = events(&[(3, Prompt, A, ""), (8, Done, A, "")]);
    let mut journal = Journal::default();
    assert!(look(
        &mut journal,
        &[first.clone(), second.clone()],
        &ONE,
        0
    ));
    for secs in 1..10 {
        let both = if secs % 2 == 0 {
            [first.clone(), second.clone()]
        } else {
            [second.clone(), first.clone()]
        };
        assert!(!look(&mut journal, &both, &ONE, secs));
    }
    assert_eq!(
        shown(&journal),
        "a: open, done, 2 runs, 15 s, 0..0, window 1, process 10"
    );
    assert!(look(&mut journal, &[second], &ONE, 20));
    assert!(shown(&journal).ends_with("window 2, process 11"));
}

#[test]
fn what_was_counted_need_not_be_read_again() {
    use Event::{Done, Prompt};
    let mut journal = Journal::default();
    let mut now = seen(A, 1, 10);
    let to = |journal: &Journal, pid| counted_to(journal, &owner(1), process(pid));
    assert_eq!(to(&journal, 10), 0);
    let all = events(&[
        (1, Prompt, A, ""),
        (5, Done, A, ""),
        (6, Prompt, A, ""),
        (9, Done, A, ""),
    ]);
    now.events = all[..2].to_vec();
    look(&mut journal, &[now.clone()], &ONE, 10);
    assert_eq!((to(&journal, 10), to(&journal, 11)), (200, 0));
    now.events = all[2..].to_vec();
    look(&mut journal, &[now], &ONE, 11);
    let s = journal.find("claude", A).expect("there");
    assert_eq!((s.runs, s.work_secs(), to(&journal, 10)), (2, 7, 400));
}
