//! The stand-ins for all the other agents: what they have in common is a conversation with an id,
//! options that resume one, and words that are none. [`crate::keep`] is what each keeps on disk.

use std::process::ExitCode;

use crate::args::{Grammar, parse};
use crate::keep::{Keep, Store};
use crate::store::cwd;
use crate::talk::{Holder, refuse, serve, talk};
use crate::terminal::say;

/// What a stand-in is.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The agent's name.
    pub name: &'static str,
    /// All names of its program.
    pub names: &'static [&'static str],
    /// Its help text.
    help: &'static str,
    /// Whether that goes to standard error.
    aloud: bool,
    /// Options whose value is the id to go on with.
    resume: &'static [&'static str],
    /// Options for the newest conversation.
    newest: &'static [&'static str],
    /// Words that begin a helper, and runs without a conversation.
    others: &'static [&'static str],
    /// What it keeps.
    pub keep: Keep,
}

macro_rules! kinds {
    ($($name:literal $names:expr, $aloud:literal, $resume:expr, $newest:expr, $others:expr, $keep:ident;)*) => {
        /// All of them.
        pub static KINDS: &[Kind] = &[$(Kind {
            name: $name,
            names: &$names,
            help: include_str!(concat!("../help/", $name, ".txt")),
            aloud: $aloud,
            resume: &$resume,
            newest: &$newest,
            others: &$others,
            keep: Keep::$keep,
        }),*];
    };
}

kinds! {
    "grok" ["grok"], false, ["--resume", "-r"], ["--continue", "-c"], ["agent", "mcp"], Plain;
    "pi" ["pi"], false, ["--session"], ["--continue", "-c"], ["-p", "--print", "install"], Pi;
    "omp" ["omp"], false, ["--resume", "-r"], ["--continue", "-c"], ["-p", "--print", "acp"], Omp;
    "amp" ["amp"], false, ["continue", "c"], ["last", "l"], ["-x", "--execute", "mcp"], Plain;
    "cursor-agent" ["cursor-agent", "cursor"], false, ["--resume"], ["--continue"], ["mcp", "ls"], Plain;
    "gemini" ["gemini"], false, ["--resume", "-r"], [], ["-p", "--prompt", "mcp"], Gemini;
    "agy" ["agy", "antigravity"], false, ["--conversation"], ["--continue", "-c"], ["agent"], Plain;
    "acli" ["acli", "rovo"], false, ["--restore"], [], ["jira"], Plain;
    "hermes" ["hermes"], false, ["--resume", "-r"], ["--continue", "-c"], ["-z", "-q"], Plain;
    "copilot" ["copilot"], false, ["--resume"], ["--continue"], ["-p", "--prompt", "mcp"], Copilot;
    "codebuddy" ["codebuddy", "cbc"], false, ["--resume", "-r"], ["--continue", "-c"], ["-p", "mcp"], Plain;
    "droid" ["droid"], false, ["--resume", "-r", "resume"], ["--last"], ["exec", "mcp"], Droid;
    "qodercli" ["qodercli", "qoder"], false, ["--resume", "-r"], ["--continue", "-c"], ["-p", "mcp"], Qoder;
    "devin" ["devin"], false, ["-r", "--resume"], ["-c", "--continue"], ["acp", "mcp"], Devin;
    "qwen" ["qwen"], false, ["--resume", "-r"], ["--continue", "-c"], ["-p", "--prompt", "mcp"], Qwen;
    "kilo" ["kilo"], true, ["--session", "-s"], ["--continue", "-c"], ["run", "serve"], Plain;
    "vibe" ["vibe", "vibe-rs"], false, ["--resume"], ["--continue", "-c"], ["-p", "mcp"], Vibe;
    "auggie" ["auggie"], false, ["--resume", "-r"], ["--continue", "-c"], ["-p", "mcp"], Plain;
    "cline" ["cline"], false, ["--id"], [], ["mcp", "--acp"], Plain;
    "cn" ["cn"], false, [], ["--resume"], ["-p", "ls"], Plain;
    "letta" ["letta"], false, ["--agent", "-a"], [], ["-p", "memory"], Plain;
    "aider" ["aider"], false, [], ["--restore-chat-history"], ["--lint"], Plain;
    "kimi" ["kimi", "kimi-cli"], false, ["--session", "-r"], ["--continue"], [], Plain;
}

/// The option that gives a new conversation its id.
const CHOOSES: &[&str] = &["--session-id"];

/// The stand-in that is called `name`.
pub fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|k| k.names.contains(&name))
}

/// Runs it.
pub fn run(kind: &'static Kind, args: &[String], strict: bool) -> ExitCode {
    if args.iter().any(|a| a == "--help" || a == "-h") {
        if kind.aloud {
            eprintln!("{}", kind.help);
        } else {
            println!("{}", kind.help);
        }
        return ExitCode::SUCCESS;
    }
    if args.iter().any(|a| a == "--version") {
        say(&format!("{} 0.0.0 (a stand-in)", kind.name));
        return ExitCode::SUCCESS;
    }
    let grammar = Grammar {
        none: kind.newest,
        one: kind.resume,
        optional: CHOOSES,
        several: &[],
    };
    let args = match parse(&grammar, args, strict) {
        Ok(args) => args,
        Err(e) => return refuse(&format!("error: {e}")),
    };
    let word = args.words.first().map_or("", String::as_str);
    if kind.others.contains(&word) || args.has(kind.others) {
        return serve(kind.name);
    }
    let mut other = Other {
        kind,
        store: Store::open(kind.keep, kind.name),
    };
    let mut how = "new";
    let by_word = args
        .words
        .iter()
        .position(|w| kind.resume.contains(&w.as_str()))
        .and_then(|at| args.words.get(at + 1));
    let asked = args.value(kind.resume).flatten().or(by_word.map(|w| &**w));
    let asked = asked.map(|id| id.strip_prefix('=').unwrap_or(id));
    let newest = args.has(kind.newest)
        || args.words.iter().any(|w| kind.newest.contains(&w.as_str()))
        || asked == Some("latest");
    if newest {
        if let Some(id) = other.store.newest() {
            other.store.go_on(id);
            how = "resumed";
        }
    } else if let Some(id) = asked {
        if !other.store.has(id) {
            return refuse(&format!("{}: no conversation {id}", kind.name));
        }
        other.store.go_on(id.to_owned());
        how = "resumed";
    } else if let Some(id) = args.value(CHOOSES).flatten() {
        other.store.go_on(id.to_owned());
    }
    other.store.begin(how == "resumed");
    talk(&mut other, how, &[])
}

struct Other {
    kind: &'static Kind,
    store: Store,
}

impl Holder for Other {
    fn name(&self) -> &'static str {
        self.kind.name
    }

    fn id(&self) -> String {
        self.store.id().to_owned()
    }

    fn cwd(&self) -> String {
        cwd()
    }

    fn message(&mut self, text: &str) {
        self.store.message(text);
    }

    fn clear(&mut self) {
        self.store.clear();
    }

    fn end(&mut self, _by_person: bool) {
        self.store.end();
        say(&format!("{}: bye", self.kind.name));
    }
}
