//! `sessions recover`: what a crash took, and what it did not.

use super::{by_sid, crash, file, leave};
use crate::hook::switch_on;
use crate::rig::{Rig, until};
use crate::scene::Scene;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::{Mode, Record};
use kittymux::resume::rewrite::record_text;
use kittymux::sys::json::{self, JsonValue};

/// The records of the file `name`, in its order.
fn records(rig: &Rig, name: &str) -> Vec<Record> {
    let file = SessionFile::read(&rig.saved(name), Origin::Person, &[]);
    assert_eq!(file.refusal(), None);
    file.launches()
        .map(|l| Record::read(record_text(l).expect("a record")).expect("readable"))
        .collect()
}

#[test]
fn what_a_crash_took_is_recovered_and_restored() {
    let scene = Scene::new();
    switch_on(&scene.rig, "");
    let mut sids = Vec::new();
    let dirs = ["work/api", "work/a 'b' $NONE \"c\"", "work/日本\nline "];
    for name in dirs {
        let dir = scene.rig.dir(name);
        let claude = scene.rig.home().join("bin/claude").display().to_string();
        let id = scene.kitty.launch(&dir, &[&claude, "--model", "opus"]);
        scene.kitty.shows(id, "(new)");
        sids.push(scene.talk(id));
    }
    let gone = scene.rig.dir("work/gone");
    let id = scene.type_in(&gone, "claude", "(new)");
    let lost = scene.talk(id);
    let id = scene.type_in(&scene.rig.dir("work/left"), "claude", "(new)");
    let closed = scene.talk(id);
    scene.save("work");
    leave(&scene.kitty, id);
    scene.save("work");
    // While all run there is nothing to recover.
    let none = scene
        .rig
        .kittymux_ok(Some(&scene.kitty), &["sessions", "recover"]);
    assert!(
        none.contains("nothing to recover: no conversation of the last 1d was cut off\n"),
        "{none}"
    );
    let (rig, old) = crash(scene);
    std::fs::remove_dir(&gone).expect("removed");
    let said = rig.kittymux_ok(None, &["sessions", "recover"]);
    assert!(said.lines().all(|l| l.chars().count() <= 80), "{said}");
    assert!(
        said.ends_with(
            "written as recovered; bring them back: kittymux sessions restore recovered\n"
        ),
        "{said}"
    );
    assert!(
        said.contains(&format!(
            "  claude    {}  ~/work/gone\n      its directory is not there any more\n",
            &lost[..8]
        )),
        "{said}"
    );
    assert!(!said.contains(&closed[..8]), "{said}");
    let mut found = records(&rig, "recovered");
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|r| r.mode == Mode::Exact
        && !r.direct
        && r.orig.ends_with(&["--model".into(), "opus".into()])));
    found.sort_by_key(|r| sids.iter().position(|s| *s == r.sid));
    let of: Vec<&str> = found.iter().map(|r| r.sid.as_str()).collect();
    assert_eq!(of, sids);
    for (record, name) in found.iter().zip(dirs) {
        assert_eq!(record.cwd, rig.home().join(name).display().to_string());
    }
    // A second time it says the same, and keeps the file before.
    rig.kittymux_ok(None, &["sessions", "recover", "--json"]);
    let previous = rig
        .home()
        .join(".local/state/kittymux/sessions/.previous/recovered.kitty-session");
    assert!(previous.exists());
    rig.kittymux_ok(None, &["sessions", "restore", "recovered"]);
    let kitty = rig.new_kitty(old);
    // Asked for already, nothing is taken a second time.
    let ids: Vec<u64> = sids
        .iter()
        .map(|sid| {
            until("the prompt's window", || {
                let mut windows = kitty.windows().into_iter();
                windows.find(|w| w.var("kittymux_sid") == Some(sid))
            })
            .id
        })
        .collect();
    for _ in 0..2 {
        let said = rig.kittymux_ok(Some(&kitty), &["sessions", "recover"]);
        let again = said.matches("a restored window asks for it already");
        assert!(
            again.count() >= 3 && said.contains("nothing to recover"),
            "{said}"
        );
        // Whether its shell still starts or the question stands already.
        ids.iter()
            .for_each(|id| drop(kitty.shows(*id, "Enter resume")));
    }
    for (sid, name) in sids.iter().zip(dirs) {
        let id = until("the prompt's window", || {
            let mut windows = kitty.windows().into_iter();
            windows.find(|w| w.var("kittymux_sid") == Some(sid))
        })
        .id;
        let screen = kitty.shows(id, "1 run finished");
        assert!(screen.contains("last active "), "{screen}");
        kitty.shows(id, "Enter resume");
        std::thread::sleep(std::time::Duration::from_millis(200));
        kitty.send(id, "\r");
        kitty.shows(id, &format!("conversation {sid} (resumed)"));
        let pid = kitty.window(id).and_then(|w| w.pid).expect("a shell");
        let agent = until("the agent", || {
            kittymux::sys::proc::children(pid).first().copied()
        });
        let cwd = kittymux::sys::proc::cwd(agent).found();
        assert_eq!(cwd, Some(rig.home().join(name).display().to_string()));
    }
    // Now they are open again.
    let none = rig.kittymux_ok(Some(&kitty), &["sessions", "recover"]);
    assert!(none.contains("nothing to recover"), "{none}");
}

