//! Records of processes of the agents beside claude and codex, made by hand.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::tests::{Home, OTHER, SID, age};
use super::*;

/// Our own process began before everything that a test writes.
fn me() -> ProcId {
    proc::me()
}

fn live_in(home: &Home, cwd: Option<&str>) -> Look<Live> {
    live(&home.subject(me(), cwd))
}

/// A program with a helper below it that holds files open, until it is dropped.
struct Holder(Child);

impl Holder {
    fn of(paths: &[&Path]) -> Self {
        // The first is held by number 7, the second by 8.
        let inner = "exec 7<\"$1\" 8<\"$2\"; echo ready; read x";
        let outer = format!("sh -c '{inner}' sh \"$1\" \"$2\"; true");
        let mut child = Command::new("/bin/sh")
            .args(["-c", &outer, "sh"])
            .arg(paths[0])
            .arg(paths[paths.len() - 1])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut said = String::new();
        let out = child.stdout.take().expect("output");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut said).expect("a line");
        assert_eq!(said, "ready\n");
        Self(child)
    }

    /// The program.
    fn id(&self) -> ProcId {
        let pid = i32::try_from(self.0.id()).expect("a pid");
        proc::stat(pid).expect("it is there").id
    }

    /// Its helper.
    fn helper(&self) -> ProcId {
        let pid = proc::children(self.id().pid)[0];
        proc::stat(pid).expect("it is there").id
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The helper ends when its input does.
        self.0.stdin.take();
        let _ = self.0.wait();
    }
}

/// qwen writes one file per conversation that names the process; old ones stay.
fn runtime(home: &Home, cwd: &str, sid: &str, pid: i32) -> PathBuf {
    let dir = paths::project_name(cwd);
    home.write(
        &format!(".qwen/projects/{dir}/chats/{sid}.runtime.json"),
        &format!(
            "{{\"schema_version\":1,\"pid\":{pid},\"session_id\":\"{sid}\",\"work_dir\":\"{cwd}\"}}"
        ),
    )
}

#[test]
fn qwens_running_entry_follows_a_new_conversation() {
    let home = Home::of("qwen");
    let cwd = home.project();
    assert_eq!(live_in(&home, Some(&cwd)), Look::Nothing);
    let first = runtime(&home, &cwd, SID, me().pid);
    // An entry is written before anything was said.
    let found = live_in(&home, Some(&cwd)).found().expect("found");
    assert_eq!((found.sid.as_str(), found.resumable), (SID, false));
    assert_eq!(
        (found.cwd.as_deref(), found.source),
        (Some(&*cwd), "registry")
    );
    let dir = paths::project_name(&cwd);
    home.write(&format!(".qwen/projects/{dir}/chats/{SID}.jsonl"), "{}\n");
    assert!(live_in(&home, Some(&cwd)).found().expect("found").resumable);
    // `/clear`: another one under the same pid; the first stays behind.
    let second = runtime(&home, &cwd, OTHER, me().pid);
    let earlier = fs::metadata(&first)
        .expect("there")
        .modified()
        .expect("a time");
    let later = earlier + std::time::Duration::from_millis(5);
    File::options()
        .append(true)
        .open(&second)
        .and_then(|f| f.set_modified(later))
        .expect("touch");
    assert_eq!(
        live_in(&home, Some(&cwd)).found().expect("found").sid,
        OTHER
    );
    // Wherever it is looked from.
    assert_eq!(live_in(&home, None).found().expect("found").sid, OTHER);
}

#[test]
fn qwens_entries_of_earlier_processes_are_not_believed() {
    let home = Home::of("qwen");
    let cwd = home.project();
    let path = runtime(&home, &cwd, SID, me().pid);
    age(&path, 10 * 365 * 86400);
    assert_eq!(
        live_in(&home, Some(&cwd)),
        Look::Nothing,
        "older than the process"
    );
    runtime(&home, &cwd, SID, 1);
    assert_eq!(live_in(&home, Some(&cwd)), Look::Nothing, "another's");
    fs::write(
        &path,
        format!("{{\"pid\":{},\"session_id\":\"{OTHER}\"}}", me().pid),
    )
    .expect("write");
    assert_eq!(
        live_in(&home, Some(&cwd)),
        Look::Nothing,
        "its name says otherwise"
    );
    fs::write(&path, "{\"pid\":").expect("write");
    assert!(
        matches!(live_in(&home, Some(&cwd)), Look::Unknown(_)),
        "half written"
    );
}

#[test]
fn the_innermost_process_of_qwen_counts_for_the_outermost() {
    let home = Home::of("qwen");
    let cwd = home.project();
    let inner = Holder::of(&[Path::new("/dev/null")]);
    runtime(&home, &cwd, SID, inner.id().pid);
    let mut subject = home.subject(me(), Some(&cwd));
    assert_eq!(live(&subject), Look::Nothing);
    let below = [inner.id()];
    subject.inner = &below;
    assert_eq!(live(&subject).found().expect("found").sid, SID);
}

/// codebuddy's file names what it was started with, never what is on the screen.
#[test]
fn codebuddys_registry_is_not_asked() {
    let home = Home::of("codebuddy");
    home.write(
        &format!(".codebuddy/sessions/{}.json", me().pid),
        &format!(
            "{{\"pid\":{},\"sessionId\":\"interactive-7\",\"kind\":\"interactive\"}}",
            me().pid
        ),
    );
    assert_eq!(live_in(&home, None), Look::Nothing);
    assert!(!always_says(&home.def, &[], &home.path("")));
    let claude = Home::of("claude");
    assert!(!always_says(&claude.def, &[], &claude.path("")));
    claude.write(".claude/sessions/x", "");
    assert!(always_says(&claude.def, &[], &claude.path("")));
}

