//! The house rules, held against the repository's own files: which floor imports which, how long a
//! file may be, words that must not be there, versions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Longer Rust files are split by purpose.
const MOST_LINES: usize = 450;

/// The floors of `src/`, and what each may import besides itself.
const FLOORS: [(&str, &[&str]); 6] = [
    ("sys", &[]),
    ("kitty", &["sys"]),
    ("agents", &["kitty", "sys"]),
    ("resume", &["agents", "kitty", "sys"]),
    ("keep", &["agents", "kitty", "sys"]),
    ("cmd", &["resume", "keep", "agents", "kitty", "sys"]),
];

/// What the decisions must not touch: the machine.
const IO: [&str; 5] = ["std::fs", "std::process", "std::net", "std::env", "rustix"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files of the repository that are text, by their path in it.
fn texts() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(&root(), &root(), &mut found);
    assert!(
        found.contains_key("Cargo.toml") && found.len() > 100,
        "only {} files were found",
        found.len()
    );
    found
}

fn collect(top: &Path, dir: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        let name = path.strip_prefix(top).expect("below").display().to_string();
        let kind = entry.file_type().expect("a type");
        if kind.is_dir() {
            if !matches!(name.as_str(), ".git" | "target") && !name.ends_with("__pycache__") {
                collect(top, &path, found);
            }
        } else if kind.is_file()
            && name != ".git"
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            found.insert(name, text);
        }
    }
}

/// Captures of a real kitty, byte for byte; not ours to word.
fn is_capture(name: &str) -> bool {
    name.contains("/data/")
}

fn rust(texts: &BTreeMap<String, String>) -> impl Iterator<Item = (&String, &String)> {
    texts.iter().filter(|(name, _)| name.ends_with(".rs"))
}

/// The code of a file: lines that are not only a comment.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(n, line)| (n + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn report(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

/// Where `word` stands in `line` as a whole: no letter, digit or `_` before and behind.
fn stands_alone(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(is_word)
            && !line[at + word.len()..].chars().next().is_some_and(is_word)
    })
}

/// Whether `path` begins an absolute path in `line`.
fn begins_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || "/.~_-}".contains(c))
    })
}

#[test]
fn no_file_names_a_machine_a_registry_or_work_that_is_left() {
    // In pieces, so that this file does not have them itself.
    let of_a_machine = [concat!("/ro", "ot/"), concat!("/Us", "ers/")];
    let registries = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("npm", "js.org"),
        concat!("npm", "js.com"),
        concat!("proxy.golang", ".org"),
        concat!("deb.debian", ".org"),
        concat!("ports.ubuntu", ".com"),
    ];
    let left = [
        concat!("to", "do!"),
        concat!("unimple", "mented!"),
        concat!("FIX", "ME"),
        concat!("TO", "DO"),
        concat!("X", "XX"),
        concat!("HA", "CK"),
    ];
    let design = concat!("DES", "IGN.md");
    let mut faults = Vec::new();
    for (name, text) in texts().iter().filter(|(name, _)| *name != "Cargo.lock") {
        for (n, line) in text.lines().enumerate() {
            let paths = of_a_machine.iter().filter(|p| begins_path(line, p));
            let hosts = registries.iter().filter(|h| line.contains(**h));
            let marks = left
                .iter()
                .filter(|w| !is_capture(name) && stands_alone(line, w));
            let plans = [&design].into_iter().filter(|d| line.contains(**d));
            for word in paths.chain(hosts).chain(marks).chain(plans) {
                faults.push(format!("{name}:{}: {word}", n + 1));
            }
        }
    }
    report("words that do not belong here", &faults);
}

#[test]
fn no_rust_file_is_too_long() {
    let texts = texts();
    let faults: Vec<String> = rust(&texts)
        .filter(|(_, text)| text.lines().count() > MOST_LINES)
        .map(|(name, text)| format!("{name}: {} lines", text.lines().count()))
        .collect();
    report(&format!("at most {MOST_LINES} lines"), &faults);
}

