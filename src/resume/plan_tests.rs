use super::*;

const KITTY: ProcId = ProcId { pid: 1, start: 1 };
const SEC: u64 = 1_000_000_000;

fn subject(window: u64, agent: &str, dir: &str) -> Subject {
    Subject {
        window: Some(WindowKey {
            kitty: KITTY,
            window,
        }),
        process: ProcId {
            pid: 100 + i32::try_from(window).unwrap_or(0),
            start: window,
        },
        agent: agent.to_owned(),
        can_exact: true,
        latest: Latest::Directory,
        started_ns: 1000 * SEC,
        cwd: Some(dir.to_owned()),
        real_cwd: Some(dir.to_owned()),
        live: Look::Nothing,
        argv: None,
        conversations: Look::Unknown("sqlite".to_owned()),
        by_start_time: false,
        always_live: false,
    }
}

fn live(sid: &str) -> Look<Live> {
    Look::Found(Live {
        sid: sid.to_owned(),
        cwd: None,
        source: "registry",
        resumable: true,
    })
}

fn talk(sid: &str, made: Option<u64>, touched: u64) -> Conversation {
    Conversation {
        sid: sid.to_owned(),
        made_ns: made.map(|m| m * SEC),
        touched_ns: Some(touched * SEC),
        cwd: "/p".to_owned(),
    }
}

fn shown(subjects: &[Subject]) -> String {
    decide(subjects)
        .iter()
        .map(|c| format!("{} {} ({})\n", c.mode.word(), c.sid, c.why))
        .collect()
}

