//! `sessions rewrite`: files that kitty saved by itself, and saves of ours, without kitty.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::rig::{Kitty, Rig, announced, until};
use kittymux::kitty::client::Connection;
use kittymux::kitty::commands;
use kittymux::kitty::launch_line::Startup;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::{Mode, Record};
use kittymux::resume::rewrite::record_text;

/// Runs `sessions rewrite`: its status, what it said, its complaints.
fn rewrite(rig: &Rig, files: &[&Path]) -> (i32, String, String) {
    let mut words = vec!["sessions", "rewrite"];
    let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    words.extend(files.iter().map(String::as_str));
    let output = rig.kittymux(None, &words);
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

/// The records of a file, in the order of its windows; it must load.
fn records(text: &str) -> Vec<Option<Record>> {
    let file = SessionFile::read(text, Origin::Person, &[]);
    assert_eq!(file.refusal(), None, "{text}");
    file.launches()
        .map(|l| record_text(l).map(|t| Record::read(t).expect("a record")))
        .collect()
}

/// Saves by kitty's own action, as a person's key does.
fn save_by_kitty(kitty: &Kitty, path: &Path) {
    let action = format!(
        "save_as_session --save-only --use-foreground-process {}",
        path.display()
    );
    let mut connection = Connection::open(&kitty.address).expect("a kitty");
    let reply = connection.ask(&commands::action(&action), Duration::from_secs(10));
    reply.expect("a reply").into_data().expect("it saves");
    until("kitty's file", || {
        path.metadata().ok().filter(|m| m.len() > 0)
    });
}

/// A tab whose program is claude, after one message; its window and its conversation.
fn claude(rig: &Rig, kitty: &Kitty, dir: &str, words: &[&str]) -> (u64, String) {
    let program = rig.home().join("bin/claude").display().to_string();
    let mut all = vec![program.as_str()];
    all.extend(words);
    let id = kitty.launch(&rig.dir(dir), &all);
    kitty.shows(id, "claude: conversation");
    kitty.send(id, "hello\r");
    let sid = announced(&kitty.shows(id, "heard hello")).expect("an id");
    (id, sid)
}

#[test]
fn a_file_that_kitty_saved_by_itself_asks_for_its_agents() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let (first, sid) = claude(&rig, &kitty, "a", &["--model", "opus"]);
    kitty.send(first, "/exit\r");
    until("its window to close", || {
        kitty.window(first).is_none().then_some(())
    });
    let (_, resumed) = claude(&rig, &kitty, "a", &["--resume", &sid]);
    assert_eq!(resumed, sid);
    let (_, other) = claude(&rig, &kitty, "b", &["--model", "opus", "do it"]);
    let shell = kitty.launch(&rig.dir("c"), &[]);
    kitty.shows(shell, "$");
    kitty.send(shell, "codex --no-daemon -m gpt-5.5\r");
    kitty.shows(shell, "(new)");
    kitty.send(shell, "hello\r");
    kitty.shows(shell, "heard hello");
    // The marks come from a save of ours; the file is kitty's alone.
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "--all", "desk"]);
    let path = rig.home().join("mine.kitty-session");
    save_by_kitty(&kitty, &path);
    let before = read(&path);
    assert!(records(&before).iter().all(Option::is_none));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("loose");

    let (code, said, wrong) = rewrite(&rig, &[&path]);
    assert_eq!((code, wrong.as_str()), (0, ""), "{said}");
    assert!(
        said.contains("1 exact, 2 new") && said.contains("~/mine.kitty-session.bak"),
        "{said}"
    );
    let after = read(&path);
    let found: Vec<Record> = records(&after).into_iter().flatten().collect();
    let shown: Vec<(Mode, &str, &[String])> = found
        .iter()
        .map(|r| (r.mode, r.sid.as_str(), &r.orig[1..]))
        .collect();
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    assert_eq!(
        shown[0],
        (Mode::Exact, sid.as_str(), words("").as_slice()),
        "{after}"
    );
    assert_eq!(
        shown[1],
        (Mode::New, "", words("--model opus").as_slice()),
        "{after}"
    );
    assert_eq!(
        shown[2],
        (Mode::New, "", words("--no-daemon -m gpt-5.5").as_slice()),
        "{after}"
    );
    assert!(
        !after.contains("do it") && !after.contains(&other),
        "{after}"
    );
    let dirs: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|d| rig.home().join(d).display().to_string())
        .collect();
    assert_eq!(
        found.iter().map(|r| r.cwd.clone()).collect::<Vec<_>>(),
        dirs
    );
    // All that is not a window of an agent is as kitty wrote it.
    let rest = |text: &str| -> Vec<String> {
        let agents = |l: &&str| l.contains("kittymux_agent=") || l.starts_with('#') || l.is_empty();
        text.lines()
            .filter(|l| !agents(l))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(rest(&after), rest(&before));
    let bak = PathBuf::from(format!("{}.bak", path.display()));
    assert_eq!(
        (read(&bak), mode(&path), mode(&bak)),
        (before, 0o600, 0o600)
    );

    let (code, said, _) = rewrite(&rig, &[&path]);
    assert!(code == 0 && said.contains("nothing to do"), "{said}");
    assert_eq!(read(&path), after);
    let names: Vec<String> = std::fs::read_dir(rig.home())
        .expect("home")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| n.starts_with(".kittymux") || n.contains(".tmp"))
        .collect();
    assert!(names.is_empty(), "{names:?}");

    let old = kitty.pid;
    kitty.crash();
    rig.kittymux_ok(None, &["sessions", "restore", &path.display().to_string()]);
    let back = rig.new_kitty(old);
    let asks = |words: &str| {
        until(words, || {
            back.windows()
                .into_iter()
                .find(|w| back.text(w.id).replace('\n', "").contains(words))
        })
    };
    let window = asks(&sid[..8]);
    back.shows(window.id, "Enter resume");
    // Keys of the first moment are dropped.
    std::thread::sleep(Duration::from_millis(250));
    back.send(window.id, "\r");
    back.shows(window.id, &format!("conversation {sid} (resumed)"));
}