#[test]
fn data_runs_one_way_through_the_floors() {
    let texts = texts();
    let mut faults = Vec::new();
    let mut files = 0;
    for (name, text) in rust(&texts) {
        let Some(path) = name
            .strip_prefix("src/")
            .and_then(|p| p.strip_suffix(".rs"))
        else {
            continue;
        };
        let mut modules: Vec<&str> = path.split('/').collect();
        if modules.last() == Some(&"mod") {
            modules.pop();
        }
        let Some((floor, below)) = FLOORS.iter().find(|(floor, _)| *floor == modules[0]) else {
            assert!(
                matches!(name.as_str(), "src/main.rs" | "src/lib.rs"),
                "{name} is on no floor"
            );
            continue;
        };
        files += 1;
        let to_the_ground = "super::".repeat(modules.len());
        for (n, line) in code(text) {
            for (other, _) in FLOORS
                .iter()
                .filter(|(f, _)| f != floor && !below.contains(f))
            {
                let imports = [format!("crate::{other}"), format!("{to_the_ground}{other}")];
                if imports.iter().any(|i| stands_alone(line, i)) {
                    faults.push(format!("{name}:{n}: {}", line.trim()));
                }
            }
            // One line for each floor: a list in braces would not be seen here.
            if line.contains(concat!("crate", "::{")) {
                faults.push(format!("{name}:{n}: {}", line.trim()));
            }
        }
    }
    assert!(files > 40, "only {files} files were looked at");
    report("imports from a floor that is not below", &faults);
}

#[test]
fn decisions_do_no_input_and_output() {
    let texts = texts();
    let mut faults = Vec::new();
    for (name, text) in rust(&texts).filter(|(name, _)| name.starts_with("src/resume/")) {
        for (n, line) in code(text) {
            if let Some(found) = IO.iter().find(|i| stands_alone(line, i)) {
                faults.push(format!("{name}:{n}: {found}"));
            }
        }
    }
    report("src/resume decides over values", &faults);
    assert!(
        texts["src/lib.rs"].contains("#![warn(missing_docs)]"),
        "every public item has its documentation"
    );
}

#[test]
fn nothing_is_written_where_others_could_wait_for_it() {
    let texts = texts();
    let mut faults = Vec::new();
    // Setup writes into a person's own files; all else goes through the private ones.
    let ours = |name: &str| {
        name.starts_with("src/") && !name.ends_with("tests.rs") && !name.contains("/setup/")
    };
    for (name, text) in rust(&texts).filter(|(name, _)| ours(name)) {
        let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
        for (n, line) in code(&text[..tests]) {
            let words = ["fs::write(", "File::create(", "\"/tmp/"];
            let found = words.iter().find(|word| line.contains(**word));
            faults.extend(found.map(|word| format!("{name}:{n}: {word}")));
        }
    }
    report("src/ writes private files only", &faults);
}

#[test]
fn members_have_one_version_and_the_lock_file_has_it_too() {
    let texts = texts();
    let version = |name: &str| {
        let text = &texts[name];
        let lines: Vec<&str> = text
            .lines()
            .filter_map(|l| l.strip_prefix("version = \""))
            .collect();
        assert_eq!(lines.len(), 1, "{name}: one version");
        lines[0].trim_end_matches('"').to_owned()
    };
    let own = version("Cargo.toml");
    let lock = texts.get("Cargo.lock").expect("Cargo.lock is committed");
    for member in ["fake-kitty", "fake-agents"] {
        assert_eq!(version(&format!("{member}/Cargo.toml")), own, "{member}");
    }
    for package in ["kittymux", "fake-kitty", "fake-agents"] {
        let entry = format!("name = \"{package}\"\nversion = \"{own}\"\n");
        assert!(lock.contains(&entry), "{package} {own} in Cargo.lock");
    }
    let ignored = &texts[".gitignore"];
    assert!(!ignored.contains("Cargo.lock"), "{ignored}");
    assert!(
        texts["CHANGELOG.md"].contains(&format!("## {own}")),
        "the changes of {own} are told"
    );
}

#[test]
fn scripts_are_executable_and_say_what_they_are() {
    use std::os::unix::fs::PermissionsExt;
    let mut faults = Vec::new();
    for (name, text) in texts() {
        let is_script = name.ends_with(".sh") || name == ".ci/run";
        let mode = std::fs::metadata(root().join(&name))
            .expect("a file")
            .permissions()
            .mode();
        if is_script && (mode & 0o100 == 0 || !text.starts_with("#!/bin/sh\n# ")) {
            faults.push(name);
        }
    }
    report("executable, `#!/bin/sh` and one comment", &faults);
}
