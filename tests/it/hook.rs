//! `kittymux hook`: what an agent tells is written down, by the agent's own process, and it never
//! stands in the agent's way.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::pty::Pty;
use crate::rig::{Rig, until};
use crate::scene::Scene;
use kittymux::keep::hook_records::{self, HookEvent};
use kittymux::keep::state::State;
use kittymux::sys::private_file::PrivateDir;
use kittymux::sys::proc::{self, ProcId};

const SID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

/// The hook of every claude in this home is kittymux.
pub fn switch_on(rig: &Rig, more: &str) {
    let km = rig.dir("tools").join("kittymux");
    rig.file(
        ".fake-agent",
        &format!("FAKE_AGENT_HOOK='{}' hook claude\n{more}", km.display()),
    );
}

fn state(rig: &Rig) -> State {
    let path = rig.home().join(".local/state/kittymux");
    State {
        dir: PrivateDir::open(&path).expect("a state directory"),
    }
}

/// All events of all files, as short texts.
fn told(rig: &Rig) -> Vec<(ProcId, Vec<HookEvent>)> {
    let state = state(rig);
    hook_records::files(&state)
        .iter()
        .map(|f| {
            let events = hook_records::of_file(&state, f).found().unwrap_or_default();
            (f.process, events)
        })
        .collect()
}

fn words(events: &[HookEvent]) -> Vec<&'static str> {
    events.iter().map(|e| e.event.word()).collect()
}

/// A script named `claude` that runs `script` with `$KM` and `$P` (a payload), on a terminal.
fn as_claude(rig: &Rig, options: &[&str], script: &str) -> Pty {
    let text = format!("#!/bin/bash\n{script}\necho ended\nexec 1>&- 2>&-; sleep 60\n");
    let path = rig.file("bin2/claude", &text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
    let mut command = rig.command(&path);
    command
        .args(options)
        .env("KM", rig.dir("tools").join("kittymux"))
        .env("P", payload("Stop"));
    let mut pty = Pty::start(command, b"");
    pty.shows("ended");
    pty
}

fn payload(event: &str) -> String {
    format!("{{\"session_id\":\"{SID}\",\"cwd\":\"/p\",\"hook_event_name\":\"{event}\"}}")
}

#[test]
fn what_claude_tells_is_written_down_without_prompt_and_secret() {
    let scene = Scene::new();
    switch_on(&scene.rig, "");
    let dir = scene.rig.dir("work");
    let line = "claude --model opus --api-key sk-verysecret1234 'do this first'";
    let id = scene.type_in(&dir, line, "heard do this first");
    let sid = scene.talk(id);
    let told = told(&scene.rig);
    assert_eq!(told.len(), 1, "{told:?}");
    let (process, events) = &told[0];
    assert_eq!(words(events), ["start", "prompt", "done", "prompt", "done"]);
    assert!(events.iter().all(|e| e.sid == sid), "{events:?}");
    assert!(
        events
            .iter()
            .all(|e| e.cwd == dir.canonicalize().expect("there").display().to_string())
    );
    assert_eq!(events[0].argv, ["claude", "--model", "opus"]);
    assert_eq!(events[0].detail, "startup");
    let stat = proc::stat(process.pid).expect("it runs");
    assert_eq!((stat.id, stat.tty), (*process, events[0].tty));
    let file = std::fs::read_dir(scene.rig.home().join(".local/state/kittymux/hooks"))
        .expect("a directory")
        .flatten()
        .next()
        .expect("a file");
    let text = std::fs::read_to_string(file.path()).expect("text");
    assert!(
        !text.contains("sk-very") && !text.contains("do this"),
        "{text}"
    );
    let mode = file.metadata().expect("there").permissions();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777,
        0o600
    );
}

