//! An agent that fails at once in a shell window: one more question, and only one.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Case;
use crate::pty::Pty;
use crate::rig::has_shell;
use kittymux::sys::proc;
use rustix::process::{Pid, Signal, kill_process};

const BASH: &str = include_str!("../../../assets/shell/kittymux.bash");
const FISH: &str = include_str!("../../../assets/shell/kittymux.fish");
const ZSH: &str = include_str!("../../../assets/shell/zsh/.zshenv");

/// The restored window of `shell`, as the launch line starts it.
fn window(case: &Case, shell: &str) -> Command {
    let mut command = case.rig.command(Path::new(shell));
    match shell.rsplit('/').next() {
        Some("bash") => {
            command
                .arg("--rcfile")
                .arg(case.rig.file("start.bash", BASH));
        }
        Some("zsh") => {
            let file = case.rig.file("zdot/.zshenv", ZSH);
            command.env("ZDOTDIR", file.parent().expect("a directory"));
        }
        _ => {
            command.args(["-C", FISH.trim_end()]);
        }
    }
    command
        .env("KITTYMUX_RECORD", case.record.text())
        .env("KITTYMUX_BIN", case.kittymux())
        .env("SHELL", shell)
        .current_dir(&case.record.cwd);
    command
}

/// The shell's prompt is there: a command is run.
fn at_prompt(pty: &mut Pty, word: &str) {
    pty.bytes(Duration::from_millis(300));
    pty.send(format!("echo {word}\"\"{word}\r").as_bytes());
    pty.shows(&format!("{word}{word}\n"));
}

fn asks_once_more(shell: &str) {
    if !has_shell(shell) {
        return;
    }
    let case = Case::new();
    case.rig.file(".fake-agent", "FAKE_AGENT_FAIL=7\n");
    let mut pty = Pty::start(window(&case, shell), b"");
    pty.asks();
    pty.send(b"\r");
    let text = pty.shows("claude ended with status 7 after 0.");
    assert!(
        text.contains("claude: told to fail\n"),
        "its error stays readable: {text}"
    );
    let text = pty.asks();
    assert!(
        text.ends_with("Enter try again   n new conversation   s shell   i commands"),
        "{text}"
    );
    // It fails again: the shell, and no third question.
    pty.clear(Duration::ZERO);
    pty.send(b"\r");
    pty.shows("claude: told to fail");
    at_prompt(&mut pty, "done");
    assert!(!pty.text().contains("was running here"), "{}", pty.text());
    assert_eq!(case.starts(), vec![case.record.resume.clone(); 2]);
}

#[test]
fn bash_asks_once_more() {
    asks_once_more("/bin/bash");
}

#[test]
fn zsh_asks_once_more() {
    asks_once_more("/bin/zsh");
}

#[test]
fn fish_asks_once_more() {
    asks_once_more("/usr/bin/fish");
}

#[test]
fn the_second_question_offers_a_new_conversation_and_a_shell() {
    for (key, wanted) in [("n", 2), ("s", 1), ("\x1b", 1)] {
        let case = Case::new();
        case.rig.file(".fake-agent", "FAKE_AGENT_FAIL=1\n");
        let mut pty = Pty::start(window(&case, "/bin/bash"), b"");
        pty.asks();
        pty.send(b"\r");
        pty.shows("claude ended with status 1");
        pty.asks();
        std::fs::remove_file(case.rig.home().join(".fake-agent")).expect("removed");
        pty.send(key.as_bytes());
        if key == "n" {
            pty.shows("(new)");
            pty.send(b"/exit\r");
        }
        at_prompt(&mut pty, "done");
        assert_eq!(case.starts().len(), wanted, "{key:?}");
        if key == "n" {
            assert_eq!(case.starts()[1], case.record.orig);
        }
    }
}

#[test]
fn who_fails_later_or_is_ended_or_leaves_is_not_asked_about_again() {
    for how in ["later", "signal", "leaves"] {
        let case = Case::new();
        let mut pty = Pty::start(window(&case, "/bin/bash"), b"");
        pty.asks();
        pty.send(b"\r");
        pty.shows(&format!("conversation {} (resumed)", case.record.sid));
        pty.clear(Duration::ZERO);
        match how {
            "later" => {
                std::thread::sleep(Duration::from_millis(3200));
                pty.send(b"/fail\r");
            }
            "signal" => {
                let agent = *proc::children(pty.pid()).first().expect("the agent");
                let agent = Pid::from_raw(agent).expect("a pid");
                kill_process(agent, Signal::KILL).expect("killed");
            }
            _ => pty.send(b"/exit\r"),
        }
        at_prompt(&mut pty, "done");
        assert!(
            !pty.text().contains("was running here"),
            "{how}: {}",
            pty.text()
        );
        assert_eq!(case.starts().len(), 1, "{how}");
    }
}

#[test]
fn there_is_no_third_question() {
    let case = Case::new();
    case.rig.file(".fake-agent", "FAKE_AGENT_FAIL=1\n");
    let script = r#"
        "$KM" resume-prompt --info "$R"
        "$KM" resume-prompt --after "$?" --info "$R"
        echo "once more"
        "$KM" resume-prompt --after 1 --info "$R"
        echo "status=$?."; exec sleep 60"#;
    let mut pty = Pty::start(case.script(script), b"");
    pty.asks();
    pty.send(b"\r");
    pty.shows("claude ended with status 1");
    pty.asks();
    pty.send(b"s");
    let text = pty.shows("status=0.");
    assert!(text.contains("once more\nstatus=0."), "{text}");
}

#[test]
fn the_second_question_needs_a_first_one() {
    let case = Case::new();
    for words in [
        &["--after", "1"][..],
        &["--after", "1", "--info", "{}"],
        &["--after", "x", "--info", &case.record.text()],
        &["--after"],
    ] {
        let mut all = vec!["resume-prompt"];
        all.extend(words);
        let mut pty = Pty::start(case.command(&all), b"");
        if words.len() > 1 {
            assert!(pty.end().success(), "{words:?}");
            assert_eq!(pty.text(), "", "{words:?}");
        }
    }
    assert_eq!(case.starts().len(), 0);
}

#[test]
fn marks_of_shells_that_are_gone_do_not_stay() {
    let case = Case::new();
    case.rig
        .file(".local/state/kittymux/claims/.start-1-1", "{}");
    let mut pty = Pty::start(window(&case, "/bin/bash"), b"");
    pty.asks();
    pty.send(b"\r");
    pty.shows("(resumed)");
    let names: Vec<String> = std::fs::read_dir(case.state("claims"))
        .expect("claims")
        .flatten()
        .map(|e| e.file_name().display().to_string())
        .collect();
    assert!(!names.contains(&".start-1-1".to_owned()), "{names:?}");
    assert!(
        names
            .iter()
            .any(|n| n.starts_with(&format!(".start-{}-", pty.pid()))),
        "{names:?}"
    );
}
