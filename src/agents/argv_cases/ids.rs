//! The id that a command line names; any command at all.

use super::*;
use crate::agents::reading::entries;

#[test]
fn the_id_a_command_line_was_started_with() {
    check_id(
        &shipped("claude"),
        "
        claude => -
        claude --resume OLD => OLD
        claude --resume=OLD => OLD
        claude -rOLD => OLD
        claude -r OLD 'go on' => OLD
        claude --model x --resume OLD --verbose => OLD
        claude --session-id OLD => OLD
        claude --session-id=OLD => OLD
        claude -cr OLD => -
        claude -c => -
        claude -r => -
        claude --resume --model OLD => -
        claude --resume --model opus OLD => -
        claude --resume my-name => -
        claude -r=OLD => -
        claude --resume OLD --fork-session => -
        claude --resume OLD --fork-session --session-id ID => ID
        claude --resume OLD --resume ID => -
        claude --resume OLD --resume OLD => OLD
        claude --parent-session-id OLD => -
        claude --resume-session-at OLD => -
        claude --append-system-prompt --resume OLD => -
        claude -- --resume OLD => -
        claude OLD => -
        claude --resume 'x; rm -rf ~' => -
    ",
    );
    check_id(
        &shipped("codex"),
        "
        codex => -
        codex resume OLD => OLD
        codex -m o3 resume OLD -C /p => OLD
        codex resume -m o3 OLD 'go on' => OLD
        codex resume --last OLD => -
        codex resume OLD --last => -
        codex resume --all OLD => OLD
        codex resume --include-non-interactive -m o3 OLD hi => OLD
        codex resume --all => -
        codex resume => -
        codex resume my-thread => -
        codex fork OLD => -
        codex 'resume' OLD => OLD
        codex say resume OLD => -
        codex -- resume OLD => -
        codex -p resume OLD => -
        codex --new-flag resume OLD => OLD
    ",
    );
    check_id(
        &shipped("opencode"),
        "
        opencode -s OLD => OLD
        opencode -sOLD => OLD
        opencode -s=OLD => OLD
        opencode --session=OLD /p => OLD
        opencode -s OLD --fork => -
        opencode -s -c => -
        opencode -c => -
        opencode --session /p => -
        opencode OLD => -
    ",
    );
    let upper = UUIDS[0].to_uppercase();
    let given = words(&format!("codex resume {upper}"));
    assert_eq!(
        argv_id(&shipped("codex"), &given).as_deref(),
        Some(UUIDS[0])
    );
    let given = words(&format!("claude --resume {upper}"));
    assert_eq!(argv_id(&shipped("claude"), &given), None);
}

#[test]
fn a_selector_that_also_asks_for_the_newest() {
    let text = r#"{"gemini": {"exact": ["--resume", "{id}"], "latest": ["--resume", "latest"],
        "latest_scope": "directory", "strip_with_value": ["--resume", "-r"], "strip": [],
        "helpers": ["mcp"], "probe": {"args": ["--help"], "expect": ["--resume"]}}}"#;
    let (mut defs, problems) = entries(text.as_bytes(), true);
    assert!(problems.is_empty(), "{problems:?}");
    check_id(
        &defs.remove(0),
        "
        gemini --resume OLD => OLD
        gemini --resume=OLD -m x => OLD
        gemini -r OLD => OLD
        gemini --resume latest => -
        gemini --resume=latest => -
        gemini --resume => -
    ",
    );
}

/// No command, however odd, makes us fail, keeps an old selector or sends a prompt.
fn stays_safe(name: &str, pieces: &[&str]) {
    let made = safe(&shipped(name), pieces, 30_000);
    assert!(made > 1000);
}

