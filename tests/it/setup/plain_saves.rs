//! Saves after kittymux: they open in kitty without it, each agent on its conversation.

use std::path::Path;

use crate::pty::Pty;
use crate::rig::{Rig, has_shell, until};
use crate::scene::Scene;
use kittymux::kitty::session_file::{Origin, SessionFile};

/// A text of a save without its first line, which is a comment of ours.
fn body(text: &str) -> &str {
    let (first, rest) = text.split_once('\n').expect("lines");
    assert!(first.starts_with("# kittymux 1 "), "{first}");
    rest
}

#[test]
fn a_save_opens_without_kittymux_and_its_agents_are_back() {
    opens_without(true);
}

#[test]
fn it_does_so_in_shells_without_kittys_integration() {
    opens_without(false);
}

fn opens_without(integration: bool) {
    let rig = Rig::new("/bin/bash", integration);
    let kitty = rig.start_kitty(&[]);
    let scene = Scene { rig, kitty };
    let mut talks = Vec::new();
    let program = scene.rig.home().join("bin/claude").display().to_string();
    let own = scene
        .kitty
        .launch(&scene.rig.dir("own"), &[&program, "--model", "opus"]);
    scene.kitty.shows(own, "claude: conversation");
    talks.push(scene.talk(own));
    let bash = scene.type_in(&scene.rig.dir("b it's $x"), "claude --verbose", "(new)");
    talks.push(scene.talk(bash));
    for shell in ["/usr/bin/zsh", "/usr/bin/fish"] {
        if !has_shell(shell) {
            continue;
        }
        let id = scene.kitty.launch(&scene.rig.dir("c"), &[shell]);
        let prompt = if shell.ends_with("zsh") { "%" } else { ">" };
        scene.kitty.shows(id, prompt);
        scene.kitty.send(id, "claude\r");
        scene.kitty.shows(id, "(new)");
        talks.push(scene.talk(id));
    }
    let Scene { rig, kitty } = scene;
    rig.kittymux_ok(Some(&kitty), &["sessions", "save", "--all", "desk"]);
    kitty.crash();
    let asking = rig.saved("desk");
    // A yes to the removal leaves the saves alone, and says how they are changed.
    let said = rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    assert!(
        said.contains("kittymux setup --remove --plain-saves"),
        "{said}"
    );
    assert_eq!(rig.saved("desk"), asking);
    let said = rig.kittymux_ok(None, &["setup", "--remove", "--plain-saves"]);
    let counted = format!("desk: {} agents by plain command", talks.len());
    assert!(said.contains(&counted), "{said}");
    let text = rig.saved("desk");
    for word in ["kittymux", "KITTYMUX", "resume-prompt"] {
        assert!(!body(&text).contains(word), "{text}");
    }
    let file = SessionFile::read(&text, Origin::Person, &[]);
    assert_eq!(file.refusal(), None, "{text}");
    let before = SessionFile::read(&asking, Origin::Person, &[]);
    assert_eq!(file.launches().count(), before.launches().count());
    let sessions = rig.state().join("sessions");
    let kept = std::fs::read_to_string(sessions.join(".previous/desk.kitty-session"));
    assert_eq!(kept.expect("kept"), asking);
    // Once more there is nothing to do.
    let again = rig.kittymux_ok(None, &["setup", "--remove", "--plain-saves"]);
    assert!(!again.contains("plain"), "{again}");
    assert_eq!(rig.saved("desk"), text);

    std::fs::remove_file(rig.tool("kittymux")).expect("the program goes");
    let path = sessions.join("desk.kitty-session").display().to_string();
    let kitty = rig.start_kitty(&["--session", &path]);
    for sid in &talks {
        until(&format!("the conversation {sid}"), || {
            let shown = format!("conversation {sid} (resumed)");
            let shows = |w: &kittymux::kitty::tree::Window| {
                kitty.text(w.id).replace('\n', "").contains(&shown)
            };
            kitty.windows().iter().any(shows).then_some(())
        });
    }
    // What ran in a shell is in it again: the shell stays.
    let starts = rig.starts();
    let with = |words: &str| starts.iter().any(|s| s.contains(words));
    let opus = format!("\"--model\",\"opus\",\"--resume\",\"{}\"", talks[0]);
    let verbose = format!("\"--verbose\",\"--resume\",\"{}\"", talks[1]);
    assert!(with(&opus) && with(&verbose), "{starts:?}");
}

/// A save in which one window asks.
fn asking(rig: &Rig) -> std::path::PathBuf {
    let record = r#"{"v":1,"agent":"claude","mode":"exact","sid":"0a1b2c3d-0000-4000-8000-000000000001","orig":["claude"],"resume":["claude","--resume","0a1b2c3d-0000-4000-8000-000000000001"],"exe":"","cwd":"/","tab":"","save":"s","at":"","was":[]}"#;
    let km = rig.tool("kittymux");
    rig.file(
        ".local/state/kittymux/sessions/work.kitty-session",
        &format!(
            "# kittymux 1 captured=x boot=1 up=1 kitty=1-1 save=s host=1\ncd /\n\
             launch 'kitty-unserialize-data={{\"id\": 1}}' {km} resume-prompt --info '{record}'\n"
        ),
    )
}

fn on_a_terminal(rig: &Rig, answers: &[(&str, &str)]) -> String {
    let mut command = rig.command(Path::new(&rig.tool("kittymux")));
    command.args(["setup", "--remove"]);
    let mut pty = Pty::start(command, b"");
    for (question, answer) in answers {
        pty.shows(question);
        pty.send(answer.as_bytes());
    }
    assert!(pty.end().success());
    pty.text()
}

#[test]
fn on_a_terminal_it_asks_for_the_saves_by_themselves() {
    let rig = Rig::new("/bin/bash", true);
    let save = asking(&rig);
    let before = std::fs::read_to_string(&save).expect("there");
    rig.kittymux_ok(None, &["setup", "--yes"]);
    on_a_terminal(
        &rig,
        &[
            ("Take it away? [y/N]", "y\r"),
            ("by plain commands instead? [y/N]", "n\r"),
        ],
    );
    assert_eq!(std::fs::read_to_string(&save).expect("there"), before);
    assert!(!rig.state().join("kitty").exists());
    on_a_terminal(&rig, &[("by plain commands instead? [y/N]", "y\r")]);
    let text = std::fs::read_to_string(&save).expect("there");
    assert!(
        body(&text).ends_with(" claude --resume 0a1b2c3d-0000-4000-8000-000000000001\n"),
        "{text}"
    );
}

#[test]
fn a_file_that_would_not_load_is_left_alone_and_said() {
    let rig = Rig::new("/bin/bash", true);
    let save = asking(&rig);
    let bad = std::fs::read_to_string(&save).expect("there") + "layuot tall\n";
    std::fs::write(&save, &bad).expect("written");
    let done = rig.kittymux(None, &["setup", "--remove", "--yes", "--plain-saves"]);
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        wrong.contains("work.kitty-session: kitty would refuse it for line 4"),
        "{wrong}"
    );
    assert_eq!(std::fs::read_to_string(&save).expect("there"), bad);
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(!said.contains(".previous"), "{said}");
}
