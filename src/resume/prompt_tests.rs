//! What the prompt shows, as values.

use super::super::record::tests::sample;
use super::*;

fn shown(change: impl Fn(&mut Record), hindrance: &Hindrance, columns: usize) -> String {
    let mut record = sample();
    record.cwd = "/home/u/code/api".into();
    change(&mut record);
    let question = Question {
        record: &record,
        hindrance,
        age: Some(720),
        history: "",
        home: "/home/u",
        commands: false,
        again: None,
    };
    question.lines(columns, 24, false).join("\n")
}

fn elsewhere(place: &str, reachable: bool) -> Hindrance {
    Hindrance::OpenElsewhere {
        place: place.to_owned(),
        reachable,
    }
}

#[test]
fn what_it_asks() {
    let plain = |_: &mut Record| {};
    let mut said = vec![shown(plain, &Hindrance::None, 80)];
    said.push(shown(|r| r.mode = Mode::Latest, &Hindrance::None, 80));
    said.push(shown(|r| r.mode = Mode::New, &Hindrance::None, 80));
    said.push(shown(plain, &Hindrance::Gone, 80));
    said.push(shown(
        plain,
        &elsewhere("in window 7 of this kitty", true),
        80,
    ));
    said.push(shown(
        plain,
        &elsewhere("outside kitty's windows (pid 42)", false),
        80,
    ));
    said.push(shown(
        plain,
        &Hindrance::NoDirectory("its directory is not there any more".into()),
        80,
    ));
    said.push(shown(
        |r| r.lost = vec!["--api-key".into()],
        &Hindrance::None,
        80,
    ));
    said.push(shown(plain, &Hindrance::None, 50));
    said.push(shown(plain, &Hindrance::None, 12));
    said.push(shown(plain, &Hindrance::None, 4));
    expect_test::expect![[r#"
        claude was running here — resume session 0a1b2c3d?
          ~/code/api
          saved 12m ago · tab “api work”
          Enter resume   n new conversation   s shell   a resume all   i commands

        claude was running here — resume its latest conversation?
          ~/code/api
          saved 12m ago · tab “api work”
          Enter resume   n new conversation   s shell   a resume all   i commands

        claude was running here — start a new conversation?
          ~/code/api
          saved 12m ago · tab “api work”
          Enter start it   s shell   i commands

        claude was running here — session 0a1b2c3d has no transcript any more
          ~/code/api
          saved 12m ago · tab “api work”
          n new conversation   s shell   i commands

        claude was running here — session 0a1b2c3d is open elsewhere
          ~/code/api
          in window 7 of this kitty
          saved 12m ago · tab “api work”
          Enter go to it   n new conversation   s shell   i commands

        claude was running here — session 0a1b2c3d is open elsewhere
          ~/code/api
          outside kitty's windows (pid 42)
          saved 12m ago · tab “api work”
          n new conversation   s shell   i commands

        claude was running here — its conversation cannot be resumed
          ~/code/api
          its directory is not there any more
          saved 12m ago · tab “api work”
          s shell   i commands

        claude was running here — resume session 0a1b2c3d?
          ~/code/api
          saved 12m ago · tab “api work”
          left out for secrecy: --api-key
          Enter resume   n new conversation   s shell   a resume all   i commands

        claude was running here — resume session 0a1b2c3d?
          ~/code/api
          saved 12m ago · tab “api work”
          Enter resume  n new  s shell  a all  i info

        claude 0a1b…
          ~/code/api
          saved 12m…
        Enter n s a…

        cla…
          ~…
          s…
        Ent…"#]]
    .assert_eq(&said.join("\n\n"));
}

#[test]
fn hostile_text_is_shown_escaped() {
    let text = shown(
        |r| {
            r.agent = "cl\x1b]0;x\x07aude".into();
            r.tab = "a\nb\u{202e}c".into();
            r.cwd = "/tmp/\x1b[2J".into();
        },
        &elsewhere("\x1b[31m", true),
        200,
    );
    assert!(
        !text.contains('\x1b') && !text.contains('\u{202e}'),
        "{text}"
    );
}

#[test]
fn no_line_is_wider_than_the_window() {
    for columns in 0..120 {
        for hindrance in [
            Hindrance::None,
            Hindrance::Gone,
            elsewhere(&"日本語".repeat(9), true),
        ] {
            for line in shown(|r| r.tab = "日本語".repeat(30), &hindrance, columns).lines() {
                assert!(crate::sys::out::width(line) <= columns, "{columns}: {line}");
            }
        }
    }
}

#[test]
fn a_low_window_keeps_the_question_and_the_keys() {
    let mut record = sample();
    record.lost = vec!["--api-key".into()];
    let question = Question {
        record: &record,
        hindrance: &Hindrance::None,
        age: Some(720),
        history: "",
        home: "/home/u",
        commands: true,
        again: Some("claude ended with status 1 after 0.1 s"),
    };
    for rows in 0..12 {
        let lines = question.lines(80, rows, false);
        assert!(lines.len() <= rows.max(1), "{rows}: {lines:?}");
        assert!(lines.iter().any(|l| l.contains("was running here")));
        assert_eq!(
            lines.iter().any(|l| l.contains("Enter try again")),
            rows > 1
        );
    }
    assert_eq!(question.lines(80, 24, false).len(), 8);
}

#[test]
fn what_the_journal_knows_stands_in_place_of_the_saves_age() {
    let past = |age, runs, work, tab| Past {
        age,
        runs,
        work,
        tab,
    };
    let shown = [
        past(720, 7, 4800, ""),
        past(5, 1, 59, ""),
        past(200_000, 0, 0, "api\u{1b} work"),
    ]
    .map(|p| p.text())
    .join("\n");
    expect_test::expect![[r#"
        last active 12m ago · 7 runs finished · 1h20m of work
        last active 5s ago · 1 run finished · 59s of work
        last active 2d ago · tab “api\u{1b} work”"#]]
    .assert_eq(&shown);
    let record = sample();
    let history = past(720, 7, 4800, "").text();
    let question = Question {
        record: &record,
        hindrance: &Hindrance::None,
        age: Some(720),
        history: &history,
        home: "/home/u",
        commands: false,
        again: None,
    };
    assert_eq!(
        question.lines(80, 24, false)[2],
        "  last active 12m ago · 7 runs finished · 1h20m of work · tab “api work”"
    );
}
