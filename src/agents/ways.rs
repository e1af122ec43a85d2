//! The ways to find a conversation in an agent's own files: kinds with the paths they look at.
//!
//! A path stands below the agent's configuration directory and may hold `{pid}`, `{tty}`, `{id}`,
//! `{any}` and one form of the project's directory: see [`super::find::paths`].

/// A way to find a conversation of an agent in its own files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// One JSON file per process that names its conversation (claude).
    PidFile {
        /// Where, with `{pid}`.
        at: String,
        /// Members that must be there: without them the entry does not count yet.
        needs: Vec<String>,
        /// Whether every process of the agent has one.
        always: bool,
    },
    /// One JSON file per conversation that names the process that has it open (qwen).
    RunFiles {
        /// Where, with a project's directory and `{id}`.
        at: String,
    },
    /// A file in the conversation's own directory, named after the process (copilot).
    Mark {
        /// Where, with `{id}` and `{pid}`.
        at: String,
    },
    /// A file per terminal, whose second line names the conversation's file (omp).
    Terminal {
        /// Where, with `{tty}`.
        at: String,
    },
    /// A file that the process holds open (qodercli), or a helper below it (devin, vibe).
    Held {
        /// How such paths end, with `{id}`.
        at: Vec<String>,
        /// Whether processes below it count.
        children: bool,
    },
    /// A directory of transcripts per project directory.
    Transcripts {
        /// Where, with a form of the project's directory and `{id}`.
        at: String,
        /// A variable that moves them to a place of another shape.
        unless: Option<String>,
    },
    /// A directory per conversation (copilot, vibe).
    Folders {
        /// The file that is there once something was said, with `{id}`.
        at: String,
        /// The file that names the directory, with `{id}`.
        owner: String,
    },
    /// codex: the rollout or lock file that the process holds open.
    CodexHeld,
    /// codex: rollout files by day, each naming its directory in the first line.
    CodexRollouts,
    /// gemini: a list of projects with short names, and chats whose names hold a piece of the id.
    GeminiProjects,
    /// cursor-agent: directories by the MD5 sum of the project's path.
    CursorChats,
    /// agy: one list of the last conversation of each directory.
    AgyLast,
}

/// The kinds as they are written, for a message.
pub const KINDS: [&str; 12] = [
    "pid-file",
    "run-files",
    "mark",
    "terminal",
    "held",
    "transcripts",
    "folders",
    "codex-held",
    "codex-rollouts",
    "gemini-projects",
    "cursor-chats",
    "agy-last",
];

impl Way {
    /// Whether it tells the conversation of one process, not those of a directory.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(
            self,
            Self::PidFile { .. }
                | Self::RunFiles { .. }
                | Self::Mark { .. }
                | Self::Terminal { .. }
                | Self::Held { .. }
                | Self::CodexHeld
        )
    }

    /// Where an id of this way comes from: a word for a list, words for a person.
    #[must_use]
    pub fn source(&self) -> (&'static str, &'static str) {
        match self {
            Self::PidFile { .. } | Self::RunFiles { .. } => ("registry", "registry"),
            Self::Mark { .. } => ("mark", "in-use mark"),
            Self::Terminal { .. } => ("terminal", "terminal mark"),
            Self::Held { .. } | Self::CodexHeld => ("open-files", "open files"),
            Self::Transcripts { .. } | Self::Folders { .. } => ("transcripts", "transcripts"),
            Self::CodexRollouts => ("rollouts", "rollout files"),
            Self::GeminiProjects | Self::CursorChats => ("chats", "chats"),
            Self::AgyLast => ("last-list", "last list"),
        }
    }
}
