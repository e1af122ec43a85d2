//! Hook records: written whole or not at all, read whatever stands in the file.

use super::*;

const SID: &str = "0a1b2c3d-0000-4000-8000-000000000001";
const NEXT: &str = "0a1b2c3d-0000-4000-8000-000000000002";

fn told(event: Event, sid: &str, detail: &str) -> Told {
    Told {
        event,
        sid: sid.to_owned(),
        cwd: "/p".to_owned(),
        detail: detail.to_owned(),
        ending: if detail == "clear" {
            Ending::Left
        } else {
            Ending::Cut
        },
    }
}

fn state() -> (tempfile::TempDir, State) {
    let top = tempfile::tempdir().expect("a temporary directory");
    let dir = PrivateDir::open(&top.path().join("state")).expect("open");
    (top, State { dir })
}

fn write(state: &State, process: ProcId, told: &Told, argv: &[String]) {
    append(state, "claude", process, 34816, told, argv).expect("appended");
}

#[test]
fn what_is_appended_is_read_again() {
    let (_top, state) = state();
    let me = proc::me();
    assert_eq!(for_process(&state, me), Look::Nothing);
    let words = ["claude", "--name", "it's $HOME \u{85}é"].map(str::to_owned);
    write(&state, me, &told(Event::Start, SID, "startup"), &words);
    write(&state, me, &told(Event::Waiting, SID, "may I?"), &[]);
    let events = for_process(&state, me).found().expect("there");
    let shown: Vec<_> = events
        .iter()
        .map(|e| {
            (
                e.event,
                e.sid.as_str(),
                e.detail.as_str(),
                e.tty,
                e.cwd.as_str(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (Event::Start, SID, "startup", 34816, "/p"),
            (Event::Waiting, SID, "may I?", 34816, "/p")
        ]
    );
    assert_eq!(events[0].argv, words);
    assert!(events[0].up_ns > 0 && events[0].up_ns <= events[1].up_ns);
    assert!(events[0].end < events[1].end);
    assert_eq!(events[0].host, clock::host8());
    let other = ProcId {
        start: me.start + 1,
        ..me
    };
    assert_eq!(for_process(&state, other), Look::Nothing, "another process");
}

#[test]
fn a_line_is_never_longer_than_one_write() {
    let (_top, state) = state();
    let me = proc::me();
    let long = vec!["x".repeat(5000)];
    write(
        &state,
        me,
        &told(Event::Start, SID, &"é".repeat(400)),
        &long,
    );
    let mut deep = told(Event::Start, SID, &"é".repeat(400));
    deep.cwd = format!("/{}", "d".repeat(3600));
    write(&state, me, &deep, &[]);
    deep.cwd = format!("/{}", "d".repeat(5000));
    write(&state, me, &deep, &[]);
    let events = for_process(&state, me).found().expect("there");
    let shown: Vec<_> = events
        .iter()
        .map(|e| (e.argv.len(), e.detail.chars().count(), e.cwd.len()))
        .collect();
    assert_eq!(shown, [(0, 200, 2), (0, 0, 3601)]);
    let file = state.dir.join("hooks").join(HookFile::of(me).name);
    let bytes = std::fs::read(file).expect("readable");
    assert!(bytes.split(|b| *b == b'\n').all(|l| l.len() < MAX_LINE));
    assert!(bytes.is_ascii());
}

#[test]
fn lines_that_are_none_of_ours_are_passed_over() {
    let good = r#"{"v":9,"at":"2026-11-30T08:00:00.000Z","up":5,"host":"h","agent":"claude","event":"done","sid":"a","cwd":"","tty":1,"new":[{}]}"#;
    let text = format!(
        "\n{{\"broken\n{good}\nnull\n[]\n{{}}\n{}\n{}\n{}\n\u{0}\n{good}\n{good}",
        good.replace("done", "dance"),
        good.replace("\"a\"", "\"--help\""),
        good.replace("2026", "20x6"),
    );
    let found = events(0, text.as_bytes());
    assert_eq!(found.len(), 2, "the last line is still written: {found:?}");
    assert_eq!(found[0].event, Event::Done);
    // From the middle of a file, the first line is only an end.
    let tail = format!("\"x\":1}}\n{good}\n");
    assert_eq!(events(77, tail.as_bytes()).len(), 1);
    assert_eq!(events(77, tail.as_bytes())[0].end, 77 + tail.len() as u64);
}

#[test]
fn the_newest_event_that_names_a_conversation_tells_which() {
    let (_top, state) = state();
    let me = proc::me();
    let latest = || {
        let events = for_process(&state, me).found().unwrap_or_default();
        latest_sid(&events)
    };
    assert_eq!(latest(), None);
    write(&state, me, &told(Event::Start, SID, "startup"), &[]);
    assert_eq!(latest(), Some((SID.into(), "/p".into())));
    write(&state, me, &told(Event::Prompt, "", ""), &[]);
    assert_eq!(latest().map(|l| l.0).as_deref(), Some(SID));
    write(&state, me, &told(Event::Start, NEXT, ""), &[]);
    // The hook of the end was slower than that of the next start.
    write(&state, me, &told(Event::End, SID, "clear"), &[]);
    assert_eq!(latest().map(|l| l.0).as_deref(), Some(NEXT));
    let events = for_process(&state, me).found().expect("there");
    let endings: Vec<Ending> = events.iter().map(|e| e.ending).collect();
    assert_eq!(endings[3], Ending::Left);
    assert_eq!(endings[0], Ending::Cut);
    let only_end = [HookEvent {
        event: Event::End,
        ..for_process(&state, me).found().expect("there")[0].clone()
    }];
    assert_eq!(latest_sid(&only_end).map(|l| l.0).as_deref(), Some(SID));
}

#[test]
fn only_files_of_processes_that_are_gone_are_swept() {
    let (_top, state) = state();
    let me = proc::me();
    let gone = |n| ProcId {
        pid: me.pid,
        start: me.start + n,
    };
    for process in [me, gone(1), gone(2)] {
        write(&state, process, &told(Event::Start, SID, ""), &[]);
    }
    let hooks = state.dir.sub("hooks").expect("there");
    let line = |host: &str| {
        format!(
            "{{\"v\":1,\"at\":\"2026-11-30T08:00:00Z\",\"up\":1,\"tty\":1,\"event\":\"start\",\"host\":\"{host}\"}}\n"
        )
    };
    let here = "00000000-1-1.jsonl";
    let there = "00000000-1-2.jsonl";
    hooks
        .append(here, line(&clock::host8()).as_bytes())
        .expect("written");
    hooks
        .append(there, line("ffffffff").as_bytes())
        .expect("written");
    hooks.append("notes.txt", b"mine").expect("written");
    sweep(&state, &|p| p == gone(2));
    let mut left = hooks.names().expect("names");
    let mut wanted = [
        HookFile::of(me).name,
        HookFile::of(gone(2)).name,
        there.to_owned(),
        "notes.txt".to_owned(),
    ];
    left.sort();
    wanted.sort();
    assert_eq!(left, wanted);
}

#[test]
fn writers_beside_each_other_lose_nothing() {
    let (_top, state) = state();
    let me = proc::me();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    write(&state, me, &told(Event::Prompt, SID, &"x".repeat(150)), &[]);
                }
            });
        }
    });
    let all = for_process(&state, me).found().expect("there");
    assert_eq!(all.len(), 800);
    // Where only the newest count, a long file is not read whole.
    let recent = super::recent(&state, me).found().expect("there");
    assert!(recent.len() > 20 && recent.len() < 100, "{}", recent.len());
    assert_eq!(recent, all[all.len() - recent.len()..]);
    assert!(recent[0].begin > 0 && all[0].begin == 0 && all[1].begin == all[0].end);
}