/// Tries `count` commands; how many of them could be resumed.
fn safe(def: &Definition, pieces: &[&str], count: usize) -> usize {
    let id = ids(def)[0];
    let mut rng = fastrand::Rng::with_seed(11);
    let mut made_some = 0;
    for _ in 0..count {
        let mut given = vec![def.names[0].clone()];
        given.extend(def.under.iter().cloned());
        given.extend((0..rng.usize(0..8)).map(|_| pieces[rng.usize(0..pieces.len())].to_owned()));
        let Ok(made) = resume(def, &given, Selector::Exact(id)) else {
            continue;
        };
        made_some += 1;
        assert_eq!(
            made.words.iter().filter(|w| w.contains(id)).count(),
            1,
            "{given:?}"
        );
        // What came of it names that conversation and nothing else.
        assert_eq!(
            argv_id(def, &made.words).as_deref(),
            Some(id),
            "{given:?} {:?}",
            made.words
        );
        let again = resume(def, &made.words, Selector::Exact(id)).expect("again");
        assert!(!again.had_prompt, "{given:?} {:?}", made.words);
        assert!(again.dropped_secrets.is_empty(), "{given:?}");
        assert_eq!(again.words, made.words, "a fixed point of {given:?}");
        let anew = fresh(def, &made.words).expect("anew");
        assert!(!anew.words.iter().any(|w| w.contains(id)), "{given:?}");
        assert_eq!(argv_id(def, &anew.words), None);
    }
    made_some
}

#[test]
fn random_commands_of_every_agent_stay_safe() {
    for def in Definitions::shipped()
        .iter()
        .filter(|d| !d.exact.is_empty())
    {
        let flags = &def.flags;
        let some = [&flags.none, &flags.one, &flags.optional, &flags.several];
        let lists = [
            &def.strip,
            &def.strip_with_value,
            &def.strip_optional,
            &def.selectors,
            &def.chooses,
            &def.forks,
            &def.once,
            &def.latest,
        ];
        let mut pieces: Vec<&str> = lists
            .into_iter()
            .chain(some)
            .flat_map(|list| list.iter().take(6))
            .map(String::as_str)
            .filter(|w| !def.headless.iter().any(|h| h == w))
            .collect();
        pieces.extend(def.verbs.iter().flat_map(|v| v.split(' ')));
        pieces.extend([
            ids(def)[1],
            ids(def)[1],
            "a prompt",
            "x",
            "--",
            "",
            "-",
            "--new",
        ]);
        pieces.extend(["--new=x", "-Zc", "--x-token", "/init", "--no-x"]);
        let made = safe(def, &pieces, 2_000);
        assert!(made > 60, "{}: {made}", def.name);
    }
}

#[test]
fn random_commands_of_claude_stay_safe() {
    stays_safe(
        "claude",
        &[
            "--resume",
            "-r",
            "-c",
            "--continue",
            "--session-id",
            UUIDS[1],
            "--model",
            "opus",
            "-cr",
            "-w",
            "feat",
            "--",
            "-p",
            "--new",
            "a prompt",
            "--api-key",
            "sk-secret",
            "--add-dir",
            "",
            "-",
            "--resume=",
            "-d",
            "é",
            "--settings",
            "{\"env\":{}}",
            "-Zc",
            "\u{10ff80}",
            "--fork-session",
            "--x-token",
            "-abc",
            "/init",
            "--no-x",
        ],
    );
}

#[test]
fn random_commands_of_codex_stay_safe() {
    stays_safe(
        "codex",
        &[
            "resume",
            "fork",
            "--last",
            "--all",
            UUIDS[1],
            "-m",
            "o3",
            "-i",
            "a.png",
            "--",
            "--new",
            "a prompt",
            "-c",
            "x.token=1",
            "-csandbox=\"x\"",
            "--image=x",
            "",
            "-",
            "-Zi",
            "--search",
            "-p",
            "word",
            "--new=x",
            "--x-token",
            "-abc",
            "-hV",
            "--worktree",
        ],
    );
}

#[test]
fn random_commands_of_opencode_stay_safe() {
    stays_safe(
        "opencode",
        &[
            "-s",
            "--session",
            "-c",
            SES[1],
            "--fork",
            "/p",
            "-m",
            "a/b",
            "--cors",
            "x",
            "--",
            "--new",
            "my dir",
            "--prompt",
            "",
            "-",
            "-Zs",
            "--session=",
            "-s=",
            "--x-token",
            "-abc",
            "--port",
        ],
    );
}
