//! The round trip: agents in windows of every shape → save → kitty killed → restore → the prompt →
//! the resumed command, twice over.

use std::collections::BTreeMap;

use crate::rig::{Kitty, Rig, announced, has_shell, until};
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::Record;
use kittymux::resume::rewrite::record_text;
use kittymux::sys::json::{self, JsonValue};

/// One window of the round trip.
struct Way {
    /// What it shows.
    name: &'static str,
    /// What is typed into a fresh shell window; empty: the agent is the window's own program.
    typed: String,
    /// The window's program; empty: kitty's shell.
    program: Vec<String>,
    /// The agent's flags that must come back.
    flags: Vec<&'static str>,
    /// Whether it comes back inside its shell.
    in_shell: bool,
}

fn ways(rig: &Rig, shell: &str) -> Vec<Way> {
    let home = rig.home();
    let script = rig.agent("lib/node_modules/@anthropic-ai/claude-code/claude");
    let other_shell = if shell.ends_with("zsh") {
        "/bin/bash"
    } else {
        "/bin/zsh"
    };
    let in_shell = |name, typed: String, flags: Vec<&'static str>| Way {
        name,
        typed,
        program: Vec::new(),
        flags,
        in_shell: true,
    };
    let mut ways = vec![
        in_shell(
            "typed",
            "claude --model opus 'do it'".into(),
            vec!["--model", "opus"],
        ),
        Way {
            name: "launched",
            typed: String::new(),
            program: vec![
                home.join("bin/claude").display().to_string(),
                "--name".into(),
                "two 'words' $HOME".into(),
            ],
            flags: vec!["--name", "two 'words' $HOME"],
            in_shell: false,
        },
        in_shell(
            "node script",
            format!(
                "node --max-old-space-size=99 '{}' --effort high",
                script.display()
            ),
            vec!["--effort", "high"],
        ),
        in_shell(
            "wrapper and child",
            "env FAKE_AGENT_SHAPE=wrapper codex --no-daemon -m gpt-5.5".into(),
            vec!["--no-daemon", "-m", "gpt-5.5"],
        ),
        in_shell(
            "process title",
            "env FAKE_AGENT_TITLE=1 claude --verbose".into(),
            vec![],
        ),
    ];
    if has_shell(other_shell) {
        ways.push(Way {
            program: vec![other_shell.into()],
            ..in_shell(
                "in another shell",
                "codex --no-daemon -s read-only".into(),
                vec!["-s", "read-only"],
            )
        });
    }
    ways
}

/// Opens all windows and lets each agent have a conversation; session ids by window.
fn open_all(rig: &Rig, kitty: &Kitty, ways: &[Way]) -> BTreeMap<u64, (usize, String)> {
    let mut windows = BTreeMap::new();
    for (n, way) in ways.iter().enumerate() {
        let dir = rig.dir(&format!("work/p{n}"));
        let program: Vec<&str> = way.program.iter().map(String::as_str).collect();
        let id = kitty.launch(&dir, &program);
        windows.insert(id, (n, String::new()));
    }
    for (id, (n, sid)) in &mut windows {
        let way = &ways[*n];
        if !way.typed.is_empty() {
            kitty.shows(
                *id,
                if way.program.first().is_some_and(|p| p.ends_with("zsh")) {
                    "%"
                } else {
                    prompt_of(kitty, *id)
                },
            );
            kitty.send(*id, &format!("{}\r", way.typed));
        }
        kitty.shows(*id, "(new)");
        kitty.send(*id, &format!("hello {n}\r"));
        let screen = kitty.shows(*id, &format!("heard hello {n}"));
        *sid = announced(&screen).unwrap_or_else(|| panic!("{}: no id on\n{screen}", way.name));
    }
    windows
}

/// The end of the shell's prompt in a window.
fn prompt_of(kitty: &Kitty, id: u64) -> &'static str {
    until("a prompt", || {
        let text = kitty.text(id);
        let line = text.trim_end().lines().next_back()?.trim_end();
        ["$", "%", ">"].into_iter().find(|p| line.ends_with(p))
    })
}

