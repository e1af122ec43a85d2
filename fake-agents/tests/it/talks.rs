//! Conversations: begun, resumed, refused, left.

use std::fs;

use crate::desk::{Desk, until};

#[test]
fn claude_resumes_what_it_knows_from_anywhere() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    let mut window = desk.start(&[&claude, "first words"]);
    let (id, _) = window.conversation();
    window.wait("heard first words");
    let cwd = desk.path("project").display().to_string();
    let project = fake_agents::project_name(&cwd);
    let transcript = desk.path(&format!("home/.claude/projects/{project}/{id}.jsonl"));
    let text = fs::read_to_string(&transcript).expect("a transcript");
    assert!(text.contains(&format!("\"cwd\":\"{cwd}\"")) && text.contains("first words"));
    let entry = desk.path(&format!("home/.claude/sessions/{}.json", window.pid()));
    assert!(entry.exists());
    window.send("/exit\r");
    assert_eq!(window.end(), 0);
    assert!(!entry.exists());

    for form in [vec!["--resume", &id], vec!["-c"], vec!["-r", &id]] {
        let words: Vec<&str> = [vec![claude.as_str()], form].concat();
        let mut window = desk.start(&words);
        assert_eq!(window.conversation(), (id.clone(), "resumed".to_owned()));
        window.send("more\r");
        window.wait("heard more");
    }
    let elsewhere = format!("cd / && exec {claude} --resume={id}");
    let mut window = desk.start(&["bash", "-c", &elsewhere]);
    assert_eq!(window.conversation().0, id);
    window.send("from elsewhere\r");
    window.wait("heard from elsewhere");
    let text = fs::read_to_string(&transcript).expect("the same transcript");
    assert!(text.contains("from elsewhere") && !text.contains("\"cwd\":\"/\""));
}

#[test]
fn claude_refuses_what_it_does_not_know() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    let unknown = "0b6f2f4e-1c2d-4e5f-8a9b-0123456789ab";
    let mut window = desk.start(&[&claude, "--resume", unknown]);
    window.wait(&format!("{unknown} was found"));
    assert_eq!(window.end(), 1);
    let mut window = desk.start(&[&claude, "--session-id", unknown, "--resume", unknown]);
    window.wait("needs --fork-session");
    assert_eq!(window.end(), 1);
    let mut window = desk.start(&[&claude, "--session-id", unknown, "hello"]);
    window.wait("heard hello");
    window.send("/exit\r");
    assert_eq!(window.end(), 0);
    let mut window = desk.start(&[&claude, "--session-id", unknown]);
    window.wait("is in use");
    assert_eq!(window.end(), 1);
    desk.switch("FAKE_AGENT_STRICT", "1");
    let mut window = desk.start(&[&claude, "--nonsense"]);
    window.wait("unknown option '--nonsense'");
    assert_eq!(window.end(), 1);
}

#[test]
fn a_new_conversation_inside_is_in_the_registry() {
    let desk = Desk::new();
    let mut window = desk.start(&[&desk.program("claude")]);
    let (first, _) = window.conversation();
    window.send("/clear\r");
    let (second, _) = window.conversation();
    assert_ne!(first, second);
    let entry = desk.path(&format!("home/.claude/sessions/{}.json", window.pid()));
    assert!(
        fs::read_to_string(entry)
            .expect("an entry")
            .contains(&second)
    );
}

#[test]
fn the_picker_has_no_status_until_something_is_picked() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    let mut window = desk.start(&[&claude, "hello"]);
    let (id, _) = window.conversation();
    window.wait("heard hello");
    let mut picker = desk.start(&[&claude, "--resume"]);
    let (thrown_away, how) = picker.conversation();
    assert_eq!(how, "picker");
    let entry = desk.path(&format!("home/.claude/sessions/{}.json", picker.pid()));
    let text = fs::read_to_string(&entry).expect("an entry");
    assert!(text.contains(&thrown_away) && !text.contains("status"));
    picker.send(&format!("{id}\r"));
    assert_eq!(picker.conversation(), (id.clone(), "resumed".to_owned()));
    let text = fs::read_to_string(&entry).expect("an entry");
    assert!(text.contains(&id) && text.contains("status"));
}