#[test]
fn names_and_documents_of_recover() {
    let scene = Scene::new();
    let id = scene.type_in(&scene.rig.dir("work"), "claude", "(new)");
    let sid = scene.talk(id);
    scene.save("Desk");
    let rig = &scene.rig;
    for bad in ["startup", "last", "../evil", "-x", "a b", "autosave-1"] {
        let output = rig.kittymux(None, &["sessions", "recover", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
    let document = |words: &[&str]| {
        let text = rig.kittymux_ok(None, words);
        json::parse(text.as_bytes(), 1 << 20).expect("one document")
    };
    let nothing = document(&["sessions", "recover", "mine", "--json"]);
    assert!(matches!(
        json::member(&nothing, "written"),
        Some(JsonValue::Boolean(false))
    ));
    let sessions = rig.home().join(".local/state/kittymux/sessions");
    assert!(!sessions.join("mine.kitty-session").exists());
    let rig = crash(scene).0;
    let document = |words: &[&str]| {
        let text = rig.kittymux_ok(None, words);
        json::parse(text.as_bytes(), 1 << 20).expect("one document")
    };
    let output = rig.kittymux(None, &["sessions", "recover", "desk"]);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && err.contains("differs by case only"),
        "{err}"
    );
    let value = document(&["sessions", "recover", "mine", "--json", "--since", "2w"]);
    let list = match json::member(&value, "sessions") {
        Some(JsonValue::Array(list)) => list.clone(),
        other => panic!("{other:?}"),
    };
    let s = by_sid(&list, &sid);
    assert_eq!(json::text_at(s, "mode"), Some("exact"));
    assert_eq!(records(&rig, "mine")[0].sid, sid);
    // Seen too long ago it is named, not taken.
    let journal = std::fs::read_to_string(file(&rig)).expect("a journal");
    let at = journal.find("\"last\":\"").expect("a time") + 8;
    let days_ago = kittymux::sys::clock::wall_ns() - 3 * 86_400 * 1_000_000_000;
    let day = &kittymux::sys::clock::rfc3339(days_ago)[..10];
    let older = format!("{}{day}{}", &journal[..at], &journal[at + 10..]);
    std::fs::write(file(&rig), older).expect("written");
    let said = rig.kittymux_ok(None, &["sessions", "recover"]);
    assert!(
        said.contains("nothing to recover") && said.contains(" before that: "),
        "{said}"
    );
}

#[test]
fn what_is_open_elsewhere_or_not_stored_is_not_recovered() {
    let scene = Scene::new();
    let dir = scene.rig.dir("work");
    let first = scene.type_in(&dir, "claude", "(new)");
    let one = scene.talk(first);
    let second = scene.type_in(&scene.rig.dir("work/two"), "claude", "(new)");
    let two = scene.talk(second);
    scene.save("work");
    let rig = crash(scene).0;
    let other = rig.start_kitty(&[]);
    let claude = rig.home().join("bin/claude").display().to_string();
    // Outside what a save saw: only the process itself tells.
    let id = other.launch(&dir, &[&claude, "--resume", &one]);
    other.shows(id, "(resumed)");
    let projects = rig.home().join(".claude/projects");
    for project in std::fs::read_dir(projects).expect("there").flatten() {
        let _ = std::fs::remove_file(project.path().join(format!("{two}.jsonl")));
    }
    let said = rig.kittymux_ok(None, &["sessions", "recover"]);
    assert!(said.contains("nothing is stored of it"), "{said}");
    assert!(said.contains("nothing to recover"), "{said}");
    let said = rig.kittymux(None, &["sessions", "reopen", &two]);
    let err = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(err.contains("run this inside kitty"), "{err}");
    let said = rig.kittymux(Some(&other), &["sessions", "reopen", &one]);
    let err = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.status.code() == Some(1) && err.contains(&format!("it is open in window {id} of ")),
        "{err}"
    );
}

#[test]
fn without_an_id_only_one_that_cannot_be_mistaken_comes_back() {
    let rig = Rig::new("/bin/bash", true);
    let one = rig.dir("one").display().to_string();
    let two = rig.dir("two").display().to_string();
    let now = kittymux::sys::clock::rfc3339(kittymux::sys::clock::wall_ns());
    let host = kittymux::sys::clock::host8();
    let record = |agent: &str, cwd: &str, window: u64| {
        format!(
            "{{\"agent\":\"{agent}\",\"cwd\":\"{cwd}\",\"argv\":[\"{agent}\"],\"first\":\"{now}\",\"last\":\"{now}\",\"open\":true,\"window\":{window},\"kitty\":{{\"pid\":1,\"start\":1,\"boot\":\"00000000\",\"host\":\"{host}\"}},\"process\":{{\"pid\":{window},\"start\":1}}}}"
        )
    };
    let recover = |list: &[String]| {
        let text = format!("{{\"v\":1,\"sessions\":[{}]}}", list.join(","));
        rig.file(".local/state/kittymux/agent-sessions.json", &text);
        rig.kittymux_ok(None, &["sessions", "recover"])
    };
    recover(&[
        record("opencode", &one, 1),
        record("opencode", &two, 2),
        record("claude", &one, 3),
    ]);
    let found = records(&rig, "recovered");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found
            .iter()
            .all(|r| r.mode == Mode::Latest && r.agent == "opencode")
    );
    let said = recover(&[record("opencode", &one, 1), record("opencode", &one, 2)]);
    assert!(said.contains("nothing to recover"), "{said}");
    assert!(
        said.contains("its session id is not known, and another opencode ran there"),
        "{said}"
    );
    // claude's conversations can be looked up: "latest" would be a guess.
    let said = recover(&[record("claude", &one, 1)]);
    assert!(
        said.contains("      its session id is not known\n"),
        "{said}"
    );
}

