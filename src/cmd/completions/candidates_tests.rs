use super::*;
use crate::cmd::table::VERBS;
use expect_test::{Expect, expect};

fn live(what: Live) -> Vec<Candidate> {
    let names: &[&str] = match what {
        Live::Saves => &[
            "work",
            "it's \"odd\" $x",
            "-dash",
            "a\nb",
            "bad\u{f780}\u{202e}",
        ],
        Live::Desks => &["autosave-1"],
        Live::Agents => &["claude", "codex"],
        Live::Conversations => &["0a1b2c3d"],
    };
    let about = format!("{what:?}\x1b");
    names.iter().map(|n| Candidate::new(*n, &about)).collect()
}

fn check(line: &str, expected: Expect) {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    expected.assert_eq(&candidates(VERBS, &words, &live).lines());
}

fn values(line: &str) -> Vec<String> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let found = candidates(VERBS, &words, &live);
    found.words.into_iter().map(|c| c.value).collect()
}

#[test]
fn verbs_are_offered_word_by_word_and_hidden_ones_are_not() {
    let listed = |n: usize| {
        let mut words: Vec<String> = Vec::new();
        for verb in VERBS.iter().filter(|v| v.listed && v.words.len() > n) {
            if (n == 0 || verb.words[0] == "sessions") && !words.contains(&verb.words[n].to_owned())
            {
                words.push(verb.words[n].to_owned());
            }
        }
        words
    };
    assert_eq!(values(""), listed(0));
    assert_eq!(values("sess"), listed(0), "the shell picks, not we");
    assert_eq!(values("sessions "), listed(1));
    assert_eq!(values("nonsense "), [""; 0]);
    let mut with_options = listed(0);
    with_options.extend(["--help", "--version"].map(str::to_owned));
    assert_eq!(values("-"), with_options);
}

#[test]
fn names_are_looked_up_and_files_asked_for_where_the_table_says_so() {
    check(
        "sessions restore ",
        expect![[r#"
            work	Saves\u{1b}
            it's "odd" $x	Saves\u{1b}
            last	the newest desk of a kitty that is gone
            autosave-1	Desks\u{1b}
            previous	the one before
            	files
        "#]],
    );
    check(
        "sessions rewrite work ",
        expect![[r#"
            work	Saves\u{1b}
            it's "odd" $x	Saves\u{1b}
            	files
        "#]],
    );
    check(
        "sessions check ",
        expect![[r"
            claude	Agents\u{1b}
            codex	Agents\u{1b}
        "]],
    );
    check(
        "hook ",
        expect![[r"
            claude	Agents\u{1b}
            codex	Agents\u{1b}
        "]],
    );
    check(
        "sessions reopen ",
        expect![[r"
            0a1b2c3d	Conversations\u{1b}
        "]],
    );
    assert_eq!(values("completions "), ["bash", "zsh", "fish"]);
}

#[test]
fn options_are_offered_once_and_take_their_values() {
    check(
        "sessions save --all --",
        expect![[r"
            --direct	resume without asking when it is restored
            --help	show how it is used
        "]],
    );
    // What is typed is the value of an option, or one word too many.
    for line in [
        "sessions history --since ",
        "sessions list ",
        "sessions save work ",
    ] {
        check(line, expect![[""]]);
    }
    assert!(values("sessions recover --since 6h ").contains(&"work".to_owned()));
    assert!(values("sessions recover --since=6h ").contains(&"work".to_owned()));
    // Behind `--` nothing is an option.
    assert!(values("sessions restore -- -").contains(&"-dash".to_owned()));
    assert!(!values("sessions restore ").contains(&"-dash".to_owned()));
}