#[test]
fn copilots_mark_names_the_process_and_is_kept_by_the_conversation() {
    let home = Home::of("copilot");
    let cwd = home.project();
    let mark = |sid: &str| {
        home.write(
            &format!(".copilot/session-state/{sid}/inuse.{}.hold", me().pid),
            "",
        )
    };
    assert_eq!(
        live_in(&home, None),
        Look::Nothing,
        "resumed, or nothing was said"
    );
    mark(SID);
    assert!(!live_in(&home, None).found().expect("found").resumable);
    let yaml = format!("id: {SID}\ncwd: \"{cwd}\"\nname: x\n");
    home.write(
        &format!(".copilot/session-state/{SID}/workspace.yaml"),
        &yaml,
    );
    home.write(
        &format!(".copilot/session-state/{SID}/events.jsonl"),
        "{}\n",
    );
    let found = live_in(&home, None).found().expect("found");
    assert_eq!(
        (
            found.sid.as_str(),
            found.cwd.as_deref(),
            found.source,
            found.resumable
        ),
        (SID, Some(&*cwd), "in-use mark", true)
    );
    let count = |cwd: &str| home.conversations(cwd, 0).found().expect("found").len();
    assert_eq!((count(&cwd), count("/p")), (1, 0));
    // Two marks of one process: nothing says which one is on the screen.
    let second = mark(OTHER);
    assert_eq!(live_in(&home, None), Look::Nothing);
    age(&second, 10 * 365 * 86400);
    assert_eq!(live_in(&home, None).found().expect("found").sid, SID);
}

#[test]
fn two_processes_that_have_one_conversation_both_say_so() {
    let home = Home::of("copilot");
    let other = Holder::of(&[Path::new("/dev/null")]);
    for pid in [me().pid, other.id().pid] {
        home.write(
            &format!(".copilot/session-state/{SID}/inuse.{pid}.hold"),
            "",
        );
    }
    let both = [me(), other.id()].map(|p| live(&home.subject(p, None)).found().expect("found").sid);
    assert_eq!(both, [SID, SID]);
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_a_process_or_its_helper_holds() {
    for (agent, path, sid, helper) in [
        (
            "devin",
            ".devin/session_locks/tall-yogurt.lock",
            "tall-yogurt",
            true,
        ),
        ("vibe", ".vibe/logs/session/active/{id}.lock", SID, true),
        (
            "qodercli",
            ".qoder/logs/sessions/-p/{id}/segments/20261130-x-p7.jsonl",
            SID,
            false,
        ),
    ] {
        let home = Home::of(agent);
        let file = home.write(&path.replace("{id}", sid), "x");
        let holder = Holder::of(&[&file]);
        let of_helper = live(&home.subject(holder.helper(), None));
        assert_eq!(of_helper.found().expect("found").sid, sid, "{agent}");
        let of_program = live(&home.subject(holder.id(), None));
        if helper {
            let found = of_program.found().expect("found");
            assert_eq!(
                (found.sid.as_str(), found.source),
                (sid, "held file"),
                "{agent}"
            );
        } else {
            assert_eq!(of_program, Look::Nothing, "{agent}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_with_the_files_of_two_conversations_tells_nothing() {
    let home = Home::of("devin");
    let one = home.write("session_locks/tall-yogurt.lock", "");
    let two = home.write("session_locks/small-soup.lock", "");
    let odd = home.write("session_locks/-x.lock", "");
    let look = |paths: &[&Path]| {
        let holder = Holder::of(paths);
        let later = ProcId {
            start: holder.id().start + 1,
            ..holder.id()
        };
        assert_eq!(
            live(&home.subject(later, None)),
            Look::Nothing,
            "another process"
        );
        live(&home.subject(holder.id(), None))
    };
    // No store is known where it could be looked up: its own word counts.
    assert!(look(&[&one]).found().expect("found").resumable);
    assert_eq!(
        look(&[&one, &odd]).found().expect("found").sid,
        "tall-yogurt"
    );
    assert_eq!(look(&[&one, &two]), Look::Nothing);
    assert_eq!(look(&[&odd]), Look::Nothing);
}

#[test]
fn the_record_that_a_tick_watches() {
    let pid = me().pid;
    let cwd = proc::cwd(pid).found().expect("a directory");
    for (agent, expected) in [
        ("claude", Some(format!(".claude/sessions/{pid}.json"))),
        ("copilot", Some(".copilot/session-state".to_owned())),
        (
            "qwen",
            Some(format!(
                ".qwen/projects/{}/chats",
                paths::project_name(&cwd)
            )),
        ),
        ("codex", None),
        ("gemini", None),
        ("aider", None),
    ] {
        let home = Home::of(agent);
        let top = home.path("");
        let file = record_file(&home.def, &[], &top, me());
        assert_eq!(file, expected.map(|e| top.join(e)), "{agent}");
    }
}

/// codex's background server is below the first window's program and holds the files of all.
#[cfg(target_os = "linux")]
#[test]
fn what_a_server_below_codex_holds_is_nobodys() {
    let home = Home::of("codex");
    let rollout = |sid: &str| {
        let name = format!(".codex/sessions/2026/11/30/rollout-2026-11-30T08-00-00-{sid}.jsonl");
        home.write(&name, "{}\n")
    };
    let (one, two) = (rollout(SID), rollout(OTHER));
    for files in [&[&*one][..], &[&*one, &*two]] {
        let server = Holder::of(files);
        assert_eq!(live(&home.subject(server.id(), None)), Look::Nothing);
    }
}
