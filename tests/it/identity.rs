//! Which conversation, on real processes: where it lives, under which spelling and which account.

use crate::rig::{announced, until};
use crate::scene::Scene;
use kittymux::resume::record::Mode;
use kittymux::resume::rewrite::record_text;

#[test]
fn the_conversation_is_resumed_where_it_lives() {
    let scene = Scene::new();
    let (dir, sub) = (scene.rig.dir("p"), scene.rig.dir("p/src"));
    let id = scene.type_in(&dir, "claude", "(new)");
    let sid = scene.talk(id);
    scene.kitty.leave(id);
    scene
        .kitty
        .send(id, &format!("cd src && claude --resume {sid}\r"));
    scene.kitty.shows(id, "(resumed)");
    let record = scene.save("owner").record(id);
    assert_eq!(record.sid, sid);
    assert_eq!(
        record.cwd,
        dir.display().to_string(),
        "not {}",
        sub.display()
    );
}

#[test]
fn two_spellings_of_a_directory_are_one() {
    let scene = Scene::new();
    let real = scene.rig.dir("data/api");
    std::os::unix::fs::symlink(scene.rig.home().join("data"), scene.rig.home().join("code"))
        .expect("a link");
    let spelled = scene.rig.home().join("code/api");
    let one = scene.type_in(&spelled, "opencode", "(new)");
    let saved = scene.save("one");
    assert_eq!(
        saved.record(one).mode,
        Mode::Latest,
        "the only one may take the latest"
    );
    assert_eq!(
        saved.record(one).cwd,
        spelled.display().to_string(),
        "the spelling stays"
    );
    let two = scene.type_in(&real, "opencode", "(new)");
    let saved = scene.save("two");
    assert_eq!(
        (saved.record(one).mode, saved.record(two).mode),
        (Mode::New, Mode::New)
    );
}

#[test]
fn the_agents_own_config_directory_is_looked_into_and_carried() {
    let scene = Scene::new();
    let work = scene.rig.home().join(".claude-work");
    let id = scene.type_in(
        &scene.rig.dir("p"),
        &format!("CLAUDE_CONFIG_DIR={} claude", work.display()),
        "(new)",
    );
    let sid = scene.talk(id);
    let record = scene.save("work").record(id);
    assert_eq!((record.mode, &record.sid), (Mode::Exact, &sid));
    assert_eq!(
        record.env,
        [format!("CLAUDE_CONFIG_DIR={}", work.display())]
    );
    let scene = scene.restore("work");
    let id = scene.asking(&sid);
    scene.kitty.shows(id, "Enter resume");
    std::thread::sleep(std::time::Duration::from_millis(250));
    scene.kitty.send(id, "\r");
    scene.kitty.shows(id, &format!("{sid} (resumed)"));
}

#[test]
fn the_id_follows_clear_and_a_killed_agent_leaves_nothing_to_believe() {
    let scene = Scene::new();
    let dir = scene.rig.dir("p");
    let id = scene.type_in(&dir, "claude", "(new)");
    let first = scene.talk(id);
    scene.kitty.send(id, "/clear\r");
    until("another id", || {
        announced(&scene.kitty.text(id)).filter(|s| *s != first)
    });
    let empty = scene.save("empty").record(id);
    assert_eq!(
        (empty.mode, empty.sid.as_str()),
        (Mode::New, ""),
        "nothing was said in the new one yet"
    );
    let second = scene.talk(id);
    assert_eq!(scene.save("second").record(id).sid, second);
    // Killed, it leaves its registry entry behind; another agent may get the window.
    scene.kitty.leave(id);
    let saved = scene.save("gone");
    assert!(
        record_text(saved.line(id)).is_none(),
        "a plain shell: {}",
        saved.line(id).text()
    );
    assert_eq!(saved.line(id).var("kittymux_sid"), None);
}
