//! The stand-in for opencode: its only word is a directory, its store a database that nobody else
//! reads (here: one file a session).

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::{Grammar, parse};
use crate::record::{append, home};
use crate::store::{cwd, files_below, random_text};
use crate::talk::{Holder, refuse, serve, talk};
use crate::terminal::say;

const GRAMMAR: Grammar = Grammar {
    none: &[
        "--auto",
        "--continue",
        "-c",
        "--fork",
        "--help",
        "-h",
        "--mdns",
        "--mini",
        "--print-logs",
        "--pure",
        "--version",
        "-v",
    ],
    one: &[
        "--agent",
        "--hostname",
        "--log-level",
        "--model",
        "-m",
        "--port",
        "--prompt",
        "--session",
        "-s",
    ],
    optional: &[],
    several: &["--cors"],
};

const HELPERS: [&str; 6] = ["serve", "acp", "mcp", "web", "auth", "attach"];

struct Opencode {
    store: PathBuf,
    id: String,
    cwd: String,
}

pub fn run(args: &[String], strict: bool) -> ExitCode {
    let args = match parse(&GRAMMAR, args, strict) {
        Ok(args) => args,
        Err(e) => return refuse(&format!("Error: {e}")),
    };
    if args.has(&["--help", "-h"]) {
        // The real one prints its help there too.
        eprintln!("{}", crate::help::OPENCODE);
        return ExitCode::SUCCESS;
    }
    if args.has(&["--version", "-v"]) {
        say("1.18.33 (a stand-in)");
        return ExitCode::SUCCESS;
    }
    let word = args.words.first().map_or("", String::as_str);
    if HELPERS.contains(&word) {
        return serve("opencode");
    }
    if word == "run" {
        say(&format!("answer to {}", args.words[1..].join(" ")));
        return ExitCode::SUCCESS;
    }
    if !word.is_empty() && std::env::set_current_dir(word).is_err() {
        return refuse(&format!("Error: could not change to the directory {word}"));
    }
    let mut opencode = Opencode {
        store: home().join(".local/share/opencode/fake-sessions"),
        id: new_id(),
        cwd: cwd(),
    };
    let mut how = "new";
    if let Some(id) = args.value(&["--session", "-s"]).flatten() {
        let id = id.strip_prefix('=').unwrap_or(id);
        let Ok(owner) = fs::read_to_string(opencode.store.join(id)) else {
            return refuse(&format!("Error: there is no session {id}"));
        };
        owner
            .lines()
            .next()
            .unwrap_or_default()
            .clone_into(&mut opencode.cwd);
        how = "resumed";
        if args.has(&["--fork"]) {
            how = "forked";
        } else {
            id.clone_into(&mut opencode.id);
        }
    } else if args.has(&["--continue", "-c"])
        && let Some(id) = opencode.newest()
    {
        opencode.id = id;
        how = "resumed";
    }
    let prompt = args.value(&["--prompt"]).flatten().map(ToOwned::to_owned);
    talk(&mut opencode, how, prompt.as_slice())
}

fn new_id() -> String {
    let hex = random_text(12, "0123456789abcdef");
    let rest = random_text(
        14,
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    );
    format!("ses_{hex}{rest}")
}

impl Opencode {
    /// The session of this directory that was written last.
    fn newest(&self) -> Option<String> {
        files_below(&self.store, 0).into_iter().find_map(|p| {
            let text = fs::read_to_string(&p).ok()?;
            let id = p.file_name()?.to_string_lossy().into_owned();
            (text.lines().next() == Some(&self.cwd)).then_some(id)
        })
    }
}

impl Holder for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn cwd(&self) -> String {
        self.cwd.clone()
    }

    fn message(&mut self, text: &str) {
        let path = self.store.join(&self.id);
        if !path.exists() {
            append(&path, &format!("{}\n", self.cwd));
        }
        append(&path, &format!("{text}\n"));
    }

    fn clear(&mut self) {
        self.id = new_id();
    }

    fn end(&mut self, _: bool) {
        say(&format!("Continue  opencode -s {}", self.id));
    }
}
