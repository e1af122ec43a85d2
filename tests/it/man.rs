//! The manual page: its formatter finds no fault, and it holds all there is.

use std::process::Command;

use kittymux::cmd::exit::Exit;
use kittymux::cmd::man::page;
use kittymux::cmd::table::VERBS;

fn file(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The page as a reader sees it, in one line; the source without its requests where `man`'s
/// formatters are not installed.
fn text() -> String {
    let plain = page()
        .replace("\\-", "-")
        .replace("\\&", "")
        .replace("\\(aq", "'")
        .replace("\\(ga", "`")
        .replace("\\(ti", "~")
        .replace("\\(dq", "\"")
        .replace("\\e", "\\");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All Rust files of `src/` but tests, by name.
fn sources() -> Vec<(String, String)> {
    fn collect(dir: &std::path::Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
            let path = entry.path();
            let name = path.display().to_string();
            if path.is_dir() {
                collect(&path, found);
            } else if name.ends_with(".rs") && !name.contains("tests") && !name.contains("_cases") {
                let text = std::fs::read_to_string(path).expect("a text");
                let code = text
                    .split("#[cfg(test)]\nmod tests")
                    .next()
                    .unwrap_or_default();
                found.push((name, code.to_owned()));
            }
        }
    }
    let mut found = Vec::new();
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    collect(&src, &mut found);
    assert!(found.len() > 60);
    found
}

#[test]
fn its_formatter_finds_no_fault() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("kittymux.1");
    std::fs::write(&path, page()).expect("written");
    let Ok(output) = Command::new("mandoc").arg("-Tlint").arg(&path).output() else {
        println!("left out: mandoc is not installed here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let shown = Command::new("mandoc")
        .args(["-Tascii", "-Owidth=80"])
        .arg(&path)
        .output()
        .expect("mandoc runs");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    // Bold is a letter typed twice.
    let mut plain = String::new();
    for c in shown.chars() {
        if c == '\u{8}' {
            plain.pop();
        } else {
            plain.push(c);
        }
    }
    assert!(plain.contains("unix:/path"), "{plain}");
    for (example, _) in VERBS.iter().flat_map(|v| v.examples) {
        assert!(plain.contains(example), "{example}: {plain}");
    }
}

#[test]
fn it_holds_every_verb_option_and_example() {
    let text = text();
    for verb in VERBS {
        assert!(text.contains(&format!("kittymux {}", verb.words.join(" "))));
        let squeezed = |t: &str| t.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&squeezed(verb.more)), "{}", verb.more);
        for option in verb.options {
            let name = format!("--{} {}", option.name, option.value);
            assert!(text.contains(&format!(".B \"{}\"", name.trim_end())));
            assert!(text.contains(&option.about[1..]), "{}", option.about);
        }
        for (example, what) in verb.examples {
            assert!(
                text.contains(example) && text.contains(&what[1..]),
                "{example}"
            );
        }
    }
    for word in ["kittymux resume-prompt", "kittymux --tick", "--version"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn it_holds_every_exit_code() {
    let text = text();
    let codes = text.split(".SH EXIT STATUS").nth(1).expect("a section");
    let codes = codes.split(".SH").next().expect("its end");
    for exit in [Exit::Done, Exit::CouldNot, Exit::UsedWrongly] {
        assert!(
            codes.contains(&format!(".TP .B \"{}\"", exit.code())),
            "{codes}"
        );
    }
    assert_eq!(codes.matches(".TP").count(), 3, "{codes}");
}

#[test]
fn it_holds_every_variable_of_the_source_and_of_the_settings() {
    let text = text();
    // For the tests alone: they move the clocks and make the disk fail.
    let of_tests = [
        "KITTYMUX_FAULT_AT",
        "KITTYMUX_BOOT_SHIFT",
        "KITTYMUX_WALL_SHIFT",
    ];
    let mut seen = 0;
    let sources = sources();
    let strings = sources.iter().flat_map(|(_, t)| t.split('"'));
    let settings = file("docs/settings.md");
    let settings = settings.split(['`', '=', '/', '$']);
    let reads = sources.iter().flat_map(|(_, t)| {
        ["var(\"", "var_os(\"", "base(\""]
            .into_iter()
            .flat_map(|call| t.split(call).skip(1))
            .filter_map(|t| t.split('"').next())
    });
    let ours = strings
        .chain(settings)
        .filter(|w| w.starts_with("KITTYMUX_"));
    let names = ours.chain(reads).filter(|w| {
        w.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') && !of_tests.contains(w)
    });
    for name in names {
        seen += 1;
        assert!(
            text.contains(&format!(".B \"{name}\"")),
            "{name} is missing"
        );
    }
    assert!(seen > 20, "{seen}");
}

/// The names of files of ours in a text in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn it_holds_every_file_of_the_source_and_of_the_documents() {
    let text = text();
    let files = text.split(".SH FILES").nth(1).expect("a section");
    let files = files.split(".SH").next().expect("its end");
    let mut seen = 0;
    for (name, code) in sources() {
        // Directories and files of the state directory, by the calls that open them.
        for call in [
            ".sub(\"",
            "state.has(\"",
            "|s| s.has(\"",
            " has(\"",
            "state.dir.read(\"",
            "state.dir.write(\"",
            "log_dir.join(\"",
        ] {
            for word in code.split(call).skip(1).filter_map(|t| t.split('"').next()) {
                seen += 1;
                assert!(files.contains(word), "{name}: {word} is missing");
            }
        }
        for line in code.lines().filter(|l| l.contains("const FILE: &str")) {
            let word = line.split('"').nth(1).expect("a name");
            seen += 1;
            assert!(files.contains(word), "{name}: {word} is missing");
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn files_of_the_privacy_page_are_in_the_source_and_in_the_manual_page() {
    let text = text();
    let files = text.split(".SH FILES").nth(1).expect("a section");
    let privacy = file("docs/privacy.md");
    let sources = sources();
    let mut seen = 0;
    let is_file = |w: &&str| !w.contains([' ', '=', '~']) && w.contains(['/', '.', '-']);
    for word in quoted(&privacy).filter(is_file) {
        if word.starts_with("docs/") || word.starts_with("assets/") {
            assert!(
                std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join(word)
                    .exists()
            );
            continue;
        }
        seen += 1;
        assert!(files.contains(word), "{word} is missing in the manual page");
        // What of its name is fixed stands as a constant where the file is made.
        let name = word
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .expect("a name");
        let fixed = name
            .split(|c: char| c.is_ascii_uppercase())
            .max_by_key(|p| p.len())
            .expect("a part");
        let named = |(path, code): &(String, String)| {
            !path.contains("/cmd/man/")
                && (code.contains(&format!("\"{fixed}")) || code.contains(&format!("{fixed}\"")))
        };
        assert!(
            sources.iter().any(named),
            "{word}: nothing is called {fixed}"
        );
    }
    assert!(seen > 20, "{seen}");
}
