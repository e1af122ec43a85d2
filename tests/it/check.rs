//! `sessions check`: installed agents are asked for their help, safely and seldom, and what they
//! answer decides what comes back.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::rig::{Rig, until};
use kittymux::sys::json::{self, JsonValue};

/// What claude's help must say.
const HELP: &str = "-c, --continue  the newest of the current directory\n-r, --resume [id]  go on";

fn rig() -> Rig {
    Rig::new("/bin/bash", true)
}

/// An agent that is a shell script.
fn agent(rig: &Rig, name: &str, script: &str) -> PathBuf {
    let path = rig.file(&format!("agents/{name}"), &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("executable");
    path
}

/// The script of an agent that notes each time it is asked.
fn noting(help: &str) -> String {
    format!("echo asked >>\"$HOME/asked\"\ncat <<'END'\n{help}\nEND")
}

fn times_asked(rig: &Rig) -> usize {
    let text = std::fs::read_to_string(rig.home().join("asked")).unwrap_or_default();
    text.lines().count()
}

/// Runs `sessions check` with `~/DIR` on PATH.
fn run(rig: &Rig, dir: &str, words: &[&str]) -> Output {
    let mut command = rig.command(&rig.dir("tools").join("kittymux"));
    let path = format!("{}:/usr/bin:/bin", rig.home().join(dir).display());
    command.env("PATH", path).args(["sessions", "check"]);
    command.args(words).stdin(Stdio::null());
    command.output().expect("kittymux runs")
}

/// Runs it over the scripts; its status, its output without blanks in a row, and its messages.
fn check(rig: &Rig, words: &[&str]) -> (i32, String, String) {
    let output = run(rig, "agents", words);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<String> = text
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), lines.join("\n"), said)
}

fn kept(rig: &Rig) -> PathBuf {
    rig.home().join(".local/state/kittymux/resume-check.json")
}

fn change_kept(rig: &Rig, from: &str, to: &str) {
    let text = std::fs::read_to_string(kept(rig)).expect("kept");
    assert!(text.contains(from), "{from} in {text}");
    std::fs::write(kept(rig), text.replace(from, to)).expect("written");
}

