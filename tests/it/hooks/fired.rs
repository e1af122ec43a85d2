//! What hooks are told by agents, and by who is none: nothing stands in anybody's way.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use super::{SID, program, records};
use crate::pty::Pty;
use crate::rig::Rig;
use kittymux::agents::definitions::Definitions;

/// Runs the hook with these words, and bytes on standard input.
fn hook(rig: &Rig, words: &[&str], input: &[u8], env: &[(&str, &str)], bare: bool) -> Output {
    let mut command = rig.command(Path::new(&rig.tool("kittymux")));
    if bare {
        command.env_clear();
    }
    command.arg("hook").args(words).envs(env.iter().copied());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("kittymux runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    // All of it is taken, whatever it is, unless the payload came as an argument: an agent must not
    // write to nobody.
    let sent = pipe.write_all(input);
    assert!(
        sent.is_ok() || words.iter().any(|w| w.starts_with('{')),
        "{sent:?}"
    );
    drop(pipe);
    child.wait_with_output().expect("its output")
}

#[test]
fn every_agents_hook_says_what_it_must_and_never_fails() {
    let rig = Rig::new("/bin/bash", false);
    let large = format!(
        "{{\"session_id\":\"{SID}\",\"prompt\":\"{}\"}}",
        "y".repeat(1 << 20)
    );
    let brackets = "{\"a\":".repeat(20_000);
    let quotes = "}".repeat(1 << 18);
    let payloads: [&[u8]; 10] = [
        b"",
        b"{}",
        b"\xff\xfe\0{",
        b"[1,2",
        b"{\"session_id\":{\"a\":1},\"hook_event_name\":[],\"type\":7,\"sessionID\":null}",
        b"{\"session_id\":\"$(id)\",\"hook_event_name\":\"Stop\",\"type\":\"session.idle\",\"cwd\":\"\\u0000\"}",
        b"{\"input-messages\":[[],7],\"type\":\"agent-turn-complete\",\"thread-id\":\"--last\"}",
        large.as_bytes(),
        brackets.as_bytes(),
        quotes.as_bytes(),
    ];
    let defs = Definitions::shipped();
    assert!(defs.iter().count() >= 10);
    for def in defs.iter() {
        let hooks = def.hooks.as_ref();
        let says = hooks.map_or(String::new(), |h| h.says.clone());
        let quiet = |output: Output, what: &str| {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.code() == Some(0)
                    && output.stderr.is_empty()
                    && said.trim_end() == says,
                "{} {what}: {output:?}",
                def.name
            );
        };
        for payload in payloads {
            let what = String::from_utf8_lossy(&payload[..payload.len().min(40)]).into_owned();
            quiet(hook(&rig, &[&def.name], payload, &[], false), &what);
        }
        let words = [&def.name[..], "an event", "--odd", "{", "words\u{1b}"];
        quiet(hook(&rig, &words, b"{}", &[], false), "odd words");
        quiet(hook(&rig, &[&def.name], b"{}", &[], true), "no environment");
        let nowhere = [("HOME", "/nonexistent"), ("PATH", "")];
        quiet(hook(&rig, &[&def.name], b"{}", &nowhere, false), "no home");
        let full = [("KITTYMUX_FAULT_AT", "0")];
        quiet(hook(&rig, &[&def.name], b"{}", &full, false), "a full disk");
    }
    assert!(!rig.state().join("hooks").exists());
}

#[test]
fn input_that_never_ends_does_not_hold_it() {
    let rig = Rig::new("/bin/bash", false);
    let mut command = rig.command(Path::new(&rig.tool("kittymux")));
    let endless = std::fs::File::open("/dev/zero").expect("zeros");
    let output = command.args(["hook", "gemini"]).stdin(endless).output();
    let output = output.expect("it ends");
    assert!(
        output.status.success() && output.stdout == b"{}\n",
        "{output:?}"
    );
}

