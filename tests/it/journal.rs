//! The journal from end to end: written by saves, shown by `history`, used by `recover`, `reopen` and
//! the prompt.

mod recover;
mod reopen;

use std::path::PathBuf;

use crate::hook::switch_on;
use crate::prompt::Case;
use crate::rig::{Kitty, Rig, until};
use crate::scene::Scene;
use kittymux::sys::json::{self, JsonValue};

/// Where the journal lies.
fn file(rig: &Rig) -> PathBuf {
    rig.home().join(".local/state/kittymux/agent-sessions.json")
}

/// The sessions of this home that `history --json` tells of: kitties of other tests are looked at
/// too.
fn history(rig: &Rig, more: &[&str]) -> Vec<JsonValue> {
    let mut words = vec!["sessions", "history", "--json"];
    words.extend(more);
    let text = rig.kittymux_ok(None, &words);
    let value = json::parse(text.as_bytes(), 1 << 20).expect("one document");
    assert_eq!(json::number_at(&value, "version"), Some(1.0));
    match json::member(&value, "sessions") {
        Some(JsonValue::Array(list)) => list.iter().filter(|s| is_here(rig, s)).cloned().collect(),
        _ => panic!("{text}"),
    }
}

fn is_here(rig: &Rig, session: &JsonValue) -> bool {
    let home = rig.home().display().to_string();
    json::text_at(session, "cwd").is_none_or(|cwd| cwd.is_empty() || cwd.starts_with(&home))
}

fn by_sid<'a>(list: &'a [JsonValue], sid: &str) -> &'a JsonValue {
    list.iter()
        .find(|s| json::text_at(s, "session_id") == Some(sid))
        .unwrap_or_else(|| panic!("{sid} is not in {list:?}"))
}

/// Leaves the agent of a window, and waits for its shell.
fn leave(kitty: &Kitty, id: u64) {
    kitty.send(id, "/exit\r");
    until("the shell", || {
        let window = kitty.window(id)?;
        let children = kittymux::sys::proc::children(window.pid?);
        children.is_empty().then_some(())
    });
}

/// Closes a window with a shell at its prompt.
fn close(kitty: &Kitty, id: u64) {
    kitty.send(id, "exit\r");
    until("the window to close", || {
        kitty.window(id).is_none().then_some(())
    });
}

/// Kills the kitty, and waits until all agents in it are gone; gives its pid.
fn crash(scene: Scene) -> (Rig, i32) {
    let Scene { rig, kitty } = scene;
    let pid = kitty.pid;
    kitty.crash();
    until("its agents to end", || {
        let list = history(&rig, &[]);
        let runs =
            |s: &JsonValue| matches!(json::member(s, "running"), Some(JsonValue::Boolean(true)));
        (!list.iter().any(runs)).then_some(())
    });
    (rig, pid)
}

#[test]
fn a_save_writes_down_what_runs_and_history_shows_it() {
    let scene = Scene::new();
    switch_on(&scene.rig, "");
    let dir = scene.rig.dir("work/api");
    let line = "claude --model opus --api-key sk-verysecret1234";
    let id = scene.type_in(&dir, line, "(new)");
    let sid = scene.talk(id);
    assert!(history(&scene.rig, &[]).is_empty());
    let said = scene.rig.kittymux_ok(None, &["sessions", "history"]);
    assert_eq!(said, "the journal knows no such session yet\n");
    scene.save("work");
    let list = history(&scene.rig, &[]);
    assert_eq!(list.len(), 1, "{list:?}");
    let s = by_sid(&list, &sid);
    let text = |key: &str| json::text_at(s, key).unwrap_or_default();
    assert_eq!(
        (text("agent"), text("state"), text("last_state")),
        ("claude", "running", "done")
    );
    assert_eq!(text("cwd"), dir.display().to_string());
    assert_eq!(json::number_at(s, "runs"), Some(1.0));
    assert!(text("first").ends_with('Z') && text("last") >= text("first"));
    for text in [
        std::fs::read_to_string(file(&scene.rig)).expect("a journal"),
        scene
            .rig
            .kittymux_ok(None, &["sessions", "history", "--json"]),
    ] {
        assert!(!text.contains("sk-very"), "{text}");
    }
    let table = scene
        .rig
        .kittymux_ok(None, &["sessions", "history", "--since", "7d"]);
    assert!(
        table.contains(&format!("claude  {}  ~/work/api", &sid[..8])),
        "{table}"
    );
    assert!(
        table.contains("  running\n") && table.contains(" · 1 run"),
        "{table}"
    );
    // A long time later it is none of the last hour.
    let journal = std::fs::read_to_string(file(&scene.rig)).expect("a journal");
    let last = format!("\"last\":\"{}", &text("last")[..4]);
    std::fs::write(file(&scene.rig), journal.replace(&last, "\"last\":\"2020")).expect("written");
    assert!(history(&scene.rig, &["--since", "12h"]).is_empty());
    assert_eq!(history(&scene.rig, &[]).len(), 1);
    for bad in ["", "7", "soon", "-1d", "7y", "1d; rm"] {
        for verb in ["history", "recover"] {
            let output = scene
                .rig
                .kittymux(None, &["sessions", verb, "--since", bad]);
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{bad}: {err}");
            assert!(
                err.lines().count() == 1 && err.contains("7d or 2w"),
                "{err}"
            );
        }
    }
}

