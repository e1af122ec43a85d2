//! Rollouts made by hand, and files held by real processes.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::tests::{Home, OTHER, SID, V7, age, ns_ago, sids};
use super::{codex_rollouts, live};
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

fn rollout(id: &str, cwd: &str, more: &str) -> String {
    let instructions = "x".repeat(19_000);
    format!(
        "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"cwd\":\"{cwd}\",\"base\":\"{instructions}\"{more}}}}}\n{{}}\n"
    )
}

const TUI: &str = ",\"originator\":\"codex-tui\",\"source\":\"cli\"";

fn rollout_path(day: &str, id: &str) -> String {
    let dashed = day.replace('/', "-");
    format!(".codex/sessions/{day}/rollout-{dashed}T10-00-00-{id}.jsonl")
}

#[test]
fn rollouts_of_a_directory_made_on_the_terminal() {
    let home = Home::of("codex");
    let cwd = home.project();
    let id = |n: u32| format!("01941f29-7c00-7abc-8def-{n:012}");
    let put = |day: &str, n: u32, cwd: &str, more: &str| {
        home.write(&rollout_path(day, &id(n)), &rollout(&id(n), cwd, more))
    };
    let old_day = put("2024/02/03", 1, &cwd, TUI);
    let older = put("2026/09/27", 2, &cwd, TUI);
    put("2026/09/27", 3, "/elsewhere", TUI);
    put(
        "2026/09/27",
        4,
        &cwd,
        ",\"originator\":\"codex_exec\",\"source\":\"exec\"",
    );
    put(
        "2026/09/27",
        5,
        &cwd,
        ",\"originator\":\"codex-tui\",\"source\":{\"subagent\":\"review\"}",
    );
    put(
        "2026/09/27",
        6,
        &cwd,
        ",\"originator\":\"codex-tui\",\"source\":\"cli\",\"thread_source\":\"subagent\"",
    );
    home.write(
        &rollout_path("2026/09/27", &id(7)),
        &rollout(&id(8), &cwd, TUI),
    );
    home.write(&rollout_path("2026/09/27", &id(9)), "no json\n");
    home.write(&rollout_path("2026/09/27", &id(10)), "");
    home.write(".codex/sessions/2026/09/27/notes.txt", "x");
    age(&older, 100);
    age(&old_day, 10);
    let found = home.conversations(&cwd, 0).found().expect("found");
    assert_eq!(found.len(), 2);
    // One of an old day that was written last comes first.
    assert_eq!((&found[0].sid, &found[1].sid), (&id(1), &id(2)));
    assert_eq!(found[0].made_ns, Some(1_735_689_600_000_000_000));
    assert_eq!(sids(home.conversations(&cwd, ns_ago(50))), [id(1)]);
}

#[test]
fn a_rollouts_first_line_says_whose_it_is() {
    let home = Home::of("codex");
    home.write(&rollout_path("2026/09/27", V7), &rollout(V7, "/p", TUI));
    let owner = |sid: &str| home.transcript(sid).found().map(|t| t.owner);
    assert_eq!(owner(V7), Some(Some("/p".to_owned())));
    assert_eq!(owner(&V7.to_uppercase()), Some(Some("/p".to_owned())));
    assert_eq!(home.transcript(SID), Look::Nothing);
    assert_eq!(codex_rollouts::made_ns(SID), None, "no version 7");
    assert_eq!(
        codex_rollouts::id_of(&format!("rollout-x-{V7}.jsonl")),
        Some(V7)
    );
    for bad in [
        "rollout-.jsonl",
        "rollout-é.jsonl",
        &format!("rollout-{V7}.txt"),
        V7,
    ] {
        assert_eq!(codex_rollouts::id_of(bad), None, "{bad}");
    }
}

/// A process that holds these files open until it is dropped.
struct Holder(Child);

impl Holder {
    fn of(files: [&Path; 2]) -> Self {
        let [a, b] = files.map(|f| Stdio::from(File::open(f).expect("open")));
        let child = Command::new("sleep").arg("60").stdin(a).stderr(b).spawn();
        Self(child.expect("sleep"))
    }

