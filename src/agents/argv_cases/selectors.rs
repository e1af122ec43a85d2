//! Old selectors go, the new one comes; what is no conversation is refused.

use super::*;

#[test]
fn claude_selectors_go_in_every_spelling() {
    check(
        &shipped("claude"),
        Way::Exact,
        "
        claude => claude --resume ID
        claude --resume OLD => claude --resume ID
        claude --resume=OLD => claude --resume ID
        claude -r OLD => claude --resume ID
        claude -rOLD => claude --resume ID
        claude -r => claude --resume ID
        claude --resume => claude --resume ID
        claude --resume my-name => claude --resume ID
        claude --resume 'some search' => claude --resume ID
        claude -c => claude --resume ID
        claude --continue => claude --resume ID
        claude --session-id OLD => claude --resume ID
        claude --session-id=OLD => claude --resume ID
        claude -c -r OLD --session-id OLD => claude --resume ID
        claude --session-id OLD --resume=OLD --fork-session => claude --resume ID
        claude -r --model opus => claude --model opus --resume ID
        claude --resume --model opus OLD => claude --model opus --resume ID | prompt
        claude --model opus -c --verbose => claude --model opus --verbose --resume ID
        claude --teleport OLD --model x => claude --model x --resume ID
        claude --from-pr 123 => claude --resume ID
        claude --from-pr --model x => claude --model x --resume ID
        claude --cloud OLD -r OLD => claude --resume ID
        claude --resume-session-at OLD --resume OLD => claude --resume ID
        claude --prefill 'fix the bug' => claude --resume ID
        claude --prefill-b64 Zml4 => claude --resume ID
        claude --parent-session-id OLD => claude --resume ID
    ",
    );
}

#[test]
fn claude_letters_in_one_word() {
    check(
        &shipped("claude"),
        Way::Exact,
        "
        claude -cd => claude -d --resume ID
        claude -cr OLD => claude --resume ID
        claude -crOLD => claude --resume ID
        claude -cw feat => claude -w feat --resume ID
        claude -cwfeat => claude -wfeat --resume ID
        claude -cn name => claude -n name --resume ID
        claude -dapi => claude -dapi --resume ID
        claude -cZ => claude --resume ID -Z
        claude -wfeat => claude -wfeat --resume ID
    ",
    );
}

#[test]
fn what_must_not_happen_twice_goes() {
    check(
        &shipped("claude"),
        Way::Exact,
        "
        claude --resume OLD --fork-session => claude --resume ID
        claude -w feat --tmux => claude -w feat --resume ID
        claude --bg => claude --resume ID
        claude --reply-on-resume --resume OLD => claude --resume ID
    ",
    );
    check(
        &shipped("codex"),
        Way::Exact,
        "
        codex --worktree -m o3 => codex -m o3 resume ID
        codex fork OLD => codex resume ID
    ",
    );
}

#[test]
fn helpers_and_runs_without_a_terminal_are_refused() {
    check(
        &shipped("claude"),
        Way::Exact,
        "
        claude mcp serve => !
        claude --model x doctor => !
        claude -p hello => !
        claude --print => !
        claude -cp hello => !
        claude --model --print => claude --model --print --resume ID
    ",
    );
    check(
        &shipped("codex"),
        Way::Exact,
        "
        codex exec 'x' => !
        codex -m gpt exec => !
        codex e x => !
        codex app-server --listen unix:// => !
        codex --new-flag exec x => !
        codex -p fast => codex -p fast resume ID
    ",
    );
    check(
        &shipped("opencode"),
        Way::Exact,
        "
        opencode run hello => !
        opencode serve => !
        opencode serve-x => opencode serve-x --session ID
    ",
    );
}

#[test]
fn ids_that_are_none_are_refused() {
    let claude = shipped("claude");
    for bad in [
        "",
        "--help",
        "$(id)",
        "a b",
        "../x",
        "latest",
        &"a".repeat(300),
    ] {
        assert!(
            resume(&claude, &words("claude"), Selector::Exact(bad)).is_err(),
            "{bad}"
        );
    }
    assert!(resume(&claude, &[], Selector::Latest).is_err());
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let (all, _) = load(
        "{}",
        Some(br#"{"a": {"latest": ["-c"]}, "b": {"exact": ["-r={id}"]}}"#),
    );
    let (a, b) = (all.get("a").expect("a"), all.get("b").expect("b"));
    check(a, Way::Exact, "a => !");
    check(b, Way::Latest, "b => !");
    check(b, Way::Exact, "b --x => b -r=ID --x");
}
