//! What looks at the desk make of the journal.

use super::*;
use crate::keep::journal::scene::{
    A, B, Desk, ONE, S, T0, events, look, owner, process, seen, shown, world,
};

#[test]
fn what_runs_is_written_at_once_and_then_once_a_minute() {
    let mut journal = Journal::default();
    let now = [seen(A, 1, 10)];
    let written: Vec<u64> = (0..200)
        .filter(|secs| look(&mut journal, &now, &ONE, *secs))
        .collect();
    assert_eq!(written, [0, 60, 120, 180]);
    assert!(!look(&mut Journal::default(), &[], &ONE, 0));
    assert!(due(T0 + 1, T0) && due(T0, T0 + 60 * S) && !due(T0, T0 + 59 * S));
}

#[test]
fn what_closes_a_session() {
    let here: Desk<'_> = ONE;
    let cases: [(&str, &Desk<'_>, Event, i32); 7] = [
        (
            "its window is gone",
            &Desk {
                kitties: &[(1, &[2, 3])],
                alive: &[],
                opening: &[],
            },
            Event::Done,
            1,
        ),
        ("it is gone, its window is not", &here, Event::Done, 1),
        (
            "it is gone in the middle of its work",
            &here,
            Event::Prompt,
            1,
        ),
        (
            "it lives behind another program",
            &Desk {
                kitties: &[(1, &[1, 2, 3])],
                alive: &[10],
                opening: &[],
            },
            Event::Done,
            1,
        ),
        (
            "its kitty is gone with it",
            &Desk {
                kitties: &[(2, &[1])],
                alive: &[],
                opening: &[],
            },
            Event::Done,
            1,
        ),
        (
            "its kitty was not looked at",
            &Desk {
                kitties: &[],
                alive: &[],
                opening: &[],
            },
            Event::Done,
            1,
        ),
        ("it is in another kitty", &here, Event::Done, 2),
    ];
    let mut said = Vec::new();
    for (what, desk, event, kitty) in cases {
        let mut journal = Journal::default();
        let mut now = seen(A, 1, 10);
        now.kitty = owner(kitty);
        now.events = events(&[(10, Event::Prompt, A, ""), (20, event, A, "")]);
        look(&mut journal, &[now], &ONE, 30);
        let changed = look(&mut journal, &[], desk, 40);
        let again = look(&mut journal, &[], desk, 50);
        said.push(format!("{what} ({changed} {again})\n  {}", shown(&journal)));
    }
    expect_test::expect![[r#"
        its window is gone (true false)
          a: closed at 40, done, 1 runs, 10 s, 30..30, window 1, process 10
        it is gone, its window is not (true false)
          a: closed at 40, done, 1 runs, 10 s, 30..30, window 1, process 10
        it is gone in the middle of its work (false false)
          a: open, working, 0 runs, 0 s, 30..30, window 1, process 10
        it lives behind another program (false false)
          a: open, done, 1 runs, 10 s, 30..30, window 1, process 10
        its kitty is gone with it (false false)
          a: open, done, 1 runs, 10 s, 30..30, window 1, process 10
        its kitty was not looked at (false false)
          a: open, done, 1 runs, 10 s, 30..30, window 1, process 10
        it is in another kitty (false false)
          a: open, done, 1 runs, 10 s, 30..30, window 1, process 10"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn a_kitty_with_the_same_pid_is_another_one() {
    let mut other = owner(1);
    for change in [
        (|o: &mut Owner| o.start += 1) as fn(&mut Owner),
        |o| o.boot = "ffffffff".into(),
        |o| o.host = "ffffffff".into(),
    ] {
        let mut journal = Journal::default();
        look(&mut journal, &[seen(A, 1, 10)], &ONE, 0);
        other = owner(1);
        change(&mut other);
        let world = World {
            kitties_alive: vec![(other.clone(), BTreeSet::new())],
            boot: other.boot.clone(),
            host: other.host.clone(),
            opening: BTreeSet::new(),
            alive: &|_| true,
        };
        assert!(
            !observe(&mut journal, &[], &world, T0 + 10 * S),
            "{other:?}"
        );
        assert!(journal.sessions().all(|s| s.open));
    }
    assert_ne!(other, owner(1));
}

#[test]
fn a_record_without_id_becomes_that_of_the_id_with_its_history() {
    let mut journal = Journal::default();
    look(&mut journal, &[seen("", 1, 10)], &ONE, 0);
    look(&mut journal, &[seen("", 1, 10)], &ONE, 100);
    assert!(look(&mut journal, &[seen(A, 1, 10)], &ONE, 110));
    assert_eq!(
        shown(&journal),
        "a: open, seen, 0 runs, 0 s, 0..110, window 1, process 10"
    );
    // A look that misses the id keeps it, and what it does not see.
    let blind = Observation {
        cwd: String::new(),
        argv: Vec::new(),
        tab: String::new(),
        ..seen("", 1, 10)
    };
    assert!(!look(&mut journal, &[blind], &ONE, 120));
    let s = journal.find("claude", A).expect("there");
    assert_eq!(
        (s.cwd.as_str(), s.tab.as_str(), s.argv.len()),
        ("/p", "api", 1)
    );
    // The id's record was there already, from another day.
    let mut journal = Journal::default();
    let mut before = seen(A, 2, 5);
    before.events = events(&[(0, Event::Prompt, A, ""), (7, Event::Done, A, "")]);
    look(&mut journal, &[before], &ONE, 10);
    look(&mut journal, &[], &ONE, 20);
    look(&mut journal, &[seen("", 1, 10)], &ONE, 30);
    look(&mut journal, &[seen(A, 1, 10)], &ONE, 40);
    assert_eq!(
        shown(&journal),
        "a: open, done, 1 runs, 7 s, 10..40, window 1, process 10"
    );
}

#[test]
fn a_second_run_without_id_is_another_record() {
    let mut journal = Journal::default();
    look(&mut journal, &[seen("", 1, 10)], &ONE, 0);
    look(&mut journal, &[seen("", 1, 11)], &ONE, 10);
    look(&mut journal, &[seen("", 1, 11), seen("", 2, 12)], &ONE, 20);
    assert_eq!(
        shown(&journal),
        "-: closed at 10, seen, 0 runs, 0 s, 0..0, window 1, process 10\n\
         -: open, seen, 0 runs, 0 s, 10..20, window 1, process 11\n\
         -: open, seen, 0 runs, 0 s, 20..20, window 2, process 12"
    );
}

#[test]
fn another_conversation_inside_leaves_the_one_before() {
    use Event::{Done, End, Prompt, Start};
    let mut journal = Journal::default();
    let mut now = seen(A, 1, 10);
    now.events = events(&[(0, Start, A, ""), (1, Prompt, A, "")]);
    look(&mut journal, &[now.clone()], &ONE, 2);
    now.sid = B.to_owned();
    now.events = events(&[
        (0, Start, A, ""),
        (1, Prompt, A, ""),
        (5, Done, A, ""),
        (6, End, A, "clear"),
        (7, Start, B, "clear"),
        (8, Prompt, B, ""),
        (10, Done, "", ""),
    ]);
    assert!(look(&mut journal, &[now.clone()], &ONE, 20));
    assert!(!look(&mut journal, &[now.clone()], &ONE, 30));
    let left = "a: left at 20, done, 1 runs, 4 s, 2..2, window 1, process 10";
    assert_eq!(
        shown(&journal),
        format!("{left}\nb: open, done, 1 runs, 2 s, 20..20, window 1, process 10")
    );
    // And back again: it is open, and nothing is counted twice.
    now.sid = A.to_owned();
    assert!(look(&mut journal, &[now], &ONE, 40));
    assert_eq!(
        shown(&journal),
        "a: open, done, 1 runs, 4 s, 2..40, window 1, process 10\n\
         b: left at 40, done, 1 runs, 2 s, 20..20, window 1, process 10"
    );
}

#[test]
fn a_window_that_is_opened_for_a_session_stands_for_it() {
    let mut journal = Journal::default();
    look(&mut journal, &[seen(A, 1, 10)], &ONE, 0);
    let opening = journal.find_mut(|s| s.sid == A).expect("there");
    opening.process = ProcId::default();
    opening.window = 2;
    let begins = Desk {
        opening: &[2],
        ..ONE
    };
    assert!(!look(&mut journal, &[], &begins, 500));
    let mut nobody = journal.clone();
    assert!(look(&mut nobody, &[], &ONE, 510), "it came to nothing");
    assert!(shown(&nobody).contains("closed at 510"));
    assert!(look(&mut journal, &[seen(A, 2, 12)], &ONE, 520));
    assert!(!look(&mut journal, &[seen(A, 2, 12)], &ONE, 530));
    assert!(shown(&journal).ends_with("window 2, process 12"));
}

#[test]
fn what_nobody_saw_is_written_down_from_its_events() {
    use Event::{Done, End, Prompt, Start};
    let mut journal = Journal::default();
    let mut list = events(&[
        (1, Start, A, "startup"),
        (2, Prompt, A, ""),
        (5, Done, A, ""),
        (6, End, A, "clear"),
        (7, Start, B, "clear"),
        (8, Prompt, B, ""),
    ]);
    list[0].argv = vec!["claude".into(), "--model".into(), "opus".into()];
    let boot = "0011aabb";
    assert!(absorb(&mut journal, process(10), boot, &list));
    assert!(!absorb(&mut journal, process(10), boot, &list), "once");
    assert_eq!(
        shown(&journal),
        "a: left at 6, done, 1 runs, 3 s, 1..6, window 0, process 10\n\
         b: open, working, 0 runs, 0 s, 7..8, window 0, process 10"
    );
    assert_eq!(journal.find("claude", A).expect("there").argv.len(), 3);
    // Seen running before, and ended by the person before the next look: closed, though its kitty may
    // be gone too.
    for (how, open) in [("exit", false), ("other", true)] {
        let list = events(&[(1, Start, A, ""), (2, Prompt, A, ""), (9, End, A, how)]);
        let mut journal = Journal::default();
        let mut now = seen(A, 1, 10);
        now.events = list[..2].to_vec();
        look(&mut journal, &[now], &ONE, 3);
        assert!(absorb(&mut journal, process(10), boot, &list));
        assert!(!absorb(&mut journal, process(10), boot, &list), "once");
        let s = journal.find("claude", A).expect("there");
        assert_eq!((s.open, s.work_secs()), (open, 7), "{how}");
        let mut unseen = Journal::default();
        assert!(absorb(&mut unseen, process(10), boot, &list));
        assert_eq!(unseen.find("claude", A).map(|s| s.open), Some(open));
    }
    // Where nothing was said there is nothing to come back to.
    let mut empty = Journal::default();
    let list = events(&[(1, Start, A, "startup"), (2, End, A, "other")]);
    assert!(!absorb(&mut empty, process(10), boot, &list));
    assert_eq!(empty.count(), 0);
    assert_eq!(crate::keep::journal::progress(&list, A).0, Progress::Seen);
}

#[test]
fn whatever_is_seen_what_is_written_reads_back() {
    let mut rng = fastrand::Rng::with_seed(5);
    let odd = [
        "",
        "/p",
        "a\0b",
        "(unreachable)/x",
        "\u{2028}$'\"",
        "/\u{10ff80}",
    ];
    let mut pick = move || odd[rng.usize(0..odd.len())].to_owned();
    for n in 0..500 {
        let mut journal = Journal::default();
        for window in 1..4 {
            let mut now = seen(if n % 2 == 0 { A } else { "" }, window, 10 + n % 3);
            (now.cwd, now.tab, now.exe) = (pick(), pick(), pick());
            (now.argv, now.env) = (vec![pick(), pick()], vec![pick()]);
            now.events = events(&[(1, Event::Prompt, "", ""), (2, Event::Waiting, "", "x\0y")]);
            look(&mut journal, &[now.clone()], &ONE, 5);
            assert!(!look(&mut journal, &[now], &ONE, 6), "it is settled");
        }
        let again = Journal::read(&journal.bytes());
        assert!(!again.is_broken());
        let all = |j: &Journal| j.sessions().cloned().collect::<Vec<_>>();
        assert_eq!(all(&again), all(&journal));
    }
}

#[test]
fn while_the_digest_stays_there_is_nothing_to_write_but_the_time() {
    let nobody = |_: ProcId| false;
    let of = |list: &[Observation], desk: &Desk<'_>| digest(list, &world(desk, &nobody));
    let now = seen(A, 1, 10);
    let same = of(std::slice::from_ref(&now), &ONE);
    assert_eq!(of(std::slice::from_ref(&now), &ONE), same);
    let changed = |change: fn(&mut Observation)| {
        let mut other = now.clone();
        change(&mut other);
        of(&[other], &ONE)
    };
    let others = [
        of(&[], &ONE),
        of(&[now.clone(), seen(B, 2, 11)], &ONE),
        of(
            std::slice::from_ref(&now),
            &Desk {
                kitties: &[(1, &[1, 2])],
                ..ONE
            },
        ),
        of(
            std::slice::from_ref(&now),
            &Desk {
                opening: &[2],
                ..ONE
            },
        ),
        changed(|o| o.sid = B.to_owned()),
        changed(|o| o.cwd = "/q".to_owned()),
        changed(|o| o.process = process(11)),
        changed(|o| o.events = events(&[(1, Event::Prompt, A, "")])),
        changed(|o| o.events = events(&[(1, Event::Prompt, A, ""), (2, Event::Done, A, "")])),
    ];
    let all: BTreeSet<u64> = others.into_iter().chain([same]).collect();
    assert_eq!(all.len(), others.len() + 1);
}