#[test]
fn a_save_of_ours_is_brought_up_to_date_and_nothing_else_moves() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let (_, sid) = claude(&rig, &kitty, "a", &["--model", "opus"]);
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "--all", "work"]);
    let sessions = rig.home().join(".local/state/kittymux/sessions");
    let path = sessions.join("work.kitty-session");
    let good = read(&path);
    let (code, said, _) = rewrite(&rig, &[Path::new("work")]);
    assert!(
        code == 0 && said.contains("nothing to do") && said.contains("1 as recorded"),
        "{said}"
    );
    assert_eq!(read(&path), good);
    let own = rig.dir("tools").join("kittymux").display().to_string();
    assert!(good.contains(&own), "{good}");
    let moved = good.replace(&own, "/old/place/kittymux");
    std::fs::write(&path, &moved).expect("written");
    let (code, said, wrong) = rewrite(&rig, &[&path]);
    assert_eq!((code, wrong.as_str()), (0, ""), "{said}");
    assert_eq!(read(&path), good);
    assert_eq!(read(&sessions.join(".previous/work.kitty-session")), moved);
    assert_eq!(
        records(&good)
            .into_iter()
            .flatten()
            .next()
            .expect("a record")
            .sid,
        sid
    );
    assert!(!sessions.join("work.kitty-session.bak").exists());
}