#[test]
fn two_of_one_directory_without_ids_are_both_new() {
    let both = [subject(1, "claude", "/p"), subject(2, "claude", "/p")];
    expect_test::expect![[r#"
        new  (2 of claude run in this directory)
        new  (2 of claude run in this directory)
    "#]]
    .assert_eq(&shown(&both));
}

#[test]
fn a_plain_one_beside_one_with_an_id_is_never_latest() {
    let mut first = subject(1, "claude", "/p");
    first.argv = Some(("ID1".into(), Look::Found(None)));
    expect_test::expect![[r#"
        exact ID1 (command line)
        new  (2 of claude run in this directory)
    "#]]
    .assert_eq(&shown(&[first, subject(2, "claude", "/p")]));
}

#[test]
fn one_conversation_opened_twice_stays_in_the_surest_window() {
    let mut argv = subject(1, "claude", "/p");
    argv.argv = Some(("ID1".into(), Look::Found(None)));
    let mut registry = subject(2, "claude", "/p");
    registry.live = live("ID1");
    let mut again = subject(3, "claude", "/p");
    again.live = live("ID1");
    expect_test::expect![[r#"
        new  (its conversation ID1 is in window 2 already)
        exact ID1 (registry)
        new  (its conversation ID1 is in window 2 already)
    "#]]
    .assert_eq(&shown(&[argv, registry, again]));
}

#[test]
fn a_live_record_beats_the_command_line_and_an_empty_one_means_new() {
    let mut went = subject(1, "claude", "/p");
    went.argv = Some(("ID1".into(), Look::Found(None)));
    went.live = live("ID2");
    let mut empty = subject(2, "claude", "/q");
    empty.live = Look::Found(Live {
        sid: "ID3".into(),
        cwd: None,
        source: "registry",
        resumable: false,
    });
    expect_test::expect![[r#"
        exact ID2 (registry)
        new  (nothing was said in it yet)
    "#]]
    .assert_eq(&shown(&[went, empty]));
}

#[test]
fn a_stale_or_vanished_command_line_is_not_believed() {
    let mut stale = subject(1, "codex", "/p");
    stale.argv = Some(("ID1".into(), Look::Found(None)));
    stale.conversations = Look::Found(vec![talk("ID1", None, 500), talk("ID2", None, 1500)]);
    let mut used = stale.clone();
    used.window = Some(WindowKey {
        kitty: KITTY,
        window: 2,
    });
    used.process.pid = 7;
    used.argv = Some(("ID2".into(), Look::Found(Some("/owner".into()))));
    let mut moved = stale.clone();
    moved.process.pid = 6;
    moved.conversations = Look::Found(vec![talk("ID1", None, 500), talk("ID5", None, 1500)]);
    let mut gone = subject(3, "codex", "/q");
    gone.argv = Some(("ID3".into(), Look::Nothing));
    let mut unseen = subject(4, "codex", "/r");
    unseen.argv = Some(("ID4".into(), Look::Unknown("no access".into())));
    expect_test::expect![[r#"
        new  (another conversation of this directory was used since it started)
        exact ID1 (command line)
        exact ID2 (command line)
        new  (the conversation ID3 of its command line is not there any more)
        exact ID4 (command line)
    "#]]
    .assert_eq(&shown(&[moved, stale, used, gone, unseen]));
}

#[test]
fn the_only_conversation_used_since_the_start_is_the_one() {
    let mut one = subject(1, "codex", "/p");
    one.conversations = Look::Found(vec![talk("OLD", None, 500), talk("ID1", None, 998)]);
    assert_eq!(
        shown(&[one.clone()]),
        "exact ID1 (the only conversation of this directory used since it started)\n"
    );
    one.conversations = Look::Found(vec![talk("ID1", None, 1200), talk("ID2", None, 1300)]);
    assert_eq!(
        shown(&[one.clone()]),
        "new  (several conversations of this directory were used since it started)\n"
    );
    one.conversations = Look::Found(vec![talk("OLD", None, 500)]);
    assert_eq!(
        shown(&[one.clone()]),
        "new  (no conversation of this directory was used since it started)\n"
    );
    one.conversations = Look::Nothing;
    assert_eq!(
        shown(&[one]),
        "new  (no conversation of this directory was used since it started)\n"
    );
}

#[test]
fn an_agent_that_always_has_a_record_is_not_guessed_at_when_it_has_none() {
    let mut picker = subject(1, "claude", "/p");
    picker.always_live = true;
    picker.conversations = Look::Found(vec![talk("ID1", None, 1200)]);
    assert_eq!(
        shown(&[picker.clone()]),
        "new  (its own record names no conversation)\n"
    );
    picker.live = Look::Unknown("no access".into());
    assert!(shown(&[picker]).starts_with("exact ID1"));
}

#[test]
fn a_process_outside_all_windows_counts_too() {
    let one = subject(1, "opencode", "/p");
    let mut outside = subject(9, "opencode", "/p");
    outside.window = None;
    assert!(shown(&[one.clone(), outside.clone()]).starts_with("new"));
    outside.real_cwd = Some("/q".into());
    assert!(shown(&[one.clone(), outside.clone()]).starts_with("latest"));
    outside.real_cwd = None;
    assert!(
        shown(&[one, outside]).starts_with("new"),
        "an unknown directory may be this one"
    );
}

#[test]
fn latest_needs_a_stated_scope_or_a_single_process() {
    let mut one = subject(1, "devin", "/p");
    one.latest = Latest::Anywhere;
    let mut two = one.clone();
    two.process.pid = 8;
    two.real_cwd = Some("/q".into());
    assert!(shown(&[one.clone()]).starts_with("latest"));
    expect_test::expect![[r#"
        new  (several of devin run, and its “latest” may be any)
        new  (several of devin run, and its “latest” may be any)
    "#]]
    .assert_eq(&shown(&[one.clone(), two]));
    one.latest = Latest::None;
    assert_eq!(
        shown(&[one]),
        "new  (its conversations cannot be looked up)\n"
    );
}

#[test]
fn start_times_match_one_to_one_or_not_at_all() {
    let tui = |n: u64, start: u64, all: &[Conversation]| {
        let mut s = subject(n, "codex", "/p");
        s.by_start_time = true;
        s.started_ns = start * SEC;
        s.conversations = Look::Found(all.to_vec());
        s
    };
    let both = [talk("A", Some(1001), 1100), talk("B", Some(2002), 2100)];
    let two = [tui(1, 1000, &both), tui(2, 2000, &both)];
    let mut said = format!("both made as they started:\n{}", shown(&two));
    let left_over = [both.as_slice(), &[talk("C", Some(2500), 2600)]].concat();
    said += &format!(
        "one left over:\n{}",
        shown(&[tui(1, 1000, &left_over), tui(2, 2000, &left_over)])
    );
    said += &format!(
        "started together:\n{}",
        shown(&[tui(1, 1000, &both), tui(2, 1001, &both)])
    );
    let unspoken = [Conversation {
        touched_ns: None,
        ..both[0].clone()
    }];
    said += &format!("nothing said:\n{}", shown(&[tui(1, 1000, &unspoken)]));
    said += &format!("none made:\n{}", shown(&[tui(1, 3000, &both)]));
    let mut resumed = tui(3, 1500, &both);
    resumed.argv = Some(("B".into(), Look::Found(None)));
    said += &format!(
        "one resumed by id:\n{}",
        shown(&[tui(1, 1000, &both), resumed])
    );
    expect_test::expect![[r#"
        both made as they started:
        exact A (made as it started)
        exact B (made as it started)
        one left over:
        new  (several conversations of this directory fit its start)
        new  (several conversations of this directory fit its start)
        started together:
        new  (several conversations of this directory fit its start)
        new  (several conversations of this directory fit its start)
        nothing said:
        new  (nothing was said in it yet)
        none made:
        new  (no conversation was made since it started)
        one resumed by id:
        exact A (made as it started)
        exact B (command line)
    "#]]
    .assert_eq(&said);
}

#[test]
fn an_id_on_the_command_line_gives_way_when_two_conversations_were_used() {
    let mut moved = subject(1, "codex", "/p");
    moved.argv = Some(("X".into(), Look::Found(None)));
    moved.by_start_time = true;
    let both = vec![talk("X", Some(100), 1100), talk("Y", Some(1050), 1200)];
    moved.conversations = Look::Found(both.clone());
    assert!(
        shown(&[moved.clone()]).starts_with("new"),
        "it may be in either"
    );
    // Unless the other one was made as another process of the directory started.
    let mut other = subject(2, "codex", "/p");
    other.by_start_time = true;
    other.started_ns = 1049 * SEC;
    other.conversations = Look::Found(both);
    assert!(shown(&[moved, other]).starts_with("exact X"));
}

#[test]
fn of_two_made_as_another_started_either_may_be_the_one_gone_to() {
    let mut moved = subject(1, "codex", "/p");
    moved.argv = Some(("X".into(), Look::Found(None)));
    let mut other = subject(2, "codex", "/p");
    other.started_ns = 1026 * SEC;
    let both = |conversations: Vec<Conversation>| {
        let mut pair = [moved.clone(), other.clone()];
        for one in &mut pair {
            one.by_start_time = true;
            one.conversations = Look::Found(conversations.clone());
        }
        shown(&pair)
    };
    let old = talk("X", Some(100), 1010);
    expect_test::expect![[r#"
        exact X (command line)
        exact A (made as it started)
    "#]]
    .assert_eq(&both(vec![old.clone(), talk("A", Some(1027), 1100)]));
    expect_test::expect![[r#"
        new  (another conversation of this directory was used since it started)
        new  (several conversations of this directory fit its start)
    "#]]
    .assert_eq(&both(vec![
        old,
        talk("A", Some(1027), 1100),
        talk("B", Some(1028), 1200),
    ]));
}