#[test]
fn the_list_tells_what_agents_are_at() {
    let scene = Scene::new();
    switch_on(&scene.rig, "");
    let said = [
        ("hello", "done"),
        ("working on it", "working"),
        ("asking you", "waiting"),
    ];
    for (n, (text, _)) in said.iter().enumerate() {
        let dir = scene.rig.dir(&format!("work/p{n}"));
        let id = scene.type_in(&dir, "claude", "(new)");
        scene.kitty.send(id, &format!("{text}\r"));
        scene.kitty.shows(id, &format!("heard {text}"));
    }
    let dir = scene.rig.dir("work/quiet");
    scene.type_in(&dir, "claude", "(new)");
    let list = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "list"]);
    for (n, state) in [(0, "done"), (1, "working"), (2, "waiting")] {
        let line = list
            .lines()
            .find(|l| l.ends_with(&format!("work/p{n}")))
            .unwrap_or_else(|| panic!("{list}"));
        assert!(line.contains(&format!("  {state}  ")), "{list}");
    }
    let line = list.lines().find(|l| l.ends_with("work/quiet"));
    assert!(line.is_some_and(|l| l.contains("  runs  ")), "{list}");
}

#[test]
fn the_hook_tells_the_conversation_where_the_agent_keeps_no_record() {
    let scene = Scene::new();
    switch_on(&scene.rig, "FAKE_AGENT_REGISTRY=0\n");
    let dir = scene.rig.dir("work");
    // Two in one directory: nothing else could tell them apart.
    let first = scene.type_in(&dir, "claude", "(new)");
    let second = scene.type_in(&dir, "env FAKE_AGENT_SHAPE=wrapper claude", "(new)");
    scene.talk(first);
    scene.kitty.send(first, "/clear\r");
    let one = scene.talk(first);
    let two = scene.talk(second);
    let saved = scene.save("work");
    assert_eq!(saved.record(first).sid, one);
    assert_eq!(saved.record(second).sid, two);
    let list = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "list"]);
    assert_eq!(
        list.matches("told by the agent's hook").count(),
        2,
        "{list}"
    );
    assert_eq!(list.matches("  done  ").count(), 2, "{list}");
}

#[test]
fn a_record_of_another_terminal_or_process_is_not_believed() {
    let scene = Scene::new();
    let rig = &scene.rig;
    rig.file(".fake-agent", "FAKE_AGENT_REGISTRY=0\n");
    let dir = rig.dir("work");
    let id = scene.type_in(&dir, "claude", "(new)");
    let pid = scene.kitty.window(id).and_then(|w| w.pid).expect("a shell");
    let agent = until("the agent", || {
        let child = proc::children(pid);
        child.first().and_then(|p| proc::stat(*p))
    });
    // A conversation that is there.
    rig.file(&format!(".claude/projects/p/{SID}.jsonl"), "{\"a\":1}\n");
    let write = |process: ProcId, tty: i32| {
        let told = kittymux::agents::hooks::Told {
            event: kittymux::agents::hooks::Event::Prompt,
            sid: SID.to_owned(),
            cwd: dir.display().to_string(),
            detail: String::new(),
            ending: kittymux::agents::hooks::Ending::Cut,
        };
        hook_records::append(&state(rig), "claude", process, tty, &told, &[]).expect("written");
    };
    let list = || rig.kittymux_ok(Some(&scene.kitty), &["sessions", "list"]);
    let start = agent.id.start + 1;
    write(ProcId { start, ..agent.id }, agent.tty);
    write(agent.id, agent.tty + 1);
    assert!(!list().contains("hook"), "{}", list());
    write(agent.id, agent.tty);
    assert!(
        list().contains("exact 0a1b2c3d  working") && list().contains("the agent's hook\n"),
        "{}",
        list()
    );
}

