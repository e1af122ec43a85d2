//! Settings files: which are touched, and which are left alone.

use std::os::unix::fs::{MetadataExt, symlink};

use super::{left, program, states};
use crate::rig::Rig;

fn read(rig: &Rig, name: &str) -> String {
    std::fs::read_to_string(rig.home().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Runs it; gives its code, and what it said on both.
fn run(rig: &Rig, words: &[&str], env: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let output = rig.kittymux_with(None, words, env);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn without_a_name_those_on_path_are_set_up() {
    let rig = Rig::new("/bin/bash", false);
    program(&rig, "found/claude", "#!/bin/sh\ntouch ~/was-run\n");
    program(&rig, "found/cbc", "#!/bin/sh\ntouch ~/was-run\n");
    program(&rig, "found/hermes", "#!/bin/sh\ntouch ~/was-run\n");
    let path = format!("{}:/usr/bin:/bin", rig.home().join("found").display());
    let env = [("PATH", path.as_str())];
    let (code, dry, err) = run(&rig, &["hooks", "setup", "--dry-run"], &env);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{dry}");
    assert!(
        dry.contains("would change ~/.claude/settings.json\n  + {\n"),
        "{dry}"
    );
    assert!(
        !rig.home().join(".claude").exists() && !rig.state().exists(),
        "nothing is written"
    );
    let (code, said, err) = run(&rig, &["hooks", "setup"], &env);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let wanted = [
        "claude        made ~/.claude/settings.json",
        "codex         skipped: not on PATH",
        "codebuddy     made ~/.codebuddy/settings.json",
        "hermes        made ~/.hermes/plugins/kittymux/__init__.py",
        "hermes        made ~/.hermes/plugins/kittymux/plugin.yaml",
        "agy           skipped: its hooks are not documented in a form that is known for certain",
    ];
    for line in wanted {
        assert!(said.lines().any(|l| l == line), "{line}:\n{said}");
    }
    assert_eq!(said.matches("  made ").count(), 4, "{said}");
    let all = kittymux::agents::definitions::Definitions::shipped();
    // hermes has two files, and must allow them.
    assert_eq!(
        said.lines().count(),
        all.iter().count() + 2,
        "one line for each: {said}"
    );
    let (_, status, _) = run(&rig, &["hooks", "status"], &env);
    for line in [
        "claude        installed        ~/.claude/settings.json",
        "gemini        agent not found  ~/.gemini/settings.json",
        "hermes        installed        ~/.hermes/plugins/kittymux/__init__.py",
        "cursor-agent  agent not found  ~/.cursor/hooks.json",
        "acli          unknown          nothing is known of hooks of this agent",
    ] {
        assert!(status.lines().any(|l| l == line), "{line}:\n{status}");
    }
    // Without what it needs beside it the first is not whole.
    let manifest = rig.home().join(".hermes/plugins/kittymux/plugin.yaml");
    std::fs::remove_file(&manifest).expect("removed");
    let (_, status, _) = run(&rig, &["hooks", "status", "hermes"], &env);
    assert!(status.contains("changed since"), "{status}");
    run(&rig, &["hooks", "setup", "hermes"], &env);
    assert!(manifest.exists());
    let (_, said, _) = run(&rig, &["hooks", "remove"], &env);
    assert_eq!(said.lines().count(), 4, "{said}");
    assert!(!manifest.exists() && !manifest.with_file_name("__init__.py").exists());
    assert!(!rig.home().join(".claude/settings.json").exists());
    let (code, said, _) = run(&rig, &["hooks", "remove"], &env);
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "no agent's settings hold a hook of ours\n")
    );
    assert!(!rig.home().join("was-run").exists(), "no agent is ever run");
    assert_eq!(run(&rig, &["hooks", "setup", "frob"], &env).0, Some(2));
    assert_eq!(run(&rig, &["hooks", "setup", "agy"], &env).0, Some(1));
}

#[test]
fn a_link_is_written_through_and_the_first_original_is_kept() {
    let rig = Rig::new("/bin/bash", false);
    let before = "{\"a\":1}";
    rig.file("dotfiles/claude.json", before);
    rig.dir(".claude");
    let link = rig.home().join(".claude/settings.json");
    symlink("../dotfiles/claude.json", &link).expect("a link");
    rig.kittymux_ok(None, &["hooks", "setup", "claude"]);
    assert!(
        std::fs::symlink_metadata(&link)
            .expect("there")
            .is_symlink()
    );
    assert!(read(&rig, "dotfiles/claude.json").contains("hook claude"));
    let kept = "dotfiles/claude.json.before-kittymux";
    assert_eq!(read(&rig, kept), before);
    // The person goes on; a second setup keeps the first original.
    let more = read(&rig, "dotfiles/claude.json").replace("\"a\":1", "\"a\":2");
    let more = more.replace("\"UserPromptSubmit\"", "\"Other\"");
    rig.file("dotfiles/claude.json", &more);
    assert_eq!(
        states(&rig, &["claude"]),
        [("claude".to_owned(), "changed since".to_owned())]
    );
    let said = rig.kittymux_ok(None, &["hooks", "setup", "claude"]);
    assert!(said.contains("brought up to date in"), "{said}");
    assert_eq!(read(&rig, kept), before);
    let said = rig.kittymux_ok(None, &["hooks", "remove", "claude"]);
    assert!(
        said.contains("as it was before: ~/dotfiles/claude.json.before-kittymux"),
        "{said}"
    );
    assert_eq!(read(&rig, "dotfiles/claude.json"), "{\"a\":2}");
    // A link to nothing is nobody's settings.
    std::fs::remove_file(rig.home().join("dotfiles/claude.json")).expect("removed");
    let (code, _, err) = run(&rig, &["hooks", "setup", "claude"], &[]);
    assert!(code == Some(1) && err.contains("leads nowhere"), "{err}");
}

#[test]
fn what_cannot_be_read_or_written_stands_as_it_was() {
    let rig = Rig::new("/bin/bash", false);
    for (file, agent, text) in [
        (".claude/settings.json", "claude", "{\"a\": 1,, }"),
        (".codex/config.toml", "codex", "notify = \"x\"\n"),
        (
            ".config/opencode/plugin/kittymux.js",
            "opencode",
            "export const mine = 1;\n",
        ),
    ] {
        rig.file(file, text);
        for verb in ["setup", "remove"] {
            let (code, out, err) = run(&rig, &["hooks", verb, agent], &[]);
            assert_eq!(read(&rig, file), text);
            if verb == "setup" {
                assert!(
                    code == Some(1) && err.contains("is left alone"),
                    "{out}{err}"
                );
                assert_eq!(err.lines().count(), 1, "{err}");
            }
        }
        assert!(left(&rig.home().join(file)).is_empty());
    }
    // One agent's faulty file does not keep the next from being set up.
    let (code, said, _) = run(&rig, &["hooks", "setup", "claude", "qwen"], &[]);
    assert!(code == Some(1) && said.contains("qwen    made"), "{said}");
    assert_eq!(states(&rig, &["claude"])[0].1, "unreadable");
    // A disk that fills up anywhere on the way.
    let before = "{\n  \"a\": 1\n}\n";
    let path = rig.file(".claude/settings.json", before);
    let mut failed = 0;
    for at in 0..30 {
        rig.file(".claude/settings.json", before);
        let at = at.to_string();
        let env = [("KITTYMUX_FAULT_AT", at.as_str())];
        let (code, _, err) = run(&rig, &["hooks", "setup", "claude"], &env);
        let now = read(&rig, ".claude/settings.json");
        if code == Some(0) {
            assert!(now.contains("hook claude"), "{now}");
        } else {
            failed += 1;
            assert!(!err.is_empty() && now == before, "{err}{now}");
            assert!(left(&path).iter().all(|n| n.ends_with(".before-kittymux")));
        }
    }
    assert!(failed > 1, "it never failed");
}

#[test]
fn a_path_with_blanks_and_quotes_is_run() {
    let rig = Rig::new("/bin/bash", false);
    let dir = rig.dir("it's a \"place\"");
    let km = dir.join("kittymux");
    symlink(rig.tool("kittymux"), &km).expect("a link");
    rig.file(
        ".local/state/kittymux/self-path",
        &format!("{}\n", km.display()),
    );
    rig.kittymux_ok(None, &["hooks", "setup", "claude", "codex", "copilot"]);
    let text = read(&rig, ".claude/settings.json");
    let command = super::command(text.as_bytes(), "claude", "Stop").expect("a command");
    let run = |command: &str| {
        let mut shell = rig.command(std::path::Path::new("/bin/sh"));
        shell
            .args(["-c", command])
            .stdin(std::process::Stdio::null());
        shell.output().expect("a shell")
    };
    let output = run(&command);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{command}: {output:?}"
    );
    // It is our program that runs: an unknown agent is said by it.
    let output = run(&command.replace("hook claude", "hook frob"));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = read(&rig, ".codex/config.toml");
    let command = super::command(text.as_bytes(), "codex", "notify").expect("a command");
    assert!(run(&command).status.success(), "{command}");
    let all = states(&rig, &["claude", "codex", "copilot"]);
    assert!(all.iter().all(|(_, state)| state == "installed"), "{all:?}");
}

