//! Every shipped definition against its table in `tests/data/agents`: names, what latest means, the
//! options by the values they take, and what becomes of command lines.

use super::*;
use crate::agents::grammar::{Takes, takes};

/// The least number of command lines of one agent.
const LEAST: usize = 12;

fn table(name: &str) -> String {
    let path = format!(
        "{}/tests/data/agents/{name}.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn is_fact(def: &Definition, key: &str, words: &[&str]) -> Result<(), String> {
    let scope = format!("{:?}", def.latest_scope).to_lowercase();
    let fits = |wanted: Takes| {
        let wrong = |n: &&&str| takes(def, n) != Some(wanted);
        let wrong: Vec<&&str> = words.iter().filter(wrong).collect();
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(format!("{key}: {wrong:?}"))
        }
    };
    match key {
        "names" if def.names == words => Ok(()),
        "latest" if words == [scope.as_str()] && !def.latest.is_empty() => Ok(()),
        "latest" if words == ["-"] && def.latest.is_empty() => Ok(()),
        "none" => fits(Takes::Nothing),
        "one" => fits(Takes::One),
        "optional" => fits(Takes::Maybe),
        "several" => fits(Takes::Several),
        _ => Err(format!("{key} {words:?}")),
    }
}

#[test]
fn every_definition_does_what_its_table_says() {
    let shipped = Definitions::shipped();
    let mut wrong = Vec::new();
    for def in shipped.iter() {
        let text = table(&def.name);
        let mut parts = text.split("\n[");
        let facts = parts.next().unwrap_or_default();
        for fact in facts
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            let words: Vec<&str> = fact.split(' ').collect();
            if let Err(what) = is_fact(def, words[0], &words[1..]) {
                wrong.push(format!("{}: {what}", def.name));
            }
        }
        let mut count = 0;
        for part in parts {
            let (kind, lines) = part.split_once("]\n").expect("[kind]");
            count += lines.lines().filter(|l| !l.is_empty()).count();
            let found = match kind {
                "exact" => differences(def, Way::Exact, lines),
                "latest" => differences(def, Way::Latest, lines),
                "new" => differences(def, Way::Fresh, lines),
                "id" => id_differences(def, lines),
                other => panic!("{other} is no kind of table"),
            };
            wrong.extend(found.lines().map(|l| format!("{}: {l}", def.name)));
        }
        assert!(count >= LEAST, "{}: {count} lines", def.name);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_table_is_left_over() {
    let dir = format!("{}/tests/data/agents", env!("CARGO_MANIFEST_DIR"));
    let shipped = Definitions::shipped();
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let agent = name.strip_suffix(".txt").expect("a table");
        assert!(shipped.get(agent).is_some(), "{agent}");
    }
}

/// Nothing of a command that was resumed once changes when it is resumed again.
#[test]
fn every_result_is_its_own_fixed_point() {
    let shipped = Definitions::shipped();
    for def in shipped.iter().filter(|d| !d.exact.is_empty()) {
        let text = with_ids(def, &table(&def.name));
        let id = ids(def)[0];
        for line_ in text.lines() {
            let Some((given, _)) = line_.split_once(" => ") else {
                continue;
            };
            let Ok(once) = resume(def, &words(given), Selector::Exact(id)) else {
                continue;
            };
            let again = resume(def, &once.words, Selector::Exact(id)).map(|r| r.words);
            assert_eq!(again.as_ref(), Ok(&once.words), "{given}");
            let named = argv_id(def, &once.words);
            assert_eq!(named.as_deref(), Some(id), "{given}");
        }
    }
}