#[test]
fn the_last_active_comes_first_each_once_and_a_pid_that_came_back_is_no_agent() {
    let rig = Rig::new("/bin/bash", true);
    let dir = rig.dir("work").display().to_string();
    let now = kittymux::sys::clock::wall_ns();
    let me = kittymux::sys::proc::me();
    let (boot, host) = (kittymux::sys::clock::boot8(), kittymux::sys::clock::host8());
    let sid = |n: u64| format!("ses_0123456789ab{n:014}");
    let record = |n: u64, age: u64, start: u64, boot: &str, host: &str| {
        let last = kittymux::sys::clock::rfc3339(now - age * 60_000_000_000);
        format!(
            "{{\"agent\":\"opencode\",\"sid\":\"{}\",\"cwd\":\"{dir}\",\"argv\":[\"opencode\"],\"first\":\"{last}\",\"last\":\"{last}\",\"open\":true,\"window\":1,\"kitty\":{{\"pid\":1,\"start\":1,\"boot\":\"{boot}\",\"host\":\"{host}\"}},\"process\":{{\"pid\":{},\"start\":{start}}}}}",
            sid(n),
            me.pid
        )
    };
    let list = [
        record(1, 30, me.start + 1, &boot, &host),
        record(2, 10, me.start, "00000000", &host),
        record(3, 20, me.start + 1, &boot, &host),
        record(3, 25, me.start + 1, &boot, &host),
        // This one runs; that one is another machine's.
        record(4, 1, me.start, &boot, &host),
        record(5, 1, me.start + 1, &boot, "ffffffff"),
    ];
    rig.file(
        ".local/state/kittymux/agent-sessions.json",
        &format!("{{\"v\":1,\"sessions\":[{}]}}", list.join(",")),
    );
    rig.kittymux_ok(None, &["sessions", "recover"]);
    let found: Vec<String> = records(&rig, "recovered")
        .into_iter()
        .map(|r| r.sid)
        .collect();
    assert_eq!(found, [sid(2), sid(3), sid(1)]);
}
