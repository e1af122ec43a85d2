//! The conversation is open in another process.

use std::path::Path;
use std::time::Duration;

use super::{active, asks, is_a_shell, prompt_in, still_asks};
use crate::prompt::Case;
use crate::pty::Pty;
use crate::rig::{Kitty, until};
use kittymux::sys::clock;
use kittymux::sys::proc;

/// The agent's command that opens the conversation of `case`.
fn agent(case: &Case) -> Vec<String> {
    let program = case.rig.home().join("bin/claude").display().to_string();
    [&[program][..], &case.record.resume[1..]].concat()
}

/// Opens a window with these words that shows `what`.
fn window(kitty: &Kitty, case: &Case, words: &[String], what: &str) -> u64 {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let id = kitty.launch(Path::new(&case.record.cwd), &words);
    kitty.shows(id, what);
    id
}

fn pid_of(kitty: &Kitty, id: u64) -> i32 {
    kitty.window(id).and_then(|w| w.pid).expect("a process")
}

/// Writes a claim of the conversation.
fn claim(case: &Case, pid: i32, start: u64, boot: &str) {
    case.rig.file(
        &format!(".local/state/kittymux/claims/claude-{}", case.record.sid),
        &format!("{{\"v\":1,\"pid\":{pid},\"start\":{start},\"boot\":\"{boot}\"}}"),
    );
}

/// Everything the person can do about a conversation that is open in `holder`.
fn offers_to_go_there(case: &Case, kitty: &Kitty, holder: u64) {
    let starts = case.starts().len();
    let short = &case.record.sid[..8];
    let first = prompt_in(kitty, case);
    let place = format!("in window {holder} of this kitty");
    kitty.shows(first, &place);
    let screen = asks(kitty, first);
    assert!(
        screen.starts_with(&format!(
            "claude was running here — session {short} is open elsewhere\n"
        )),
        "{screen}"
    );
    assert!(
        screen.contains("  Enter go to it   n new conversation   s shell   i commands"),
        "{screen}"
    );
    assert_eq!(active(kitty), Some(first));
    kitty.send(first, "a");
    std::thread::sleep(Duration::from_millis(150));
    assert!(still_asks(kitty, first), "resume all does not count here");
    kitty.send(first, "\r");
    until("its window in front", || {
        (active(kitty) == Some(holder)).then_some(())
    });
    is_a_shell(kitty, first);
    assert_eq!(case.starts().len(), starts, "nothing was started");

    let second = prompt_in(kitty, case);
    kitty.shows(second, &place);
    asks(kitty, second);
    kitty.send(second, "s");
    is_a_shell(kitty, second);
    let third = prompt_in(kitty, case);
    kitty.shows(third, &place);
    asks(kitty, third);
    kitty.send(third, "n");
    kitty.shows(third, "(new)");
    assert_eq!(case.starts().len(), starts + 1);
}

#[test]
fn by_the_agents_own_registry() {
    let case = Case::new();
    let kitty = case.rig.start_kitty(&[]);
    // Its command line names no id: it went there by itself.
    let words = [agent(&case)[0].clone(), "--resume".to_owned()];
    let holder = window(&kitty, &case, &words, "(picker)");
    kitty.send(holder, &format!("{}\r", case.record.sid));
    kitty.shows(holder, "(resumed)");
    offers_to_go_there(&case, &kitty, holder);
}

#[test]
fn by_a_command_line() {
    let case = Case::new();
    case.rig.file(".fake-agent", "FAKE_AGENT_REGISTRY=0\n");
    let kitty = case.rig.start_kitty(&[]);
    let holder = window(&kitty, &case, &agent(&case), "(resumed)");
    offers_to_go_there(&case, &kitty, holder);
}

#[test]
fn by_the_claim_of_a_prompt_before() {
    let case = Case::new();
    case.rig.file(".fake-agent", "FAKE_AGENT_REGISTRY=0\n");
    let kitty = case.rig.start_kitty(&[]);
    let holder = window(&kitty, &case, &agent(&case)[..1], "(new)");
    let pid = pid_of(&kitty, holder);
    let start = proc::start(pid).expect("it runs");
    claim(&case, pid, start, &clock::boot8());
    offers_to_go_there(&case, &kitty, holder);
}

