//! The file under its lock, with many real processes at once.

use std::process::{Child, Command, Stdio};

use super::*;
use crate::sys::private_file::PrivateDir;

/// How many processes write at once, and how often each.
const PROCESSES: u64 = 16;
const ROUNDS: u64 = 200;

/// Tells a test process that it is a writer: the state directory and its number.
const WRITER: &str = "KITTYMUX_TEST_JOURNAL_WRITER";

fn state(path: &std::path::Path) -> State {
    State {
        dir: PrivateDir::open(path).expect("open"),
    }
}

/// A directory in memory where there is one: thousands of synced writes would take a disk long.
fn top() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .expect("a temporary directory")
}

/// Counts one run more in each of these records.
fn one_more(state: &State, sids: &[&str]) -> Outcome<()> {
    update(state, |journal| {
        for sid in sids {
            match journal.find_mut(|s| s.sid == *sid) {
                Some(session) => session.runs += 1,
                None => journal.add(Session {
                    agent: "claude".into(),
                    sid: (*sid).to_owned(),
                    runs: 1,
                    open: true,
                    last_ns: clock::wall_ns(),
                    ..Session::default()
                }),
            }
        }
        true
    })
}

/// Not a test by itself: what each process of the next one does.
#[test]
fn writer() {
    let Ok(job) = std::env::var(WRITER) else {
        return;
    };
    let (number, path) = job.split_once(':').expect("a job");
    let state = state(std::path::Path::new(path));
    let own = format!("own{number}");
    for _ in 0..ROUNDS {
        // Waiting has an end; under such a load it may not be enough.
        while one_more(&state, &["all", &own]).is_err() {}
    }
}

fn start(path: &std::path::Path, number: u64) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "keep::journal::tests::writer"])
        .env(WRITER, format!("{number}:{}", path.display()))
        .stdout(Stdio::null())
        .spawn()
        .expect("a process")
}

#[test]
fn many_processes_lose_nothing_and_one_that_is_killed_harms_nobody() {
    let top = top();
    let path = top.path().join("state");
    let state = state(&path);
    let mut writers: Vec<Child> = (0..PROCESSES).map(|n| start(&path, n)).collect();
    let mut doomed = start(&path, 99);
    let at = || {
        let bytes = state.dir.read(FILE, LIMIT).expect("readable");
        bytes.map(|b| Journal::read(&b))
    };
    let mut looks = 0;
    loop {
        // Without the lock the file is whole at every moment.
        if let Some(journal) = at() {
            assert!(!journal.is_broken(), "look {looks}");
            assert_eq!(journal.count(), journal.sessions().count());
            looks += 1;
            if journal.find("claude", "own99").is_some_and(|s| s.runs > 20) {
                let _ = doomed.kill();
            }
        }
        let ended = |c: &mut Child| matches!(c.try_wait(), Ok(Some(_)));
        if writers.iter_mut().all(ended) {
            break;
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    let _ = doomed.kill();
    let killed = doomed.wait().expect("ended");
    assert!(!killed.success(), "it was killed in the middle");
    for mut writer in writers {
        assert!(writer.wait().expect("ended").success());
    }
    let journal = read(&state);
    let runs = |sid: &str| journal.find("claude", sid).map_or(0, |s| s.runs);
    for n in 0..PROCESSES {
        assert_eq!(runs(&format!("own{n}")), ROUNDS, "process {n}");
    }
    let doomed = runs("own99");
    assert!(doomed > 20 && doomed < ROUNDS, "{doomed}");
    let of_all = runs("all") - PROCESSES * ROUNDS;
    assert_eq!(of_all, doomed, "an update is whole or not there");
    assert!(looks > 10, "{looks}");
    state.sweep();
    let names = state.dir.names().expect("names");
    assert_eq!(names, [FILE, "locks"], "nothing is left behind");
    let mode = std::fs::metadata(state.dir.join(FILE)).expect("there");
    let mode = std::os::unix::fs::PermissionsExt::mode(&mode.permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_broken_file_is_put_aside_and_what_is_whole_in_it_carried_over() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let state = state(&top.path().join("state"));
    for _ in 0..2 {
        one_more(&state, &["a"]).expect("written");
        let whole = state.dir.read(FILE, LIMIT).expect("read").expect("there");
        let broken = &whole[..whole.len() - 3];
        state.dir.write(FILE, broken).expect("broken");
        assert!(read(&state).sessions().count() > 0, "a reader sees it too");
        one_more(&state, &["b"]).expect("written");
        let journal = read(&state);
        assert!(!journal.is_broken());
        assert!(journal.find("claude", "a").is_some());
        assert!(journal.find("claude", "b").is_some());
    }
    let names = state.dir.names().expect("names");
    let bad: Vec<&String> = names
        .iter()
        .filter(|n| n.starts_with("agent-sessions.bad-2"))
        .collect();
    assert_eq!(bad.len(), 2, "each under a name of its own: {names:?}");
    assert!(bad.iter().all(|n| n.ends_with(".json")));
    // Nothing at all to be read: it is put aside too.
    state.dir.write(FILE, b"\0\0").expect("broken");
    update(&state, |_| false).expect("written");
    assert_eq!(read(&state).count(), 0);
    assert_eq!(state.dir.names().expect("names").len(), names.len() + 1);
}

#[test]
fn a_file_that_is_not_ours_to_read_is_left_alone() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let state = state(&top.path().join("state"));
    let elsewhere = top.path().join("elsewhere");
    std::fs::write(&elsewhere, "mine").expect("written");
    std::os::unix::fs::symlink(&elsewhere, state.dir.join(FILE)).expect("a link");
    assert!(one_more(&state, &["a"]).is_err());
    assert_eq!(std::fs::read(&elsewhere).expect("there"), b"mine");
    assert_eq!(read(&state).count(), 0);
}

#[test]
fn nothing_is_written_when_nothing_changed_or_it_is_switched_off() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let state = state(&top.path().join("state"));
    update(&state, |_| false).expect("looked");
    assert!(!state.dir.join(FILE).exists());
    state.dir.write("journal-off", b"").expect("written");
    update(&state, |_| unreachable!("it is off")).expect("off");
    assert!(!state.dir.join(FILE).exists());
    state.dir.remove("journal-off").expect("removed");
    let held = Lock::try_take(&state.dir.sub("locks").expect("there"), "journal");
    let held = held.expect("looked").expect("free");
    let said = one_more(&state, &["a"]).expect_err("held").to_string();
    assert!(said.contains("another kittymux"), "{said}");
    drop(held);
    one_more(&state, &["a"]).expect("written");
}
