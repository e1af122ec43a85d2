//! Reading and writing the file, whatever stands in it.

use super::*;
use crate::keep::journal::session::{Counted, Owner, Progress};
use crate::sys::proc::ProcId;

pub fn session(n: u64) -> Session {
    Session {
        agent: "claude".into(),
        sid: format!("0a1b2c3d-0000-4000-8000-{n:012}"),
        cwd: "/home/u/it's $HOME é\u{2028}".into(),
        tab: "api work".into(),
        argv: ["claude", "--name", "a b"].map(str::to_owned).to_vec(),
        env: vec!["CLAUDE_CONFIG_DIR=/c".into()],
        exe: "/usr/bin/claude".into(),
        first_ns: 1_796_000_000_000_000_000,
        last_ns: 1_796_000_060_250_000_000,
        state: Progress::Waiting,
        waiting_for: "may I?".into(),
        runs: 7,
        work_ms: 4_800_000,
        open: true,
        closed_ns: 0,
        left: false,
        kitty: Owner {
            pid: 42,
            start: 9001,
            boot: "0011aabb".into(),
            host: "cafe0001".into(),
        },
        window: 3,
        process: ProcId {
            pid: 77,
            start: 9100,
        },
        counted: vec![Counted {
            pid: 77,
            start: 9100,
            boot: "0011aabb".into(),
            end: 512,
            since_up_ms: 5,
            since_ns: 1_796_000_000_000_000_000,
        }],
    }
}

fn text(journal: &Journal) -> String {
    String::from_utf8(journal.bytes()).expect("text")
}