#[test]
fn what_kitty_would_refuse_is_named_and_left_alone() {
    let rig = Rig::new("/bin/bash", true);
    let marked = |rest: &str| {
        format!(
            "new_tab t\nlaunch 'kitty-unserialize-data={{\"id\": 1}}' --var=kittymux_agent=claude {rest}\n"
        )
    };
    let quote = rig.file("quote.kitty-session", &marked("'claude"));
    let option = rig.file("option.kitty-session", &marked("--frob=1 claude"));
    let hand = rig.file("hand.kitty-session", "launch claude\nlayuot tall\n");
    let good = rig.file("good.kitty-session", &marked("claude"));
    let files = [&quote, &option, &hand, &good].map(PathBuf::as_path);
    let before = files.map(read);
    let (code, said, wrong) = rewrite(&rig, &files);
    assert_eq!(code, 1);
    let lines: Vec<&str> = wrong.lines().collect();
    assert_eq!(lines.len(), 3, "{wrong}");
    for (line, name) in lines.iter().zip(["quote", "option", "hand"]) {
        let begins =
            format!("kittymux: ~/{name}.kitty-session: kitty would refuse it for line 2: ");
        assert!(
            line.starts_with(&begins) && line.ends_with("left alone"),
            "{wrong}"
        );
    }
    assert!(
        said.starts_with("~/good.kitty-session: 1 window: 1 new;"),
        "{said}"
    );
    for (file, text) in files.iter().zip(&before).take(3) {
        assert_eq!(&read(file), text);
        assert!(!Path::new(&format!("{}.bak", file.display())).exists());
    }
    // What kitty itself writes wrongly is repaired, and said.
    let broken = "new_tab two\nlines\nlayout tall\ncd /tmp/$x\nlaunch 'kitty-unserialize-data={\"id\": 1}' '--title=$HOME'\n";
    let path = rig.file("broken.kitty-session", broken);
    let (code, said, _) = rewrite(&rig, &[&path]);
    assert!(
        code == 0 && said.contains("left out a line that kitty cannot read: lines"),
        "{said}"
    );
    let text = read(&path);
    assert!(
        text.contains("cd /tmp/$$x\n") && text.contains("'--title=$$HOME'"),
        "{text}"
    );
    assert!(rewrite(&rig, &[&path]).1.contains("nothing to do"));
    assert_eq!(read(&path), text, "no dollar is doubled twice");
}

#[test]
fn what_a_person_wrote_and_what_holds_nothing_stays() {
    let rig = Rig::new("/bin/bash", true);
    let hand =
        "# mine\nlayout tall\ncd $HOME/x\nlaunch --title=$USER claude --model opus\nlaunch\n";
    for text in [
        hand,
        "",
        "\n\n",
        "# only a comment\n",
        "new_tab a\nlayout tall\n",
    ] {
        let path = rig.file("hand.kitty-session", text);
        let (code, said, wrong) = rewrite(&rig, &[&path]);
        assert_eq!((code, wrong.as_str()), (0, ""), "{text}");
        assert!(
            said.contains("nothing to do") || said.contains("no window in it"),
            "{said}"
        );
        assert_eq!(read(&path), text);
    }
    let (code, _, wrong) = rewrite(&rig, &[&rig.home().join("none")]);
    assert!(code == 1 && wrong.contains("no such file"), "{wrong}");
    assert_eq!(rewrite(&rig, &[]).0, 2);
}

#[test]
fn a_mark_that_anybody_can_set_starts_nothing_of_its_own() {
    let rig = Rig::new("/bin/bash", true);
    let sid = "0a1b2c3d-0000-4000-8000-000000000009";
    let line = |startup: &str, sid: &str| {
        format!(
            "launch 'kitty-unserialize-data={{\"id\": 1, \"cmd_at_shell_startup\": {startup}, \"later\": {{\"x\": [1]}}}}' --var=kittymux_agent=claude --var=kittymux_resume=exact --var=kittymux_sid={sid}\n"
        )
    };
    let text = line("[\"claude\"]", sid)
        + &line("[\"claude\"]", "--dangerous;rm")
        + &line("[\"rm\", \"-rf\", \"x\"]", sid)
        + &line("\"claude; rm -rf x\"", sid);
    let path = rig.file("marks.kitty-session", &text);
    let (code, said, _) = rewrite(&rig, &[&path]);
    assert!(
        code == 0 && said.contains("4 windows: 2 new, 2 as saved"),
        "{said}"
    );
    let after = read(&path);
    let found = records(&after);
    for record in found.iter().take(2) {
        let record = record.as_ref().expect("a record");
        assert_eq!((record.mode, record.sid.as_str()), (Mode::New, ""));
        assert_eq!(
            (record.orig.as_slice(), record.resume.len()),
            (["claude".to_owned()].as_slice(), 0)
        );
    }
    assert!(found[2].is_none() && found[3].is_none());
    let file = SessionFile::read(&after, Origin::Person, &[]);
    let startups: Vec<Option<Startup>> = file.launches().map(|l| l.startup()).collect();
    assert!(startups[0].is_none() && startups[2].is_some() && startups[3].is_some());
    assert_eq!(
        after.matches("\"later\": {\"x\": [1]}").count(),
        4,
        "what we do not know stays"
    );
}
