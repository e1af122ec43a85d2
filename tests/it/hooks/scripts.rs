//! The plugins and extensions of ours, run by node as the agents run them.

use std::path::Path;

use super::{SID, left, list, program, records};
use crate::scene::Scene;

const NODE: &str = "/usr/bin/node";

/// Loads the file of ours and tells it each event that is typed, as JSON.
const OPENCODE: &str = "#!/usr/bin/node
const fs = require('fs'), path = process.env.HOME + '/.config/opencode/plugin/kittymux.js';
const copy = process.env.HOME + '/plugin.mjs';
fs.writeFileSync(copy, fs.readFileSync(path));
import(copy).then(async (m) => {
  const plugin = await Object.values(m)[0]({ directory: process.cwd() });
  console.log('ready');
  require('readline').createInterface({ input: process.stdin, terminal: false }).on('line', async (line) => {
    for (const event of JSON.parse(fs.readFileSync(line))) await plugin.event({ event });
    console.log('told ' + line);
  });
});
";

const PI: &str = "#!/usr/bin/node
const fs = require('fs'), path = process.env.HOME + '/.pi/agent/extensions/kittymux.ts';
const copy = process.env.HOME + '/extension.mjs', on = {};
fs.writeFileSync(copy, fs.readFileSync(path));
import(copy).then((m) => {
  m.default({ on: (name, f) => { on[name] = f; } });
  const ctx = { cwd: process.cwd(), sessionManager: { getSessionId: () => fs.readFileSync('sid', 'utf8') } };
  console.log('ready');
  require('readline').createInterface({ input: process.stdin, terminal: false }).on('line', async (line) => {
    const [name, reason] = line.split(' ');
    await on[name]({ type: name, reason }, ctx);
    console.log('told ' + line);
  });
});
";

fn has_node() -> bool {
    let there = Path::new(NODE).exists();
    if !there {
        println!("left out: node is not installed here");
    }
    there
}

/// Waits until the list shows this of a directory.
fn lists(scene: &Scene, dir: &str, what: &str) {
    crate::rig::until(what, || {
        let list = list(scene);
        let line = list.lines().find(|l| l.ends_with(dir))?;
        line.contains(what).then_some(())
    });
}

#[test]
fn opencodes_plugin_tells_each_turn_of_the_persons_own_conversation() {
    if !has_node() {
        return;
    }
    let scene = Scene::new();
    let rig = &scene.rig;
    let said = rig.kittymux_ok(None, &["hooks", "setup", "opencode"]);
    assert_eq!(
        said,
        "opencode  made ~/.config/opencode/plugin/kittymux.js\n"
    );
    program(rig, "bin/opencode", OPENCODE);
    let dir = rig.dir("work/oc");
    let (sid, inner) = (
        "ses_0123456789abAAAAAAAAAAAAAA",
        "ses_0123456789abBBBBBBBBBBBBBB",
    );
    let info = |id: &str, more: &str| {
        format!(
            "{{\"type\":\"session.created\",\"properties\":{{\"info\":{{\"id\":\"{id}\",\"directory\":\"{}\",\"title\":\"t\"{more}}}}}}}",
            dir.display()
        )
    };
    let status = |id: &str, state: &str| {
        format!(
            "{{\"type\":\"session.status\",\"properties\":{{\"sessionID\":\"{id}\",\"status\":{{\"type\":\"{state}\"}}}}}}"
        )
    };
    let id = scene.type_in(&dir, "opencode", "ready");
    let tell = |name: &str, events: &[String]| {
        rig.file(
            &format!("work/oc/{name}"),
            &format!("[{}]", events.join(",")),
        );
        scene.kitty.send(id, &format!("{name}\r"));
        scene.kitty.shows(id, &format!("told {name}"));
    };
    tell(
        "start",
        &[info(sid, ""), status(sid, "busy"), status(sid, "busy")],
    );
    lists(&scene, "work/oc", "exact ses_0123  working");
    let parent = format!(",\"parentID\":\"{sid}\"");
    let permission =
        format!("{{\"type\":\"permission.asked\",\"properties\":{{\"sessionID\":\"{sid}\"}}}}");
    tell(
        "inner",
        &[
            info(inner, &parent),
            status(inner, "busy"),
            status(inner, "idle"),
            permission,
        ],
    );
    lists(&scene, "work/oc", "exact ses_0123  waiting");
    let idle = format!("{{\"type\":\"session.idle\",\"properties\":{{\"sessionID\":\"{sid}\"}}}}");
    tell(
        "idle",
        &[
            status(sid, "idle"),
            idle,
            "{\"type\":\"x\"}".to_owned(),
            "null".to_owned(),
        ],
    );
    lists(&scene, "work/oc", "exact ses_0123  done");
    let text = records(rig);
    assert_eq!(text.lines().count(), 4, "{text}");
    let path = rig.home().join(".config/opencode/plugin/kittymux.js");
    rig.kittymux_ok(None, &["hooks", "remove", "opencode"]);
    assert!(!path.exists() && left(&path).is_empty());
}

#[test]
fn pis_extension_tells_each_run_and_its_end() {
    if !has_node() {
        return;
    }
    let scene = Scene::new();
    let rig = &scene.rig;
    rig.kittymux_ok(None, &["hooks", "setup", "pi"]);
    program(rig, "bin/pi", PI);
    let dir = rig.dir("work/pi");
    rig.file("work/pi/sid", SID);
    // Its transcript, where pi keeps it.
    let place = dir.display().to_string().replace('/', "-");
    let name = format!(".pi/agent/sessions/-{place}--/2026-01-02T03-04-05-678Z_{SID}.jsonl");
    let cwd = dir.display();
    rig.file(
        &name,
        &format!(
            "{{\"type\":\"session\",\"id\":\"{SID}\",\"cwd\":\"{cwd}\"}}\n{{\"type\":\"message\"}}\n"
        ),
    );
    let id = scene.type_in(&dir, "pi", "ready");
    for (event, state) in [
        ("session_start startup", "runs"),
        ("turn_end", "done"),
        ("agent_start", "working"),
        ("turn_end", "working"),
        ("agent_end", "done"),
    ] {
        scene.kitty.send(id, &format!("{event}\r"));
        scene.kitty.shows(id, &format!("told {event}"));
        lists(&scene, "work/pi", &format!("exact 0a1b2c3d  {state}"));
    }
    scene.kitty.send(id, "session_shutdown quit\r");
    scene.kitty.shows(id, "told session_shutdown quit");
    let text = records(rig);
    let last = text.lines().last().expect("a line");
    assert!(
        text.lines().count() == 5 && last.contains("\"end\"") && last.contains("\"exit\""),
        "{text}"
    );
    rig.kittymux_ok(None, &["hooks", "remove"]);
    assert!(!rig.home().join(".pi/agent/extensions/kittymux.ts").exists());
}
