//! `kittymux hooks`: put into settings as people keep them, fired as the agents fire it, taken out.

mod files;
mod fired;
mod scripts;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::rig::Rig;
use crate::scene::Scene;
use kittymux::agents::hooks::edit::shell_word;
use kittymux::sys::json::loose::{self, Kind, Node};
use kittymux::sys::json::{self, JsonValue};
use kittymux::sys::toml;

/// A conversation's id in the form of most agents.
pub const SID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

/// What an agent tells, and what the list says then.
type Told = (&'static str, String, &'static str);

/// An agent with settings as a person has them.
struct Case {
    agent: &'static str,
    /// The settings file below home, and what is in it; none: it is not there.
    file: &'static str,
    before: Option<&'static str>,
    /// What it wants to read from its hook.
    says: &'static str,
    told: Vec<Told>,
}

/// A payload as claude and those like it give it.
fn payload(event: &str, more: &str) -> String {
    format!(
        "{{\"session_id\":\"{SID}\",\"transcript_path\":\"/t/{SID}.jsonl\",\"cwd\":\"CWD\",\
         \"hook_event_name\":\"{event}\",\"permission_mode\":\"default\"{more}}}"
    )
}

fn like_claude(prompt: &'static str, done: &'static str, waits: bool) -> Vec<Told> {
    let mut told = vec![
        (
            "SessionStart",
            payload("SessionStart", ",\"source\":\"startup\""),
            "runs",
        ),
        (
            prompt,
            payload(prompt, ",\"prompt\":\"do $(id) \\\"this\\\"\""),
            "working",
        ),
    ];
    if waits {
        let more = ",\"message\":\"needs your permission to use Bash\"";
        told.push(("Notification", payload("Notification", more), "waiting"));
    }
    told.push((done, payload(done, ",\"stop_hook_active\":false"), "done"));
    told
}

fn cases() -> Vec<Case> {
    let case = |agent, file, before, told| Case {
        agent,
        file,
        before,
        says: "",
        told,
    };
    let copilot = |more: &str| {
        format!("{{\"sessionId\":\"{SID}\",\"timestamp\":1790000000000,\"cwd\":\"CWD\"{more}}}")
    };
    let grok = |event: &str, more: &str| {
        format!(
            "{{\"hookEventName\":\"{event}\",\"sessionId\":\"{SID}\",\"cwd\":\"CWD\",\"workspaceRoot\":\"CWD\",\
             \"timestamp\":\"2026-01-02T03:04:05Z\",\"permissionMode\":\"default\"{more}}}"
        )
    };
    let cursor = |event: &str, more: &str| {
        format!(
            "{{\"conversation_id\":\"{SID}\",\"generation_id\":\"g\",\"hook_event_name\":\"{event}\",\
             \"workspace_roots\":[\"CWD\"]{more}}}"
        )
    };
    vec![
        case(
            "claude",
            ".claude/settings.json",
            Some(
                "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}],\n  },\n}",
            ),
            like_claude("UserPromptSubmit", "Stop", true),
        ),
        Case {
            says: "{}",
            ..case(
                "gemini",
                ".gemini/settings.json",
                Some(
                    "\u{feff}{\r\n\t\"security\": {\"auth\": {\"selectedType\": \"oauth-personal\"}},\r\n\t\"ui\": {\"theme\": \"Default\"}\r\n}\r\n",
                ),
                like_claude("BeforeAgent", "AfterAgent", true),
            )
        },
        case(
            "copilot",
            ".copilot/hooks/kittymux.json",
            None,
            vec![
                (
                    "sessionStart",
                    copilot(",\"source\":\"new\",\"initialPrompt\":\"hi\""),
                    "runs",
                ),
                (
                    "userPromptSubmitted",
                    copilot(",\"prompt\":\"hi\""),
                    "working",
                ),
                (
                    "agentStop",
                    copilot(",\"transcriptPath\":\"/t\",\"stopReason\":\"end_turn\""),
                    "done",
                ),
            ],
        ),
        case(
            "grok",
            ".grok/hooks/kittymux.json",
            None,
            vec![
                (
                    "SessionStart",
                    grok("session_start", ",\"source\":\"new\""),
                    "runs",
                ),
                (
                    "UserPromptSubmit",
                    grok("user_prompt_submit", ",\"prompt\":\"hi\""),
                    "working",
                ),
                (
                    "Notification",
                    grok(
                        "notification",
                        ",\"notificationType\":\"permission_prompt\",\"message\":\"Tool permission requested\"",
                    ),
                    "waiting",
                ),
                (
                    "Stop",
                    grok("stop", ",\"reason\":\"end_turn\",\"stopHookActive\":false"),
                    "done",
                ),
                (
                    "UserPromptSubmit",
                    grok("user_prompt_submit", ",\"prompt\":\"hi\""),
                    "working",
                ),
                // One that is closed behind the person's back is not what the window is at.
                (
                    "Stop",
                    grok("stop", ",\"reason\":\"channel_closed\""),
                    "working",
                ),
                (
                    "StopFailure",
                    grok("stop_failure", ",\"error\":\"rate_limit\""),
                    "done",
                ),
            ],
        ),
        Case {
            says: "{\"continue\":true}",
            ..case(
                "cursor-agent",
                ".cursor/hooks.json",
                Some(
                    "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"./audit.sh\" }]\n  }\n}\n",
                ),
                vec![
                    (
                        "sessionStart",
                        cursor(
                            "sessionStart",
                            ",\"session_id\":\"x\",\"is_background_agent\":false",
                        ),
                        "runs",
                    ),
                    (
                        "beforeSubmitPrompt",
                        cursor(
                            "beforeSubmitPrompt",
                            ",\"prompt\":\"hi $(id)\",\"attachments\":[]",
                        ),
                        "working",
                    ),
                    (
                        "stop",
                        cursor("stop", ",\"status\":\"completed\",\"loop_count\":0"),
                        "done",
                    ),
                ],
            )
        },
        case(
            "droid",
            ".factory/settings.json",
            Some("{\"model\":\"opus\",\"hooks\":{}}"),
            like_claude("UserPromptSubmit", "Stop", true),
        ),
        Case {
            says: "{}",
            ..case(
                "qwen",
                ".qwen/settings.json",
                Some("{\n  \"hooks\": { \"Stop\": [] }\n}\n"),
                like_claude("UserPromptSubmit", "Stop", true),
            )
        },
        case(
            "codebuddy",
            ".codebuddy/settings.json",
            None,
            like_claude("UserPromptSubmit", "Stop", false)
                .into_iter()
                .map(|(e, p, s)| (e, p.replace("\"cwd\":\"CWD\",", ""), s))
                .collect(),
        ),
        case(
            "qodercli",
            ".qoder/settings.json",
            Some("{}\n"),
            like_claude("UserPromptSubmit", "Stop", false),
        ),
        case(
            "codex",
            ".codex/config.toml",
            Some(
                "model = \"gpt-5.5\"\nnotify = [\"bash\", \"-c\", 'printf %s \"$1\" >\"$0\"', \"CWD/a b\", ]\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"",
            ),
            vec![(
                "notify",
                format!(
                    "{{\"type\":\"agent-turn-complete\",\"thread-id\":\"{SID}\",\"turn-id\":\"7\",\"cwd\":\"CWD\",\
                     \"client\":\"codex-tui\",\"input-messages\":[\"do it\"],\"last-assistant-message\":\"done\"}}"
                ),
                "done",
            )],
        ),
    ]
}