#[test]
fn in_a_shell_of_another_kitty() {
    let case = Case::new();
    let first = case.rig.start_kitty(&[]);
    let second = case.rig.start_kitty(&[]);
    let shell = first.launch(Path::new(&case.record.cwd), &[]);
    first.shows(shell, "$");
    first.send(shell, &format!("{}\r", agent(&case).join(" ")));
    first.shows(shell, "(resumed)");
    first.launch(&case.rig.home(), &[]);
    assert_ne!(active(&first), Some(shell));
    let asking = prompt_in(&second, &case);
    second.shows(
        asking,
        &format!("in window {shell} of another kitty (pid {})", first.pid),
    );
    asks(&second, asking);
    second.send(asking, "\r");
    until("its window in front", || {
        (active(&first) == Some(shell)).then_some(())
    });
    is_a_shell(&second, asking);
}

#[test]
fn an_address_in_the_environment_that_is_another_kittys_is_not_believed() {
    for stale in [true, false] {
        let case = Case::new();
        let first = case.rig.start_kitty(&[]);
        let second = case.rig.start_kitty(&[]);
        let shell = first.launch(Path::new(&case.record.cwd), &[]);
        first.shows(shell, "$");
        let address = if stale {
            "unix:/nowhere".to_owned()
        } else {
            second.address.to_string()
        };
        let line = format!("KITTY_LISTEN_ON={address} {}\r", agent(&case).join(" "));
        first.send(shell, &line);
        first.shows(shell, "(resumed)");
        first.launch(&case.rig.home(), &[]);
        let asking = prompt_in(&second, &case);
        second.shows(asking, "in window ");
        asks(&second, asking);
        second.send(asking, "\r");
        until("its window in front", || {
            (active(&first) == Some(shell)).then_some(())
        });
        is_a_shell(&second, asking);
    }
}

#[test]
fn outside_all_windows_there_is_nothing_to_go_to() {
    let case = Case::new();
    let mut command = case.rig.command(Path::new(&agent(&case)[0]));
    command.args(&agent(&case)[1..]);
    // Who started it was in a window once, as with a tmux server: that is no window of its own.
    command
        .env("KITTY_PID", "1")
        .env("KITTY_WINDOW_ID", "1")
        .env("KITTY_LISTEN_ON", "fd:1");
    let mut holder = Pty::start(command, b"");
    holder.shows("(resumed)");
    let mut pty = case.prompt();
    pty.shows(&format!("outside kitty's windows (pid {})", holder.pid()));
    let text = pty.asks();
    assert!(
        text.ends_with("\n  n new conversation   s shell   i commands"),
        "{text}"
    );
    pty.send(b"\rya");
    pty.bytes(Duration::from_millis(200));
    assert_eq!(case.starts().len(), 1, "not opened twice");
    // Once it is closed there, Enter resumes here.
    holder.send(b"/exit\r");
    holder.end();
    pty.send(b"\r");
    pty.shows("(resumed)");
    assert_eq!(case.starts().len(), 2);
}

#[test]
fn opened_meanwhile_it_is_said_at_the_key() {
    let case = Case::new();
    let mut pty = case.prompt();
    assert!(pty.asks().contains("resume session"));
    let mut command = case.rig.command(Path::new(&agent(&case)[0]));
    command.args(&agent(&case)[1..]);
    let mut holder = Pty::start(command, b"");
    holder.shows("(resumed)");
    pty.send(b"\r");
    pty.shows("is open elsewhere");
    assert_eq!(case.starts().len(), 1);
    pty.send(b"n");
    pty.shows("(new)");
}

#[test]
fn an_enter_that_meant_to_resume_does_not_go_elsewhere() {
    let case = Case::new();
    let kitty = case.rig.start_kitty(&[]);
    let asking = prompt_in(&kitty, &case);
    assert!(asks(&kitty, asking).contains("resume session"));
    let holder = window(&kitty, &case, &agent(&case), "(resumed)");
    kitty.launch(&case.rig.home(), &[]);
    kitty.send(asking, "\r");
    kitty.shows(asking, "is open elsewhere");
    assert!(still_asks(&kitty, asking));
    assert_ne!(active(&kitty), Some(holder));
    kitty.send(asking, "\r");
    until("its window in front", || {
        (active(&kitty) == Some(holder)).then_some(())
    });
    is_a_shell(&kitty, asking);
}

