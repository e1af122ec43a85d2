//! Stand-ins for coding agents: programs that take the same options, keep the same files, print
//! recognisable lines and can take every shape that real ones have in the process table.
//!
//! One native program behaves by the name it is called as: `claude`, `codex`, `opencode` or any agent
//! of `others.rs`, or `node` with a script of such a name. `FAKE_AGENT_NAME` overrules that. As `nu` it is a shell. The scripts beside it do the same
//! in bash, for what a script looks like.
//!
//! Switches come from the environment or, for programs that a terminal starts, from lines `NAME=VALUE`
//! in `$HOME/.fake-agent`:
//!
//! | switch | what it does |
//! |---|---|
//! | `FAKE_AGENT_LOG` | the file to which each start is appended as one JSON line |
//! | `FAKE_AGENT_SHAPE=wrapper` | the process waits for a child that does the work, in its group |
//! | `FAKE_AGENT_TITLE=1` | the process writes its name over its arguments |
//! | `FAKE_AGENT_REGISTRY=0` | claude keeps no registry entry |
//! | `FAKE_AGENT_STRICT=1` | unknown options are refused, as the real ones do |
//! | `FAKE_AGENT_HOOK=COMMAND` | claude runs it on its events, with the payload on standard input; a message that begins with `working` is never answered, one that begins with `asking` asks for a permission |
//! | `FAKE_AGENT_FAIL=N` | it ends at once with status N |

mod args;
mod claude;
mod codex;
mod help;
mod hook;
mod keep;
mod nu;
mod opencode;
mod others;
mod record;
mod shape;
mod store;
mod talk;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

pub use store::{project_name, uuid_v7};

/// Which agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    Claude,
    Codex,
    Opencode,
    Other(&'static others::Kind),
}

impl Agent {
    fn named(name: &str) -> Option<Self> {
        match name {
            "claude" => Some(Self::Claude),
            "codex" => Some(Self::Codex),
            "opencode" => Some(Self::Opencode),
            other => others::named(other).map(Self::Other),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Other(kind) => kind.name,
        }
    }
}

/// Runs the stand-in that `argv` asks for; `argv` begins with the name it was called as.
#[must_use]
pub fn run(argv: Vec<OsString>) -> ExitCode {
    let words: Vec<String> = argv
        .iter()
        .map(|w| w.to_string_lossy().into_owned())
        .collect();
    if words.first().and_then(|w| w.rsplit('/').next()) == Some("nu") {
        return nu::run(&words);
    }
    if let Ok(lock) = std::env::var("FAKE_AGENT_HELPER") {
        keep::help(&lock);
        return ExitCode::SUCCESS;
    }
    let Some((agent, args)) = who(&words) else {
        eprintln!("fake-agent: call me by the name of an agent, or set FAKE_AGENT_NAME");
        return ExitCode::from(2);
    };
    if let Some(code) = record::switch("FAKE_AGENT_FAIL").and_then(|v| v.parse::<u8>().ok()) {
        record::start(agent, &words);
        eprintln!("{}: told to fail", agent.name());
        return ExitCode::from(code);
    }
    if record::switch("FAKE_AGENT_SHAPE").as_deref() == Some("wrapper") {
        return shape::wrap(agent, args);
    }
    record::start(agent, &words);
    if record::is_on("FAKE_AGENT_TITLE") {
        shape::write_title(agent.name());
    }
    let strict = record::is_on("FAKE_AGENT_STRICT");
    match agent {
        Agent::Claude => claude::run(args, strict),
        Agent::Codex => codex::run(args, strict),
        Agent::Opencode => opencode::run(args, strict),
        Agent::Other(kind) => others::run(kind, args, strict),
    }
}

/// The agent that the words name, and its arguments.
fn who(words: &[String]) -> Option<(Agent, &[String])> {
    let base = |n: usize| {
        let word = words.get(n)?.rsplit('/').next()?;
        let word = word.strip_suffix(".js").unwrap_or(word);
        let word = word.strip_suffix(".exe").unwrap_or(word);
        let word = word.strip_suffix("-wrapped").unwrap_or(word);
        Some(word.strip_prefix('.').unwrap_or(word).to_owned())
    };
    let is_node = base(0).as_deref() == Some("node");
    // Options of the interpreter stand before the script.
    let script = words.iter().skip(1).position(|w| !w.starts_with('-'));
    let at = if is_node { script? + 1 } else { 0 };
    let named = record::switch("FAKE_AGENT_NAME").and_then(|n| Agent::named(&n));
    let agent = named.or_else(|| Agent::named(&base(at)?))?;
    Some((agent, words.get(at + 1..).unwrap_or_default()))
}
