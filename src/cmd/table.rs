//! The one list of verbs with their options and texts: parsing and every help text come from it.

mod dispatch;
mod help;
mod hooks;

pub use dispatch::dispatch;
pub use help::help;
pub(super) use help::usage;

use super::exit::Exit;
use crate::sys::fault::Outcome;

/// An option of a verb.
#[derive(Debug, Clone, Copy)]
pub struct Opt {
    /// Its name without the dashes.
    pub name: &'static str,
    /// What its value is called; empty: it takes none.
    pub value: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// A verb.
pub struct Verb {
    /// Its words: `["sessions", "list"]`.
    pub words: &'static [&'static str],
    /// Its arguments, for the usage line.
    pub args: &'static str,
    /// How many arguments it takes at most.
    pub most: usize,
    /// What it does, in one line.
    pub about: &'static str,
    /// More about it; may be empty.
    pub more: &'static str,
    /// Examples: command and what it does.
    pub examples: &'static [(&'static str, &'static str)],
    /// Its options.
    pub options: &'static [Opt],
    /// Whether help lists it.
    pub listed: bool,
    /// What runs it.
    pub run: fn(&Args) -> Outcome<Exit>,
}

/// A parsed command line of one verb.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Args {
    /// The arguments, byte-exact.
    pub words: Vec<String>,
    options: Vec<(&'static str, String)>,
}

impl Args {
    /// Whether an option was given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(n, _)| *n == name)
    }

    /// All values of an option, in order.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.options
            .iter()
            .filter(move |(n, _)| *n == name)
            .map(|(_, v)| v.as_str())
    }

    /// The value of an option; the last one counts.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v.as_str())
    }
}

const JSON: Opt = Opt {
    name: "json",
    value: "",
    about: "print one JSON document",
};

