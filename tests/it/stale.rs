//! What kitty knows is sometimes not so, or not to be had: a typed line that is another command's, and
//! requests too long for it.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::rig::until;
use crate::scene::Scene;
use kittymux::kitty::address::Address;
use kittymux::kitty::client::{Connection, Silence};
use kittymux::kitty::launch_line::Startup;
use kittymux::kitty::wire::{MAX_REQUEST, request};
use kittymux::resume::record::Mode;
use kittymux::sys::json::Object;

/// A line typed behind a blank: bash keeps it out of its history, so kitty reports the one before.
#[test]
fn a_line_that_was_kept_out_of_the_history_is_not_the_one_before_it() {
    let scene = Scene::new();
    scene.rig.file(
        ".bashrc",
        "export FOO=1 PATH=$HOME/bin:$PATH PS1='$ ' HISTCONTROL=ignoreboth\nalias nap='sleep 985'\n",
    );
    let dir = scene.rig.dir("p");
    let type_in = |line: &str, shows: &str| {
        // What must not run twice.
        let id = scene.type_in(&dir, "echo once >>once; echo first\\ done", "first done");
        at_prompt(&scene, id);
        scene.kitty.send(id, &format!("{line}\r"));
        if shows.is_empty() {
            // The program itself: the shell's copy that becomes it does not hear a ^Z.
            until("a program", || in_front(&scene, id, "sleep"));
        } else {
            scene.kitty.shows(id, shows);
        }
        id
    };
    let agent = type_in(" claude --model opus", "(new)");
    let sid = scene.talk(agent);
    let plain = type_in(" sleep 987", "");
    let script = scene.rig.file("p/wait.sh", "echo waits; sleep 986; true\n");
    let wrapped = type_in(&format!(" bash {} x", script.display()), "waits");
    let alias = type_in("nap", "");
    let typed = type_in("sleep 984; true", "");
    let back = type_in("sleep 983", "");
    scene.kitty.send(back, "\x1a");
    at_prompt(&scene, back);
    scene.kitty.send(back, "fg\r");
    until("it to be in front again", || {
        let window = scene.kitty.window(back)?;
        let reported = window.last_reported_cmdline.as_deref() == Some("fg");
        in_front(&scene, back, "sleep").filter(|()| reported)
    });
    // The fault is kitty's, and there.
    let reported = scene.kitty.window(plain).expect("there");
    assert!(
        reported
            .last_reported_cmdline
            .is_some_and(|line| line.starts_with("echo once")),
        "kitty reports the line before"
    );
    let saved = scene.save("stale");
    let record = saved.record(agent);
    assert_eq!((record.mode, &record.sid), (Mode::Exact, &sid));
    assert_eq!(record.orig, ["claude", "--model", "opus"]);
    assert_eq!(saved.line(agent).startup(), None);
    let words = |id| match saved.line(id).startup() {
        Some(Startup::Words(words)) => words.join(" "),
        other => panic!("{other:?}"),
    };
    assert_eq!(words(plain), "sleep 987");
    assert_eq!(words(wrapped), format!("bash {} x", script.display()));
    assert_eq!(words(alias), "sleep 985");
    assert_eq!(words(back), "sleep 983");
    assert_eq!(
        saved.line(typed).startup(),
        Some(Startup::Line("sleep 984; true".to_owned()))
    );
    let once = || std::fs::read_to_string(dir.join("once")).expect("ran once");
    let before = once();
    let scene = scene.restore("stale");
    scene.kitty.shows(scene.asking(&sid), "Enter resume");
    for wanted in [
        "sleep 987",
        "sleep 986",
        "sleep 985",
        "sleep 984",
        "sleep 983",
    ] {
        until(wanted, || {
            let windows = scene.kitty.windows();
            let mut all = windows.iter().flat_map(|w| &w.foreground_processes);
            all.any(|p| p.cmdline.join(" ").ends_with(wanted))
                .then_some(())
        });
    }
    assert_eq!(once(), before, "nothing of before is run again");
}

/// Whether a program runs in front of a window.
fn in_front(scene: &Scene, id: u64, name: &str) -> Option<()> {
    let front = scene.kitty.window(id)?.foreground_processes;
    let is = |words: &[String]| words.first().is_some_and(|word| word == name);
    front.iter().any(|p| is(&p.cmdline)).then_some(())
}

fn at_prompt(scene: &Scene, id: u64) {
    until("the prompt", || {
        scene.kitty.window(id).filter(|w| w.at_prompt).map(|_| ())
    });
}

#[test]
fn a_request_longer_than_kitty_takes_is_not_sent_and_would_be_refused() {
    let scene = Scene::new();
    let id = scene.kitty.windows()[0].id;
    // One that sets a variable of the right length.
    let frame = |length: usize| {
        let with = |value: &str| {
            let payload = Object::new()
                .text("match", &format!("id:{id}"))
                .texts("var", &[format!("filler={value}")]);
            request("set-user-vars", &payload.finish(), None)
        };
        let room = length - with("").len();
        with(&"x".repeat(room))
    };
    let wait = Duration::from_secs(5);
    let longest = frame(MAX_REQUEST);
    assert_eq!(longest.len(), MAX_REQUEST);
    let mut connection = Connection::open(&scene.kitty.address).expect("a kitty");
    connection
        .ask(&longest, wait)
        .expect("an answer")
        .into_data()
        .expect("set");
    let filler = scene.kitty.window(id).expect("there");
    let filler = filler.user_vars.get("filler").map_or(0, String::len);
    assert!(filler > 65_000, "{filler}");
    let longer = frame(MAX_REQUEST + 1);
    assert!(matches!(
        connection.ask(&longer, wait),
        Err(Silence::Broken(_))
    ));
    // kitty itself: the connection is reset, or closed without an answer.
    let Address::Path(path) = &scene.kitty.address else {
        panic!("a path");
    };
    let mut stream = UnixStream::connect(path).expect("a kitty");
    stream.set_read_timeout(Some(wait)).expect("set");
    let _ = std::io::Write::write_all(&mut stream, &longer);
    let mut heard = Vec::new();
    let ended = std::io::Read::read_to_end(&mut stream, &mut heard);
    let refused = match &ended {
        Ok(_) => true,
        Err(e) => e.kind() == std::io::ErrorKind::ConnectionReset,
    };
    assert!(refused && heard.is_empty(), "{ended:?} {heard:?}");
    // A window with so long a variable is saved and comes back whole.
    scene.save("long");
    let scene = scene.restore("long");
    let back = until("its window", || {
        let windows = scene.kitty.windows();
        windows
            .iter()
            .find_map(|w| w.user_vars.get("filler").map(String::len))
    });
    assert_eq!(back, filler);
}
