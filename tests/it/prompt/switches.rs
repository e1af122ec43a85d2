//! What is done without asking, and how it looks.

use std::time::Duration;

use super::{Case, is_a_shell, still_asks};
use crate::pty::Pty;
use kittymux::resume::record::Mode;

fn new(c: &mut Case) {
    c.record.mode = Mode::New;
    c.record.sid = String::new();
    c.record.resume = Vec::new();
}

/// It started with these words and never asked.
fn goes_unasked(case: &Case, pty: &mut Pty, words: &[String], shown: &str) {
    let text = pty.shows(shown);
    assert!(!text.contains("was running here"), "{text}");
    case.started(words);
}

#[test]
fn resuming_by_itself_is_a_switch() {
    let resumed = "(resumed)";
    let case = Case::new();
    let mut asking = case.asking();
    asking.env("KITTYMUX_RESUME", "auto");
    goes_unasked(
        &case,
        &mut Pty::start(asking, b""),
        &case.record.resume,
        resumed,
    );

    let case = Case::new();
    case.rig.file(".local/state/kittymux/resume-auto", "");
    goes_unasked(&case, &mut case.prompt(), &case.record.resume, resumed);

    let case = Case::with(|c| c.record.direct = true);
    goes_unasked(&case, &mut case.prompt(), &case.record.resume, resumed);

    // What there is nothing to resume of is a new conversation.
    for direct in [true, false] {
        let case = Case::with(new);
        let case = Case {
            record: kittymux::resume::record::Record {
                direct,
                ..case.record
            },
            ..case
        };
        let mut asking = case.asking();
        asking.env("KITTYMUX_RESUME", if direct { "" } else { "auto" });
        goes_unasked(
            &case,
            &mut Pty::start(asking, b""),
            &case.record.orig,
            "(new)",
        );
    }
    // Another word is no switch.
    let case = Case::new();
    let mut asking = case.asking();
    asking.env("KITTYMUX_RESUME", "yes");
    let mut pty = Pty::start(asking, b"");
    pty.asks();
    still_asks(&case, &mut pty);
}

#[test]
fn never_is_a_shell_whatever_else_is_switched_on() {
    let said =
        "kittymux: resuming is switched off (KITTYMUX_RESUME=never or the file resume-never)\n";
    let never = |case: &Case, pty: &mut Pty| {
        let text = is_a_shell(pty);
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("was running here"), "{text}");
        assert!(
            text.contains(&format!("shell in {},", case.record.cwd)),
            "{text}"
        );
        assert_eq!(case.starts().len(), 0);
    };
    let case = Case::with(|c| c.record.direct = true);
    let mut asking = case.asking();
    asking.env("KITTYMUX_RESUME", "never");
    never(&case, &mut Pty::start(asking, b""));
    let case = Case::new();
    case.rig.file(".local/state/kittymux/resume-never", "");
    case.rig.file(".local/state/kittymux/resume-auto", "");
    never(&case, &mut case.prompt());
    let case = Case::with(new);
    let mut asking = case.asking();
    asking.env("KITTYMUX_RESUME", "never");
    never(&case, &mut Pty::start(asking, b""));
    // The process's own word counts more than the file.
    let case = Case::new();
    case.rig.file(".local/state/kittymux/resume-never", "");
    let mut asking = case.asking();
    asking.env("KITTYMUX_RESUME", "auto");
    goes_unasked(
        &case,
        &mut Pty::start(asking, b""),
        &case.record.resume,
        "(resumed)",
    );
}

#[test]
fn a_new_conversation_is_asked_about_only_when_wished() {
    let case = Case::with(new);
    goes_unasked(&case, &mut case.prompt(), &case.record.orig, "(new)");
    for (config, asks) in [
        ("{\"ask_new\": true}", true),
        ("{\"ask_new\": false}", false),
        ("{\"ask_new\": \"yes\"}", false),
        ("{broken", false),
    ] {
        let case = Case::with(new);
        case.rig.file(".config/kittymux/config.json", config);
        let mut pty = case.prompt();
        if !asks {
            goes_unasked(&case, &mut pty, &case.record.orig, "(new)");
            continue;
        }
        let text = pty.asks();
        assert!(
            text.starts_with("claude was running here — start a new conversation?\n"),
            "{text}"
        );
        assert!(
            text.ends_with("  Enter start it   s shell   i commands"),
            "{text}"
        );
        pty.send(b"na");
        still_asks(&case, &mut pty);
        pty.send(b"\r");
        pty.shows("(new)");
        case.started(&case.record.orig);
    }
}

#[test]
fn colour_is_for_those_who_want_it() {
    let bold = "\x1b[1m";
    let case = Case::new();
    let mut pty = case.prompt();
    pty.asks();
    let raw = String::from_utf8_lossy(pty.bytes(Duration::ZERO)).into_owned();
    assert!(!raw.contains(bold), "NO_COLOR: {raw:?}");
    let mut asking = case.asking();
    asking.env_remove("NO_COLOR");
    let mut pty = Pty::start(asking, b"");
    pty.asks();
    let raw = String::from_utf8_lossy(pty.bytes(Duration::ZERO)).into_owned();
    assert!(
        raw.contains("\x1b[1mclaude was running here — resume session 0a1b2c3d?\x1b[m"),
        "{raw:?}"
    );
    assert!(raw.contains("\x1b[1mEnter\x1b[m resume"), "{raw:?}");
}
