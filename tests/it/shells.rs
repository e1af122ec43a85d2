//! Shells beside the usual: login shells, dash, start-up files that put another shell in place or are
//! not there, a home with a blank, and a kittymux that is gone.

use crate::rig::{Kitty, Rig, announced, has_shell, until};
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::rewrite::record_text;

/// Types `claude` in a fresh window and says a word; its window and session id.
fn talk(rig: &Rig, kitty: &Kitty, prompt: &str) -> (u64, String) {
    let id = kitty.launch(&rig.dir("p"), &[]);
    kitty.shows(id, prompt);
    kitty.send(id, "claude --model opus\r");
    kitty.shows(id, "(new)");
    kitty.send(id, "hello\r");
    (
        id,
        announced(&kitty.shows(id, "heard hello")).expect("an id"),
    )
}

/// Saves, kills and restores; the kitty and the window that asks.
fn again(rig: &Rig, kitty: Kitty, sid: &str) -> (Kitty, u64) {
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "again"]);
    let old = kitty.pid;
    kitty.crash();
    rig.kittymux_ok(None, &["sessions", "restore", "again"]);
    let kitty = rig.new_kitty(old);
    let id = until("its window", || {
        kitty
            .windows()
            .into_iter()
            .find(|w| w.var("kittymux_sid") == Some(sid))
    })
    .id;
    (kitty, id)
}

/// Answers with Enter, and leaves the agent; a shell must be there afterwards.
fn resume_and_leave(kitty: &Kitty, id: u64, sid: &str) {
    kitty.shows(id, "Enter resume");
    std::thread::sleep(std::time::Duration::from_millis(250));
    kitty.send(id, "\r");
    kitty.shows(id, &format!("{sid} (resumed)"));
    kitty.send(id, "/exit\r");
    std::thread::sleep(std::time::Duration::from_millis(400));
    kitty.send(id, "echo ali''ve\r");
    kitty.shows(id, "alive");
}

fn last_start(rig: &Rig) -> String {
    rig.starts().pop().expect("a start")
}

#[test]
fn a_login_bash_reads_its_login_files() {
    let rig = Rig::new("/bin/bash --login", true);
    rig.file(".bashrc", "export FOO=wrong\n");
    rig.file(
        ".bash_profile",
        "export FOO=login PATH=$HOME/bin:$PATH PS1='$ '\n",
    );
    let kitty = rig.start_kitty(&[]);
    let (_, sid) = talk(&rig, &kitty, "$");
    let (kitty, id) = again(&rig, kitty, &sid);
    resume_and_leave(&kitty, id, &sid);
    assert!(
        last_start(&rig).contains("\"FOO\":\"login\""),
        "{}",
        last_start(&rig)
    );
}

#[test]
fn dash_comes_back_as_dash_behind_kittys_run_shell() {
    if !has_shell("/bin/dash") {
        return;
    }
    let rig = Rig::new("/bin/dash", true);
    let kitty = rig.start_kitty(&[]);
    let id = kitty.launch(&rig.dir("p"), &[]);
    kitty.send(
        id,
        &format!("PATH={}:$PATH; claude\r", rig.home().join("bin").display()),
    );
    kitty.shows(id, "(new)");
    kitty.send(id, "hello\r");
    let sid = announced(&kitty.shows(id, "heard hello")).expect("an id");
    let (kitty, id) = again(&rig, kitty, &sid);
    // Its start-up files are not read, so the program is found where it was when it was saved.
    resume_and_leave(&kitty, id, &sid);
    kitty.send(id, "echo $0; readlink /proc/$$/exe\r");
    kitty.shows(id, "/dash");
}

#[test]
fn start_up_files_that_put_another_shell_in_place_are_followed() {
    if !has_shell("/usr/bin/fish") {
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    rig.file(
        ".bashrc",
        "export PATH=$HOME/bin:$PATH\n[ -z \"$BASH_EXECUTION_STRING\" ] && exec fish\n",
    );
    let kitty = rig.start_kitty(&[]);
    let (id, sid) = talk(&rig, &kitty, ">");
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "again"]);
    let file = SessionFile::read(&rig.saved("again"), Origin::Person, &[]);
    let line = file.launches().find(|l| l.id() == Some(id)).expect("saved");
    assert!(
        line.program().first().is_some_and(|p| p.ends_with("/fish")),
        "the shell that is there: {}",
        line.text()
    );
    let (kitty, id) = again(&rig, kitty, &sid);
    resume_and_leave(&kitty, id, &sid);
}