/// An agent of this name on a terminal that runs `script`, with `$KM` and `$P` (a payload).
fn as_agent(rig: &Rig, name: &str, options: &[&str], payload: &str, script: &str) -> Pty {
    let text = format!("#!/bin/bash\n{script}\necho ended\nexec 1>&- 2>&-; sleep 60\n");
    let path = program(rig, &format!("bin2/{name}"), &text);
    let mut command = rig.command(&path);
    command
        .args(options)
        .env("KM", rig.tool("kittymux"))
        .env("P", payload);
    let mut pty = Pty::start(command, b"");
    pty.shows("ended");
    pty
}

fn count(rig: &Rig) -> usize {
    if rig.state().join("hooks").exists() {
        records(rig).lines().count()
    } else {
        0
    }
}

#[test]
fn codexs_own_titles_are_no_conversation_of_the_person() {
    let rig = Rig::new("/bin/bash", false);
    let turn = |first: &str| {
        format!(
            "{{\"type\":\"agent-turn-complete\",\"thread-id\":\"{SID}\",\"cwd\":\"/p\",\"input-messages\":[\"{first}\"]}}"
        )
    };
    let title = turn("Generate a concise, single-line task title for: do it");
    let _one = as_agent(&rig, "codex", &[], &title, "\"$KM\" hook codex \"$P\"");
    assert_eq!(count(&rig), 0);
    // What runs in the background server is nobody's window.
    let _two = as_agent(
        &rig,
        "codex",
        &["app-server"],
        &turn("do it"),
        "\"$KM\" hook codex \"$P\"",
    );
    assert_eq!(count(&rig), 0);
    let _three = as_agent(
        &rig,
        "codex",
        &[],
        &turn("do it"),
        "\"$KM\" hook codex \"$P\" </dev/null",
    );
    assert_eq!(count(&rig), 1);
    assert!(!records(&rig).contains("do it"), "{}", records(&rig));
}

#[test]
fn the_program_behind_ours_runs_whatever_happens_to_us() {
    let rig = Rig::new("/bin/bash", false);
    let say = "printf '%s|' \"$0\" \"$@\"; exit 3";
    let payload = "{\"type\":\"x $(id)\"}";
    let words = [
        "codex",
        "--then",
        "/bin/bash",
        "-c",
        say,
        "a b",
        "--agent",
        payload,
    ];
    for env in [
        &[][..],
        &[("KITTYMUX_FAULT_AT", "0")],
        &[("HOME", "/nonexistent")],
    ] {
        let output = hook(&rig, &words, b"", env, false);
        assert_eq!(output.status.code(), Some(3), "its own end: {output:?}");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said, format!("a b|--agent|{payload}|"));
    }
    let mut unknown = words;
    unknown[0] = "frob";
    assert_eq!(hook(&rig, &unknown, b"", &[], false).status.code(), Some(3));
    let gone = hook(
        &rig,
        &["codex", "--then", "/nonexistent/x", payload],
        b"",
        &[],
        false,
    );
    assert!(gone.status.success() && gone.stderr.is_empty(), "{gone:?}");
}

#[test]
fn a_worker_of_the_agents_own_stands_between() {
    let rig = Rig::new("/bin/bash", false);
    let payload =
        format!("{{\"session_id\":\"{SID}\",\"cwd\":\"/p\",\"hook_event_name\":\"Stop\"}}");
    let run = "#!/bin/bash\nprintf %s \"$P\" | \"$KM\" hook droid\nexit 0\n";
    program(&rig, "inner/droid", run);
    let worker = "~/inner/droid exec --input-format stream-jsonrpc --output-format stream-jsonrpc";
    let pty = as_agent(&rig, "droid", &[], &payload, worker);
    assert_eq!(count(&rig), 1);
    assert!(records(&rig).contains(SID));
    drop(pty);
    // A run of its own without a screen is no conversation of the window.
    let _pty = as_agent(&rig, "droid", &[], &payload, "~/inner/droid exec 'do it'");
    assert_eq!(count(&rig), 1);
}
