//! Save → restore → save: what a restored window is saved as, whatever the person did in it.

use crate::rig::{Kitty, Rig, announced, until};
use kittymux::kitty::launch_line::Startup;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::Record;
use kittymux::resume::rewrite::record_text;

/// A kitty whose save `one` of a shell running claude and of a claude window is restored and asks.
fn restored() -> (Rig, Kitty, [(u64, String); 2]) {
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let dir = rig.dir("p");
    let shell = kitty.launch(&dir, &[]);
    kitty.shows(shell, "$");
    kitty.send(shell, "claude --model opus\r");
    let own = kitty.launch(
        &dir,
        &[
            &rig.home().join("bin/claude").display().to_string(),
            "--verbose",
        ],
    );
    let sids = [shell, own].map(|id| {
        kitty.shows(id, "(new)");
        kitty.send(id, &format!("word {id}\r"));
        announced(&kitty.shows(id, &format!("heard word {id}"))).expect("an id")
    });
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "one"]);
    let old = kitty.pid;
    kitty.crash();
    rig.kittymux_ok(None, &["sessions", "restore", "one"]);
    let kitty = rig.new_kitty(old);
    let windows = sids.map(|sid| {
        let id = until("its window", || {
            kitty
                .windows()
                .into_iter()
                .find(|w| w.var("kittymux_sid") == Some(&sid))
        })
        .id;
        kitty.shows(id, "Enter resume");
        (id, sid)
    });
    std::thread::sleep(std::time::Duration::from_millis(250));
    (rig, kitty, windows)
}

fn save(rig: &Rig, kitty: &Kitty, name: &str) -> SessionFile {
    rig.kittymux_ok(Some(kitty), &["sessions", "save", name]);
    let file = SessionFile::read(&rig.saved(name), Origin::Person, &[]);
    assert_eq!(file.refusal(), None);
    file
}

fn record(file: &SessionFile, id: u64) -> Option<Record> {
    let line = file
        .launches()
        .find(|l| l.id() == Some(id))
        .expect("the window is saved");
    record_text(line).map(|text| Record::read(text).expect("a record"))
}

#[test]
fn a_prompt_that_waits_keeps_its_record_five_times_over() {
    let (rig, kitty, windows) = restored();
    let first = SessionFile::read(&rig.saved("one"), Origin::Person, &[]);
    let records: Vec<Record> = first
        .launches()
        .filter_map(record_text)
        .map(|t| Record::read(t).expect("a record"))
        .collect();
    for n in 0..5 {
        let file = save(&rig, &kitty, &format!("wait{n}"));
        for (id, sid) in &windows {
            let now = record(&file, *id).expect("still asks");
            let then = records.iter().find(|r| r.sid == *sid).expect("was there");
            assert_eq!(
                Record {
                    save: String::new(),
                    ..now
                },
                Record {
                    save: String::new(),
                    ..then.clone()
                }
            );
        }
        let shown = |f: &SessionFile| {
            f.launches()
                .map(|l| l.program().join(" "))
                .filter(|p| !p.contains("resume-prompt"))
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(&file), shown(&first));
    }
}

#[test]
fn a_shell_that_was_chosen_is_saved_as_a_shell() {
    let (rig, kitty, windows) = restored();
    for (id, _) in &windows {
        kitty.send(*id, "s");
    }
    for (id, _) in &windows {
        kitty.shows(*id, "$");
        kitty.send(*id, "echo he\"\"re\r");
        kitty.shows(*id, "here");
    }
    let file = save(&rig, &kitty, "shells");
    for (id, _) in &windows {
        assert_eq!(record(&file, *id), None);
        let line = file
            .launches()
            .find(|l| l.id() == Some(*id))
            .expect("saved");
        assert_eq!(
            line.program(),
            Vec::<&str>::new(),
            "kitty's own shell: {}",
            line.text()
        );
        assert_eq!(
            (
                line.startup(),
                line.env("KITTYMUX_RECORD"),
                line.var("kittymux_sid")
            ),
            (None, None, None),
            "{}",
            line.text()
        );
    }
}