#[test]
fn the_agent_is_found_by_its_process_and_by_nothing_else() {
    let rig = Rig::new("/bin/bash", false);
    let km = rig.dir("tools").join("kittymux");
    // Nobody above it is an agent, whatever the environment says.
    let mut command = rig.command(&km);
    command
        .args(["hook", "claude"])
        .env("KITTY_WINDOW_ID", "1")
        .env("CLAUDE_PID", "1")
        .stdin(Stdio::piped());
    let mut child = command.spawn().expect("kittymux runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload("Stop").as_bytes()).expect("sent");
    drop(stdin);
    assert!(child.wait().expect("ended").success());
    assert!(told(&rig).is_empty());
    // A run without a screen is no conversation of a window.
    let run = "printf %s \"$P\" | \"$KM\" hook claude";
    as_claude(&rig, &["-p", "x"], run);
    as_claude(&rig, &["mcp", "serve"], run);
    assert!(told(&rig).is_empty());
    // In a session of its own there is no terminal.
    let inner = rig.file("bin3/claude", &format!("#!/bin/bash\n{run}\ntouch ~/ran\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&inner, mode).expect("a mode");
    as_claude(&rig, &[], "setsid -w ~/bin3/claude");
    assert!(rig.home().join("ran").exists());
    assert!(told(&rig).is_empty());
    // What another agent's hook is told is that agent's.
    as_claude(&rig, &[], "printf %s \"$P\" | \"$KM\" hook codex");
    assert!(told(&rig).is_empty());
    let pty = as_claude(&rig, &[], &format!("bash -c '{run}; true'"));
    let found = told(&rig);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0.pid, pty.pid());
}

/// Runs the hook with this on standard input, in this environment.
fn hook(rig: &Rig, agent: &[&str], stdin: Option<&[u8]>, change: impl Fn(&mut Command)) -> Output {
    let mut command = rig.command(&rig.dir("tools").join("kittymux"));
    command
        .arg("hook")
        .args(agent)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    change(&mut command);
    let mut child = command.spawn().expect("kittymux runs");
    let mut pipe = child.stdin.take();
    if let (Some(bytes), Some(mut pipe)) = (stdin, pipe.take_if(|_| stdin.is_some())) {
        // It may have gone away already.
        let _ = pipe.write_all(bytes);
    }
    // Without anything to send, the pipe stays open until it ended.
    let status = until("the hook to end", || child.try_wait().expect("a child"));
    drop(pipe);
    let mut output = child.wait_with_output().expect("its output");
    output.status = status;
    output
}

#[test]
fn whatever_goes_wrong_it_says_nothing_and_does_not_fail() {
    let rig = Rig::new("/bin/bash", false);
    let good = payload("Stop");
    let deep = "[".repeat(100_000);
    let large = format!("{{\"x\":\"{}\"}}", "y".repeat(2 << 20));
    let payloads: [&[u8]; 9] = [
        b"",
        b"{",
        b"null",
        b"\xff\xfe\0",
        b"{\"hook_event_name\":\"Stop\",\"session_id\":\"--help\"}",
        b"{\"hook_event_name\":7}",
        deep.as_bytes(),
        large.as_bytes(),
        good.as_bytes(),
    ];
    let quiet = |output: &Output, what: &str| {
        assert_eq!(output.status.code(), Some(0), "{what}");
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{what}: {output:?}"
        );
    };
    for payload in payloads {
        let what = String::from_utf8_lossy(&payload[..payload.len().min(60)]).into_owned();
        quiet(&hook(&rig, &["claude"], Some(payload), |_| {}), &what);
    }
    quiet(
        &hook(&rig, &["claude"], None, |_| {}),
        "a pipe that never ends",
    );
    quiet(
        &hook(&rig, &["claude"], Some(b""), |c| {
            c.stdin(Stdio::null());
        }),
        "no input",
    );
    quiet(
        &hook(&rig, &["claude"], Some(good.as_bytes()), |c| {
            c.env_clear();
        }),
        "no environment",
    );
    quiet(
        &hook(&rig, &["codex"], Some(good.as_bytes()), |_| {}),
        "an agent without hooks",
    );
    let own = "{\"mine\":{\"latest\":[\"-c\"]},\"claude\":{\"names\":7}}";
    rig.file(".config/kittymux/resume.json", own);
    quiet(
        &hook(&rig, &["claude"], Some(good.as_bytes()), |_| {}),
        "a definition that is wrong",
    );
    assert!(told(&rig).is_empty());
    for (words, why) in [
        (&["frob"][..], "there is no agent \"frob\""),
        (&["--frob"], "no option --frob"),
        (&["a\u{1b}b"], "\"a\\u{1b}b\""),
        (&[], "name of an agent"),
    ] {
        let output = hook(&rig, words, Some(b""), |_| {});
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn an_agent_is_not_held_up_by_a_state_directory_that_cannot_be_written() {
    let rig = Rig::new("/bin/bash", false);
    let run = "out=$(printf %s \"$P\" | \"$KM\" hook claude 2>&1); echo \"status=$?, said=$out.\"";
    for break_it in ["a file", "a full disk", "closed"] {
        let path = rig.home().join(".local/state/kittymux");
        let _ = std::fs::remove_dir_all(&path);
        let _ = std::fs::remove_file(&path);
        let script = match break_it {
            "a file" => {
                rig.file(".local/state/kittymux", "");
                run.to_owned()
            }
            "a full disk" => format!("export KITTYMUX_FAULT_AT=0; {run}"),
            _ => run
                .replace("printf %s \"$P\" |", "")
                .replace("hook claude", "hook claude <&-"),
        };
        let mut pty = as_claude(&rig, &[], &script);
        pty.shows("status=0, said=.");
    }
    let pty = as_claude(&rig, &[], run);
    assert_eq!(told(&rig).len(), 1, "{}", pty.pid());
}

#[test]
fn an_open_end_does_not_hold_it_up_once_the_document_is_whole() {
    let rig = Rig::new("/bin/bash", false);
    let run = "mkfifo p; exec 7<>p; printf %s \"$P\" >&7; \"$KM\" hook claude <&7";
    let _pty = as_claude(&rig, &[], run);
    let found = told(&rig);
    assert_eq!(words(&found[0].1), ["done"]);
}

#[test]
fn a_long_talk_is_counted_whole() {
    let scene = Scene::new();
    switch_on(&scene.rig, "");
    let id = scene.type_in(&scene.rig.dir("work"), "claude", "(new)");
    let sid = scene.talk(id);
    let (process, events) = told(&scene.rig).remove(0);
    let state = state(&scene.rig);
    // More than is read at a look: a hundred prompts with their answers.
    let told = |event| kittymux::agents::hooks::Told {
        event,
        sid: sid.clone(),
        cwd: "/p".to_owned(),
        detail: String::new(),
        ending: kittymux::agents::hooks::Ending::Cut,
    };
    use kittymux::agents::hooks::Event::{Done, Prompt};
    for event in [Prompt, Done].into_iter().cycle().take(200) {
        hook_records::append(&state, "claude", process, events[0].tty, &told(event), &[])
            .expect("written");
    }
    let runs = || {
        scene.save("work");
        let journal = kittymux::keep::journal::read(&state);
        journal.find("claude", &sid).map(|s| s.runs)
    };
    assert_eq!(runs(), Some(101));
    scene.talk(id);
    assert_eq!(runs(), Some(102));
    assert_eq!(runs(), Some(102));
}

#[test]
fn it_starts_nothing_and_opens_no_journal() {
    const STRACE: &str = "/usr/bin/strace";
    let can = Command::new(STRACE)
        .args(["-f", "-o", "/dev/null", "/bin/true"])
        .stderr(Stdio::null())
        .status();
    if !can.is_ok_and(|s| s.success()) {
        println!("left out: strace is not installed here, or may not trace");
        return;
    }
    let rig = Rig::new("/bin/bash", false);
    let journal = rig.file(
        ".local/state/kittymux/agent-sessions.json",
        "{\"v\":1,\"sessions\":[]}",
    );
    let trace: PathBuf = rig.home().join("trace");
    let run = format!(
        "printf %s \"$P\" | {STRACE} -f -qq -e trace=%process,%file,network -o '{}' \"$KM\" hook claude",
        trace.display()
    );
    let _pty = as_claude(&rig, &[], &run);
    assert_eq!(told(&rig).len(), 1);
    let text = std::fs::read_to_string(&trace).expect("a trace");
    assert!(
        text.contains("/hooks\"") || text.contains("\"hooks\""),
        "{text}"
    );
    for never in [
        "fork(",
        "clone(",
        "clone3(",
        "socket(",
        "agent-sessions",
        "/claims",
    ] {
        assert!(!text.contains(never), "{never}: {text}");
    }
    assert!(Path::new(&journal).exists());
}

#[test]
fn many_events_at_once_are_all_there() {
    let rig = Rig::new("/bin/bash", false);
    let run = "for n in {1..24}; do printf %s \"$P\" | \"$KM\" hook claude & done; wait";
    let _pty = as_claude(&rig, &[], run);
    let all = until("all of them", || {
        let found = told(&rig);
        (found.first()?.1.len() == 24).then_some(found)
    });
    assert_eq!(all.len(), 1);
}