#[test]
fn agents_that_fit_and_agents_that_are_not_there() {
    let rig = rig();
    let output = run(&rig, "bin", &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    // The stand-in of opencode prints its help to stderr, as the real one does.
    for name in ["claude", "codex", "opencode"] {
        let line = text.lines().find(|l| l.starts_with(name)).expect("a line");
        let cells: Vec<&str> = line
            .split("  ")
            .filter(|c| !c.is_empty())
            .map(str::trim)
            .collect();
        assert_eq!(cells[1..3], [&format!("~/bin/{name}"), "ok"], "{text}");
        assert!(cells[3].starts_with("exact, latest; id from "), "{text}");
    }
    let mode = std::fs::metadata(kept(&rig))
        .expect("kept")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let none = run(&rig, "none", &["codex"]);
    let text = String::from_utf8_lossy(&none.stdout);
    assert_eq!(
        (none.status.code(), text.as_ref()),
        (Some(0), "codex  not installed\n")
    );
    let places = std::fs::read_dir(rig.home().join(".local/state/kittymux")).expect("a directory");
    for place in places.flatten() {
        assert!(
            !place.file_name().to_string_lossy().starts_with(".check"),
            "{place:?}"
        );
    }
}

#[test]
fn json_is_one_document_with_stable_keys() {
    let rig = rig();
    agent(&rig, "claude", &noting(HELP));
    agent(&rig, "codex", "echo SESSION_ID cwd; exit 2");
    // Two that are described alike are asked at the same time, each in a place of its own.
    rig.file(
        ".config/kittymux/resume.json",
        r#"{"one": {"latest": ["-c"]}, "two": {"latest": ["-c"]}}"#,
    );
    for (name, wait) in [("one", "0"), ("two", "0.5")] {
        let script = format!("sleep {wait}; ls -a \"$PWD\" && echo '  -c  go on'");
        agent(&rig, name, &script);
    }
    let output = run(&rig, "agents", &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let value = json::parse(&output.stdout, 1 << 20).expect("JSON");
    let Some(JsonValue::Array(agents)) = json::member(&value, "agents") else {
        panic!("a list");
    };
    let of = |name: &str, key: &str| {
        let agent = agents
            .iter()
            .find(|a| json::text_at(a, "agent") == Some(name));
        let value = json::member(agent.expect("the agent"), key).expect("the key");
        value.stringify().expect("text")
    };
    assert_eq!(of("one", "verdict"), "\"ok\"");
    assert_eq!(of("two", "verdict"), "\"ok\"");
    assert_eq!(of("claude", "verdict"), "\"ok\"");
    assert_eq!(
        (of("claude", "used"), of("claude", "why")),
        ("true".into(), "null".into())
    );
    assert_eq!(
        of("claude", "id_from"),
        r#"["registry","transcripts","command-line"]"#
    );
    assert_eq!(of("codex", "verdict"), "\"missing\"");
    assert_eq!(
        (of("codex", "missing"), of("codex", "used")),
        (r#"["--last"]"#.into(), "false".into())
    );
    assert_eq!(of("opencode", "verdict"), "\"not-installed\"");
    assert_eq!(
        (of("opencode", "path"), of("opencode", "checked")),
        ("null".into(), "null".into())
    );
}

#[test]
fn help_counts_wherever_and_however_it_is_printed() {
    let rig = rig();
    agent(
        &rig,
        "claude",
        &format!("cat >&2 <<'END'\n\x1b[1m{HELP}\x1b[0m\nEND\nexit 1"),
    );
    agent(
        &rig,
        "codex",
        "echo 'SESSION_ID --last'; echo 'by cwd' >&2; kill -9 $$",
    );
    let (code, text, said) = check(&rig, &["claude", "codex"]);
    assert_eq!((code, said.as_str()), (0, ""), "{text}");
    assert!(
        text.contains("~/agents/claude ok") && text.contains("~/agents/codex ok"),
        "{text}"
    );
}

#[test]
fn a_missing_option_is_named_with_what_to_do() {
    let rig = rig();
    agent(
        &rig,
        "claude",
        "echo '--resume-at --continue in the current directory'",
    );
    let (code, text, said) = check(&rig, &["claude"]);
    assert_eq!(code, 1);
    assert_eq!(text, "claude ~/agents/claude missing: \"--resume\" new");
    assert!(
        said.contains("update claude or kittymux") && said.contains("resume.json"),
        "{said}"
    );
}

#[test]
fn one_answer_serves_twelve_hours_one_program_and_one_definition() {
    let rig = rig();
    let path = agent(&rig, "claude", &noting(HELP));
    let asked = |words: &[&str]| {
        assert_eq!(check(&rig, words).0, 0);
        times_asked(&rig)
    };
    assert_eq!((asked(&[]), asked(&[]), asked(&["claude"])), (1, 1, 1));
    assert_eq!(asked(&["--again", "claude"]), 2);
    let now = kittymux::sys::clock::wall_ns();
    let hours =
        |n: u64, more: u64| kittymux::sys::clock::rfc3339(now - (n * 3600 + more) * 1_000_000_000);
    let at = |time: &str| {
        let text = std::fs::read_to_string(kept(&rig)).expect("kept");
        let from = text.find("\"at\":\"").expect("a time") + 6;
        change_kept(&rig, &text[from..from + 20], time);
    };
    at(&hours(11, 3500));
    assert_eq!(asked(&[]), 2);
    at(&hours(12, 1));
    assert_eq!(asked(&[]), 3, "too old");
    let later = SystemTime::now() + Duration::from_secs(3);
    std::fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|f| f.set_modified(later))
        .expect("touched");
    assert_eq!(asked(&[]), 4, "replaced");
    rig.file(
        ".config/kittymux/resume.json",
        r#"{"claude": {"exact": ["--resume", "{id}"], "probe": {"expect": ["--resume"]}}}"#,
    );
    assert_eq!((asked(&[]), asked(&[])), (5, 5), "another definition");
    rig.file(
        ".config/kittymux/resume.json",
        r#"{"claude": {"exact": ["--resume", "{id}"], "probe": {"expect": ["--continue"]}}}"#,
    );
    assert_eq!(asked(&[]), 6, "another expectation");
    std::fs::write(kept(&rig), "{\"version\":1,\"che").expect("damaged");
    assert_eq!(
        (asked(&[]), asked(&[])),
        (7, 7),
        "what is damaged is asked again"
    );
    assert!(kept(&rig).with_extension("json.bad").exists());
}

#[test]
fn one_that_hangs_is_ended_and_not_asked_again() {
    let rig = rig();
    let script = "echo $$ >\"$HOME/pids\"; sleep 60 & echo $! >>\"$HOME/pids\"; echo half; wait";
    agent(&rig, "codex", script);
    agent(&rig, "claude", &noting(HELP));
    let began = Instant::now();
    let (code, text, said) = check(&rig, &["claude", "codex"]);
    assert!(
        began.elapsed() < Duration::from_secs(14),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(code, 1);
    assert!(text.contains("~/agents/claude ok"), "{text}");
    assert!(
        text.contains("~/agents/codex could not run: not done in 8 s exact, latest"),
        "{text}"
    );
    assert!(said.contains("resume --help by hand"), "{said}");
    for pid in std::fs::read_to_string(rig.home().join("pids"))
        .expect("it ran")
        .lines()
    {
        let pid: i32 = pid.parse().expect("a pid");
        until("it is gone", || {
            (!kittymux::sys::proc::is_alive(pid)).then_some(())
        });
    }
    let began = Instant::now();
    assert_eq!(check(&rig, &["codex"]).0, 1);
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "a bad answer is kept too"
    );
}

#[test]
fn ten_megabytes_of_help_do_no_harm() {
    let rig = rig();
    let flood = "head -c 10000000 /dev/zero | tr '\\0' x";
    agent(&rig, "claude", &format!("{}\n{flood}", noting(HELP)));
    agent(&rig, "codex", flood);
    let (code, text, _) = check(&rig, &["claude", "codex"]);
    assert_eq!(code, 1);
    assert!(text.contains("~/agents/claude ok"), "{text}");
    assert!(
        text.contains("could not run: it prints more than 256 KiB"),
        "{text}"
    );
    let size = std::fs::metadata(kept(&rig)).expect("kept").len();
    assert!(size < 10_000, "{size} bytes are kept");
}

#[test]
fn what_cannot_be_executed_is_told_apart() {
    let rig = rig();
    let path = agent(&rig, "claude", "echo");
    std::fs::write(&path, "#!/nowhere/interpreter\n").expect("written");
    let no = agent(&rig, "codex", "echo");
    std::fs::set_permissions(&no, PermissionsExt::from_mode(0o644)).expect("not executable");
    agent(&rig, "opencode", "exit 3");
    let (code, text, said) = check(&rig, &[]);
    assert_eq!(code, 1);
    let after = |name: &str| {
        let mut lines = text.lines().filter(|l| l.starts_with(name));
        let line = lines.next().expect("a line");
        line.split_once("could not run: ").expect("a reason").1
    };
    for (name, why) in [
        ("claude", "it cannot be executed: no such"),
        ("codex", "it is not executable"),
        ("opencode", "it printed nothing"),
    ] {
        assert!(after(name).starts_with(why), "{text}");
        assert!(said.contains(&format!("({why}")), "{said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
    agent(
        &rig,
        "opencode",
        "echo; echo 'Error: no module' >&2; exit 1",
    );
    let (_, _, said) = check(&rig, &["opencode"]);
    assert!(
        said.contains("it printed no help but: Error: no module"),
        "{said}"
    );
}

#[test]
fn a_program_under_another_of_its_names_is_found() {
    let rig = rig();
    rig.file(
        ".config/kittymux/resume.json",
        r#"{"cursor-agent": {"names": ["cursor-agent", "cursor"], "latest": ["resume"], "probe": {"args": ["-h"], "expect": ["resume"]}}}"#,
    );
    agent(&rig, "cursor", "echo \"$1 resume\"");
    for name in ["cursor-agent", "cursor"] {
        let (code, text, said) = check(&rig, &[name]);
        let shown = "cursor-agent ~/agents/cursor ok latest";
        assert_eq!((code, &*text, &*said), (0, shown, ""));
    }
}

#[test]
fn an_agent_nobody_knows_is_used_wrongly() {
    let rig = rig();
    let (code, text, said) = check(&rig, &["claude", "frob"]);
    assert_eq!((code, text.as_str()), (2, ""));
    assert!(
        said.contains("\"frob\"") && said.contains("kittymux sessions check"),
        "{said}"
    );
}

#[test]
fn an_agent_that_wants_a_terminal_gets_none() {
    let rig = rig();
    let script = "read -r x </dev/tty && exit 9\ncat\necho seen >/dev/tty\n".to_owned();
    agent(&rig, "claude", &(script + &noting(HELP)));
    let kitty = rig.start_kitty(&[]);
    // In a window, where there is a terminal to take.
    let line = format!(
        "PATH={}:/usr/bin:/bin {} sessions check claude; echo status $?; sleep 60",
        rig.home().join("agents").display(),
        rig.dir("tools").join("kittymux").display()
    );
    let id = kitty.launch(&rig.home(), &["/bin/sh", "-c", &line]);
    let screen = kitty.shows(id, "status ");
    assert!(
        screen.contains("status 0") && !screen.contains("seen"),
        "{screen}"
    );
}

/// The mode and the reason that `sessions list` gives for the only agent window.
fn listed(rig: &Rig, kitty: &crate::rig::Kitty) -> (String, String) {
    let text = rig.kittymux_ok(Some(kitty), &["sessions", "list", "--json"]);
    let value = json::parse(text.as_bytes(), 1 << 20).expect("JSON");
    let Some(JsonValue::Array(windows)) = json::member(&value, "windows") else {
        panic!("a list");
    };
    let of = |key: &str| json::text_at(&windows[0], key).unwrap_or("").to_owned();
    (of("mode"), of("why"))
}

#[test]
fn what_a_check_found_decides_what_comes_back() {
    let rig = rig();
    let kitty = rig.start_kitty(&[]);
    let claude = rig.home().join("bin/claude").display().to_string();
    let id = kitty.launch(&rig.dir("code"), &[&claude]);
    kitty.shows(id, "(new)");
    kitty.send(id, "hello\r");
    kitty.shows(id, "heard hello");
    let is = |mode: &str, why: &str| {
        let (seen, said) = listed(&rig, &kitty);
        assert!(seen == mode && said.contains(why), "{seen}: {said}");
    };
    is("exact", "registry");
    assert_eq!(run(&rig, "bin", &["claude"]).status.code(), Some(0));
    is("exact", "registry");
    // A check of any age counts where nothing may be started.
    change_kept(&rig, "\"at\":\"2026", "\"at\":\"2001");
    change_kept(
        &rig,
        "\"verdict\":\"fits\",\"lacks\":[]",
        "\"verdict\":\"lacks\",\"lacks\":[\"--resume\"]",
    );
    let why = "its help does not name \"--resume\": run kittymux sessions check claude";
    is("new", why);
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "desk"]);
    assert!(
        rig.saved("desk").contains("\"mode\":\"new\""),
        "{}",
        rig.saved("desk")
    );
    assert_eq!(run(&rig, "bin", &["claude"]).status.code(), Some(0));
    is("exact", "registry");
    // A definition of the person's own needs a check first.
    let own = |expect: &str| {
        let text = format!(
            r#"{{"claude": {{"exact": ["--resume", "{{id}}"], "env": ["CLAUDE_CONFIG_DIR"],
            "config_dir": ".claude", "verified": true,
            "find": [{{"way": "pid-file", "at": "sessions/{{pid}}.json", "needs": ["status"]}}],
            "probe": {{"args": ["--help"], "expect": ["{expect}"]}}}}}}"#
        );
        rig.file(".config/kittymux/resume.json", &text);
    };
    own("--resume");
    is(
        "new",
        "its definition was not checked yet: run kittymux sessions check claude",
    );
    assert_eq!(run(&rig, "bin", &["claude"]).status.code(), Some(0));
    is("exact", "registry");
    own("--frob");
    is("new", "not checked yet");
    assert_eq!(run(&rig, "bin", &["claude"]).status.code(), Some(1));
    is("new", "its help does not name \"--frob\"");
    std::fs::write(kept(&rig), "no JSON").expect("damaged");
    is("new", "not checked yet");
}
