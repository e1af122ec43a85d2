use super::*;
use crate::agents::argv::{Selector, fresh, resume};
use crate::agents::definitions::{Definitions, SHIPPED, load};
use crate::agents::grammar::Takes;

fn file(path: &str, mtime_ns: u64) -> FileId {
    FileId {
        path: path.to_owned(),
        size: 10,
        mtime_ns,
    }
}

fn check(def: &Definition, file: &FileId, at_ns: u64, verdict: Verdict) -> Check {
    Check {
        agent: def.name.clone(),
        file: file.clone(),
        fingerprint: def.fingerprint,
        at_ns,
        verdict,
        news: Vec::new(),
    }
}

fn own(text: &str) -> Definitions {
    let (defs, problems) = load(SHIPPED, Some(text.as_bytes()));
    assert!(problems.is_empty(), "{problems:?}");
    defs
}

fn known(names: &[&str], takes: Takes) -> Known {
    Known {
        names: names.iter().map(|n| (*n).to_owned()).collect(),
        takes,
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn one_missing_text_is_named() {
    let defs = Definitions::shipped();
    let claude = defs.get("claude").expect("claude");
    let whole = b"-r, --resume [value]  x\n-c, --continue  newest of the current\n      directory";
    assert_eq!(judge(claude, whole), Verdict::Fits);
    let less = b"--resume-at x\n--continue in the current directory";
    assert_eq!(judge(claude, less), Verdict::Lacks(vec!["--resume".into()]));
    assert_eq!(
        judge(claude, b""),
        Verdict::Lacks(
            words("--resume --continue")
                .into_iter()
                .chain(["current directory".into()])
                .collect()
        )
    );
}

#[test]
fn a_program_is_never_asked_without_an_argument() {
    let defs = own(
        r#"{"a": {"exact": ["--resume={id}", "--x"], "latest": ["-c"]},
            "b": {"exact": ["threads", "continue", "{id}"], "probe": {"expect": ["continue"]}},
            "c": {"latest": ["resume", "--last"], "probe": {"args": ["help"]}},
            "d": {"exact": ["go", "{id}"]}}"#,
    );
    let probe = |name: &str| probe_of(defs.get(name).expect(name));
    let of = |args: &str, expect: &str| Probe {
        args: words(args),
        expect: words(expect),
    };
    assert_eq!(probe("a"), of("--help", "--resume --x -c"));
    assert_eq!(probe("b"), of("threads --help", "continue"));
    assert_eq!(probe("c"), of("help", "--last"));
    assert_eq!(probe("d"), of("go --help", "go"));
}

#[test]
fn a_shipped_definition_applies_until_this_program_lacks_something() {
    let defs = Definitions::shipped();
    let claude = defs.get("claude").expect("claude");
    let (here, other) = (file("/a", 1), file("/a", 2));
    assert_eq!(may_use(&[], claude, std::slice::from_ref(&here)), Ok(()));
    let lacks = Verdict::Lacks(vec!["--resume".into()]);
    let checks = [check(claude, &here, 1, lacks)];
    assert_eq!(
        may_use(&checks, claude, std::slice::from_ref(&here)),
        Err("its help does not name \"--resume\": run kittymux sessions check claude".into())
    );
    assert_eq!(may_use(&checks, claude, &[other]), Ok(()), "replaced since");
    assert_eq!(
        may_use(&checks, claude, &[]),
        Ok(()),
        "not known where it is"
    );
    let failed = [check(claude, &here, 1, Verdict::Failed("x".into()))];
    assert_eq!(may_use(&failed, claude, &[here]), Ok(()));
}

#[test]
fn the_persons_own_definition_needs_one_check_that_went_well() {
    let text = r#"{"mine": {"latest": ["-c"], "verified": true}}"#;
    let defs = own(text);
    let mine = defs.get("mine").expect("mine");
    let (old, new) = (file("/m", 1), file("/m", 2));
    let why =
        |checks: &[Check]| may_use(checks, mine, &[new.clone(), old.clone()]).expect_err("not");
    expect_test::expect![[
        r#"its definition was not checked yet: run kittymux sessions check mine"#
    ]]
    .assert_eq(&why(&[]));
    let failed = check(mine, &new, 5, Verdict::Failed("not in 8 s".into()));
    expect_test::expect![[
        r#"its help could not be read (not in 8 s): run kittymux sessions check mine"#
    ]]
    .assert_eq(&why(&[failed]));
    let good = check(mine, &old, 5, Verdict::Fits);
    assert_eq!(
        may_use(
            std::slice::from_ref(&good),
            mine,
            std::slice::from_ref(&new)
        ),
        Ok(()),
        "updated since"
    );
    let lacks = check(mine, &new, 6, Verdict::Lacks(vec!["-c".into()]));
    assert!(may_use(&[good.clone(), lacks], mine, std::slice::from_ref(&new)).is_err());
    let edited = own(&text.replace("-c", "-C"));
    let mine = edited.get("mine").expect("mine");
    assert!(
        may_use(&[good], mine, &[new]).is_err(),
        "another definition"
    );
}

#[test]
fn an_answer_is_fresh_for_twelve_hours() {
    let defs = Definitions::shipped();
    let claude = defs.get("claude").expect("claude");
    let at = 1_000_000_000_000_000;
    let check = check(claude, &file("/a", 1), at, Verdict::Fits);
    assert!(check.is_fresh(at) && check.is_fresh(at + FRESH_NS));
    assert!(!check.is_fresh(at + FRESH_NS + 1_000_000_000));
    assert!(!check.is_fresh(at - 1), "of a clock that was wrong");
}

/// The shipped definitions after a check of claude that found `options`.
fn checked(options: Vec<Known>) -> Definitions {
    let defs = Definitions::shipped();
    let claude = defs.get("claude").expect("claude");
    let mut done = check(claude, &file("/a", 1), 7, Verdict::Fits);
    done.news = merge::news(claude, options);
    defs.with_checks(vec![done])
}

#[test]
fn options_newer_than_the_definition_keep_their_values_and_no_prompt() {
    let line = words("claude --colour red --quick tidy --tags a b --level");
    let plain = Definitions::shipped();
    let before = fresh(plain.get("claude").expect("claude"), &line).expect("fresh");
    assert_eq!(
        before.words,
        words("claude --colour red --quick tidy --tags a --level")
    );
    let defs = checked(vec![
        known(&["--colour"], Takes::One),
        known(&["--quick", "-q"], Takes::Nothing),
        known(&["--tags"], Takes::Several),
        known(&["--level", "-l"], Takes::Maybe),
    ]);
    let claude = defs.get("claude").expect("claude");
    let after = fresh(claude, &line).expect("fresh");
    assert_eq!(
        after.words,
        words("claude --colour red --quick --tags a b --level")
    );
    assert!(after.had_prompt);
}

#[test]
fn another_spelling_of_a_known_option_is_what_that_one_is() {
    let defs = checked(vec![
        known(&["-R", "--resume", "--reopen"], Takes::One),
        known(&["--api-key", "--cloud-key"], Takes::One),
        known(&["-M", "--model"], Takes::Nothing),
    ]);
    let claude = defs.get("claude").expect("claude");
    let sid = "0a1b2c3d-0000-4000-8000-000000000001";
    let line = words("claude --reopen old --cloud-key v -M opus tidy");
    let made = resume(claude, &line, Selector::Exact(sid)).expect("resume");
    assert_eq!(made.words, words(&format!("claude -M opus --resume {sid}")));
    assert_eq!(made.dropped_secrets, ["--cloud-key"]);
}

#[test]
fn the_definition_wins_but_where_the_help_shows_a_value_it_does_not_know_of() {
    let defs = Definitions::shipped();
    let claude = defs.get("claude").expect("claude");
    let said = vec![
        known(&["--model"], Takes::Nothing),
        known(&["-r", "--resume"], Takes::One),
        known(&["--continue"], Takes::One),
        known(&["--verbose"], Takes::One),
        known(&["--chrome"], Takes::Maybe),
    ];
    let news = merge::news(claude, said);
    assert_eq!(news, [known(&["--verbose"], Takes::One)]);
    let defs = checked(news);
    let claude = defs.get("claude").expect("claude");
    let made = fresh(claude, &words("claude --verbose high --model opus")).expect("fresh");
    assert_eq!(made.words, words("claude --verbose high --model opus"));
    let own = own(r#"{"mine": {"latest": ["-l"], "flags": {"none": ["-v"]}}}"#);
    let mine = own.get("mine").expect("mine");
    assert!(merge::news(mine, vec![known(&["-v"], Takes::One)]).is_empty());
}