    fn process(&self) -> ProcId {
        let pid = i32::try_from(self.0.id()).expect("a pid");
        ProcId {
            pid,
            start: proc::start(pid).expect("a start"),
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_rollout_or_lock_that_the_process_holds() {
    let home = Home::of("codex");
    let lock = home.write(&format!(".codex/thread-writer-locks/{V7}.lock"), "");
    let rollout = home.write(&rollout_path("2026/09/27", V7), &rollout(V7, "/p", TUI));
    let other = home.write(&rollout_path("2026/09/27", OTHER), "x\n");
    let nothing = home.write("x/nothing.lock", "");
    let look = |a: &Path, b: &Path| {
        let holder = Holder::of([a, b]);
        live(&home.subject(holder.process(), None))
    };
    let found = look(&lock, &rollout).found().expect("found");
    assert_eq!(
        (found.sid.as_str(), found.source, found.resumable),
        (V7, "held file", true)
    );
    assert_eq!(found.cwd.as_deref(), Some("/p"));
    assert!(look(&lock, &nothing).found().expect("found").resumable);
    assert_eq!(look(&rollout, &other), Look::Nothing, "one cannot be read");
    assert_eq!(look(&nothing, &nothing), Look::Nothing);
    fs::remove_file(&rollout).expect("remove");
    assert!(!look(&lock, &nothing).found().expect("found").resumable);
    // Another process with that pid is another process.
    let holder = Holder::of([&lock, &nothing]);
    let mut process = holder.process();
    process.start += 1;
    assert_eq!(live(&home.subject(process, None)), Look::Nothing);
    // The inner process of a wrapper counts.
    let inner = [holder.process()];
    let mut subject = home.subject(proc::me(), None);
    subject.inner = &inner;
    assert!(matches!(live(&subject), Look::Found(_)));
}

#[cfg(target_os = "linux")]
#[test]
fn of_several_that_the_process_holds_the_one_used_last() {
    let home = Home::of("codex");
    let id = |n: u32| format!("01941f29-7c00-7abc-8def-{n:012}");
    let put = |n: u32, more: &str, seconds: u64| {
        let path = home.write(
            &rollout_path("2026/09/27", &id(n)),
            &rollout(&id(n), "/p", more),
        );
        age(&path, seconds);
        path
    };
    let look = |a: &Path, b: &Path| {
        let holder = Holder::of([a, b]);
        live(&home.subject(holder.process(), None))
    };
    let sid = |a: &Path, b: &Path| look(a, b).found().map(|l| (l.sid, l.resumable));
    let (old, new) = (put(1, TUI, 90), put(2, TUI, 50));
    assert_eq!(sid(&old, &new), Some((id(2), true)), "behind /new");
    let back = put(1, TUI, 10);
    assert_eq!(sid(&back, &new), Some((id(1), true)), "behind /resume");
    let inner = put(
        3,
        ",\"originator\":\"codex-tui\",\"source\":{\"subagent\":\"review\"}",
        0,
    );
    assert_eq!(sid(&new, &inner), Some((id(2), true)), "on no screen");
    // A lock alone: behind /new, before anything was said. Made in 2200.
    let unspoken = "0699f0a5-1c00-7abc-8def-000000000001";
    let lock = home.write(&format!(".codex/thread-writer-locks/{unspoken}.lock"), "");
    assert_eq!(sid(&lock, &new), Some((unspoken.to_owned(), false)));
    let before = home.write(&format!(".codex/thread-writer-locks/{}.lock", id(4)), "");
    assert_eq!(sid(&before, &new), Some((id(2), true)), "made before that");
    let (one, two) = (put(5, TUI, 20), put(6, TUI, 20));
    let same = fs::metadata(&one)
        .and_then(|m| m.modified())
        .expect("a time");
    let file = File::options().append(true).open(&two).expect("open");
    file.set_modified(same).expect("a time");
    assert_eq!(look(&one, &two), Look::Nothing, "at one moment");
}
