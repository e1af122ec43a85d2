//! Shells beside the usual: login shells, dash, start-up files that put another shell in place or are
//! not there, a home with a blank, and a kittymux that is gone.

use crate::rig::{Kitty, Rig, announced, has_shell, until};
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::rewrite::record_text;
use kittymux::sys::proc;
use std::path::{Path, PathBuf};

/// Starts claude in a fresh window and says a word; its window and session id.
fn talk(rig: &Rig, kitty: &Kitty, agent: &str) -> (u64, String) {
    let id = kitty.launch(&rig.dir("p"), &[]);
    prompts(kitty, id);
    kitty.send(id, &format!("{agent} --model opus\r"));
    kitty.shows(id, "(new)");
    kitty.send(id, "hello\r");
    (
        id,
        announced(&kitty.shows(id, "heard hello")).expect("an id"),
    )
}

/// Waits for a shell's prompt.
fn prompts(kitty: &Kitty, id: u64) {
    until("a prompt", || {
        kitty
            .text(id)
            .trim_end()
            .ends_with(['$', '#', '%', '>'])
            .then_some(())
    });
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
    let (_, sid) = talk(&rig, &kitty, "claude");
    let (kitty, id) = again(&rig, kitty, &sid);
    resume_and_leave(&kitty, id, &sid);
    assert!(
        last_start(&rig).contains("\"FOO\":\"login\""),
        "{}",
        last_start(&rig)
    );
}

/// The program of a window's own process.
fn program_of(kitty: &Kitty, id: u64) -> Option<String> {
    proc::exe(kitty.window(id)?.pid?).found()
}

/// An agent in a shell that comes back behind kitty's run-shell: five times over it is resumed with
/// its flags, and the shell is there afterwards, started as it was.
fn five_times_over(rig: &Rig, shell: &str, name: &str, agent: &str) {
    rig.write_conf(&format!("shell {shell}"));
    let mut kitty = rig.start_kitty(&[]);
    let (mut id, sid) = talk(rig, &kitty, agent);
    let is_shell = |kitty: &Kitty, id| {
        program_of(kitty, id).is_some_and(|exe| exe.ends_with(&format!("/{name}")))
    };
    assert!(is_shell(&kitty, id), "{:?}", program_of(&kitty, id));
    let mut line = String::new();
    for generation in 0..5 {
        (kitty, id) = again(rig, kitty, &sid);
        let saved = SessionFile::read(&rig.saved("again"), Origin::Person, &[]);
        let launch = saved.launches().find(|l| record_text(l).is_some());
        let program = launch.expect("asks").program()[..3].join(" ");
        assert!(
            program.starts_with("kitten run-shell --shell=")
                && (generation == 0 || program == line),
            "{name}, generation {generation}: {program}, was {line}"
        );
        line = program;
        kitty.shows(id, "Enter resume");
        std::thread::sleep(std::time::Duration::from_millis(250));
        kitty.send(id, "\r");
        kitty.shows(id, &format!("{sid} (resumed)"));
        let start = last_start(rig);
        assert!(
            start.contains("\"--model\",\"opus\"") && start.contains(&sid),
            "{name}: {start}"
        );
    }
    kitty.send(id, "/exit\r");
    until("the shell", || is_shell(&kitty, id).then_some(()));
    prompts(&kitty, id);
    kitty.send(id, "echo alive\r");
    // Words that every shell takes: the answer is what stands alone.
    until("an answer", || {
        let alone = |l: &str| l.trim_end() == "alive";
        kitty.text(id).lines().any(alone).then_some(())
    });
    // Without an agent the window is that shell, and nothing of ours.
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "left"]);
    let saved = SessionFile::read(&rig.saved("left"), Origin::Person, &[]);
    let launch = saved
        .launches()
        .find(|l| l.id() == Some(id))
        .expect("saved");
    assert!(
        record_text(launch).is_none() && launch.startup().is_none(),
        "{name}: {}",
        launch.text()
    );
    // A shell chosen at the prompt is this one, too.
    (kitty, id) = {
        rig.kittymux_ok(None, &["sessions", "restore", "again"]);
        let kitty = rig.new_kitty(kitty.pid);
        let id = until("its window", || {
            let windows = kitty.windows().into_iter();
            windows.rev().find(|w| w.var("kittymux_sid") == Some(&sid))
        })
        .id;
        (kitty, id)
    };
    kitty.shows(id, "Enter resume");
    std::thread::sleep(std::time::Duration::from_millis(250));
    kitty.send(id, "s");
    until("the shell", || is_shell(&kitty, id).then_some(()));
}

#[test]
fn dash_is_the_windows_shell_five_times_over() {
    if !has_shell("/bin/dash") {
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    // Its start-up files are not read, so the program is found where it was when it was saved.
    let claude = rig.home().join("bin/claude").display().to_string();
    five_times_over(&rig, "/bin/dash", "dash", &claude);
}

#[test]
fn elvish_is_the_windows_shell_five_times_over() {
    if !has_shell("/usr/bin/elvish") {
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    rig.file(
        ".config/elvish/rc.elv",
        "set paths = [~/bin $@paths]\nset edit:prompt = { print 'elvish> ' }\nset edit:rprompt = { }\n",
    );
    five_times_over(&rig, "/usr/bin/elvish", "elvish", "claude");
}

/// A nu below a directory with a blank, with a configuration that must stay named.
fn nu_five_times_over(place: impl FnOnce(&Rig) -> PathBuf) {
    let rig = Rig::new("/bin/bash", true);
    let nu = place(&rig);
    // Of its own accord nu puts the time at the right edge, behind the prompt.
    let config = rig.file(
        "nu config/it.nu",
        &format!(
            "$env.PATH = \"{}:/usr/bin:/bin\"\n$env.PROMPT_COMMAND_RIGHT = \"\"\n",
            rig.home().join("bin").display()
        ),
    );
    let shell = format!("'{}' --config '{}'", nu.display(), config.display());
    five_times_over(&rig, &shell, "nu", "claude");
    let saved = SessionFile::read(&rig.saved("again"), Origin::Person, &[]);
    let program = saved
        .launches()
        .find(|l| record_text(l).is_some())
        .map(|l| l.program().join(" "));
    assert!(
        program.is_some_and(|p| p.contains(&format!("--config '{}'", config.display()))),
        "its options stay"
    );
}

#[test]
fn nu_is_the_windows_shell_five_times_over() {
    let Some(nu) = std::env::var_os("KITTYMUX_TEST_NU").filter(|p| Path::new(p).exists()) else {
        println!("left out: no nushell is here (tests/nu.sh fetches one)");
        return;
    };
    nu_five_times_over(|rig| {
        let link = rig.dir("my shells").join("nu");
        std::os::unix::fs::symlink(nu, &link).expect("a link");
        link
    });
}

#[test]
fn a_stand_in_for_nu_is_the_windows_shell_five_times_over() {
    // It runs programs as jobs of its own, as nu does.
    nu_five_times_over(|rig| rig.agent("my shells/nu"));
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
    let (id, sid) = talk(&rig, &kitty, "claude");
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
        prompts(&kitty, id);
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
    let (_, sid) = talk(&rig, &kitty, "claude");
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
        let (_, sid) = talk(&rig, &kitty, "claude");
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
        prompts(&kitty, id);
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
