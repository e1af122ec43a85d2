//! Every place in a session file that a string can stand in × every string that hurts: after the
//! rewrite a real restore gives the value back, or the nearest that kitty can represent.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::rig::{Kitty, Rig, until};
use kittymux::kitty::tree::{self, Window};
use kittymux::kitty::words::{is_separator, nearest};
use kittymux::sys::json::Object;

/// The strings, by name.
const STRINGS: [(&str, &str); 47] = [
    ("plain", "abc"),
    ("blank", "a b"),
    ("blanks around", " a "),
    ("only a blank", " "),
    ("tab", "a\tb"),
    ("line break", "a\nb"),
    ("line break at the end", "a\n"),
    ("return", "a\rb"),
    ("both", "a\r\nb"),
    ("vertical tab", "a\u{b}b"),
    ("form feed", "a\u{c}b"),
    ("file separator", "a\u{1c}b"),
    ("unit separator", "a\u{1f}b"),
    ("next line", "a\u{85}b"),
    ("line separator", "a\u{2028}b"),
    ("paragraph separator", "a\u{2029}b"),
    (
        "a line of a session file",
        "x\nlaunch --type=background touch evil\n",
    ),
    ("no-break space", "\u{a0}a\u{a0}"),
    ("escape", "a\u{1b}[31mb"),
    ("delete", "a\u{7f}b"),
    ("double quote", "a\"b"),
    ("single quote", "it's"),
    ("quotes", "'\"'''\""),
    ("backslash", "a\\"),
    ("backslash n", "a\\nb"),
    ("dollar", "cost $5"),
    ("variable", "$HOME"),
    ("variable in braces", "a${HOME}b"),
    ("dollars", "$$HOME$$"),
    ("unset variable", "$NOT_SET_HERE"),
    ("command", "$(touch evil)`touch evil`"),
    ("ansi quote", "$'a\\nb'"),
    ("hash", "#a #b"),
    ("shell", "a;b&c|d>e"),
    ("glob", "*?[a]{b,c}!!"),
    ("tilde", "~"),
    ("option", "--title=x"),
    ("dash", "-"),
    ("equals", "a=b=c"),
    ("percent", "100%s"),
    ("kitty's own word", "@active-kitty-window-id"),
    ("unserialize", "kitty-unserialize-data={\"id\": 1}"),
    ("emoji", "👩\u{200d}💻"),
    ("right to left", "\u{202e}abc"),
    ("japanese", "日本語"),
    ("byte order mark", "\u{feff}a"),
    ("long", "LONG"),
];

fn text_of(string: &str) -> String {
    if string == "LONG" {
        "x".repeat(20_000)
    } else {
        string.to_owned()
    }
}

/// What one window showed.
#[derive(Debug, PartialEq)]
struct Shown {
    title: String,
    note: String,
    argument: String,
    directory: String,
    tab: String,
    environment: String,
    class: String,
    name: String,
}

/// All windows by their number, which stands in a variable.
fn shown(kitty: &Kitty) -> BTreeMap<usize, Shown> {
    let tree = kitty.tree();
    let of = |place: tree::Place<'_>| {
        let number: usize = place.window.user_vars.get("number")?.parse().ok()?;
        let own =
            |set: bool, title: &Option<String>| title.clone().filter(|_| set).unwrap_or_default();
        let text = Shown {
            title: own(place.window.title_overridden, &place.window.title),
            note: place
                .window
                .user_vars
                .get("note")
                .cloned()
                .unwrap_or_default(),
            argument: argument(place.window)?,
            directory: place.window.cwd.clone().unwrap_or_default(),
            tab: own(place.tab.title_overridden, &place.tab.title),
            environment: environment(place.window).unwrap_or_default(),
            class: place.os_window.wm_class.clone().unwrap_or_default(),
            name: place.os_window.wm_name.clone().unwrap_or_default(),
        };
        Some((number, text))
    };
    tree::windows(&tree).filter_map(of).collect()
}

/// The processes of a window.
fn pids(window: &Window) -> impl Iterator<Item = i32> {
    let in_front = window.foreground_processes.iter();
    in_front.filter_map(|f| f.pid).chain(window.pid)
}

/// The variable that the window was given, from the process itself.
fn environment(window: &Window) -> Option<String> {
    pids(window).find_map(|pid| {
        let set = kittymux::sys::proc::environ(pid, &["STRING"]).found()?;
        set.into_iter().next().map(|(_, value)| value)
    })
}

/// The argument behind the mark in the words of the window's program, from the process itself.
fn argument(window: &Window) -> Option<String> {
    pids(window).find_map(|pid| {
        let words = kittymux::sys::proc::argv(pid).found()?;
        let at = words.iter().position(|w| w == "the-argument")?;
        words.get(at + 1).cloned()
    })
}

