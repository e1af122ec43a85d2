//! Definitions files with mistakes, and what is said of them.

use expect_test::{Expect, expect};

use super::*;
use crate::agents::definitions::{Definitions, SHIPPED, load};

fn check(text: &str, expected: Expect) {
    let (all, problems) = load(SHIPPED, Some(text.as_bytes()));
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
    let shipped = Definitions::shipped();
    if !problems.is_empty() {
        assert_eq!(all.get("claude"), shipped.get("claude"));
    }
}

#[test]
fn a_typing_mistake_is_told_with_its_line_and_key() {
    check(
        "{\n \"claude\": {\n  \"latest\": [\"-c\"],\n  \"exat\": [\"{id}\"]\n }\n}",
        expect![[r#"line 4: "claude.exat": no such key; did you mean "exact"?"#]],
    );
    check(
        "{\"claude\": {\"probe\": {\n\"arg\": []}}}",
        expect![[r#"line 2: "claude.probe.arg": no such key; did you mean "args"?"#]],
    );
    check(
        "{\"claude\": {\"zzzzzzzzzz\": 1}}",
        expect![[r#"line 1: "claude.zzzzzzzzzz": no such key"#]],
    );
}

#[test]
fn a_wrong_value_is_told() {
    check(
        "{\"claude\": {\n\n\"exact\": [\"--resume\"]}}",
        expect![[r#"line 3: "claude.exact": one of the words must hold {id}"#]],
    );
    check(
        "{\"claude\": {\"exact\": \"--resume {id}\"}}",
        expect![[
            r#"line 1: "claude.exact": this must be a list of texts, like ["--resume", "-r"]"#
        ]],
    );
    check(
        "{\"claude\": {\"latest\": [1]}}",
        expect![[
            r#"line 1: "claude.latest": this must be a list of texts, like ["--resume", "-r"]"#
        ]],
    );
    check(
        "{\"claude\": {\"latest_scope\": \"dir\"}}",
        expect![[
            r#"line 1: "claude.latest_scope": this must be "directory" or "unstated" or "anywhere""#
        ]],
    );
    check(
        "{\"claude\": {\"verified\": \"yes\"}}",
        expect![[r#"line 1: "claude.verified": this must be true or false"#]],
    );
    check(
        "{\"claude\": {\"id\": \"(a|b)\"}}",
        expect![[
            r#"line 1: "claude.id": this must be "uuid", "token" or a pattern like "ses_[0-9a-f]{12}""#
        ]],
    );
    check(
        "{\"claude\": {\"find\": [\"magic\"]}}",
        expect![[r#"line 1: "claude.find": this must be a { } object"#]],
    );
    check(
        "{\"claude\": {\"find\": [{\"way\": \"magic\"}]}}",
        expect![[
            r#"line 1: "claude.find": "magic" is none of "pid-file", "run-files", "mark", "terminal", "held", "transcripts", "folders", "codex-held", "codex-rollouts", "gemini-projects", "cursor-chats", "agy-last""#
        ]],
    );
    check(
        "{\"claude\": {\"find\": [{\"way\": \"mark\",\n\"att\": \"x\"}]}}",
        expect![[r#"line 2: "claude.find.att": no such key; did you mean "at"?"#]],
    );
    check(
        "{\"claude\": {\"find\": [{\"way\": \"mark\", \"at\": \"../{id}/{pid}\"}]}}",
        expect![[r#"line 1: "claude.find": a path must be relative and without "..""#]],
    );
    check(
        "{\"claude\": {\"find\": [{\"way\": \"transcripts\", \"at\": \"x/{id}\"}]}}",
        expect![[
            r#"line 1: "claude.find": "x/{id}" must hold one of {letters}, {dashed}, {bare}, {short}, {home}"#
        ]],
    );
    check(
        "{\"claude\": {\"find\": {}}}",
        expect![[r#"line 1: "claude.find": this must be a list of { } objects with a "way""#]],
    );
    check(
        "{\"claude\": 5}",
        expect![[r#"line 1: "claude": this must be a { } object"#]],
    );
    check(
        "{\"claude\": {\"flags\": []}}",
        expect![[r#"line 1: "claude.flags": this must be a { } object"#]],
    );
    check(
        "{\"claude\": {}}",
        expect![[r#"line 1: "claude": neither "exact" nor "latest" says how to resume"#]],
    );
}

#[test]
fn a_file_that_is_none_is_told() {
    check(
        "",
        expect!["line 1: this is not JSON: the text ends too early"],
    );
    check(
        "{\n\"claude\": {},\n}",
        expect!["line 3: this is not JSON: a name in quotes was expected here"],
    );
    check(
        "[]",
        expect!["line 1: the file must be one { } object with a key for each agent"],
    );
}

#[test]
fn one_wrong_entry_leaves_the_others() {
    let own = br#"{"claude": {"x": 1}, "codex": {"latest": ["-c"]}}"#;
    let (all, problems) = load(SHIPPED, Some(own));
    assert_eq!(problems.len(), 1);
    assert!(all.get("codex").expect("codex").own);
    assert!(!all.get("claude").expect("claude").own);
}

#[test]
fn the_form_follows_from_the_words() {
    let form = |text: &str| load("{}", Some(text.as_bytes())).0.get("a").map(|d| d.form);
    assert_eq!(
        form(r#"{"a": {"exact": ["resume", "{id}"]}}"#),
        Some(Form::Subcommand)
    );
    assert_eq!(
        form(r#"{"a": {"exact": ["-r", "{id}"]}}"#),
        Some(Form::Flags)
    );
    assert_eq!(
        form(r#"{"a": {"exact": ["x", "{id}"], "form": "flags"}}"#),
        Some(Form::Flags)
    );
}

/// However a file is spoiled, it is read to its end and never makes us fail.
#[test]
fn spoiled_files_do_no_harm() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut told = 0;
    for _ in 0..400 {
        let mut bytes = SHIPPED.as_bytes().to_vec();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(0..bytes.len());
            match rng.u8(0..3) {
                0 => bytes[at] = rng.u8(..),
                1 => drop(bytes.drain(at..(at + 9).min(bytes.len()))),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let (all, problems) = load(SHIPPED, Some(&bytes));
        assert!(all.get("claude").is_some() && all.get("codex").is_some());
        let lines = 1 + SHIPPED.lines().count();
        assert!(problems.iter().all(|p| p.line >= 1 && p.line <= lines));
        told += usize::from(!problems.is_empty());
    }
    assert!(told > 200);
}
