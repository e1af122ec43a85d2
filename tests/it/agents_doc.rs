//! `docs/agents.md`: its table is made from the definitions, and its example is followed to the letter.

use std::os::unix::fs::PermissionsExt;

use kittymux::agents::definitions::{Definition, Definitions, Scope};

use crate::rig::Rig;

const BEGIN: &str = "<!-- made from assets/resume-agents.json -->\n";
const END: &str = "<!-- end -->";

fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md")
}

fn text() -> String {
    std::fs::read_to_string(path()).expect("docs/agents.md")
}

/// The words of a command as a person types them.
fn command(def: &Definition, words: &[String]) -> String {
    let program = [&def.names[..1], &def.under[..]].concat();
    format!("`{} {}`", program.join(" "), words.join(" ")).replace("{id}", "ID")
}

fn row(def: &Definition) -> String {
    let from: Vec<&str> = def.id_sources().iter().map(|(_, s)| *s).collect();
    let or_none = |words: &[String]| match words {
        [] => "–".to_owned(),
        words => command(def, words),
    };
    let scope = match def.latest_scope {
        _ if def.latest.is_empty() => "",
        Scope::Directory => " (of the directory)",
        Scope::Anywhere => " (of all)",
        Scope::Unstated => " (nobody says of which)",
    };
    format!(
        "| {} | {} | {} | {}{scope} | {} | {} |\n",
        def.names.join(", "),
        if from.is_empty() {
            "–".to_owned()
        } else {
            from.join(", ")
        },
        or_none(&def.exact),
        or_none(&def.latest),
        if def.hooks.as_ref().is_some_and(|h| h.setup.is_some()) {
            "yes"
        } else {
            "–"
        },
        def.version.as_deref().unwrap_or("not yet"),
    )
}

fn table() -> String {
    let head = "| agent | id from | one conversation | the newest | hook | seen |\n|---|---|---|---|---|---|\n";
    let rows: String = Definitions::shipped().iter().map(row).collect();
    format!("{head}{rows}")
}

#[test]
fn the_table_is_what_the_definitions_say() {
    let text = text();
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (_, after) = rest.split_once(END).expect("where it ends");
    let made = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_EXPECT").is_some() && made != text {
        std::fs::write(path(), &made).expect("written");
        return;
    }
    assert!(
        made == text,
        "run this test with UPDATE_EXPECT=1; it must say\n{}",
        table()
    );
}

/// The blocks of a language, without the indent of the list they stand in.
fn blocks<'a>(text: &'a str, language: &'a str) -> impl Iterator<Item = String> + 'a {
    let start = format!("```{language}\n");
    let parts: Vec<&str> = text.split("```").collect();
    parts
        .into_iter()
        .skip(1)
        .step_by(2)
        .filter_map(move |block| {
            let body = format!("```{block}");
            let body = body.strip_prefix(&start)?.to_owned();
            let indent = body.len() - body.trim_start().len();
            let lines = body.lines().map(|l| l.get(indent..).unwrap_or(l.trim()));
            Some(lines.collect::<Vec<_>>().join("\n"))
        })
}

#[test]
fn the_example_of_a_new_agent_is_true_to_the_letter() {
    let text = text();
    let (_, example) = text.split_once("## How to add an agent").expect("the part");
    let rig = Rig::new("/bin/bash", true);
    // The agent that the text tells of: its help, and where it keeps what was said.
    let help = blocks(example, "text").next().expect("its help");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --help ] && {{ cat <<'END'\n{help}\nEND\nexit; }}\n\
         dir=\"$HOME/.loom/sessions/$(pwd | tr / -)\"\nmkdir -p \"$dir\"\n\
         echo ready\nread -r said\n\
         echo \"{{\\\"cwd\\\":\\\"$PWD\\\"}}\" >\"$dir/0b6f2f4e-1c2d-4e5f-8a9b-0123456789ab.jsonl\"\n\
         echo heard\nread -r more\n"
    );
    let program = rig.file("agents/loom", &script);
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("executable");
    // Step 1.
    let entry = blocks(example, "json").next().expect("an entry");
    assert!(example.contains("`~/.config/kittymux/resume.json`"));
    rig.file(".config/kittymux/resume.json", &entry);
    // Step 2: the command, and what it prints.
    let mut steps = blocks(example, "console");
    let step = steps.next().expect("a command");
    let (command, shown) = step.split_once('\n').expect("what it prints");
    let words: Vec<&str> = command
        .strip_prefix("$ kittymux ")
        .expect("ours")
        .split(' ')
        .collect();
    let agents = rig.home().join("agents");
    let on_path = format!("{}:/usr/bin:/bin", agents.display());
    let output = rig
        .command(&rig.dir("tools").join("kittymux"))
        .env("PATH", &on_path)
        .args(&words)
        .output()
        .expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim_end(),
        shown.trim_end(),
        "{output:?}"
    );
    // Step 3: a conversation, and what the list says of it.
    let kitty = rig.start_kitty(&[]);
    let dir = rig.dir("code/api");
    let id = kitty.launch(&dir, &[&program.display().to_string(), "-m", "large"]);
    kitty.shows(id, "ready");
    kitty.send(id, "hello\r");
    kitty.shows(id, "heard");
    let step = steps.next().expect("a command");
    let words: Vec<&str> = step
        .trim()
        .strip_prefix("$ kittymux ")
        .expect("ours")
        .split(' ')
        .collect();
    let listed = rig.kittymux_ok(Some(&kitty), &words);
    assert!(listed.contains("exact"), "{listed}");
    assert!(
        listed.contains("loom -m large --session 0b6f2f4e"),
        "{listed}"
    );
}

#[test]
fn every_key_and_way_is_told() {
    let text = text();
    let shipped = kittymux::agents::definitions::SHIPPED;
    let value = kittymux::sys::json::parse(shipped.as_bytes(), 1 << 20).expect("JSON");
    let kittymux::sys::json::JsonValue::Object(agents) = value else {
        panic!("no object");
    };
    for (name, entry) in &agents {
        let kittymux::sys::json::JsonValue::Object(entry) = entry else {
            continue;
        };
        for key in entry
            .keys()
            .filter(|k| !k.starts_with('_') && *k != "hooks")
        {
            assert!(text.contains(&format!("`{key}`")), "{name}.{key}");
        }
    }
    for kind in kittymux::agents::ways::KINDS {
        let of_one_agent = [
            "codex-held",
            "codex-rollouts",
            "gemini-projects",
            "cursor-chats",
            "agy-last",
        ];
        assert!(
            of_one_agent.contains(&kind) || text.contains(&format!("| `{kind}` |")),
            "{kind}"
        );
    }
}