#[test]
fn an_entry_stays_after_a_kill_and_goes_at_hangup() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    for (signal, stays) in [("-KILL", true), ("-HUP", false), ("-TERM", false)] {
        let mut window = desk.start(&[&claude]);
        window.conversation();
        let entry = desk.path(&format!("home/.claude/sessions/{}.json", window.pid()));
        let pid = window.pid().to_string();
        let killed = std::process::Command::new("kill")
            .args([signal, &pid])
            .status();
        assert!(killed.expect("kill").success());
        window.end();
        assert_eq!(entry.exists(), stays, "{signal}");
    }
}

#[test]
fn twice_interrupted_it_leaves() {
    let desk = Desk::new();
    let mut window = desk.start(&[&desk.program("claude")]);
    window.conversation();
    window.send("half a line\x03");
    window.wait("again to leave");
    window.send("\x03");
    assert_eq!(window.end(), 0);
}

#[test]
fn an_agent_that_fails_says_so_by_its_status() {
    let desk = Desk::new();
    let mut window = desk.start(&[&desk.program("claude")]);
    window.conversation();
    window.send("/fail\r");
    assert_eq!(window.end(), 1);
    desk.switch("FAKE_AGENT_FAIL", "7");
    let mut window = desk.start(&[&desk.program("codex")]);
    window.wait("told to fail");
    assert_eq!(window.end(), 7);
}

#[test]
fn codex_resumes_and_takes_an_id_beside_last_for_a_prompt() {
    let desk = Desk::new();
    let codex = desk.program("codex");
    let mut window = desk.start(&[&codex, "resume", "--last"]);
    assert_eq!(
        window.conversation().1,
        "new",
        "nothing here: a new one, silently"
    );
    let mut window = desk.start(&[&codex, "hello there"]);
    let (id, _) = window.conversation();
    window.wait("heard hello there");
    let mut window = desk.start(&[&codex, "-m", "o3", "resume", &id]);
    assert_eq!(window.conversation(), (id.clone(), "resumed".to_owned()));
    let mut window = desk.start(&[&codex, "resume", &id.to_uppercase()]);
    assert_eq!(window.conversation().0, id);
    let mut window = desk.start(&[&codex, "resume", &id, "--last"]);
    assert_eq!(window.conversation(), (id.clone(), "resumed".to_owned()));
    window.wait(&format!("heard {id}"));
    let mut window = desk.start(&[&codex, "fork", &id]);
    let (copy, how) = window.conversation();
    assert!(how == "forked" && copy != id);
    let mut window = desk.start(&[&codex, "resume", "0b6f2f4e-1c2d-4e5f-8a9b-0123456789ab"]);
    window.wait("ERROR: there is no saved session");
    assert_eq!(window.end(), 1);
}

#[test]
fn opencode_takes_a_directory_and_keeps_its_sessions() {
    let desk = Desk::new();
    let opencode = desk.program("opencode");
    let home = desk.path("home").display().to_string();
    let mut window = desk.start(&[&opencode, &home]);
    let (id, _) = window.conversation();
    window.wait(&format!("in {home}"));
    window.send("hello\r");
    window.wait("heard hello");
    let mut window = desk.start(&[&opencode, "-s", &id]);
    assert_eq!(window.conversation(), (id.clone(), "resumed".to_owned()));
    window.wait(&format!("in {home}"));
    let mut window = desk.start(&[&opencode, "-c"]);
    assert_eq!(window.conversation().1, "new", "nothing in this directory");
    let mut window = desk.start(&[&opencode, &home, "--continue"]);
    assert_eq!(window.conversation().0, id);
    let mut window = desk.start(&[&opencode, "-s", "ses_x"]);
    window.wait("there is no session ses_x");
    assert_eq!(window.end(), 1);
}

#[test]
fn helpers_wait_and_runs_without_a_terminal_answer() {
    let desk = Desk::new();
    let mut helper = desk.start(&[&desk.program("claude"), "mcp", "serve"]);
    helper.wait("serving");
    let mut window = desk.start(&[&desk.program("codex"), "exec", "what"]);
    window.wait("answer to what");
    assert_eq!(window.end(), 0);
    until("one start each", || desk.log().len() == 2);
    let mut window = desk.start(&[&desk.program("codex"), "resume", "--help"]);
    window.wait("SESSION_ID");
    assert_eq!(window.end(), 0);
}
