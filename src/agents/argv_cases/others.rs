//! codex, opencode, an entry of a person; the newest conversation and a new one.

use super::*;

#[test]
fn codex_gets_one_resume_where_nothing_can_swallow_it() {
    check(
        &shipped("codex"),
        Way::Exact,
        "
        codex => codex resume ID
        codex -m gpt-5 => codex -m gpt-5 resume ID
        codex --no-daemon -m gpt-5.5 -C /p => codex --no-daemon -m gpt-5.5 -C /p resume ID
        codex resume OLD => codex resume ID
        codex resume => codex resume ID
        codex resume --last => codex resume ID
        codex resume --last --all => codex resume ID
        codex resume --include-non-interactive OLD => codex resume ID
        codex resume my-thread => codex resume ID
        codex resume OLD 'go on' => codex resume ID | prompt
        codex resume --last 'go on' => codex resume ID | prompt
        codex -m o3 resume OLD -C /p --search => codex -m o3 resume ID -C /p --search
        codex resume -m o3 OLD => codex resume ID -m o3
        codex 'do something' => codex resume ID | prompt
        codex -m o3 'do something' --search => codex -m o3 --search resume ID | prompt
        codex -i a.png b.png => codex resume ID
        codex -i a.png -m o3 what => codex -m o3 resume ID | prompt
        codex -ia.png 'what is it' => codex resume ID | prompt
        codex fork OLD 'other way' => codex resume ID | prompt
        codex fork --last => codex resume ID
        codex --new-flag -m o3 => codex resume ID --new-flag -m o3
        codex -m o3 --new-flag x --search => codex -m o3 resume ID --new-flag x --search
        codex --new-flag=x -m o3 => codex --new-flag=x -m o3 resume ID
        codex --new-flag resume OLD => codex resume ID --new-flag
        codex --new-flag 'do it all' -m o3 => codex -m o3 resume ID --new-flag | prompt
        codex -sread-only -a never => codex -sread-only -a never resume ID
        codex -- resume => codex resume ID | prompt
        codex --enable a --disable b => codex --enable a --disable b resume ID
        codex --add-dir /x --yolo => codex --add-dir /x --yolo resume ID
    ",
    );
}

#[test]
fn opencode_keeps_its_directory() {
    check(
        &shipped("opencode"),
        Way::Exact,
        "
        opencode => opencode --session ID
        opencode /p/x => opencode /p/x --session ID
        opencode '/p/my project' --model a/b => opencode '/p/my project' --model a/b --session ID
        opencode -s OLD => opencode --session ID
        opencode -sOLD => opencode --session ID
        opencode -s=OLD => opencode --session ID
        opencode --session=OLD --fork => opencode --session ID
        opencode -c => opencode --session ID
        opencode --continue --agent build => opencode --agent build --session ID
        opencode --prompt 'do it' => opencode --session ID
        opencode --prompt='do it' /p => opencode /p --session ID
        opencode --cors a b -m x => opencode --cors a b -m x --session ID
        opencode --new-flag '/p/my project' => opencode --new-flag '/p/my project' --session ID
        opencode -- /p => opencode --session ID -- /p
    ",
    );
}

#[test]
fn the_newest_by_the_agents_own_words() {
    check(
        &shipped("claude"),
        Way::Latest,
        "
        claude --resume OLD --model x 'go' => claude --model x --continue | prompt
        claude --new-flag 'do it' => claude --continue --new-flag | prompt
    ",
    );
    check(
        &shipped("codex"),
        Way::Latest,
        "
        codex resume OLD -m o3 => codex resume --last -m o3
        codex -m o3 => codex -m o3 resume --last
    ",
    );
    check(
        &shipped("opencode"),
        Way::Latest,
        "opencode -s OLD /p => opencode /p --continue",
    );
}

#[test]
fn a_new_conversation_is_the_bare_command() {
    check(
        &shipped("claude"),
        Way::Fresh,
        "
        claude --resume OLD --model x --fork-session 'go' => claude --model x | prompt
        claude --session-id OLD -w feat => claude -w feat
        claude -c --api-key k => claude | secret --api-key
    ",
    );
    check(
        &shipped("codex"),
        Way::Fresh,
        "
        codex resume OLD => codex
        codex -m o3 resume --last --search => codex -m o3 --search
        codex fork OLD -C /p 'x y' => codex -C /p | prompt
    ",
    );
    check(
        &shipped("opencode"),
        Way::Fresh,
        "opencode --prompt x /p -c => opencode /p",
    );
}

/// The whole of an entry as a person writes it, for agents of every kind.
#[test]
fn an_entry_of_seven_keys_works_as_it_stands() {
    let own = br#"{
      "devin": {
        "latest_scope": "unstated",
        "exact": ["-r", "{id}"],
        "latest": ["-c"],
        "strip_with_value": ["-r", "--resume"],
        "strip": ["-c", "--continue"],
        "helpers": ["acp", "mcp"],
        "probe": {"args": ["--help"], "expect": ["--resume"]}
      }
    }"#;
    let (all, problems) = load("{}", Some(own));
    assert!(problems.is_empty(), "{problems:?}");
    let devin = all.get("devin").expect("devin");
    check(
        devin,
        Way::Exact,
        "
        devin => devin -r ID
        devin -r --model x => devin --model x -r ID
        devin -r tall-yogurt --model x => devin --model x -r ID
        devin --resume=tall-yogurt -c => devin -r ID
        devin -- 'a prompt' => devin -r ID | prompt
        devin acp => !
    ",
    );
    check(devin, Way::Latest, "devin --resume x => devin -c");
    check_id(
        devin,
        "
        devin -r tall-yogurt => tall-yogurt
        devin -r --model x => -
        devin --resume=tall-yogurt => tall-yogurt
        devin -c => -
        devin -r 'x; rm' => -
    ",
    );
}
