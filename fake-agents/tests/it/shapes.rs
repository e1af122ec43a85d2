//! Each shape that a process can take, read back from the process table.

use std::fs;

use crate::desk::{Desk, children, held, stat, until, words};

#[test]
fn a_native_program_keeps_its_words() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    let mut window = desk.start(&[&claude, "--model", "a b", "--add-dir", "x", "y"]);
    let (id, how) = window.conversation();
    let pid = window.pid();
    assert_eq!(how, "new");
    assert_eq!(
        words(pid),
        [&claude, "--model", "a b", "--add-dir", "x", "y"]
    );
    assert_eq!(stat(pid, 6), pid.to_string(), "it leads the session");
    assert_eq!(stat(pid, 8), pid.to_string(), "and has the terminal");
    assert!(children(pid).is_empty());
    let entry = fs::read_to_string(desk.path(&format!("home/.claude/sessions/{pid}.json")));
    let entry = entry.expect("a registry entry");
    for part in [
        format!("\"pid\":{pid},"),
        format!("\"sessionId\":\"{id}\""),
        format!("\"procStart\":\"{}\"", stat(pid, 22)),
        "\"kind\":\"interactive\"".to_owned(),
        "\"status\":\"idle\"".to_owned(),
    ] {
        assert!(entry.contains(&part), "{part} in {entry}");
    }
    assert_eq!(desk.log().len(), 1);
    assert!(desk.log()[0].contains("\"a b\"") && desk.log()[0].contains("\"FOO\":\"bar\""));
}

#[test]
fn a_title_over_the_words_leaves_the_name_and_empty_ones() {
    let desk = Desk::new();
    desk.switch("FAKE_AGENT_TITLE", "1");
    let mut window = desk.start(&[&desk.program("claude"), "--model", "opus"]);
    window.conversation();
    let left = words(window.pid());
    assert_eq!(left[0], "claude");
    assert!(
        left.len() > 1 && left[1..].iter().all(String::is_empty),
        "{left:?}"
    );
    assert!(
        desk.log()[0].contains("opus"),
        "what it was given is in the log"
    );
}

#[test]
fn a_script_under_node_is_two_words_more() {
    let desk = Desk::new();
    let (node, script) = (desk.program("node"), desk.program("claude"));
    let given = [
        node.as_str(),
        "--max-old-space-size=99",
        &script,
        "-c",
        "--model",
        "x",
    ];
    let mut window = desk.start(&given);
    window.wait("no conversation to continue");
    assert_eq!(window.end(), 1);
    let given = [node.as_str(), "--expose-gc", &script, "--model", "x"];
    let mut window = desk.start(&given);
    window.wait("claude: conversation");
    assert_eq!(words(window.pid()), given);
    let comm = fs::read_to_string(format!("/proc/{}/comm", window.pid())).expect("comm");
    assert_eq!(comm.trim(), "node");
}

#[test]
fn a_wrapper_waits_for_its_child_in_one_group() {
    let desk = Desk::new();
    desk.switch("FAKE_AGENT_SHAPE", "wrapper");
    let (node, script) = (desk.program("node"), desk.program("codex"));
    let mut window = desk.start(&[&node, &script, "-m", "o3", "--no-daemon"]);
    let (id, _) = window.conversation();
    let wrapper = window.pid();
    let inner = children(wrapper);
    assert_eq!(inner.len(), 1);
    assert_eq!(words(wrapper), [&node, &script, "-m", "o3", "--no-daemon"]);
    assert_eq!(
        words(inner[0]),
        ["/vendor/native/bin/codex", "-m", "o3", "--no-daemon"]
    );
    assert_eq!(stat(wrapper, 5), stat(inner[0], 5), "one group");
    assert_eq!(stat(inner[0], 6), wrapper.to_string(), "one session");
    let root = desk.path("home/.codex");
    assert!(
        held(wrapper, &root).is_empty(),
        "only the child holds files"
    );
    assert_eq!(held(inner[0], &root), [format!("{id}.lock")]);
    assert_eq!(desk.log().len(), 1, "one start");
    window.send("/exit\r");
    assert_eq!(window.end(), 0);
}

#[test]
fn a_renamed_program_keeps_its_file() {
    let desk = Desk::new();
    desk.switch("FAKE_AGENT_NAME", "claude");
    let program = desk.program("2.1.44");
    let mut window = desk.start(&[&program, "--model", "x"]);
    window.wait("claude: conversation");
    assert_eq!(words(window.pid())[0], program);
    let exe = fs::read_link(format!("/proc/{}/exe", window.pid())).expect("exe");
    assert!(exe.ends_with("2.1.44"));
    fs::remove_file(&program).expect("remove");
    let exe = fs::read_link(format!("/proc/{}/exe", window.pid())).expect("exe");
    assert!(exe.to_string_lossy().ends_with(" (deleted)"));
}

#[test]
fn codex_holds_its_files_only_without_a_daemon() {
    let desk = Desk::new();
    let root = desk.path("home/.codex");
    let codex = desk.program("codex");
    let mut window = desk.start(&[&codex, "--no-daemon"]);
    let (id, _) = window.conversation();
    assert_eq!(held(window.pid(), &root), [format!("{id}.lock")]);
    window.send("hello\r");
    window.wait("heard hello");
    let names = held(window.pid(), &root);
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[1].starts_with("rollout-") && names[1].ends_with(&format!("-{id}.jsonl")));

    let mut window = desk.start(&[&codex]);
    let (other, _) = window.conversation();
    window.send("hello\r");
    window.wait("heard hello");
    assert!(held(window.pid(), &root).is_empty());
    assert!(
        root.join("tui-thread-reference-capabilities")
            .join(&other)
            .exists()
    );
    assert_ne!(id, other);
}

#[test]
fn stopped_it_is_stopped_and_comes_back() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    let mut window = desk.start(&["bash", "--norc", "--noprofile", "-i"]);
    window.send(&format!("{claude} --model opus\r"));
    window.conversation();
    let agent = children(window.pid())[0];
    assert_eq!(
        stat(agent, 6),
        window.pid().to_string(),
        "the window's session"
    );
    assert_eq!(stat(window.pid(), 8), stat(agent, 5), "it has the terminal");
    window.send("\x1a");
    until("stopped", || stat(agent, 3) == "T");
    until("the shell has the terminal", || {
        stat(window.pid(), 8) == window.pid().to_string()
    });
    window.send("fg\r");
    until("going on", || stat(agent, 3) == "S");
    window.send("hello\r");
    window.wait("heard hello");
    window.send("/exit\r");
    until("gone", || children(window.pid()).is_empty());
}

#[test]
fn a_script_is_bash_with_a_path() {
    let desk = Desk::new();
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts");
    let claude = format!("{scripts}/claude");
    let mut window = desk.start(&[&claude, "--model", "a \"b\""]);
    let (id, how) = window.conversation();
    assert_eq!(how, "new");
    assert_eq!(
        words(window.pid()),
        ["/bin/bash", &claude, "--model", "a \"b\""]
    );
    assert!(
        desk.log()[0].contains("\"a \\\"b\\\"\""),
        "{:?}",
        desk.log()
    );
    window.send("/exit\r");
    assert_eq!(window.end(), 0);
    let mut window = desk.start(&[&claude, "--resume", &id]);
    assert_eq!(window.conversation(), (id, "resumed".to_owned()));
    let mut window = desk.start(&[&claude, "--resume", "nonsense"]);
    window.wait("no conversation with the id nonsense");
    assert_eq!(window.end(), 1);
}