#[test]
fn what_runs_in_a_window_of_ours_is_what_is_saved() {
    let (rig, kitty, [(shell, sid), (own, _)]) = restored();
    kitty.send(own, "s");
    kitty.shows(own, "$");
    kitty.send(own, "sleep 987\r");
    kitty.send(shell, "\r");
    kitty.shows(shell, "(resumed)");
    kitty.send(shell, "/exit\r");
    until("the shell", || {
        let window = kitty.window(shell)?;
        (window.foreground_processes.len() == 1 && window.foreground_processes[0].pid == window.pid)
            .then_some(())
    });
    kitty.send(shell, "codex --no-daemon\r");
    kitty.shows(shell, "(new)");
    kitty.send(shell, "hello\r");
    let other = announced(&kitty.shows(shell, "heard hello")).expect("an id");
    assert_ne!(other, sid);
    let file = save(&rig, &kitty, "changed");
    let now = record(&file, shell).expect("another agent runs there");
    assert_eq!((now.agent.as_str(), now.sid), ("codex", other));
    let line = file
        .launches()
        .find(|l| l.id() == Some(own))
        .expect("saved");
    match line.startup() {
        Some(Startup::Line(line)) => assert_eq!(line, "sleep 987"),
        Some(Startup::Words(words)) => assert!(words.ends_with(&["987".to_owned()]), "{words:?}"),
        None => panic!("what runs there is lost: {}", line.text()),
    }
}

#[test]
fn new_and_direct_do_what_they_say() {
    let (rig, kitty, [(shell, sid), (own, _)]) = restored();
    kitty.send(shell, "n");
    let screen = kitty.shows(shell, "(new)");
    assert_ne!(announced(&screen), Some(sid));
    kitty.send(own, "\r");
    kitty.shows(own, "(resumed)");
    kitty.send(shell, "first words\r");
    let fresh = announced(&kitty.shows(shell, "heard first words")).expect("an id");
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "--direct", "direct"]);
    let old = kitty.pid;
    kitty.crash();
    rig.kittymux_ok(None, &["sessions", "restore", "direct"]);
    let kitty = rig.new_kitty(old);
    for window in kitty
        .windows()
        .into_iter()
        .filter(|w| w.var("kittymux_agent").is_some())
    {
        kitty.shows(window.id, "(resumed)");
    }
    assert!(
        rig.starts()
            .iter()
            .any(|line| line.contains("--resume") && line.contains(&fresh))
    );
}

#[test]
fn a_forged_mark_changes_nothing() {
    let (rig, kitty, [(shell, sid), (own, _)]) = restored();
    kitty.send(shell, "s");
    kitty.shows(shell, "$");
    kitty.set_vars(
        shell,
        &[
            ("kittymux_sid", "ffffffff-0000-4000-8000-000000000000"),
            ("kittymux_agent", "claude"),
            ("kittymux_resume", "exact"),
        ],
    );
    kitty.set_vars(
        own,
        &[("kittymux_sid", "ffffffff-0000-4000-8000-000000000000")],
    );
    let file = save(&rig, &kitty, "forged");
    assert_eq!(
        record(&file, shell),
        None,
        "a shell, whatever its marks say"
    );
    let waiting = record(&file, own).expect("still asks");
    assert_ne!(waiting.sid, "ffffffff-0000-4000-8000-000000000000");
    assert_ne!(waiting.sid, sid);
    assert!(
        !rig.saved("forged").contains("ffffffff"),
        "{}",
        rig.saved("forged")
    );
}

#[test]
fn a_session_that_is_open_is_only_gone_to() {
    let (rig, kitty, windows) = restored();
    let said = rig.kittymux_ok(Some(&kitty), &["sessions", "restore", "one"]);
    assert!(said.contains("open already"), "{said}");
    assert_eq!(
        kitty
            .windows()
            .iter()
            .filter(|w| w.var("kittymux_sid").is_some())
            .count(),
        windows.len()
    );
    let said = rig.kittymux_ok(Some(&kitty), &["sessions", "restore", "--dry-run", "one"]);
    assert_eq!(said.matches("asks: ").count(), 2, "{said}");
}

