//! The stand-in for codex: rollouts by day, and files held open unless a daemon would hold them.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::{Args, Grammar, parse};
use crate::record::{append, json, text_at};
use crate::store::{civil, config_dir, cwd, files_below, now_ms, uuid_v7};
use crate::talk::{Holder, refuse, serve, talk};
use crate::terminal::{Event, Terminal, say};

const GRAMMAR: Grammar = Grammar {
    none: &[
        "--all",
        "--full-auto",
        "--help",
        "-h",
        "--include-non-interactive",
        "--last",
        "--no-alt-screen",
        "--no-daemon",
        "--oss",
        "--search",
        "--version",
        "-V",
        "--worktree",
        "--dangerously-bypass-approvals-and-sandbox",
    ],
    one: &[
        "--add-dir",
        "--ask-for-approval",
        "-a",
        "--cd",
        "-C",
        "--config",
        "-c",
        "--disable",
        "--enable",
        "--model",
        "-m",
        "--profile",
        "-p",
        "--remote",
        "--sandbox",
        "-s",
        "--api-key",
    ],
    optional: &[],
    several: &["--image", "-i"],
};

const HELPERS: [&str; 6] = [
    "app-server",
    "mcp-server",
    "mcp",
    "login",
    "agents",
    "cloud",
];

struct Codex {
    root: PathBuf,
    id: String,
    cwd: String,
    rollout: Option<PathBuf>,
    /// Whether this process holds its files itself.
    holds: bool,
    held: Vec<File>,
}

pub fn run(args: &[String], strict: bool) -> ExitCode {
    let mut args = match parse(&GRAMMAR, args, strict) {
        Ok(args) => args,
        Err(e) => return refuse(&format!("error: {e}")),
    };
    let verb = args.words.first().cloned().unwrap_or_default();
    let resumes = ["resume", "fork"].contains(&verb.as_str());
    if args.has(&["--help", "-h"]) {
        say(if resumes {
            crate::help::CODEX_RESUME
        } else {
            crate::help::CODEX
        });
        return ExitCode::SUCCESS;
    }
    if args.has(&["--version", "-V"]) {
        say("codex-cli 0.171.0 (a stand-in)");
        return ExitCode::SUCCESS;
    }
    if HELPERS.contains(&verb.as_str()) {
        return serve("codex");
    }
    if ["exec", "e", "review"].contains(&verb.as_str()) {
        say(&format!("answer to {}", args.words[1..].join(" ")));
        return ExitCode::SUCCESS;
    }
    let mut codex = Codex {
        root: config_dir("CODEX_HOME", ".codex"),
        id: uuid_v7(now_ms()),
        cwd: match args.value(&["--cd", "-C"]).flatten() {
            Some(dir) => dir.to_owned(),
            None => cwd(),
        },
        rollout: None,
        holds: args.has(&["--no-daemon"]),
        held: Vec::new(),
    };
    let how = if resumes {
        args.words.remove(0);
        match codex.resume(&mut args, &verb) {
            Ok(how) => how,
            Err(code) => return code,
        }
    } else {
        "new"
    };
    codex.hold_lock();
    talk(&mut codex, how, &args.words)
}

impl Codex {
    /// Takes the conversation that is asked for; what is left of the words is the prompt.
    fn resume(&mut self, args: &mut Args, verb: &str) -> Result<&'static str, ExitCode> {
        let old = if args.has(&["--last"]) {
            // Beside `--last` every word is a prompt, an id too.
            match self.newest() {
                Some(path) => path,
                None => return Ok("new"),
            }
        } else {
            let id = match args.words.is_empty() {
                false => args.words.remove(0),
                true => match Terminal::open().next() {
                    Event::Line(id) => id.trim().to_owned(),
                    _ => return Err(ExitCode::SUCCESS),
                },
            };
            match self.find(&id.to_lowercase()) {
                Some(path) => path,
                None => {
                    return Err(refuse(&format!(
                        "ERROR: there is no saved session with the ID {id}. Run `codex resume` to choose one."
                    )));
                }
            }
        };
        if verb == "fork" {
            self.write_meta();
            return Ok("forked");
        }
        self.id = id_of(&old);
        self.rollout = Some(old);
        self.hold_rollout();
        Ok("resumed")
    }

    fn rollouts(&self) -> Vec<PathBuf> {
        files_below(&self.root.join("sessions"), 3)
    }

    fn find(&self, id: &str) -> Option<PathBuf> {
        self.rollouts().into_iter().find(|p| id_of(p) == id)
    }

    /// The conversation of this directory that was written last.
    fn newest(&self) -> Option<PathBuf> {
        self.rollouts().into_iter().find(|p| {
            let text = fs::read_to_string(p).unwrap_or_default();
            text_at(&text, "cwd").as_deref() == Some(&self.cwd)
        })
    }

    fn hold_lock(&mut self) {
        if !self.holds {
            append(
                &self
                    .root
                    .join("tui-thread-reference-capabilities")
                    .join(&self.id),
                "",
            );
            return;
        }
        let path = self
            .root
            .join(format!("thread-writer-locks/{}.lock", self.id));
        append(&path, "");
        self.held.extend(File::open(path).ok());
    }

    fn hold_rollout(&mut self) {
        if let Some(path) = self.rollout.as_ref().filter(|_| self.holds) {
            self.held
                .extend(File::options().append(true).open(path).ok());
        }
    }

    /// Begins the rollout with its first line.
    fn write_meta(&mut self) -> PathBuf {
        let now = now_ms();
        let [year, month, day, hour, minute, second] = civil(now);
        let path = self.root.join(format!(
            "sessions/{year:04}/{month:02}/{day:02}/rollout-{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}-{}.jsonl",
            self.id
        ));
        let line = format!(
            "{{\"timestamp\":{now},\"type\":\"session_meta\",\"payload\":{{\"id\":{},\"cwd\":{},\"originator\":\"codex-tui\",\"cli_version\":\"0.171.0\",\"source\":\"cli\",\"instructions\":{}}}}}\n",
            json(&self.id),
            json(&self.cwd),
            json(&"Do as you are told. ".repeat(900)),
        );
        append(&path, &line);
        self.rollout = Some(path.clone());
        self.hold_rollout();
        path
    }
}

fn id_of(path: &std::path::Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem[stem.len().saturating_sub(36)..].to_owned()
}

impl Holder for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn cwd(&self) -> String {
        self.cwd.clone()
    }

    fn message(&mut self, text: &str) {
        let path = match &self.rollout {
            Some(path) => path.clone(),
            None => self.write_meta(),
        };
        let line = format!(
            "{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":{}}}}}\n",
            json(text)
        );
        append(&path, &line);
    }

    fn clear(&mut self) {
        self.id = uuid_v7(now_ms());
        self.rollout = None;
        self.held.clear();
        self.hold_lock();
    }

    fn end(&mut self, _: bool) {
        if self.rollout.is_some() {
            say(&format!(
                "To go on with this session, run: codex resume {}",
                self.id
            ));
        }
    }
}
