use std::os::unix::fs::PermissionsExt;

use super::*;

/// Runs a script as the program.
fn run(script: &str, limit: Duration) -> (Answer, Duration) {
    let top = tempfile::tempdir().expect("a temporary directory");
    let program = top.path().join("agent");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("executable");
    let dir = top.path().join("empty");
    std::fs::create_dir(&dir).expect("a directory");
    let began = Instant::now();
    let answer = ask(&program, &["--help".to_owned()], &dir, limit);
    (answer, began.elapsed())
}

fn text(script: &str) -> String {
    match run(script, LIMIT).0 {
        Answer::Text { bytes, cut: false } => String::from_utf8_lossy(&bytes).into_owned(),
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn both_streams_count_and_a_bad_status_too() {
    assert_eq!(
        text("echo \"out $1\"; echo err >&2; exit 3"),
        "out --help\nerr\n"
    );
    assert_eq!(text("printf out; printf err >&2"), "out\nerr");
}

#[test]
fn it_has_no_input_no_terminal_and_an_empty_directory() {
    let said = text(
        "cat; ls -A; (: </dev/tty) 2>/dev/null || echo no terminal\n\
         echo $TERM $NO_COLOR $CI ${KITTY_WINDOW_ID-none} ${PWD##*/}\n\
         read -r a b c d group session rest </proc/self/stat; [ $$ = $group ] && [ $$ = $session ] && echo own",
    );
    assert_eq!(said, "no terminal\ndumb 1 1 none empty\nown\n");
}

#[test]
fn one_that_hangs_is_ended_with_all_it_started() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let note = top.path().join("pids");
    let script = format!("sleep 60 & echo $! $$ >{}; echo half; wait", note.display());
    let (answer, took) = run(&script, Duration::from_millis(600));
    assert_eq!(answer, Answer::TooSlow);
    assert!(took < Duration::from_secs(3), "{took:?}");
    let pids = std::fs::read_to_string(note).expect("it ran");
    for pid in pids.split_whitespace() {
        let pid: i32 = pid.parse().expect("a pid");
        let end = Instant::now() + Duration::from_secs(5);
        while crate::sys::proc::is_alive(pid) {
            assert!(Instant::now() < end, "{pid} lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn what_it_leaves_running_with_its_output_is_not_waited_for() {
    let (answer, took) = run("sleep 60 & echo help", LIMIT);
    assert!(matches!(answer, Answer::Text { .. }), "{answer:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn ten_megabytes_are_read_and_little_is_kept() {
    let script = "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end >&2";
    let Answer::Text { bytes, cut } = run(script, LIMIT).0 else {
        panic!("no text");
    };
    assert!(cut && bytes.len() < 2 * MOST);
    assert!(bytes.ends_with(b"end\n"), "the other stream is kept");
    let (answer, took) = run("yes -- --resume", LIMIT);
    assert!(
        matches!(answer, Answer::Text { cut: true, .. }),
        "{answer:?}"
    );
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn what_cannot_be_asked_says_why() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let none = ask(&dir.path().join("none"), &[], dir.path(), LIMIT);
    assert_eq!(none, Answer::NotStarted("no such file or directory".into()));
    let (answer, _) = run("exit 127", LIMIT);
    assert_eq!(answer, Answer::Silent("exit status: 127".into()));
}