/// All verbs, in the order help shows them.
pub const VERBS: &[Verb] = &[
    Verb {
        words: &["sessions", "list"],
        args: "",
        most: 0,
        about: "show each agent window: which conversation, and why",
        more: "exact: the conversation is known by its id. latest: the agent's own \"latest\" is the right one.\n\
               new: it is not known, so the window comes back with a new conversation.",
        examples: &[("kittymux sessions list", "what would come back now")],
        options: &[JSON],
        listed: true,
        run: super::list::run,
    },
    Verb {
        words: &["sessions", "check"],
        args: "[AGENT…]",
        most: 64,
        about: "ask each installed agent whether it still resumes as we think",
        more: "It runs each agent's help, without a terminal and for 8 s at most, and looks for the options\n\
               that are needed. An answer is believed for 12 hours, or until the program changes. Only then\n\
               are an agent of your own resume.json, and one nobody tried yet, resumed at all.",
        examples: &[
            (
                "kittymux sessions check",
                "what is installed, and does it fit",
            ),
            (
                "kittymux sessions check --again claude",
                "ask claude now, whatever is known",
            ),
        ],
        options: &[
            Opt {
                name: "again",
                value: "",
                about: "ask even where the last answer is still believed",
            },
            JSON,
        ],
        listed: true,
        run: super::check::run,
    },
    Verb {
        words: &["sessions", "save"],
        args: "[NAME]",
        most: 1,
        about: "save the OS window you are in, with every conversation",
        more: "Without a name it is called saved-<date>-<time>. An existing save of that name is replaced,\n\
               and kept as it was in sessions/.previous/.",
        examples: &[
            (
                "kittymux sessions save work",
                "save this OS window as \"work\"",
            ),
            (
                "kittymux sessions save --all desk",
                "save every OS window of this kitty as \"desk\"",
            ),
        ],
        options: &[
            Opt {
                name: "all",
                value: "",
                about: "every OS window of this kitty",
            },
            Opt {
                name: "direct",
                value: "",
                about: "resume without asking when it is restored",
            },
        ],
        listed: true,
        run: super::save::run,
    },
    Verb {
        words: &["sessions", "restore"],
        args: "[NAME|last|previous|PATH]",
        most: 1,
        about: "open a save; each agent window asks before it resumes",
        more: "Inside kitty it opens there, else in a new kitty. Afterwards it counts the windows that came\n\
               back. last: the newest desk of a kitty that is gone (it crashed, or was quit) and that nobody\n\
               opened again; previous: the one before. Without a name it opens the only such desk, and\n\
               where there are several, or none, it lists all there is.",
        examples: &[
            (
                "kittymux sessions restore last",
                "after a crash: what was open",
            ),
            ("kittymux sessions restore work", "open the save \"work\""),
            (
                "kittymux sessions restore --dry-run work",
                "show what it would open",
            ),
        ],
        options: &[
            Opt {
                name: "new-window",
                value: "",
                about: "open its first OS window as a new one too",
            },
            Opt {
                name: "dry-run",
                value: "",
                about: "open nothing, show what would be opened",
            },
            JSON,
        ],
        listed: true,
        run: super::restore::run,
    },
    Verb {
        words: &["sessions", "rewrite"],
        args: "FILE|NAME…",
        most: 256,
        about: "make files that kitty saved by itself ask for their agents",
        more: "Without kitty nobody knows what ran, so only what a file says twice is believed: windows with\n\
               a record of ours keep it, a mark beside a command of that agent begins a new conversation\n\
               (the same one, if the command names it), and all else stays to the byte. FILE can be the\n\
               name of a save. The old file is kept in sessions/.previous/, or beside the file as\n\
               FILE.bak, which is never written over. A file kitty would refuse is named and left alone.",
        examples: &[(
            "kittymux sessions rewrite work",
            "bring the save \"work\" up to date",
        )],
        options: &[],
        listed: true,
        run: super::rewrite_files::run,
    },
    super::switch::VERB,
    super::new_session::NEW,
    super::new_session::TEMPLATES,
    super::manage::RENAME,
    super::manage::DELETE,
    super::setup::VERB,
    super::doctor::VERB,
    Verb {
        words: &["sessions", "restored"],
        args: "ID",
        most: 1,
        about: "what a restored file has kitty run as it loads it",
        more: "",
        examples: &[],
        options: &[],
        listed: false,
        run: super::restored::run,
    },
    Verb {
        words: &["exit-save"],
        args: "FILE",
        most: 1,
        about: "work up what kitty's watcher wrote as kitty went",
        more: "",
        examples: &[],
        options: &[],
        listed: false,
        run: super::exit_save::run,
    },
    Verb {
        words: &["sessions", "history"],
        args: "",
        most: 0,
        about: "show what the journal knows of each agent session",
        more: "Newest first. running, working and waiting: it is there now. open: it was cut off. left: you went\n\
               to another conversation inside the agent. Runs and work are counted where the agent runs our\n\
               hook. SPAN is like 90s, 90m, 12h, 7d or 2w.",
        examples: &[
            ("kittymux sessions history", "every session it knows"),
            (
                "kittymux sessions history --since 7d",
                "those of the last week",
            ),
        ],
        options: &[
            Opt {
                name: "since",
                value: "SPAN",
                about: "only those seen in that time",
            },
            JSON,
        ],
        listed: true,
        run: super::history::run,
    },
    Verb {
        words: &["sessions", "recover"],
        args: "[NAME]",
        most: 1,
        about: "write a session file of the conversations that were cut off",
        more: "Cut off are those whose agent ended with its kitty, in the last 24 hours. Each gets a tab, the\n\
               last active first. What is open now, was closed, or has lost its directory is left out, and\n\
               it says so. Without NAME it is called recovered.",
        examples: &[(
            "kittymux sessions recover --since 6h",
            "what a crash took, as \"recovered\"",
        )],
        options: &[
            Opt {
                name: "since",
                value: "SPAN",
                about: "how long ago they may have been seen last",
            },
            JSON,
        ],
        listed: true,
        run: super::recover::run,
    },
    Verb {
        words: &["sessions", "reopen"],
        args: "[KEY]",
        most: 1,
        about: "open the conversation you closed last in a new tab",
        more: "It resumes without a question. Once more, and the one before comes. KEY is the beginning of a\n\
               session id, as sessions history shows it.",
        examples: &[(
            "kittymux sessions reopen",
            "bring back what you just closed",
        )],
        options: &[],
        listed: true,
        run: super::reopen::run,
    },
    hooks::SETUP,
    hooks::REMOVE,
    hooks::STATUS,
    hooks::HOOK,
    Verb {
        words: &["completions"],
        args: "bash|zsh|fish",
        most: 1,
        about: "print the file with which a shell completes kittymux",
        more: "Packages install it. By hand: for bash, `source` what it prints in ~/.bashrc; for zsh, write it to\n\
               a file _kittymux in a directory of fpath; for fish, to completions/kittymux.fish beside your\n\
               config.fish. Names of saves and agents are looked up as you complete.",
        examples: &[("kittymux completions bash", "the file for bash")],
        options: &[],
        listed: true,
        run: super::completions::run,
    },
    Verb {
        words: &["man"],
        args: "",
        most: 0,
        about: "print the manual page",
        more: "It is the page's source: to read it where it is not installed, write it to kittymux.1 and run\n\
               man ./kittymux.1",
        examples: &[("kittymux man", "kittymux.1")],
        options: &[],
        listed: true,
        run: super::man::run,
    },
    Verb {
        words: &["complete"],
        args: "",
        most: usize::MAX,
        about: "what a shell asks as it completes a command line",
        more: "",
        examples: &[],
        options: &[],
        listed: false,
        run: super::completions::complete,
    },
    Verb {
        words: &["notice"],
        args: "TEXT",
        most: 1,
        about: "show a message until a key is pressed",
        more: "",
        examples: &[],
        options: &[],
        listed: false,
        run: super::notice::run,
    },
];

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
