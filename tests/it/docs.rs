//! What README and the help say is true: their examples run, their files exist.

use kittymux::cmd::table::VERBS;

use crate::rig::{Kitty, Rig, until};

fn file(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A desk with an agent in it, as every example expects one.
fn desk(rig: &Rig) -> Kitty {
    let kitty = rig.start_kitty(&[]);
    let dir = rig.dir("code/api");
    let claude = rig.home().join("bin/claude").display().to_string();
    let id = kitty.launch(&dir, &[&claude]);
    kitty.shows(id, "(new)");
    kitty.send(id, "hello\r");
    kitty.shows(id, "heard hello");
    kitty
}

/// The words of an example, without its comment; it has no quotes to think of.
fn words(example: &str) -> Vec<&str> {
    let command = example.split(" # ").next().unwrap_or("").trim();
    assert!(!command.contains(['\'', '"', '$']), "{example}");
    command.split_whitespace().skip(1).collect()
}

/// Runs examples one after the other in one desk; each must do what it says, without a complaint.
fn run_all(rig: &Rig, kitty: &Kitty, examples: &[&str]) {
    for example in examples {
        // A person's PATH leads to their agents.
        let path = format!(
            "{}:{}:/usr/bin:/bin",
            rig.home().join("bin").display(),
            rig.dir("tools").display()
        );
        let done = rig.kittymux_with(Some(kitty), &words(example), &[("PATH", &path)]);
        assert!(
            done.status.success() && done.stderr.is_empty(),
            "{example}: {done:?}"
        );
        assert!(!done.stdout.is_empty(), "{example} says what it did");
    }
}

/// Lines of README that are commands: indented, and beginning with `program`.
fn commands<'a>(readme: &'a str, program: &str) -> Vec<&'a str> {
    let start = format!("    {program} ");
    readme
        .lines()
        .filter(|l| l.starts_with(&start))
        .map(str::trim)
        .collect()
}

#[test]
fn examples_of_the_help_run() {
    let rig = Rig::new("/bin/bash", true);
    // A desk that a kitty left which is gone.
    let left = desk(&rig);
    rig.tick(0);
    rig.tick(21);
    left.crash();
    let kitty = desk(&rig);
    let examples: Vec<&str> = VERBS
        .iter()
        .flat_map(|v| v.examples)
        .map(|(command, _)| *command)
        .collect();
    assert!(examples.len() >= 5, "{examples:?}");
    run_all(&rig, &kitty, &examples);
}

#[test]
fn help_of_a_verb_shows_its_usage_and_its_examples() {
    let rig = Rig::new("/bin/bash", true);
    for verb in VERBS {
        let mut words = verb.words.to_vec();
        words.push("--help");
        let help = rig.kittymux_ok(None, &words);
        assert!(
            help.starts_with(&format!("kittymux {}", verb.words.join(" "))),
            "{help}"
        );
        for (command, what) in verb.examples {
            assert!(
                command.starts_with(&format!("kittymux {}", verb.words.join(" "))),
                "{command} is an example of its verb"
            );
            let shown = |(at, _): (usize, &str)| {
                let behind = &help[at + command.len()..];
                behind.trim_start().starts_with(what)
            };
            assert!(help.match_indices(command).any(shown), "{command}: {help}");
        }
        for option in verb.options {
            let line = format!("--{}", option.name);
            assert!(
                help.contains(&line) && help.contains(option.about),
                "{help}"
            );
        }
        let usage = format!("kittymux {}", verb.words.join(" "));
        let help = rig.kittymux_ok(None, &["--help"]);
        // "hook" is not "hooks".
        let listed = help.match_indices(&usage).any(|(at, _)| {
            let behind = &help[at + usage.len()..];
            !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-')
        });
        assert_eq!(listed, verb.listed, "{usage}: {help}");
    }
}

#[test]
fn commands_of_the_readme_run() {
    let rig = Rig::new("/bin/bash", true);
    let first = desk(&rig);
    let readme = file("README.md");
    let (restores, others): (Vec<&str>, Vec<&str>) = commands(&readme, "kittymux")
        .into_iter()
        .partition(|c| c.starts_with("kittymux sessions restore"));
    assert!(!others.is_empty() && restores.len() == 2, "{readme}");
    run_all(&rig, &first, &others);
    rig.tick(0);
    rig.tick(21);
    let old = first.pid;
    first.crash();
    rig.kittymux_ok(None, &words(restores[0]));
    // What README shows of the prompt is what a restored window shows.
    let second = rig.new_kitty(old);
    let asks = until("a window that asks", || {
        let mut windows = second.windows().into_iter();
        windows.find(|w| w.var("kittymux_sid").is_some())
    });
    let screen = second.shows(asks.id, "i commands");
    let shown = |what: &str| {
        let line = readme.lines().find(|l| l.contains(what));
        line.expect("README shows the prompt").trim()
    };
    assert!(screen.contains(shown("Enter resume")), "{screen}");
    rig.kittymux_ok(Some(&second), &words(restores[1]));
    let (before, after) = shown("resume session").split_at(shown("resume session").len() - 9);
    assert!(screen.contains(before) && after.ends_with('?'), "{screen}");
}

