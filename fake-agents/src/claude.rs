//! The stand-in for claude: registry, transcripts per project, resume from any directory.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::{Args, Grammar, parse};
use crate::hook;
use crate::record::{append, json, switch, text_at};
use crate::store::{config_dir, cwd, files_below, now_ms, project_name, start_ticks, uuid_v4};
use crate::talk::{Holder, banner, refuse, serve, talk};
use crate::terminal::{Event, Terminal, say};

const GRAMMAR: Grammar = Grammar {
    none: &[
        "--bare",
        "--chrome",
        "--continue",
        "-c",
        "--dangerously-skip-permissions",
        "--fork-session",
        "--help",
        "-h",
        "--ide",
        "--no-chrome",
        "--print",
        "-p",
        "--strict-mcp-config",
        "--tmux",
        "--verbose",
        "--version",
        "-v",
    ],
    one: &[
        "--agent",
        "--agents",
        "--append-system-prompt",
        "--debug-file",
        "--effort",
        "--fallback-model",
        "--input-format",
        "--model",
        "--name",
        "-n",
        "--output-format",
        "--permission-mode",
        "--plugin-dir",
        "--session-id",
        "--setting-sources",
        "--settings",
        "--system-prompt",
        "--api-key",
        "--auth-token",
    ],
    optional: &[
        "--debug",
        "-d",
        "--from-pr",
        "--resume",
        "-r",
        "--teleport",
        "--worktree",
        "-w",
    ],
    several: &[
        "--add-dir",
        "--allowedTools",
        "--allowed-tools",
        "--betas",
        "--disallowedTools",
        "--file",
        "--mcp-config",
        "--tools",
    ],
};

const HELPERS: [&str; 8] = [
    "mcp", "doctor", "update", "plugin", "agents", "daemon", "install", "attach",
];

struct Claude {
    root: PathBuf,
    id: String,
    cwd: String,
    /// The project directory that the transcript is in: the one it began in.
    project: String,
    registered: bool,
}

pub fn run(args: &[String], strict: bool) -> ExitCode {
    let args = match parse(&GRAMMAR, args, strict) {
        Ok(args) => args,
        Err(e) => return refuse(&format!("error: {e}")),
    };
    if args.has(&["--help", "-h"]) {
        say(crate::help::CLAUDE);
        return ExitCode::SUCCESS;
    }
    if args.has(&["--version", "-v"]) {
        say("2.1.332 (a stand-in)");
        return ExitCode::SUCCESS;
    }
    if args
        .words
        .first()
        .is_some_and(|w| HELPERS.contains(&w.as_str()))
    {
        return serve("claude");
    }
    let root = config_dir("CLAUDE_CONFIG_DIR", ".claude");
    if args.has(&["--print", "-p"]) {
        say(&format!("answer to {}", args.words.join(" ")));
        return ExitCode::SUCCESS;
    }
    match start(&args, root) {
        Ok((mut claude, how)) => {
            claude.register();
            claude.tell(
                "SessionStart",
                "source",
                if how == "new" { "startup" } else { "resume" },
            );
            talk(&mut claude, how, &args.words)
        }
        Err(code) => code,
    }
}

/// The conversation that the options ask for.
fn start(args: &Args, root: PathBuf) -> Result<(Claude, &'static str), ExitCode> {
    let cwd = cwd();
    let fork = args.has(&["--fork-session"]);
    let chosen = args.value(&["--session-id"]).flatten();
    let resumes = args.has(&["--resume", "-r", "--continue", "-c"]);
    if chosen.is_some() && resumes && !fork {
        return Err(refuse(
            "Error: --session-id beside a resume option needs --fork-session.",
        ));
    }
    let mut claude = Claude {
        id: chosen.map_or_else(uuid_v4, ToOwned::to_owned),
        project: project_name(&cwd),
        root,
        cwd,
        registered: false,
    };
    let old = match args.value(&["--resume", "-r"]) {
        Some(Some(id)) => Some(id.to_owned()),
        Some(None) => Some(claude.pick()?),
        None if args.has(&["--continue", "-c"]) => match claude.newest() {
            Some(id) => Some(id),
            None => return Err(refuse("There is no conversation to continue here")),
        },
        None => None,
    };
    let Some(old) = old else {
        if chosen.is_some_and(|id| claude.find(id).is_some()) {
            return Err(refuse(&format!(
                "Error: the session ID {} is in use.",
                claude.id
            )));
        }
        return Ok((claude, "new"));
    };
    let Some(path) = claude.find(&old) else {
        return Err(refuse(&format!(
            "No conversation with the session ID {old} was found"
        )));
    };
    if fork {
        let text = fs::read_to_string(&path).unwrap_or_default();
        append(&claude.transcript(), &text);
        return Ok((claude, "forked"));
    }
    let dir = path.parent().and_then(|p| p.file_name());
    claude.project = dir.unwrap_or_default().to_string_lossy().into_owned();
    claude.id = old;
    Ok((claude, "resumed"))
}