/// A program below home, executable.
pub fn program(rig: &Rig, name: &str, text: &str) -> PathBuf {
    // The stand-ins of the rig are links of one file, which must not be written.
    let _ = std::fs::remove_file(rig.home().join(name));
    let path = rig.file(name, text);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
    path
}

/// An agent that runs command N with payload N for each number that is typed, as agents run their
/// hooks, and shows what the hook printed.
const AGENT: &str = "#!/bin/bash
echo ready
while read -r n; do
  f=~/fire/${0##*/}.$n
  said=$(/bin/sh -c \"$(cat $f.cmd)\" <$f.json 2>&1)
  echo \"told $n, status $?, said <$said>\"
done
";

/// The command that the settings run on an event.
fn command(text: &[u8], agent: &str, event: &str) -> Option<String> {
    fn find(node: &Node, agent: &str) -> Option<String> {
        match &node.kind {
            Kind::Text(text) => text
                .contains(&format!(" hook {agent}"))
                .then(|| text.clone()),
            Kind::List(nodes) => nodes.iter().find_map(|n| find(n, agent)),
            Kind::Object(entries) => entries.iter().find_map(|e| find(&e.node, agent)),
            Kind::Other => None,
        }
    }
    if event == "notify" {
        let top = toml::top(text).expect("TOML");
        let notify = top.iter().find(|s| s.key == ["notify"])?;
        let words = toml::texts(text, &notify.value).expect("a list");
        let words: Vec<String> = words.iter().map(|(_, w)| shell_word(w)).collect();
        return Some(format!("{} \"$(cat)\"", words.join(" ")));
    }
    let root = loose::read(text, 1 << 20).expect("JSON");
    find(&root.get("hooks")?.node.get(event)?.node, agent)
}

#[test]
fn each_agent_is_told_apart_by_its_own_word_and_its_settings_come_back() {
    let scene = Scene::new();
    let rig = &scene.rig;
    for case in cases() {
        let dir = rig.dir(&format!("work/{}", case.agent));
        let fill = |text: &str| text.replace("CWD", &dir.display().to_string());
        let path = rig.home().join(case.file);
        let before = case.before.map(fill);
        if let Some(before) = &before {
            rig.file(case.file, before);
            let mode = PermissionsExt::from_mode(0o640);
            std::fs::set_permissions(&path, mode).expect("a mode");
        }
        // A conversation that is there, where the agent's own files are looked at.
        rig.file(&format!(".claude/projects/p/{SID}.jsonl"), "{\"a\":1}\n");
        let rollout = format!(".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{SID}.jsonl");
        let meta = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"SID\",\"cwd\":\"CWD\",\"originator\":\"codex-tui\",\"source\":\"cli\"}}\n{}\n";
        rig.file(&rollout, &fill(meta).replace("SID", SID));
        let said = rig.kittymux_ok(None, &["hooks", "setup", case.agent]);
        let verb = if before.is_some() { "put into" } else { "made" };
        let done = format!("{}  {verb} ~/{}", case.agent, case.file);
        assert_eq!(said.lines().next(), Some(&done[..]), "{said}");
        // What a person must know beside it stands below.
        assert_eq!(said.lines().count() > 1, case.agent == "codex", "{said}");
        let after = std::fs::read(&path).expect("settings");
        let again = rig.kittymux_ok(None, &["hooks", "setup", "--agent", case.agent]);
        assert!(
            again.contains("is in ~/") && again.contains("already"),
            "{again}"
        );
        assert_eq!(std::fs::read(&path).expect("settings"), after);
        if before.is_some() {
            let mode = std::fs::metadata(&path)
                .expect("there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o640, "{}", case.file);
        }

        program(rig, &format!("bin/{}", case.agent), AGENT);
        for (n, (event, payload, _)) in case.told.iter().enumerate() {
            let command = command(&after, case.agent, event);
            let command = command.unwrap_or_else(|| panic!("{}: {event}", case.agent));
            rig.file(&format!("fire/{}.{n}.cmd", case.agent), &command);
            rig.file(&format!("fire/{}.{n}.json", case.agent), &fill(payload));
        }
        let id = scene.type_in(&dir, case.agent, "ready");
        for (n, (event, _, state)) in case.told.iter().enumerate() {
            scene.kitty.send(id, &format!("{n}\r"));
            let wanted = format!("told {n}, status 0, said <{}>", case.says);
            scene.kitty.shows(id, &wanted);
            let list = list(&scene);
            let line = list
                .lines()
                .find(|l| l.ends_with(&format!("work/{}", case.agent)));
            let line = line.unwrap_or_else(|| panic!("{list}"));
            let known = line.contains("exact 0a1b2c3d") && list.contains("hook");
            // One that nobody checked yet, or whose store holds nothing said, is not resumed, but
            // told all the same.
            let other = ["was not checked yet", "nothing was said in it yet"];
            assert!(
                (known || other.iter().any(|o| list.contains(o)))
                    && line.contains(&format!("  {state}  "))
                    && records(rig).contains(SID),
                "{} {event}: {list}",
                case.agent
            );
        }
        if case.agent == "codex" {
            let told = std::fs::read_to_string(dir.join("a b")).expect("the program of before ran");
            assert_eq!(told, fill(&case.told[0].1), "and was told the same");
        }

        let said = rig.kittymux_ok(None, &["hooks", "remove", case.agent]);
        match &before {
            Some(before) => {
                assert_eq!(
                    said,
                    format!("{}  taken out of ~/{}\n", case.agent, case.file)
                );
                let now = std::fs::read(&path).expect("settings");
                assert_eq!(String::from_utf8_lossy(&now), *before, "{}", case.agent);
            }
            None => assert!(!path.exists(), "{said}"),
        }
        assert!(left(&path).is_empty(), "{:?}", left(&path));
        let records = records(rig);
        assert!(
            records.contains(&format!("\"cwd\":\"{}\"", dir.display()))
                && !records.contains("$(id)"),
            "{records}"
        );
        // Two of one id would be one conversation in two windows.
        scene.kitty.send(id, "\u{4}");
        scene.kitty.send(id, "exit\r");
        crate::rig::until("the window to go", || {
            scene.kitty.window(id).is_none().then_some(())
        });
    }
}

/// What the list shows. Another kitty of this machine that is silent just now is no matter here.
pub fn list(scene: &Scene) -> String {
    let output = scene
        .rig
        .kittymux(Some(&scene.kitty), &["sessions", "list"]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// All that hooks wrote down.
pub fn records(rig: &Rig) -> String {
    let files = std::fs::read_dir(rig.state().join("hooks")).expect("records");
    files
        .flatten()
        .map(|f| std::fs::read_to_string(f.path()).expect("text"))
        .collect()
}

/// What lies beside a settings file that we could have left there.
pub fn left(path: &Path) -> Vec<String> {
    let names = std::fs::read_dir(path.parent().expect("a directory")).into_iter();
    let names = names.flatten().flatten();
    names
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| {
            n.contains("kittymux") && Some(n.as_str()) != path.file_name().and_then(|n| n.to_str())
        })
        .collect()
}

/// The states that `hooks status --json` tells.
pub fn states(rig: &Rig, words: &[&str]) -> Vec<(String, String)> {
    let text = rig.kittymux_ok(None, &[&["hooks", "status", "--json"], words].concat());
    let value = json::parse(text.as_bytes(), 1 << 20).expect("JSON");
    let Some(JsonValue::Array(agents)) = json::member(&value, "agents") else {
        panic!("{text}");
    };
    let text = |a: &JsonValue, key: &str| json::text_at(a, key).unwrap_or("").to_owned();
    agents
        .iter()
        .map(|a| (text(a, "agent"), text(a, "state")))
        .collect()
}
