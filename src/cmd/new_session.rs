//! `sessions new` and `sessions templates`: a session out of a template.

use std::collections::BTreeMap;
use std::path::Path;

use super::bring_back;
use super::exit::Exit;
use super::setting;
use super::table::{Args, Opt, Verb};
use crate::keep::assets;
use crate::keep::names::{self, ENDING};
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::kitty::session_file::{Item, Line, Origin, SessionFile};
use crate::resume::record::{Mode, Record};
use crate::resume::rewrite::rewrite;
use crate::resume::template::{Values, marks, render};
use crate::sys::bytes::{from_bytes, from_os, to_bytes, to_path};
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::out;
use crate::sys::private_file::read_foreign;
use crate::sys::token::random_id;

/// The largest template.
const LIMIT: usize = 1 << 20;

/// The templates that are shipped.
const SHIPPED: [(&str, &str); 4] = [
    (
        "plain",
        include_str!("../../assets/templates/plain.kitty-session"),
    ),
    (
        "agent",
        include_str!("../../assets/templates/agent.kitty-session"),
    ),
    (
        "duo",
        include_str!("../../assets/templates/duo.kitty-session"),
    ),
    (
        "review",
        include_str!("../../assets/templates/review.kitty-session"),
    ),
];

/// `sessions new`, for the table.
pub const NEW: Verb = Verb {
    words: &["sessions", "new"],
    args: "NAME",
    most: 1,
    about: "make a session out of a template",
    more: "It becomes a save of that name: sessions switch NAME goes to it, sessions restore NAME opens \
           it. Without --template it is agent where an agent is named, else plain.",
    examples: &[
        (
            "kittymux sessions new api --agent claude",
            "claude and a shell, here",
        ),
        (
            "kittymux sessions new pair --template duo --agent claude --agent2 codex",
            "two agents and a shell",
        ),
    ],
    options: &[
        Opt {
            name: "template",
            value: "T",
            about: "which one: kittymux sessions templates",
        },
        Opt {
            name: "agent",
            value: "A",
            about: "the agent in it",
        },
        Opt {
            name: "agent2",
            value: "A",
            about: "the second one",
        },
        Opt {
            name: "cwd",
            value: "DIR",
            about: "its directory, instead of this one",
        },
        Opt {
            name: "force",
            value: "",
            about: "replace a save of that name",
        },
    ],
    listed: true,
    run: make,
};

/// `sessions templates`, for the table.
pub const TEMPLATES: Verb = Verb {
    words: &["sessions", "templates"],
    args: "",
    most: 0,
    about: "show the templates there are",
    more: "A file NAME.kitty-session of yours in ~/.config/kittymux/templates comes before a shipped \
           one of that name. It is a session file of kitty's with @NAME@, @CWD@, @AGENT@, @AGENT2@ and \
           @SHELL@ in it.",
    examples: &[("kittymux sessions templates", "what there is")],
    options: &[Opt {
        name: "json",
        value: "",
        about: "print one JSON document",
    }],
    listed: true,
    run: list,
};

struct Template {
    name: String,
    text: String,
    own: bool,
}

impl Template {
    /// Its first comment.
    fn about(&self) -> String {
        let first = self.text.lines().next().unwrap_or("");
        let about = first.strip_prefix('#').unwrap_or("").trim();
        let begin = format!("{}: ", self.name);
        out::visible(about.strip_prefix(&begin).unwrap_or(about))
    }
}

/// All templates, the person's own in place of shipped ones.
fn templates() -> Vec<Template> {
    let mut found: Vec<Template> = SHIPPED
        .iter()
        .map(|(name, text)| Template {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
            own: false,
        })
        .collect();
    let Ok(dir) = dirs::config().map(|d| d.join("templates")) else {
        return found;
    };
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let file_name = from_os(&file.file_name());
        let Some(name) = names::stem(&file_name) else {
            continue;
        };
        match read_foreign(&file.path(), LIMIT) {
            Ok(bytes) => {
                found.retain(|t| t.name != name);
                found.push(Template {
                    name: name.to_owned(),
                    text: from_bytes(&bytes),
                    own: true,
                });
            }
            Err(fault) => out::message(&fault.to_string()),
        }
    }
    found
}

fn list(args: &Args) -> Outcome<Exit> {
    let all = templates();
    if args.has("json") {
        let list = json::list(all.iter().map(|t| {
            Object::new()
                .text("name", &t.name)
                .text("about", &t.about())
                .flag("own", t.own)
                .texts("marks", &marks(&t.text))
                .finish()
        }));
        let text = Object::new().number("version", 1).raw("templates", &list);
        out::data(&(text.finish() + "\n"));
        return Ok(Exit::Done);
    }
    let width = all.iter().map(|t| out::width(&t.name)).max().unwrap_or(0);
    for template in &all {
        let name = out::pad(&out::visible(&template.name), width);
        let own = if template.own { "  (yours)" } else { "" };
        out::data(&format!("{name}  {}{own}\n", template.about()));
    }
    Ok(Exit::Done)
}