/// The records of a save by session id, without what differs from save to save.
fn records(text: &str) -> BTreeMap<String, Record> {
    let file = SessionFile::read(text, Origin::Person, &[]);
    assert_eq!(file.refusal(), None);
    file.launches()
        .filter_map(record_text)
        .map(|text| {
            let mut record = Record::read(text).expect("a record");
            (record.save, record.at, record.tab) = Default::default();
            // A script behind node comes back as the agent itself, which lies elsewhere.
            record.exe = record.exe.rsplit('/').next().unwrap_or("").to_owned();
            (record.sid.clone(), record)
        })
        .collect()
}

/// Answers every prompt with Enter and checks what was started, by session id.
fn resume_all(
    rig: &Rig,
    kitty: &Kitty,
    ways: &[Way],
    wanted: &BTreeMap<String, usize>,
) -> BTreeMap<String, u64> {
    let mut windows = BTreeMap::new();
    for window in kitty.windows() {
        let Some(sid) = window.var("kittymux_sid").map(str::to_owned) else {
            continue;
        };
        let way = &ways[wanted[&sid]];
        let screen = kitty.shows(window.id, "Enter resume");
        assert!(
            screen.contains(&format!("resume session {}", &sid[..8])),
            "{}: {screen}",
            way.name
        );
        assert!(
            screen.contains(&format!("p{}", wanted[&sid])),
            "{}: its directory is shown: {screen}",
            way.name
        );
        windows.insert(sid, window.id);
    }
    assert_eq!(windows.len(), wanted.len(), "a prompt for every agent");
    let before = rig.starts().len();
    std::thread::sleep(std::time::Duration::from_millis(200));
    for (sid, id) in &windows {
        kitty.send(*id, "\r");
        kitty.shows(*id, &format!("conversation {sid} (resumed)"));
    }
    let starts = rig.starts();
    assert_eq!(
        starts.len() - before,
        windows.len(),
        "each was started once"
    );
    for line in &starts[before..] {
        check_start(line, ways, wanted);
    }
    windows
}