#[test]
fn what_is_stale_blocks_nothing() {
    let case = Case::new();
    case.rig.file(".fake-agent", "FAKE_AGENT_REGISTRY=0\n");
    // An agent that runs, on another conversation.
    let command = case.rig.command(&case.rig.home().join("bin/claude"));
    let mut other = Pty::start(command, b"");
    other.shows("(new)");
    let (pid, start) = (other.pid(), proc::start(other.pid()).expect("it runs"));
    let sid = &case.record.sid;
    let entry = |pid: i32, start: u64| {
        case.rig.file(
            &format!(".claude/sessions/{pid}.json"),
            &format!(
                "{{\"pid\":{pid},\"sessionId\":\"{sid}\",\"cwd\":\"/\",\"procStart\":\"{start}\",\"status\":\"idle\"}}"
            ),
        )
    };
    let mut gone = std::process::Command::new("/bin/true")
        .spawn()
        .expect("true");
    let dead = i32::try_from(gone.id()).expect("a pid");
    gone.wait().expect("it ends");
    let asks_plainly = |what: &str| {
        let mut pty = case.prompt();
        let text = pty.asks();
        assert!(text.contains("resume session"), "{what}: {text}");
        assert!(!text.contains("elsewhere"), "{what}: {text}");
        pty
    };
    entry(dead, 1);
    asks_plainly("the registry of a process that is gone");
    entry(pid, start + 1);
    asks_plainly("the registry of a process that had this pid before");
    std::fs::remove_file(case.rig.home().join(format!(".claude/sessions/{pid}.json")))
        .expect("removed");
    claim(&case, dead, 1, &clock::boot8());
    asks_plainly("the claim of a process that is gone");
    claim(&case, pid, start + 1, &clock::boot8());
    asks_plainly("the claim of a process that had this pid before");
    claim(&case, pid, start, "00000000");
    asks_plainly("the claim of another boot");
    // The agent itself says that it is elsewhere by now.
    let elsewhere = "0a1b2c3d-0000-4000-8000-ffffffffffff";
    let path = entry(pid, start);
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, text.replace(sid.as_str(), elsewhere)).expect("written");
    claim(&case, pid, start, &clock::boot8());
    let mut pty = asks_plainly("a claim that the agent's own record contradicts");
    pty.send(b"\r");
    pty.shows("(resumed)");
    // And the other way round, so that the forms above are known to count.
    entry(pid, start);
    case.transcript(sid);
    let mut pty = case.prompt();
    pty.shows("is open elsewhere");
}

#[test]
fn answered_at_the_same_moment_one_becomes_the_agent() {
    for round in 0..4 {
        let case = Case::new();
        let mut prompts: Vec<Pty> = (0..4).map(|_| case.prompt()).collect();
        for pty in &mut prompts {
            pty.asks();
        }
        for pty in &prompts {
            pty.send(b"\r");
        }
        let resumed = |pty: &mut Pty| pty.text().contains("(resumed)");
        until("the winner", || {
            prompts.iter_mut().any(resumed).then_some(())
        });
        for pty in &mut prompts {
            if !resumed(pty) {
                let end = until("the others to say why", || {
                    pty.bytes(Duration::from_millis(10));
                    let text = pty.text();
                    ["was opened meanwhile", "is open elsewhere"]
                        .iter()
                        .any(|w| text.contains(w))
                        .then_some(text)
                });
                assert!(end.contains(&format!("session {}", &case.record.sid[..8])));
            }
        }
        std::thread::sleep(Duration::from_millis(200));
        case.started(&case.record.resume);
        assert_eq!(
            prompts
                .iter_mut()
                .filter_map(|p| resumed(p).then_some(()))
                .count(),
            1,
            "round {round}"
        );
    }
}