/// A kitty whose only window runs `script`, and what that says into `~/said`; ended at once.
fn said_inside(rig: &Rig, script: &str, until_it_has: &str) -> String {
    let said = rig.home().join("said");
    let mut command = rig.command(&rig.dir("tools").join("kitty"));
    // A person types it later than kitty needs to listen.
    let wait = "until ls \"$TMPDIR\"/kittymux-* >/dev/null 2>&1; do sleep 0.05; done";
    let script = format!("{wait}; {{ {script}; }} >~/said 2>&1; sleep 100");
    let mut kitty = command
        .env("TMPDIR", rig.dir("run"))
        .args(["sh", "-c", &script])
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("kitty starts");
    let end = std::time::Instant::now() + crate::rig::WAIT;
    let mut text = String::new();
    while !text.contains(until_it_has) && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(25));
        text = std::fs::read_to_string(&said).unwrap_or_default();
    }
    if let Some(pid) = rustix::process::Pid::from_raw(i32::try_from(kitty.id()).expect("a pid")) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    let _ = kitty.wait();
    text
}

#[test]
fn the_line_of_the_readme_switches_it_on() {
    let rig = Rig::new("/bin/bash", true);
    let first = rig.start_kitty(&[]);
    rig.kittymux_ok(Some(&first), &["sessions", "save", "one"]);
    drop(first);
    let readme = file("README.md");
    let line = readme
        .lines()
        .map(str::trim)
        .find(|l| l.starts_with("include "))
        .expect("README tells the line");
    // Nothing but that line: socket and permission come from what it includes.
    // kittymux prints the path in full.
    let line = line.replace('~', &rig.home().display().to_string());
    rig.file(".config/kitty/kitty.conf", &format!("{line}\n"));
    let said = said_inside(&rig, "kittymux sessions save two", "as two");
    assert!(said.starts_with("saved 1 window"), "{said}");
}

#[test]
fn the_readme_names_targets_that_exist() {
    let makefile = file("Makefile");
    let readme = file("README.md");
    let mut targets: Vec<&str> = commands(&readme, "make");
    targets.extend(quoted(&readme).filter(|q| q.starts_with("make ")));
    assert!(targets.len() >= 3, "{targets:?}");
    for command in targets.iter().flat_map(|c| c.split("&&")) {
        let command = command.split('#').next().unwrap_or("").trim();
        let words = command.trim_start_matches("sudo ").split_whitespace();
        for word in words.skip(1).filter(|w| !w.contains('=')) {
            assert!(
                makefile.lines().any(|l| l.starts_with(&format!("{word}:"))),
                "{command}: there is no target {word}"
            );
        }
    }
    for name in ["demo", "test"] {
        assert!(
            targets
                .iter()
                .any(|c| c.split_whitespace().nth(1) == Some(name)),
            "README tells of make {name}"
        );
    }
}

/// What stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Targets of links in Markdown.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|t| t.split(')').next())
}

#[test]
fn files_that_the_texts_name_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for name in ["README.md", "CHANGELOG.md", "docs/kitty-facts.md"] {
        let text = file(name);
        let tops = [
            "assets/",
            "docs/",
            "src/",
            "tests/",
            "fake-kitty/",
            "fake-agents/",
        ];
        let named = quoted(&text)
            .chain(links(&text))
            .filter(|word| tops.iter().any(|t| word.starts_with(t)))
            .flat_map(|word| word.split_whitespace().next());
        for path in named {
            seen += 1;
            assert!(root.join(path).exists(), "{name} names {path}");
        }
    }
    assert!(seen > 10, "only {seen} files are named");
}

/// The text of every source and test file, for the names of tests and cases.
fn sources() -> String {
    fn collect(dir: &std::path::Path, text: &mut String) {
        for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, text);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "py") {
                text.push_str(&std::fs::read_to_string(path).expect("a text"));
            }
        }
    }
    let mut text = String::new();
    for top in ["src", "tests", "fake-kitty"] {
        collect(
            &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(top),
            &mut text,
        );
    }
    text
}

#[test]
fn every_fact_of_kitty_has_its_number_and_a_test_that_exists() {
    let text = file("docs/kitty-facts.md");
    let sources = sources();
    let (mut part, mut last, mut facts, mut tests) = (0, 0, 0, 0);
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("## ") {
            part += 1;
            last = 0;
            assert!(head.starts_with(&format!("{part} ")), "{line}");
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        let Some(number) = line
            .strip_prefix(&format!("| {part}."))
            .and_then(|l| l.split(' ').next()?.parse::<u32>().ok())
        else {
            continue;
        };
        last += 1;
        facts += 1;
        assert_eq!(number, last, "{line}");
        assert_eq!(cells.len(), 3, "number, fact, what shows it: {line}");
        let shown = cells[2].trim_end_matches(" |");
        assert!(!shown.is_empty(), "{line}");
        let names = quoted(shown).filter(|q| {
            q.matches('_').count() >= 2
                && q.chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        });
        for name in names {
            tests += 1;
            let by_macro = format!("    {name}: \"");
            assert!(
                sources.contains(&format!("fn {name}(")) || sources.contains(&by_macro),
                "{line}\n  names the test {name}, which is not there"
            );
        }
    }
    assert!(facts > 60 && tests > 60, "{facts} facts, {tests} tests");
}

#[test]
fn the_example_of_an_agent_of_ones_own_works_as_it_stands() {
    let text = include_str!("../../docs/settings.md");
    let (_, rest) = text.split_once("```json\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let shipped = kittymux::agents::definitions::SHIPPED;
    let (defs, problems) = kittymux::agents::definitions::load(shipped, Some(example.as_bytes()));
    assert!(problems.is_empty(), "{problems:?}");
    let def = defs.get("mycli").expect("defined");
    let words = ["mycli", "--resume", "OLD", "--fast", "-c"].map(str::to_owned);
    let selector = kittymux::agents::argv::Selector::Exact("abc-1");
    let resumed = kittymux::agents::argv::resume(def, &words, selector).expect("a command");
    assert_eq!(resumed.words, ["mycli", "--resume", "abc-1", "--fast"]);
}