#[test]
fn what_closes_and_what_stays_open() {
    let scene = Scene::new();
    switch_on(&scene.rig, "");
    let open = |name: &str| {
        let id = scene.type_in(&scene.rig.dir(name), "claude", "(new)");
        (id, scene.talk(id))
    };
    let (exits, exited) = open("work/a");
    let (closes, closed) = open("work/b");
    let (clears, left) = open("work/c");
    let (_, stays) = open("work/d");
    scene.save("work");
    leave(&scene.kitty, exits);
    leave(&scene.kitty, closes);
    close(&scene.kitty, closes);
    scene.kitty.send(clears, "/clear\r");
    let cleared = scene.talk(clears);
    scene.save("work");
    let list = history(&scene.rig, &[]);
    let states: Vec<(&str, &str)> = [
        ("exited", &exited),
        ("closed", &closed),
        ("left", &left),
        ("cleared", &cleared),
        ("stays", &stays),
    ]
    .map(|(name, sid)| {
        (
            name,
            json::text_at(by_sid(&list, sid), "state").unwrap_or(""),
        )
    })
    .to_vec();
    assert_eq!(
        states,
        [
            ("exited", "closed"),
            ("closed", "closed"),
            ("left", "left"),
            ("cleared", "running"),
            ("stays", "running")
        ]
    );
    assert_eq!(list.len(), 5);
    // What agents told that are gone is counted, and their files are gone too.
    let hooks = scene.rig.home().join(".local/state/kittymux/hooks");
    assert_eq!(std::fs::read_dir(hooks).expect("there").count(), 2);
    // Their kitty crashes: what ran was cut off.
    let rig = crash(scene).0;
    let list = history(&rig, &[]);
    for sid in [&cleared, &stays] {
        assert_eq!(json::text_at(by_sid(&list, sid), "state"), Some("open"));
    }
}

#[test]
fn without_hooks_sessions_are_seen_and_gone() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("work"), "claude", "(new)");
    let sid = scene.talk(id);
    scene.save("work");
    leave(&scene.kitty, id);
    scene.save("work");
    let list = history(&scene.rig, &[]);
    let s = by_sid(&list, &sid);
    assert_eq!(json::text_at(s, "last_state"), Some("seen"));
    assert_eq!(json::text_at(s, "state"), Some("closed"));
    assert!(json::text_at(s, "closed").is_some());
}

#[test]
fn switched_off_nothing_is_written() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("work"), "claude", "(new)");
    scene.talk(id);
    let off = scene.rig.file(".local/state/kittymux/journal-off", "");
    scene.save("work");
    assert!(!file(&scene.rig).exists());
    std::fs::remove_file(off).expect("removed");
    let km = scene.rig.dir("tools").join("kittymux");
    let mut command = scene.rig.command(&km);
    command
        .args(["sessions", "save", "work"])
        .env("KITTYMUX_JOURNAL", "0")
        .env("KITTY_LISTEN_ON", scene.kitty.address.to_string())
        .env("KITTY_PID", scene.kitty.pid.to_string());
    assert!(command.output().expect("it runs").status.success());
    assert!(!file(&scene.rig).exists());
    scene.save("work");
    assert!(file(&scene.rig).exists());
}

#[test]
fn a_journal_that_is_broken_is_no_reason_not_to_save() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("work"), "claude", "(new)");
    let sid = scene.talk(id);
    scene.rig.file(
        ".local/state/kittymux/agent-sessions.json",
        "{\"v\":1,\"sessions\":[{\"agent\":\"claude\",\"sid\":\"old\",\"open\":true,\"last\":\"2099-01-01T00:00:00Z\"},{\"ag",
    );
    scene.save("work");
    let list = history(&scene.rig, &[]);
    assert_eq!(list.len(), 2, "{list:?}");
    by_sid(&list, &sid);
    by_sid(&list, "old");
    // One that is no file at all: the save stands, and says what did not work.
    std::fs::remove_file(file(&scene.rig)).expect("removed");
    std::fs::create_dir(file(&scene.rig)).expect("a directory");
    let said = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "save", "work"]);
    assert!(
        said.contains("  the journal was not brought up to date: "),
        "{said}"
    );
}

#[test]
fn the_prompt_is_on_the_screen_before_the_journal_is_read() {
    let case = Case::new();
    let now = kittymux::sys::clock::wall_ns();
    let last = kittymux::sys::clock::rfc3339(now - 3_600_000_000_000);
    let record = |sid: &str| {
        format!(
            "{{\"agent\":\"claude\",\"sid\":\"{sid}\",\"last\":\"{last}\",\"runs\":7,\"work_ms\":4800000}}"
        )
    };
    let mut list: Vec<String> = (0..299).map(|n| record(&format!("other{n}"))).collect();
    list.push(record(&case.record.sid));
    case.rig.file(
        ".local/state/kittymux/agent-sessions.json",
        &format!("{{\"v\":1,\"sessions\":[{}]}}", list.join(",")),
    );
    let mut pty = case.prompt();
    pty.shows("  last active 1h ago · 7 runs finished · 1h20m of work · tab “api work”");
    let all = String::from_utf8_lossy(pty.bytes(std::time::Duration::ZERO)).into_owned();
    let (first, second) = (all.find("saved 12m ago"), all.find("last active"));
    assert!(first.is_some() && first < second, "{all}");
    // Another conversation's past is not this one's.
    let case = Case::with(|c| {
        c.rig.file(
            ".local/state/kittymux/agent-sessions.json",
            "{\"sessions\":[{\"agent\":\"codex\",\"sid\":\"other\",\"runs\":1}]}",
        );
    });
    let mut pty = case.prompt();
    assert!(pty.asks().contains("saved 12m ago"));
}
