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

const PYTHON: &str = "/usr/bin/python3";

/// Loads the plugin as hermes does, and tells it each event that is typed: its name, and what it is
/// told, as JSON; behind `bg` from a thread of its own work.
const HERMES: &str = "#!/usr/bin/python3
import importlib.util, json, os, sys, threading
sys.dont_write_bytecode = True
at = os.environ['HOME'] + '/.hermes/plugins/kittymux/'
assert 'name: kittymux' in open(at + 'plugin.yaml').read().splitlines()
spec = importlib.util.spec_from_file_location('hermes_plugins.kittymux', at + '__init__.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
hooks = {}
class Context:
    def register_hook(self, name, f):
        hooks.setdefault(name, []).append(f)
module.register(Context())
print('ready', flush=True)
for n, line in enumerate(sys.stdin):
    behind, name, about = line.strip().split(' ', 2)
    def run():
        for f in hooks[name]:
            assert f(**json.loads(about), telemetry_schema_version='1') is None
    thread = threading.Thread(target=run, name='bg-review' if behind == 'bg' else 'Thread-1')
    thread.start()
    thread.join()
    print('told', n, flush=True)
";

fn is_there(program: &str) -> bool {
    let there = Path::new(program).exists();
    if !there {
        println!("left out: {program} is not installed here");
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
    if !is_there(NODE) {
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
    if !is_there(NODE) {
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

#[test]
fn hermes_plugin_tells_each_turn_of_the_persons_own_conversation() {
    if !is_there(PYTHON) {
        return;
    }
    let scene = Scene::new();
    let rig = &scene.rig;
    let said = rig.kittymux_ok(None, &["hooks", "setup", "hermes"]);
    expect_test::expect![[r#"
        hermes  made ~/.hermes/plugins/kittymux/__init__.py
        hermes  made ~/.hermes/plugins/kittymux/plugin.yaml
          hermes loads it once you allow it: hermes plugins enable kittymux --no-allow-tool-override
    "#]]
    .assert_eq(&said);
    program(rig, "bin/hermes", HERMES);
    let dir = rig.dir("work/he");
    let (old, new) = ("20260102_030405_abcdef", "20260102_030506_fedcba");
    let of = |sid: &str, more: &str| format!("{{\"session_id\":\"{sid}\"{more}}}");
    let cli = ",\"platform\":\"cli\"";
    let asks = |surface: &str| format!("{{\"session_key\":\"{old}\",\"surface\":\"{surface}\"}}");
    let inner = of(new, ",\"platform\":\"subagent\"");
    let turn = of(old, &format!("{cli},\"user_message\":\"do $(id)\""));
    let left = of(old, &format!("{cli},\"reason\":\"session_boundary\""));
    let id = scene.type_in(&dir, "hermes", "ready");
    let steps = [
        ("fg on_session_start", of(old, cli), "20260102  runs"),
        ("fg pre_llm_call", turn.clone(), "20260102  working"),
        (
            "fg pre_approval_request",
            asks("smart"),
            "20260102  working",
        ),
        ("fg pre_approval_request", asks("cli"), "20260102  waiting"),
        (
            "fg post_approval_response",
            asks("cli"),
            "20260102  working",
        ),
        ("fg on_session_end", inner.clone(), "20260102  working"),
        ("fg on_session_end", of(old, cli), "20260102  done"),
        ("bg pre_llm_call", turn, "20260102  done"),
        ("fg pre_llm_call", inner, "20260102  done"),
        ("fg on_session_finalize", left, ""),
        ("fg on_session_reset", of(new, cli), "20260102  runs"),
    ];
    for (n, (event, about, state)) in steps.iter().enumerate() {
        scene.kitty.send(id, &format!("{event} {about}\r"));
        scene.kitty.shows(id, &format!("told {n}"));
        lists(&scene, "work/he", state);
    }
    let text = records(rig);
    let last = text.lines().last().expect("a line");
    assert!(
        text.lines().count() == 7 && last.contains(new) && !text.contains("$(id)"),
        "{text}"
    );
    assert!(text.contains("\"ending\":\"left\""), "{text}");
    // One that the person changed stays; without what is beside it the agent does not load it.
    let made = rig.home().join(".hermes/plugins/kittymux");
    let file = made.join("__init__.py");
    let mine = format!("{}# mine\n", std::fs::read_to_string(&file).expect("ours"));
    std::fs::write(&file, &mine).expect("written");
    let output = rig.kittymux(None, &["hooks", "remove", "hermes"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), mine);
    assert!(!made.join("plugin.yaml").exists());
}