#[test]
fn no_start_up_files_at_all() {
    for shell in ["/bin/bash", "/bin/zsh", "/usr/bin/fish"] {
        if !has_shell(shell) {
            continue;
        }
        let rig = Rig::new(shell, true);
        for file in [".bashrc", ".config/fish/config.fish"] {
            std::fs::remove_file(rig.home().join(file)).expect("removed");
        }
        // Without any file zsh asks a new person its questions.
        rig.file(".zshrc", "");
        let kitty = rig.start_kitty(&[]);
        let id = kitty.launch(&rig.dir("p"), &[]);
        until("a shell", || {
            kitty
                .text(id)
                .trim_end()
                .ends_with(['$', '#', '%', '>'])
                .then_some(())
        });
        kitty.send(id, &format!("{}/bin/claude\r", rig.home().display()));
        kitty.shows(id, "(new)");
        kitty.send(id, "hello\r");
        let sid = announced(&kitty.shows(id, "heard hello")).expect("an id");
        let (kitty, id) = again(&rig, kitty, &sid);
        resume_and_leave(&kitty, id, &sid);
    }
}

#[test]
fn a_home_with_blanks_quotes_and_a_dollar() {
    let rig = Rig::in_home("my 'home' $x", "/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let (_, sid) = talk(&rig, &kitty, "$");
    let (kitty, id) = again(&rig, kitty, &sid);
    resume_and_leave(&kitty, id, &sid);
    assert!(
        last_start(&rig).contains("\"FOO\":\"1\""),
        "{}",
        last_start(&rig)
    );
}

#[test]
fn without_kittymux_a_shell_window_is_a_plain_shell() {
    for shell in ["/bin/bash", "/bin/zsh", "/usr/bin/fish"] {
        if !has_shell(shell) {
            continue;
        }
        let rig = Rig::new(shell, true);
        let kitty = rig.start_kitty(&[]);
        let (_, sid) = talk(
            &rig,
            &kitty,
            match shell {
                "/bin/bash" => "$",
                "/bin/zsh" => "%",
                _ => ">",
            },
        );
        rig.kittymux_ok(Some(&kitty), &["sessions", "save", "again"]);
        let file = rig
            .home()
            .join(".local/state/kittymux/sessions/again.kitty-session");
        let text = std::fs::read_to_string(&file).expect("saved");
        let own = SessionFile::read(&text, Origin::Person, &[]);
        let bin = own
            .launches()
            .find_map(|l| l.env("KITTYMUX_BIN").map(str::to_owned))
            .expect("a path");
        // As after an uninstall: the file names a program that is not there.
        std::fs::write(&file, text.replace(&bin, "/nonexistent/kittymux")).expect("written");
        let old = kitty.pid;
        kitty.crash();
        let kitty = rig.start_kitty(&["--session", &file.display().to_string()]);
        assert_ne!(kitty.pid, old);
        let id = until("its window", || {
            kitty
                .windows()
                .into_iter()
                .find(|w| w.var("kittymux_sid") == Some(&sid))
        })
        .id;
        until("a prompt", || {
            kitty
                .text(id)
                .trim_end()
                .ends_with(['$', '%', '>'])
                .then_some(())
        });
        kitty.send(id, "echo $FOO ali''ve\r");
        kitty.shows(id, "1 alive");
        // And a save of that desk still knows the conversation that nobody was asked about.
        rig.kittymux_ok(Some(&kitty), &["sessions", "save", "later"]);
        let later = SessionFile::read(&rig.saved("later"), Origin::Person, &[]);
        assert!(
            later
                .launches()
                .filter_map(record_text)
                .any(|t| t.contains(&sid)),
            "{shell}"
        );
    }
}
