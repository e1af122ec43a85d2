//! What is put into an agent's settings so that it runs our hook, as data of its definition.

/// How the settings are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Way {
    /// A JSON document whose `hooks` has a list for each event.
    #[default]
    Json,
    /// codex: the list `notify` of its `config.toml`.
    TomlNotify,
    /// opencode: a plugin, a file of ours.
    OpencodePlugin,
    /// pi and omp: an extension, a file of ours.
    PiExtension,
    /// hermes: the program of a plugin, a file of ours.
    HermesPlugin,
    /// hermes: what makes the directory of that program a plugin, a file of ours as well.
    HermesManifest,
}

/// The words of the ways in definitions.
pub const WAYS: [(&str, Way); 6] = [
    ("json", Way::Json),
    ("toml-notify", Way::TomlNotify),
    ("opencode-plugin", Way::OpencodePlugin),
    ("pi-extension", Way::PiExtension),
    ("hermes-plugin", Way::HermesPlugin),
    ("hermes-manifest", Way::HermesManifest),
];

/// One place where an agent is told to run our hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// How the settings are kept.
    pub way: Way,
    /// Where they are: `~/path` below the home directory, or `NAME/path` below the directory that the
    /// variable `NAME` names; the first whose variable is set counts.
    pub file: Vec<String>,
    /// The events that are asked for, by the agent's names.
    pub events: Vec<String>,
    /// What stands in the list of an event, as JSON; `{command}` and `{event}` are filled in.
    pub entry: String,
    /// What a settings file of ours begins with, as JSON; empty: `{}`.
    pub base: String,
    /// What the person must know when it is put in.
    pub warning: String,
}

impl Setup {
    /// The keys of a definition's `setup`.
    pub const KEYS: [&str; 6] = ["base", "entry", "events", "file", "warning", "way"];
}
