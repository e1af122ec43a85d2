//! What a key does, and what is no key.

use std::time::{Duration, Instant};

use super::{Case, is_a_shell, still_asks};
use crate::pty::Pty;

#[test]
fn it_asks_what_it_is_about() {
    let case = Case::new();
    let mut pty = case.prompt();
    let text = pty.asks();
    assert_eq!(
        text,
        "claude was running here — resume session 0a1b2c3d?\n  ~/work/api\n  saved 12m ago · tab “api work”\n  \
         Enter resume   n new conversation   s shell   a resume all   i commands"
    );
}

#[test]
fn enter_r_and_y_resume() {
    for key in ["\r", "\n", "r", "R", "y", "Y"] {
        let case = Case::new();
        let mut pty = case.prompt();
        pty.asks();
        pty.send(key.as_bytes());
        pty.shows(&format!("conversation {} (resumed)", case.record.sid));
        case.started(&case.record.resume);
        assert!(
            case.rig.starts()[0].contains("/work/api\""),
            "its directory"
        );
    }
}

#[test]
fn n_is_a_new_conversation() {
    for key in ["n", "N"] {
        let case = Case::new();
        let mut pty = case.prompt();
        pty.asks();
        pty.send(key.as_bytes());
        pty.shows("(new)");
        case.started(&case.record.orig);
    }
}

#[test]
fn s_q_escape_ctrl_c_and_ctrl_d_are_a_shell() {
    for key in ["s", "S", "q", "Q", "\x1b", "\x03", "\x04"] {
        let case = Case::new();
        let mut pty = case.prompt();
        pty.asks();
        pty.send(key.as_bytes());
        let text = is_a_shell(&mut pty);
        assert!(
            text.contains(&format!("shell in {}", case.record.cwd)),
            "{text}"
        );
        assert!(!text.contains("kittymux:"), "nothing to say: {text}");
        assert_eq!(case.starts().len(), 0, "{key:?}");
    }
}

#[test]
fn in_a_shell_the_same_keys_end_the_question_or_start_the_agent() {
    for key in ["s", "\x1b", "\x03", "\x04"] {
        let case = Case::new();
        let mut pty = case.in_shell();
        pty.asks();
        pty.send(key.as_bytes());
        pty.shows("status=0.");
        assert_eq!(case.starts().len(), 0, "{key:?}");
    }
    for (key, shown) in [("\r", "(resumed)"), ("n", "(new)")] {
        let case = Case::new();
        let mut pty = case.in_shell();
        pty.asks();
        pty.send(key.as_bytes());
        pty.shows(shown);
        pty.send(b"/exit\r");
        pty.shows("status=0.");
    }
}

#[test]
fn a_resumes_this_one_at_once_and_permits_the_others() {
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    pty.send(b"a");
    pty.shows("(resumed)");
    case.started(&case.record.resume);
    let permit = std::fs::read_to_string(case.state("resume-all-until")).expect("a permission");
    assert!(permit.contains("\"save\":\"s1\""), "{permit}");
}

#[test]
fn i_shows_the_commands_and_hides_them_again() {
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    pty.clear(Duration::ZERO);
    pty.send(b"i");
    let text = pty.shows(&format!(
        "  resume: claude --resume {} --model opus\n",
        case.record.sid
    ));
    assert!(text.contains("  new:    claude --model opus\n"), "{text}");
    pty.clear(Duration::from_millis(100));
    pty.send(b"i");
    let text = pty.shows("i commands");
    assert!(!text.contains("resume: "), "{text}");
    still_asks(&case, &mut pty);
    // One read, three keys.
    pty.send(b"iis");
    is_a_shell(&mut pty);
    assert_eq!(case.starts().len(), 0);
}

#[test]
fn what_was_typed_before_it_asked_is_no_answer() {
    let case = Case::new();
    let mut pty = Pty::start(case.asking(), b"\rrny\r");
    pty.asks();
    still_asks(&case, &mut pty);
    pty.send(b"n");
    pty.shows("(new)");
}

#[test]
fn what_is_typed_in_its_first_moments_is_no_answer() {
    // On a machine under load a try can come too late to say anything: the moments are 150 ms.
    for _ in 0..40 {
        let case = Case::new();
        let begin = Instant::now();
        let mut pty = case.prompt();
        pty.shows("i commands");
        pty.send(b"\r");
        pty.send(b"\x1b[200~");
        if begin.elapsed() > Duration::from_millis(120) {
            continue;
        }
        std::thread::sleep(Duration::from_millis(220));
        still_asks(&case, &mut pty);
        // A paste that began meanwhile is still a paste.
        pty.send(b"y\r\x1b[201~");
        still_asks(&case, &mut pty);
        pty.send(b"s");
        is_a_shell(&mut pty);
        return;
    }
    println!("left out: this machine is too slow to type within 120 ms of the start");
}

#[test]
fn sequences_pastes_and_reports_are_no_answers() {
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    for sequence in [
        "\x1b[A",
        "\x1bOA",
        "\x1b[1;5C",
        "\x1b[13~",
        "\x1b[I",
        "\x1b[O",
        "\x1b[<0;3;4M",
        "\x1b[M\r\r\r",
        "\x1b[?62;c",
        "\x1b[24;80R",
        "\x1b]11;rgb:0000/0000/0000\x07",
        "\x1b]10;n\x1b\\",
        "\x1bP1+r\r\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1bn",
        "\x1b\r",
        "\x1b[13;5u",
        "\x1a",
        "\x1c",
        "\x11",
        "é日",
        "x",
        " ",
        "\t",
        "\x7f",
        "\x1b[200~y\r\nsqn\x1b[201~",
        "\x1b[200~\x1b]0;s\x1bn\r\x1b[201~",
    ] {
        pty.send(sequence.as_bytes());
        pty.bytes(Duration::from_millis(10));
    }
    still_asks(&case, &mut pty);
    // A sequence in two halves.
    pty.send(b"\x1b");
    pty.send(b"[A");
    still_asks(&case, &mut pty);
    // A paste of many reads.
    pty.send(b"\x1b[200~");
    pty.send(&b"y\r".repeat(10_000));
    pty.send(b"\x1b[201~");
    still_asks(&case, &mut pty);
    // What Alt and a key begin and nobody ends.
    pty.send(b"\x1b]");
    pty.bytes(Duration::from_millis(400));
    still_asks(&case, &mut pty);
    pty.send(b"n");
    pty.shows("(new)");
}