// A real kitty has trouble with more than some thirty OS windows.
#[test]
fn every_string_in_every_place_comes_back_or_the_nearest_to_it() {
    come_back(0..24);
}

#[test]
fn every_other_string_in_every_place_comes_back_or_the_nearest_to_it() {
    come_back(24..STRINGS.len());
}

fn come_back(some: Range<usize>) {
    let strings = || {
        let numbered = STRINGS.iter().enumerate();
        numbered.skip(some.start).take(some.len())
    };
    let rig = Rig::new("/bin/bash", true);
    // A program that keeps its arguments: a shell that waits.
    let keeps = |argument: &str| {
        [
            "/bin/bash",
            "-c",
            "read x; read y",
            "the-argument",
            argument,
        ]
        .map(str::to_owned)
    };
    let kitty = rig.start_kitty(&[]);
    for (number, (name, string)) in strings() {
        let string = text_of(string);
        let part: String = string.chars().take(60).filter(|c| *c != '/').collect();
        let dir = rig.home().join("dirs").join(format!("{number}{part}"));
        std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut payload = Object::new()
            .text("type", "os-window")
            .text("cwd", &dir.display().to_string())
            .texts("args", &keeps(&string))
            .texts(
                "var",
                &[format!("number={number}"), format!("note={string}")],
            )
            // kitty expands it once as it is asked for, and takes an empty one away.
            .texts("env", &[format!("STRING={}", string.replace('$', "$$"))]);
        if string.len() < 1000 {
            payload = payload
                .text("window_title", &string)
                .text("tab_title", &string)
                .text("os_window_class", &string)
                .text("os_window_name", &string);
        }
        kitty.launch_with(payload);
    }
    let before = until("all windows", || {
        Some(shown(&kitty)).filter(|s| s.len() == some.len())
    });
    let output = rig.kittymux(Some(&kitty), &["sessions", "save", "--all", "strings"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // What cannot be kept is said, once for each place.
    for place in [
        "tab title",
        "os_window_class ",
        "os_window_name ",
        "--env=STRING=",
    ] {
        let lines = said.lines().filter(|l| l.contains(place));
        let broken = before
            .values()
            .filter(|s| match place {
                "tab title" => s.tab.trim().chars().any(is_separator),
                "os_window_class " => s.class.trim().chars().any(is_separator),
                "os_window_name " => s.name.trim().chars().any(is_separator),
                _ => s.environment.trim().chars().any(is_separator),
            })
            .count();
        assert_eq!(lines.count(), broken, "{place}: {said}");
        assert!(broken > 5 || some.start > 0, "{place}");
    }
    let old = kitty.pid;
    kitty.crash();
    let output = rig.kittymux(None, &["sessions", "restore", "strings"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let kitty = rig.new_kitty(old);
    let after = until("all windows", || {
        Some(shown(&kitty)).filter(|s| s.len() == some.len())
    });
    let mut wrong = Vec::new();
    for (number, (name, _)) in strings() {
        let (was, is) = (&before[&number], &after[&number]);
        let mut hold = |what: &str, wanted: &str, got: &str| {
            if wanted != got {
                wrong.push(format!(
                    "{name}, {what}: {wanted:.60?} came back as {got:.60?}"
                ));
            }
        };
        hold("window title", &nearest(&was.title), &is.title);
        hold("variable", &nearest(&was.note), &is.note);
        hold("argument", &was.argument, &is.argument);
        // kitty has no blanks around a value of the environment, nor around a class.
        hold(
            "environment",
            nearest(&was.environment).trim(),
            &is.environment,
        );
        for (what, was, is) in [
            ("class", &was.class, &is.class),
            ("name", &was.name, &is.name),
        ] {
            let near = nearest(was);
            let kept = near.trim();
            hold(what, if kept.is_empty() { "kitty" } else { kept }, is);
        }
        hold("tab title", nearest(&was.tab).trim(), is.tab.trim());
        // Where kitty cannot be told to go, the parent is the nearest.
        let hidden = was.directory.contains("$HOME") || was.directory.contains("${HOME}");
        let lost = was.directory.chars().any(is_separator) || hidden;
        let parent = was
            .directory
            .rsplit_once('/')
            .map_or("", |(parent, _)| parent);
        let reached = !lost || is.directory == was.directory;
        hold(
            "directory",
            if reached { &was.directory } else { parent },
            &is.directory,
        );
    }
    assert!(
        wrong.is_empty(),
        "8 places × {} strings, wrong:\n{}",
        some.len(),
        wrong.join("\n")
    );
    assert!(!rig.home().join("evil").exists(), "nothing of it was run");
}