fn make(args: &Args) -> Outcome<Exit> {
    let wrong = |why: String| {
        out::message(&why);
        Ok(Exit::UsedWrongly)
    };
    let Some(name) = args.words.first() else {
        return wrong(
            "sessions new needs a name: kittymux sessions new api --agent claude".to_owned(),
        );
    };
    if let Err(why) = names::check(name) {
        return wrong(why);
    }
    let named = args.value("template").map(str::to_owned);
    let wanted = named.unwrap_or_else(|| {
        let with_agent = args.has("agent");
        if with_agent { "agent" } else { "plain" }.to_owned()
    });
    let all = templates();
    let Some(template) = all.iter().find(|t| t.name == wanted) else {
        let there: Vec<&str> = all.iter().map(|t| t.name.as_str()).collect();
        let shown = out::clip(&out::visible(&wanted), 40);
        return wrong(format!(
            "there is no template \"{shown}\"; there are {}",
            there.join(", ")
        ));
    };
    let used = marks(&template.text);
    let agent = match agent(args, "agent", used.contains(&"@AGENT@")) {
        Ok(agent) => agent,
        Err(why) => return wrong(why),
    };
    let agent2 = match agent_or(args, &agent, used.contains(&"@AGENT2@")) {
        Ok(agent) => agent,
        Err(why) => return wrong(why),
    };
    let cwd = args.value("cwd").map_or_else(std::env::current_dir, |dir| {
        std::path::absolute(to_path(dir))
    });
    let cwd = match cwd {
        Ok(dir) if dir.is_dir() => from_os(dir.as_os_str()),
        Ok(dir) => {
            return wrong(format!(
                "{} is no directory",
                crate::sys::fault::shown_path(&dir)
            ));
        }
        Err(e) => return wrong(format!("there is no current directory: {e}")),
    };
    let shell = from_os(dirs::shell().as_os_str());
    let values = Values {
        name,
        cwd: &cwd,
        agent: &agent,
        agent2: &agent2,
        shell: &shell,
    };
    let text = match render(&template.text, values) {
        Ok(text) => text,
        Err(why) => return wrong(format!("template {wanted}: {why}")),
    };
    let state = State::open()?;
    let sessions = state.sessions()?;
    let twin = saves(&state)?
        .into_iter()
        .find(|s| s.name.eq_ignore_ascii_case(name));
    if let Some(twin) = twin.filter(|t| t.name != *name || !args.has("force")) {
        out::message(&format!(
            "there is a save \"{}\" already: choose another name, or replace it with --force",
            out::visible(&twin.name)
        ));
        return Ok(Exit::CouldNot);
    }
    let text = in_shells(&state, &text, [&agent, &agent2], &cwd)?;
    let previous = sessions.sub(".previous")?;
    sessions.replace(
        &format!("{name}{ENDING}"),
        &to_bytes(&text),
        Some(&previous),
    )?;
    out::data(&format!(
        "made {name} from the template {wanted}\n  go there: kittymux sessions switch {name}\n"
    ));
    Ok(Exit::Done)
}

/// The text with its agents started in the person's shell, as one who types them would: with what
/// their start-up files set, and with a shell left when an agent ends.
fn in_shells(state: &State, text: &str, agents: [&String; 2], cwd: &str) -> Outcome<String> {
    assets::write_shell_files(state)?;
    let mut file = SessionFile::read(text, Origin::Person, &[]);
    let mut plans = BTreeMap::new();
    let mut id = 0;
    for line in &mut file.lines {
        let Item::Launch(launch) = &line.item else {
            continue;
        };
        let words: Vec<String> = launch.program().iter().map(|w| (*w).to_owned()).collect();
        let Some(agent) = words.first().filter(|w| agents.contains(w)).cloned() else {
            continue;
        };
        id += 1;
        let rest = line.text();
        let rest = rest
            .trim_start()
            .strip_prefix("launch")
            .unwrap_or("")
            .to_owned();
        *line = Line::new(&format!(
            "launch 'kitty-unserialize-data={{\"id\": {id}}}'{rest}"
        ));
        if let Item::Launch(launch) = &mut line.item {
            launch.set_program::<&str>(&[]);
        }
        let record = Record {
            agent: agent_of(&agent),
            mode: Mode::New,
            sid: String::new(),
            orig: words,
            resume: Vec::new(),
            exe: String::new(),
            cwd: cwd.to_owned(),
            tab: String::new(),
            save: String::new(),
            at: clock::rfc3339(clock::wall_ns()),
            was: Vec::new(),
            env: Vec::new(),
            lost: Vec::new(),
            direct: false,
        };
        plans.insert(id, bring_back::in_own_shell(record));
    }
    if plans.is_empty() {
        return Ok(text.to_owned());
    }
    let own = setting::own_path(state)?;
    let of_state = state.text();
    rewrite(
        &mut file,
        &plans,
        bring_back::setting(&own, &of_state, &random_id()),
    );
    Ok(file.text())
}

/// The agent's name, by its program.
fn agent_of(program: &str) -> String {
    let defs = setting::quiet_definitions().0;
    defs.by_program(program)
        .map_or_else(|| program.to_owned(), |d| d.name.clone())
}

/// The program of an agent that is named; one that a template needs must be.
fn agent(args: &Args, option: &str, needed: bool) -> Result<String, String> {
    let Some(name) = args.value(option) else {
        if needed {
            return Err(format!("this template needs an agent: --{option} claude"));
        }
        return Ok(String::new());
    };
    let defs = setting::definitions();
    let shown = out::clip(&out::visible(name), 40);
    let def = defs
        .get(name)
        .or_else(|| defs.by_program(name))
        .ok_or_else(|| {
            format!("no agent \"{shown}\" is known: kittymux sessions check lists them")
        })?;
    let program = def
        .names
        .iter()
        .find(|n| dirs::find_program(Path::new(n)).is_some())
        .ok_or_else(|| format!("{shown} is not installed: it is not on PATH"))?;
    Ok(program.clone())
}

/// The second agent: the first one again where none is named.
fn agent_or(args: &Args, first: &str, needed: bool) -> Result<String, String> {
    if args.has("agent2") || (needed && first.is_empty()) {
        return agent(args, "agent2", needed);
    }
    Ok(first.to_owned())
}