#[test]
fn the_form_is_frozen_and_reads_back() {
    let mut journal = Journal::default();
    journal.add(session(1));
    journal.add(Session {
        open: false,
        closed_ns: 1_796_000_070_000_000_000,
        left: true,
        ..session(2)
    });
    let written = text(&journal);
    expect_test::expect![[r#"
        {"v":1,"sessions":[
        {"agent":"claude","sid":"0a1b2c3d-0000-4000-8000-000000000001","cwd":"/home/u/it\u0027s \u0024HOME \u00e9\u2028","tab":"api work","argv":["claude","--name","a b"],"env":["CLAUDE_CONFIG_DIR=/c"],"exe":"/usr/bin/claude","first":"2026-11-30T00:53:20.000Z","last":"2026-11-30T00:54:20.250Z","state":"waiting","waiting_for":"may I?","runs":7,"work_ms":4800000,"open":true,"kitty":{"pid":42,"start":9001,"boot":"0011aabb","host":"cafe0001"},"window":3,"process":{"pid":77,"start":9100},"counted":[{"pid":77,"start":9100,"boot":"0011aabb","end":512,"since_up_ms":5,"since":"2026-11-30T00:53:20.000Z"}]},
        {"agent":"claude","sid":"0a1b2c3d-0000-4000-8000-000000000002","cwd":"/home/u/it\u0027s \u0024HOME \u00e9\u2028","tab":"api work","argv":["claude","--name","a b"],"env":["CLAUDE_CONFIG_DIR=/c"],"exe":"/usr/bin/claude","first":"2026-11-30T00:53:20.000Z","last":"2026-11-30T00:54:20.250Z","state":"waiting","waiting_for":"may I?","runs":7,"work_ms":4800000,"open":false,"closed":"2026-11-30T00:54:30.000Z","left":true,"kitty":{"pid":42,"start":9001,"boot":"0011aabb","host":"cafe0001"},"window":3,"process":{"pid":77,"start":9100},"counted":[{"pid":77,"start":9100,"boot":"0011aabb","end":512,"since_up_ms":5,"since":"2026-11-30T00:53:20.000Z"}]}
        ]}
    "#]]
    .assert_eq(&written);
    let again = Journal::read(written.as_bytes());
    assert!(!again.is_broken());
    let read: Vec<_> = again.sessions().cloned().collect();
    assert_eq!(read[0], session(1));
    assert!(read[1].left && !read[1].open && read[1].closed_ns > 0);
    assert_eq!(text(&again), written);
}

#[test]
fn what_is_not_touched_goes_back_to_the_byte_and_newer_members_survive() {
    let newer = "{\"v\":2,\"more\":{\"a\":[1, 2]},\"sessions\":[\n\
        {\"agent\":\"claude\", \"sid\":\"a\",\"new\":{\"x\":\"\\u00e9$\"},  \"runs\":1},\n\
        {\"agent\":\"codex\",\"sid\":\"b\",\"runs\":2,\"new\":[7]}\n],\"last\":null}";
    let mut journal = Journal::read(newer.as_bytes());
    assert!(!journal.is_broken());
    journal.find_mut(|s| s.sid == "b").expect("b").runs += 1;
    let written = text(&journal);
    assert!(
        written.contains(
            "{\"agent\":\"claude\", \"sid\":\"a\",\"new\":{\"x\":\"\\u00e9$\"},  \"runs\":1}"
        ),
        "{written}"
    );
    assert!(written.contains("\"counted\":[],\"new\":[7]}"), "{written}");
    assert!(written.starts_with("{\"v\":2,"), "{written}");
    assert!(
        written.ends_with(",\"more\":{\"a\":[1, 2]},\"last\":null}\n"),
        "{written}"
    );
    let again = Journal::read(written.as_bytes());
    assert_eq!(again.find("codex", "b").map(|s| s.runs), Some(3));
}

#[test]
fn one_bad_record_hides_no_other_and_stays() {
    for bad in [
        "7",
        "null",
        "[]",
        "{}",
        r#"{"agent":7}"#,
        r#"{"agent":"claude","sid":"--help"}"#,
        r#"{"agent":"claude","runs":-1}"#,
        r#"{"agent":"claude","runs":1.5}"#,
        r#"{"agent":"claude","runs":"7"}"#,
        r#"{"agent":"claude","last":"yesterday"}"#,
        r#"{"agent":"claude","state":"dancing"}"#,
        r#"{"agent":"claude","argv":[1]}"#,
        r#"{"agent":"claude","cwd":"relative"}"#,
        r#"{"agent":"claude","kitty":[]}"#,
        r#"{"agent":"claude","process":{"pid":99999999999}}"#,
        r#"{"agent":"claude","argv":["a\u0000b"]}"#,
        r#"{"agent":"claude","open":"yes"}"#,
        r#"{"agent":"claude","counted":{}}"#,
    ] {
        let file = format!(
            "{{\"v\":1,\"sessions\":[{{\"agent\":\"a\",\"sid\":\"x\"}},{bad},{{\"agent\":\"b\",\"sid\":\"y\"}}]}}"
        );
        let mut journal = Journal::read(file.as_bytes());
        assert!(!journal.is_broken(), "{bad}");
        assert_eq!(
            (journal.count(), journal.sessions().count()),
            (3, 2),
            "{bad}"
        );
        journal.add(session(1));
        let written = text(&journal);
        assert!(written.contains(&format!("\n{bad},\n")), "{written}");
    }
}

#[test]
fn what_is_whole_in_a_broken_file_is_kept() {
    let mut journal = Journal::default();
    for n in 0..5 {
        journal.add(session(n));
    }
    let whole = text(&journal);
    let third = whole.match_indices("{\"agent\"").nth(3).expect("there").0;
    for cut in [
        third + 1,
        third + 40,
        whole.find("\"runs\":7").expect("runs"),
    ] {
        let journal = Journal::read(&whole.as_bytes()[..cut]);
        assert!(journal.is_broken());
        let found: Vec<_> = journal.sessions().map(|s| s.sid.clone()).collect();
        let wanted: Vec<_> = (0..if cut > third { 3 } else { 0 })
            .map(|n| session(n).sid)
            .collect();
        assert_eq!(found, wanted, "cut at {cut}");
    }
    let spoiled = whole.replacen("\"runs\":7", "\"runs\":7\u{0}}}]", 1);
    let journal = Journal::read(spoiled.as_bytes());
    assert!(journal.is_broken());
    assert_eq!(journal.sessions().count(), 4);
    for nothing in [
        "",
        "\0\0\0",
        "null",
        "[]",
        "\"x\"",
        "{",
        "{\"sessions\":7}",
        "{\"sessions\":{}}",
        "}{",
        "\u{feff}{}",
    ] {
        let journal = Journal::read(nothing.as_bytes());
        assert!(journal.is_broken(), "{nothing}");
        assert_eq!(journal.count(), 0, "{nothing}");
    }
    assert!(!Journal::read(b"{}").is_broken());
    // Nothing here may take long.
    assert!(Journal::read("{".repeat(1 << 20).as_bytes()).is_broken());
    assert!(Journal::read("{\"agent\":\"".repeat(1 << 16).as_bytes()).is_broken());
}

#[test]
fn any_cut_and_any_changed_byte_is_read_without_harm() {
    let mut journal = Journal::default();
    journal.add(session(1));
    journal.add(session(2));
    let whole = journal.bytes();
    let mut rng = fastrand::Rng::with_seed(11);
    for cut in 0..whole.len() {
        let found = Journal::read(&whole[..cut]).sessions().count();
        assert!(found <= 2);
    }
    for _ in 0..2000 {
        let mut bytes = whole.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(0..bytes.len());
            bytes[at] = rng.u8(..);
        }
        let journal = Journal::read(&bytes);
        let again = Journal::read(&journal.bytes());
        assert!(!again.is_broken(), "what we write is whole");
        assert_eq!(again.count(), journal.count());
    }
}