#[test]
fn our_own_overlays_are_no_part_of_a_desk_and_all_os_windows_are() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let dir = rig.dir("p").display().to_string();
    let object = |kind: &str| {
        kittymux::sys::json::Object::new()
            .text("type", kind)
            .text("cwd", &dir)
            .texts("args", &["sleep", "1000"])
    };
    let utility = kitty.launch_with(object("overlay").texts("var", &["kittymux_utility=1"]));
    let second = kitty.launch_with(object("os-window").text("os_window_title", "x"));
    let file = save(&rig, &kitty, "here");
    let ids: Vec<Option<u64>> = file.launches().map(|l| l.id()).collect();
    assert!(
        !ids.contains(&Some(utility)) && ids.len() == 1,
        "one OS window, without our overlay: {ids:?}"
    );
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "--all", "everything"]);
    let all = SessionFile::read(&rig.saved("everything"), Origin::Person, &[]);
    let ids: Vec<Option<u64>> = all.launches().map(|l| l.id()).collect();
    assert!(
        ids.contains(&Some(second)) && !ids.contains(&Some(utility)) && ids.len() == 2,
        "{ids:?}"
    );
}

#[test]
fn a_save_before_the_shells_have_come_up_loses_nothing() {
    let (rig, kitty, windows) = restored();
    rig.file(
        ".bashrc",
        "export FOO=1 PATH=$HOME/bin:$PATH PS1='$ '\nsleep 4\n",
    );
    let old = kitty.pid;
    kitty.crash();
    rig.kittymux_ok(None, &["sessions", "restore", "one"]);
    let kitty = rig.new_kitty(old);
    let (_, sid) = &windows[0];
    let id = until("its window", || {
        kitty
            .windows()
            .into_iter()
            .find(|w| w.var("kittymux_sid") == Some(sid))
    })
    .id;
    assert!(
        !kitty.text(id).contains("Enter resume"),
        "its start-up file still runs"
    );
    let file = save(&rig, &kitty, "early");
    assert_eq!(record(&file, id).map(|r| r.sid).as_ref(), Some(sid));
    kitty.shows(id, "Enter resume");
    std::thread::sleep(std::time::Duration::from_millis(250));
    kitty.send(id, "s");
    kitty.shows(id, "$");
    until("the shell", || {
        record(&save(&rig, &kitty, "late"), id)
            .is_none()
            .then_some(())
    });
}

#[test]
fn a_command_too_long_for_a_launch_line_comes_back_twice() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let long = format!("{}é", "it's $HOME ".repeat(9_000));
    let script = rig.file(
        "start",
        &format!(
            "exec claude --append-system-prompt \"$(cat {}/long)\"\n",
            rig.home().display()
        ),
    );
    rig.file("long", &long);
    let id = kitty.launch(&rig.dir("p"), &[]);
    kitty.shows(id, "$");
    kitty.send(id, &format!("bash {}\r", script.display()));
    kitty.shows(id, "(new)");
    kitty.send(id, "hello\r");
    let sid = announced(&kitty.shows(id, "heard hello")).expect("an id");
    let mut kitty = kitty;
    for name in ["first", "second"] {
        let file = save(&rig, &kitty, name);
        let line = file
            .launches()
            .find(|l| l.id().is_some() && record_text(l).is_some())
            .expect("asks");
        assert!(
            record_text(line).is_some_and(|t| t.len() < 200 && t.contains("\"file\"")),
            "{:.300}",
            line.text()
        );
        let old = kitty.pid;
        kitty.crash();
        rig.kittymux_ok(None, &["sessions", "restore", name]);
        kitty = rig.new_kitty(old);
        let id = until("its window", || {
            kitty
                .windows()
                .into_iter()
                .find(|w| w.var("kittymux_sid") == Some(&sid))
        })
        .id;
        kitty.shows(id, "Enter resume");
    }
    std::thread::sleep(std::time::Duration::from_millis(250));
    let id = until("its window", || {
        kitty
            .windows()
            .into_iter()
            .find(|w| w.var("kittymux_sid") == Some(&sid))
    })
    .id;
    kitty.send(id, "\r");
    kitty.shows(id, "(resumed)");
    let start = rig.starts().pop().expect("a start");
    assert!(start.contains(&long[..long.len() - 2]), "{:.200}", start);
}
