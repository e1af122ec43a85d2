//! Command lines and what becomes of them: `given => resumed`, one case a line.
//!
//! `ID` and `OLD` stand for session ids of the agent. After ` | `: `prompt` when one was left out,
//! `secret NAME` for each option left out. `!` is a refusal.

mod ids;
mod kept;
mod matrix;
mod others;
mod selectors;

use super::argv::{Selector, argv_id, fresh, resume};
use super::definitions::{Definition, Definitions, load};

const UUIDS: [&str; 2] = [
    "0b6f2f4e-1c2d-4e5f-8a9b-0123456789ab",
    "11111111-2222-4333-8444-555555555555",
];
const SES: [&str; 2] = [
    "ses_0123456789abABCDEFGHIJKLMN",
    "ses_bbbbbbbbbbbbZZZZZZZZZZZZZZ",
];

/// Splits at blanks; `'…'` holds blanks, `''` is an empty word.
pub fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.trim().chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => found.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    found.extend(word);
    found
}

/// The way back.
pub fn line(words: &[String]) -> String {
    let shown: Vec<String> = words
        .iter()
        .map(|w| {
            if w.is_empty() || w.contains(' ') {
                format!("'{w}'")
            } else {
                w.clone()
            }
        })
        .collect();
    shown.join(" ")
}

const OTHERS: [[&str; 2]; 3] = [
    [
        "T-0b6f2f4e-1c2d-4e5f-8a9b-0123456789ab",
        "T-11111111-2222-4333-8444-555555555555",
    ],
    ["20261130_101112_0a1b2c", "20251231_235959_ffffff"],
    ["agent-0b6f2f4e", "agent-1"],
];

/// A pair of ids of the agent's form.
fn ids(def: &Definition) -> [&'static str; 2] {
    let fits = |pair: &[&str; 2]| pair.iter().all(|id| def.id.accept(id).is_some());
    let all = [UUIDS, SES].into_iter().chain(OTHERS);
    all.into_iter().find(fits).expect("ids of every form")
}

fn with_ids(def: &Definition, text: &str) -> String {
    let [id, old] = ids(def);
    text.replace("OLD", old).replace("ID", id)
}

fn without_ids(def: &Definition, text: &str) -> String {
    let [id, old] = ids(def);
    text.replace(id, "ID").replace(old, "OLD")
}

#[derive(Clone, Copy)]
enum Way {
    Exact,
    Latest,
    Fresh,
}

/// Checks every line of `table`; one that differs is shown beside what came of it.
fn check(def: &Definition, way: Way, table: &str) {
    let wrong = differences(def, way, table);
    assert!(table.contains("=>") && wrong.is_empty(), "\n{wrong}");
}

fn differences(def: &Definition, way: Way, table: &str) -> String {
    let mut wrong = String::new();
    for case in table.lines().filter(|l| !l.trim().is_empty()) {
        let (given, expected) = case.split_once("=>").expect("given => expected");
        let given = words(&with_ids(def, given));
        let id = ids(def)[0];
        let made = match way {
            Way::Exact => resume(def, &given, Selector::Exact(id)),
            Way::Latest => resume(def, &given, Selector::Latest),
            Way::Fresh => fresh(def, &given),
        };
        let shown = match made {
            Ok(made) => {
                let mut text = without_ids(def, &line(&made.words));
                if made.had_prompt {
                    text.push_str(" | prompt");
                }
                for name in made.dropped_secrets {
                    text.push_str(&format!(" | secret {name}"));
                }
                text
            }
            Err(_) => "!".to_owned(),
        };
        if shown != expected.trim() {
            wrong.push_str(&format!("{}\n    gave {shown}\n", case.trim()));
        }
    }
    wrong
}

/// Checks the id that every line was started with; `-` is none.
fn check_id(def: &Definition, table: &str) {
    let wrong = id_differences(def, table);
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn id_differences(def: &Definition, table: &str) -> String {
    let mut wrong = String::new();
    for case in table.lines().filter(|l| !l.trim().is_empty()) {
        let (given, expected) = case.split_once("=>").expect("given => expected");
        let given = words(&with_ids(def, given));
        let id = argv_id(def, &given).map_or("-".to_owned(), |id| without_ids(def, &id));
        if id != expected.trim() {
            wrong.push_str(&format!("{}\n    gave {id}\n", case.trim()));
        }
    }
    wrong
}

fn shipped(name: &str) -> Definition {
    Definitions::shipped().get(name).expect("shipped").clone()
}