#[test]
fn codex_is_told_more_only_on_request() {
    let rig = Rig::new("/bin/bash", false);
    let said = rig.kittymux_ok(None, &["hooks", "setup", "codex"]);
    assert!(
        said.starts_with("codex  made ~/.codex/config.toml\n  it counts with codex --no-daemon"),
        "{said}"
    );
    assert!(!rig.home().join(".codex/hooks.json").exists());
    let said = rig.kittymux_ok(None, &["hooks", "setup", "--full", "codex"]);
    assert!(
        said.contains("made ~/.codex/hooks.json\n  at its next start codex stops"),
        "{said}"
    );
    let status = rig.kittymux_ok(None, &["hooks", "status", "codex"]);
    assert!(
        status.contains("installed        ~/.codex/config.toml and ~/.codex/hooks.json"),
        "{status}"
    );
    let again = rig.kittymux_ok(None, &["hooks", "setup", "codex"]);
    assert_eq!(again.matches("already").count(), 2, "{again}");
    let mode = std::fs::metadata(rig.home().join(".codex/hooks.json"))
        .expect("there")
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let said = rig.kittymux_ok(None, &["hooks", "remove", "codex"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(!rig.home().join(".codex/hooks.json").exists());
    assert!(!rig.home().join(".codex/config.toml").exists());
    // Another directory of its own counts.
    let other = rig.dir("other");
    let env = [("CODEX_HOME", other.to_str().expect("text"))];
    run(&rig, &["hooks", "setup", "codex"], &env);
    assert!(other.join("config.toml").exists());
}

#[test]
fn what_the_documentation_says_of_each_agent_is_so() {
    let text = include_str!("../../../docs/hooks.md");
    for def in kittymux::agents::definitions::Definitions::shipped().iter() {
        let hooks = def.hooks.as_ref().expect("what is known of its hooks");
        let Some(setup) = &hooks.setup else {
            assert!(
                !hooks.unknown.is_empty() && text.contains(&def.name),
                "{}",
                def.name
            );
            continue;
        };
        let place = setup.file.last().expect("a place");
        let row = |l: &&str| l.starts_with(&format!("| {} |", def.name)) && l.contains(place);
        let row = text
            .lines()
            .find(row)
            .unwrap_or_else(|| panic!("{} {place}", def.name));
        for (names, word) in [
            (&hooks.prompt, "prompt"),
            (&hooks.waiting, "waiting"),
            (&hooks.done, "done"),
            (&hooks.end, "end"),
        ] {
            // grok writes its events in another way in its payloads.
            let bare = |name: &String| name.replace('_', "").to_lowercase();
            let asked: Vec<String> = setup.events.iter().map(bare).collect();
            let told = setup.events.is_empty() && !names.is_empty()
                || names.iter().any(|n| asked.contains(&bare(n)));
            let said = row.rsplit(" | ").next().is_some_and(|c| c.contains(word));
            // codex tells the rest elsewhere.
            assert!(told == said || def.name == "codex", "{}: {word}", def.name);
        }
        for variable in setup.file.iter().filter_map(|f| f.split_once('/')) {
            assert!(variable.0 == "~" || row.contains(variable.0), "{row}");
        }
    }
}

#[test]
fn the_example_of_the_documentation_is_set_up() {
    let text = include_str!("../../../docs/hooks.md");
    let (_, rest) = text.split_once("```json\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let rig = Rig::new("/bin/bash", false);
    rig.file(".config/kittymux/resume.json", example);
    let said = rig.kittymux_ok(None, &["hooks", "setup", "mycli"]);
    assert_eq!(said, "mycli  made ~/.mycli/settings.json\n");
    let text = read(&rig, ".mycli/settings.json");
    assert!(
        super::command(text.as_bytes(), "mycli", "Stop").is_some(),
        "{text}"
    );
    let said = rig.kittymux_ok(None, &["hooks", "remove", "mycli"]);
    assert!(said.contains("held nothing else"), "{said}");
}

#[test]
fn what_goes_back_is_what_stood_there_this_time() {
    let rig = Rig::new("/bin/bash", false);
    let name = ".cursor/hooks.json";
    let one = "{\"version\":1}\n";
    let path = rig.file(name, one);
    rig.kittymux_ok(None, &["hooks", "setup", "cursor-agent"]);
    rig.file(
        name,
        &read(&rig, name).replace("\"version\":1", "\"version\":1,\"x\":2"),
    );
    rig.kittymux_ok(None, &["hooks", "remove", "cursor-agent"]);
    let kept = ".cursor/hooks.json.before-kittymux";
    assert_eq!(read(&rig, kept), one);
    // Without its original an empty list would go along with what was in it.
    let two = "{\"hooks\":{\"stop\":[]},\"version\":1}";
    rig.file(name, two);
    rig.kittymux_ok(None, &["hooks", "setup", "cursor-agent"]);
    assert_eq!(read(&rig, kept), two);
    assert_eq!(read(&rig, &format!("{kept}.1")), one, "nothing is lost");
    rig.kittymux_ok(None, &["hooks", "remove", "cursor-agent"]);
    assert_eq!(read(&rig, name), two);
    assert_eq!(left(&path), ["hooks.json.before-kittymux.1"]);
}

#[test]
fn an_original_is_kept_whole_or_not_at_all() {
    let rig = Rig::new("/bin/bash", false);
    let path = rig.file(".claude/settings.json", "{\"a\": 1}\n");
    let kept = path.with_file_name("settings.json.before-kittymux");
    // What is ours alone is written by then.
    rig.kittymux_ok(None, &["hooks", "setup", "codex"]);
    let mut killed = 0;
    for at in 0..30 {
        let at = format!("{at}:kill");
        let env = [("KITTYMUX_FAULT_AT", at.as_str())];
        if run(&rig, &["hooks", "setup", "claude"], &env).0 != Some(0) {
            killed += 1;
        }
        if kept.exists() {
            assert_eq!(
                read(&rig, ".claude/settings.json.before-kittymux"),
                "{\"a\": 1}\n"
            );
        }
    }
    assert!(killed > 1, "it was never killed");
    // The last run swept up what those before it left.
    assert_eq!(left(&path), ["settings.json.before-kittymux"]);
    rig.kittymux_ok(None, &["hooks", "remove", "claude"]);
    assert_eq!(read(&rig, ".claude/settings.json"), "{\"a\": 1}\n");
}

#[test]
fn under_another_name_nothing_is_put_where_it_would_not_be_found_again() {
    let rig = Rig::new("/bin/bash", false);
    let other = rig.dir("bin2").join("km");
    symlink(rig.tool("kittymux"), &other).expect("a link");
    let hooks = |what: &str| {
        let mut command = rig.command(&other);
        command.args(["hooks", what, "claude"]);
        command.env("PATH", "/usr/bin:/bin").output().expect("run")
    };
    let done = hooks("setup");
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert!(wrong.contains("a program called kittymux"), "{wrong}");
    assert_eq!(done.status.code(), Some(1));
    assert!(!rig.home().join(".claude/settings.json").exists());
    assert!(hooks("status").status.success());
}

#[test]
fn what_would_be_too_large_to_be_taken_out_again_is_left_alone() {
    let rig = Rig::new("/bin/bash", false);
    let limit = kittymux::agents::hooks::edit::LIMIT;
    let name = ".cursor/hooks.json";
    let of = |size: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(size));
    let path = rig.file(name, &of(0));
    rig.kittymux_ok(None, &["hooks", "setup", "cursor-agent"]);
    // One byte more than fits with ours.
    let before = of(limit + 1 - read(&rig, name).len());
    rig.kittymux_ok(None, &["hooks", "remove", "cursor-agent"]);
    rig.file(name, &before);
    let (code, _, err) = run(&rig, &["hooks", "setup", "cursor-agent"], &[]);
    assert!(code == Some(1) && err.contains("would be larger"), "{err}");
    assert_eq!(read(&rig, ".cursor/hooks.json"), before);
    assert!(left(&path).is_empty());
}