impl Claude {
    fn transcript(&self) -> PathBuf {
        let name = format!("{}.jsonl", self.id);
        self.root.join("projects").join(&self.project).join(name)
    }

    /// The transcript of a conversation, in any project, if it is not empty.
    fn find(&self, id: &str) -> Option<PathBuf> {
        let name = format!("{id}.jsonl");
        files_below(&self.root.join("projects"), 1)
            .into_iter()
            .find(|p| p.file_name().is_some_and(|n| n.to_string_lossy() == name))
    }

    /// The conversation of this directory that was written last.
    fn newest(&self) -> Option<String> {
        let dir = self.root.join("projects").join(&self.project);
        let newest = files_below(&dir, 0).into_iter().next()?;
        Some(newest.file_stem()?.to_string_lossy().into_owned())
    }

    /// Runs the hook of an event, with one more member.
    fn tell(&self, event: &str, name: &str, value: &str) {
        let more = format!(",{}:{}", json(name), json(value));
        hook::tell(event, &self.id, &self.cwd, &more);
    }

    fn entry(&self) -> PathBuf {
        let name = format!("{}.json", std::process::id());
        self.root.join("sessions").join(name)
    }

    fn register(&mut self) {
        self.write_entry(Some("idle"));
    }

    fn write_entry(&mut self, status: Option<&str>) {
        if switch("FAKE_AGENT_REGISTRY").as_deref() == Some("0") {
            return;
        }
        let status = status.map_or(String::new(), |s| format!(",\"status\":{}", json(s)));
        let text = format!(
            "{{\"pid\":{},\"sessionId\":{},\"cwd\":{},\"startedAt\":{},\"procStart\":{},\"version\":\"2.1.332\",\"kind\":\"interactive\",\"entrypoint\":\"cli\"{status}}}",
            std::process::id(),
            json(&self.id),
            json(&self.cwd),
            now_ms(),
            json(&start_ticks()),
        );
        let path = self.entry();
        if let Some(dir) = path.parent() {
            let _ = fs::create_dir_all(dir);
        }
        self.registered = fs::write(path, text).is_ok();
    }

    /// The picker: its id is thrown away, and its entry has no status.
    fn pick(&mut self) -> Result<String, ExitCode> {
        self.write_entry(None);
        banner(self, "picker");
        let mut terminal = Terminal::open();
        match terminal.next() {
            Event::Line(id) => Ok(id.trim().to_owned()),
            _ => {
                self.end(true);
                Err(ExitCode::SUCCESS)
            }
        }
    }
}

impl Holder for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn cwd(&self) -> String {
        self.cwd.clone()
    }

    fn message(&mut self, text: &str) {
        self.tell("UserPromptSubmit", "prompt", text);
        let path = self.transcript();
        // What stands in the transcript of a conversation from elsewhere stays its own.
        let begun = fs::read_to_string(&path).unwrap_or_default();
        let cwd = text_at(&begun, "cwd").unwrap_or_else(|| self.cwd.clone());
        append(
            &path,
            &format!(
                "{{\"type\":\"user\",\"sessionId\":{},\"cwd\":{},\"message\":{{\"role\":\"user\",\"content\":{}}}}}\n",
                json(&self.id),
                json(&cwd),
                json(text)
            ),
        );
        if text.starts_with("asking") {
            self.tell("Notification", "message", "claude needs your permission");
        } else if !text.starts_with("working") {
            self.tell("Stop", "permission_mode", "default");
        }
    }

    fn clear(&mut self) {
        self.tell("SessionEnd", "reason", "clear");
        self.id = uuid_v4();
        self.project = project_name(&self.cwd);
        self.register();
        self.tell("SessionStart", "source", "clear");
    }

    fn end(&mut self, by_person: bool) {
        let reason = if by_person {
            "prompt_input_exit"
        } else {
            "other"
        };
        self.tell("SessionEnd", "reason", reason);
        if self.registered {
            let _ = fs::remove_file(self.entry());
        }
    }
}