fn check_start(line: &str, ways: &[Way], wanted: &BTreeMap<String, usize>) {
    let value = json::parse(line.as_bytes(), 1 << 20).expect("a start");
    let words: Vec<String> = match json::member(&value, "argv") {
        Some(JsonValue::Array(items)) => items
            .iter()
            .filter_map(|i| match i {
                JsonValue::String(s) => Some(s.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let sid = words
        .iter()
        .find(|w| wanted.contains_key(*w))
        .unwrap_or_else(|| panic!("no id in {words:?}"));
    let way = &ways[wanted[sid]];
    assert!(
        !words.iter().any(|w| w == "do it"),
        "{}: the prompt is not replayed: {words:?}",
        way.name
    );
    for flag in &way.flags {
        assert!(
            words.iter().any(|w| w == flag),
            "{}: {flag} is missing in {words:?}",
            way.name
        );
    }
    let env = json::member(&value, "env").expect("env");
    let has = |name: &str| json::text_at(env, name).map(str::to_owned);
    if way.in_shell {
        assert_eq!(
            (has("FOO").as_deref(), has("DENV").as_deref()),
            (Some("1"), Some("hook")),
            "{}: rc file and prompt hook: {line}",
            way.name
        );
    }
    assert_eq!(has("KITTYMUX_RECORD"), None, "{}: {line}", way.name);
    let cwd = json::text_at(&value, "cwd").unwrap_or("");
    assert!(
        cwd.ends_with(&format!("/work/p{}", wanted[sid])),
        "{}: {cwd}",
        way.name
    );
}

fn round_trip(shell: &str, integration: bool) {
    if !has_shell(shell) {
        return;
    }
    let rig = Rig::new(shell, integration);
    let ways = ways(&rig, shell);
    let first = rig.start_kitty(&[]);
    let windows = open_all(&rig, &first, &ways);
    let wanted: BTreeMap<String, usize> =
        windows.values().map(|(n, sid)| (sid.clone(), *n)).collect();
    assert_eq!(
        wanted.len(),
        ways.len(),
        "every agent has its own conversation"
    );
    let said = rig.kittymux_ok(Some(&first), &["sessions", "save", "work"]);
    assert!(
        said.starts_with(&format!(
            "saved {} windows · {} conversations as work\n",
            ways.len() + 1,
            ways.len()
        )),
        "{said}"
    );
    let listed = rig.kittymux_ok(Some(&first), &["sessions", "list"]);
    // Kitties of other tests are listed too.
    for sid in wanted.keys() {
        assert!(
            listed.contains(&format!(" exact {} ", &sid[..8])),
            "{sid}: {listed}"
        );
    }
    let one = records(&rig.saved("work"));
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        wanted.keys().collect::<Vec<_>>()
    );
    let old = first.pid;
    first.crash();

    let said = rig.kittymux_ok(None, &["sessions", "restore", "work"]);
    assert!(
        said.starts_with(&format!("{0} of {0} windows came back\n", ways.len() + 1)),
        "{said}"
    );
    let second = rig.new_kitty(old);
    let ids = resume_all(&rig, &second, &ways, &wanted);
    jobs(&second, &ways, &wanted, &ids);

    // The second generation: kitty's own lines are stale now, the plan is not.
    rig.kittymux_ok(Some(&second), &["sessions", "save", "again"]);
    let two = records(&rig.saved("again"));
    for (sid, record) in &one {
        let now = two
            .get(sid)
            .unwrap_or_else(|| panic!("{} is lost: {:?}", ways[wanted[sid]].name, two.keys()));
        assert_eq!(
            now, record,
            "{}: save → restore → save is a fixed point",
            ways[wanted[sid]].name
        );
    }
    let old = second.pid;
    second.crash();
    rig.kittymux_ok(None, &["sessions", "restore", "again"]);
    let third = rig.new_kitty(old);
    let ids = resume_all(&rig, &third, &ways, &wanted);
    leave(&third, &ways, &wanted, &ids);
}

/// ^Z gives the shell, `fg` the agent; ^C does not close anything.
fn jobs(
    kitty: &Kitty,
    ways: &[Way],
    wanted: &BTreeMap<String, usize>,
    ids: &BTreeMap<String, u64>,
) {
    for (sid, id) in ids.iter().filter(|(sid, _)| ways[wanted[*sid]].in_shell) {
        let name = ways[wanted[sid]].name;
        kitty.send(*id, "\x1a");
        at_shell(kitty, *id);
        kitty.send(*id, "echo at the she\"\"ll\r");
        kitty.shows(*id, "at the shell");
        kitty.send(*id, "fg\r");
        until("the agent to be in front again", || {
            let window = kitty.window(*id)?;
            let mut front = window.foreground_processes.iter();
            front.any(|f| f.pid != window.pid).then_some(())
        });
        kitty.send(*id, &format!("back in {id}\r"));
        kitty.shows(*id, &format!("heard back in {id}"));
        assert!(kitty.window(*id).is_some(), "{name}: still there");
    }
}

/// Waits until the window's own shell is in front: what is typed before that goes to the agent.
fn at_shell(kitty: &Kitty, id: u64) {
    until("the shell to be in front", || {
        let window = kitty.window(id)?;
        let in_front: Vec<Option<i32>> =
            window.foreground_processes.iter().map(|f| f.pid).collect();
        (in_front == [window.pid]).then_some(())
    });
}

/// Leaving the agent leaves the shell where there was one, and closes the window where there was none.
fn leave(
    kitty: &Kitty,
    ways: &[Way],
    wanted: &BTreeMap<String, usize>,
    ids: &BTreeMap<String, u64>,
) {
    for (sid, id) in ids {
        let way = &ways[wanted[sid]];
        kitty.send(*id, "/exit\r");
        if way.in_shell {
            at_shell(kitty, *id);
            kitty.send(*id, "echo ali\"\"ve in $FOO\r");
            kitty.shows(*id, "alive in 1");
        } else {
            until("its window to close", || {
                kitty.window(*id).is_none().then_some(())
            });
        }
    }
}

macro_rules! round_trips {
    ($($name:ident: $shell:literal $integration:literal;)*) => {
        $(#[test] fn $name() { round_trip($shell, $integration); })*
    };
}

round_trips! {
    round_trip_bash_with_integration: "/bin/bash" true;
    round_trip_bash_without_integration: "/bin/bash" false;
    round_trip_zsh_with_integration: "/bin/zsh" true;
    round_trip_zsh_without_integration: "/bin/zsh" false;
    round_trip_fish_with_integration: "/usr/bin/fish" true;
    round_trip_fish_without_integration: "/usr/bin/fish" false;
}
