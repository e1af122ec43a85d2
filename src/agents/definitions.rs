//! Definitions of agents: what a command line of theirs means and where their ids are found.
//!
//! They are data, `assets/resume-agents.json`; an entry of the person's `resume.json` replaces the
//! shipped one as a whole. [`super::reading`] turns the text into these values.

use std::sync::OnceLock;

pub use super::hooks::Hooks;
pub use super::id_form::IdForm;
use super::probe::{self, Check, FileId};
pub use super::reading::Problem;
use super::reading::{Index, entries, index};
pub use super::ways::Way;

/// How an agent is told to resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// By an option: `claude --resume ID`.
    Flags,
    /// By a sub-command: `codex resume ID`.
    Subcommand,
}

/// Among which conversations the agent's own "latest" chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those of the current directory.
    Directory,
    /// Its help does not say, and nobody saw.
    Unstated,
    /// All there are.
    Anywhere,
}

/// What words beside the options are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Positional {
    /// A prompt: never repeated.
    Prompt,
    /// A directory or files: part of the command.
    Keep,
    /// A prompt that is answered without a conversation on the terminal (qwen).
    OneShot,
}

/// Options by the values they take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// No value.
    pub none: Vec<String>,
    /// Exactly one.
    pub one: Vec<String>,
    /// None or one.
    pub optional: Vec<String>,
    /// One or more.
    pub several: Vec<String>,
}

/// How the installed program is asked whether it still knows its resume options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Probe {
    /// The arguments that print the help.
    pub args: Vec<String>,
    /// Texts that all must be in it.
    pub expect: Vec<String>,
}

/// Everything we know of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The agent's name: the key of its entry.
    pub name: String,
    /// The programs it is started as, the usual one first.
    pub names: Vec<String>,
    /// The packages its program is in, for scripts in them and for `npx PACKAGE`.
    pub packages: Vec<String>,
    /// How it is told to resume.
    pub form: Form,
    /// The words that resume one conversation; one of them holds `{id}`. Empty: it cannot.
    pub exact: Vec<String>,
    /// The words that resume its newest conversation; empty: it cannot.
    pub latest: Vec<String>,
    /// What newest means.
    pub latest_scope: Scope,
    /// Options that are removed together with their value.
    pub strip_with_value: Vec<String>,
    /// Options without a value, and sub-commands, that are removed.
    pub strip: Vec<String>,
    /// Options with an optional value that are removed, with the value if there is one.
    pub strip_optional: Vec<String>,
    /// Options whose value is the id of the conversation to resume.
    pub selectors: Vec<String>,
    /// Options whose value becomes the id of a new conversation.
    pub chooses: Vec<String>,
    /// Options and sub-commands that make a new conversation out of the one that is named.
    pub forks: Vec<String>,
    /// Words that must stand first, or the command is another tool of the same program.
    pub under: Vec<String>,
    /// The only sub-commands that are a conversation, each of one or more words; empty: any.
    pub verbs: Vec<String>,
    /// Sub-commands that are no conversation on the terminal.
    pub helpers: Vec<String>,
    /// Options and sub-commands of runs without a conversation on the terminal.
    pub headless: Vec<String>,
    /// Options by the values they take.
    pub flags: Flags,
    /// Options whose effect must not be repeated.
    pub once: Vec<String>,
    /// Options whose value is a secret.
    pub secrets: Vec<String>,
    /// Options with a `key=value` value, secret when the key says so.
    pub secret_pairs: Vec<String>,
    /// Options that are secret when their value is a JSON document and no file name.
    pub secret_documents: Vec<String>,
    /// Options that are secret when their value is a JSON document with a secret in it.
    pub secret_settings: Vec<String>,
    /// What words beside the options are.
    pub positional: Positional,
    /// Whether and how the program is asked about its options.
    pub probe: Option<Probe>,
    /// Variables that name its configuration directory, the strongest first.
    pub env: Vec<String>,
    /// Its configuration directory when no variable names one, below the home directory.
    pub config_dir: Option<String>,
    /// What its ids look like.
    pub id: IdForm,
    /// The ways to find its conversations.
    pub find: Vec<Way>,
    /// What it tells its hooks, where it can have some.
    pub hooks: Option<Hooks>,
    /// Whether one of us ran that program.
    pub verified: bool,
    /// Which version of it that was.
    pub version: Option<String>,
    /// Whether its process keeps the command line it was started with.
    pub keeps_argv: bool,
    /// Whether the entry is the person's own.
    pub own: bool,
    /// A fingerprint of the entry's text: a changed entry is another one.
    pub fingerprint: u64,
}

impl Definition {
    /// Where the ids of its conversations come from, the surest first: a word for a list, words for
    /// a person.
    #[must_use]
    pub fn id_sources(&self) -> Vec<(&'static str, &'static str)> {
        let mut from: Vec<_> = self.find.iter().map(Way::source).collect();
        if !self.exact.is_empty() && self.keeps_argv {
            from.push(("command-line", "command line"));
        }
        from.dedup();
        from
    }
}

/// The shipped definitions, as JSON.
pub const SHIPPED: &str = include_str!("../../assets/resume-agents.json");

/// All definitions that apply.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    slots: Vec<Slot>,
    checks: Vec<Check>,
}

/// One agent: its names, and the rest of its entry, which is read when it is asked for. Most runs
/// meet two or three of all the agents.
#[derive(Debug, Clone)]
struct Slot {
    index: Index,
    /// The entry as it was read.
    read: OnceLock<Option<Definition>>,
    /// The same with what the checks found.
    checked: OnceLock<Option<Definition>>,
}

impl Slot {
    fn of(index: Index) -> Self {
        Self {
            index,
            read: OnceLock::new(),
            checked: OnceLock::new(),
        }
    }

    fn get(&self, checks: &[Check]) -> Option<&Definition> {
        let read = || self.read.get_or_init(|| self.index.read()).as_ref();
        let merged = || read().map(|def| probe::merge::with_checks(def, checks));
        self.checked.get_or_init(merged).as_ref()
    }
}

impl From<Definition> for Slot {
    fn from(def: Definition) -> Self {
        let index = Index {
            name: def.name.clone(),
            names: def.names.clone(),
            packages: def.packages.clone(),
            entry: String::new(),
        };
        let slot = Self::of(index);
        let _ = slot.read.set(Some(def));
        slot
    }
}

impl Definitions {
    /// Those we ship.
    #[must_use]
    pub fn shipped() -> Self {
        load(SHIPPED, None).0
    }

    fn first(&self, is_it: impl Fn(&Index) -> bool) -> Option<&Definition> {
        let slot = self.slots.iter().find(|s| is_it(&s.index))?;
        slot.get(&self.checks)
    }

    /// The definition of the agent `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.first(|d| d.name == name)
    }

    /// The definition whose program has the plain name `program` (as [`super::program::plain`]
    /// gives it).
    #[must_use]
    pub fn by_program(&self, program: &str) -> Option<&Definition> {
        self.first(|d| d.names.iter().any(|n| n == program))
    }

    /// The definition whose package is `package`, with or without `@VERSION`.
    #[must_use]
    pub fn by_package(&self, package: &str) -> Option<&Definition> {
        let bare = match package.char_indices().skip(1).find(|(_, c)| *c == '@') {
            Some((at, _)) => &package[..at],
            None => package,
        };
        self.first(|d| d.packages.iter().any(|p| p == bare))
    }

    /// The definition in whose package the file `path` lies, with the part of the path below it.
    #[must_use]
    pub fn by_package_path<'p>(&self, path: &'p str) -> Option<(&Definition, &'p str)> {
        let (slot, inside) = self.slots.iter().find_map(|slot| {
            let inside = slot.index.packages.iter().find_map(|package| {
                let (before, inside) = path.rsplit_once(package.as_str())?;
                inside.strip_prefix('/').filter(|_| before.ends_with('/'))
            })?;
            // A dependency that lies inside the package is another program.
            (!inside.contains("node_modules/")).then_some((slot, inside))
        })?;
        Some((slot.get(&self.checks)?, inside))
    }

    /// The same, with what earlier checks found of the installed programs: options newer than a
    /// definition are known, and [`Definitions::may_use`] knows what does not fit.
    #[must_use]
    pub fn with_checks(mut self, checks: Vec<Check>) -> Self {
        for slot in &mut self.slots {
            slot.checked = OnceLock::new();
        }
        self.checks = checks;
        self
    }

    /// Whether `def` may be used for a window whose program is one of `files`, the surest first;
    /// they are looked at only where a check could say something.
    ///
    /// # Errors
    /// Why not, for a person.
    pub fn may_use(
        &self,
        def: &Definition,
        files: impl IntoIterator<Item = std::path::PathBuf>,
    ) -> Result<(), String> {
        let files: Vec<FileId> = if self.checks.iter().any(|c| c.agent == def.name) {
            files.into_iter().filter_map(|f| FileId::of(&f)).collect()
        } else {
            Vec::new()
        };
        probe::may_use(&self.checks, def, &files)
    }

    /// All of them, in the order of the files.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.slots.iter().filter_map(|s| s.get(&self.checks))
    }
}

/// Reads the shipped definitions (a text that is known to be right: it is not guarded again) and, in
/// their place, the person's own.
///
/// An entry of the person that is wrong is reported and leaves the shipped one of that agent.
#[must_use]
pub fn load(shipped: &str, person: Option<&[u8]>) -> (Definitions, Vec<Problem>) {
    let mut slots: Vec<Slot> = index(shipped).into_iter().map(Slot::of).collect();
    let (own, problems) = person.map(|p| entries(p, true)).unwrap_or_default();
    for definition in own {
        match slots.iter_mut().find(|s| s.index.name == definition.name) {
            Some(place) => *place = definition.into(),
            None => slots.push(definition.into()),
        }
    }
    let checks = Vec::new();
    (Definitions { slots, checks }, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_file_has_no_problem_and_every_agent_can_resume() {
        let all = Definitions::shipped();
        let (read, problems) = entries(SHIPPED.as_bytes(), false);
        assert!(problems.is_empty(), "{problems:?}");
        assert!(all.iter().eq(&read));
        let names: Vec<&str> = all.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "claude codex grok opencode pi omp amp cursor-agent gemini agy acli hermes copilot \
             codebuddy droid qodercli devin qwen kilo vibe auggie cline cn letta aider kimi"
        );
        for d in all.iter() {
            let exact = d.exact.iter().any(|w| w.contains("{id}"));
            assert!((exact || !d.latest.is_empty()) && !d.own, "{}", d.name);
            assert_eq!(d.verified, d.version.is_some(), "{}", d.name);
            assert!(d.probe.as_ref().is_some_and(|p| !p.expect.is_empty()));
            let f = &d.flags;
            let all = [&f.none, &f.one, &f.optional, &f.several];
            let mut names: Vec<&String> = all.into_iter().flatten().collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{}: an option of two kinds", d.name);
            let listed = |n: &&String| !n.starts_with('-') || names.contains(n) || count == 0;
            for list in [&d.strip, &d.strip_optional, &d.once, &d.forks, &d.headless] {
                assert!(list.iter().all(|n| listed(&n)), "{}: {list:?}", d.name);
            }
        }
    }

    #[test]
    fn options_with_a_secret_by_their_name_are_listed_as_such() {
        for d in Definitions::shipped().iter() {
            let f = &d.flags;
            let secret = [
                &d.secrets,
                &d.secret_pairs,
                &d.secret_documents,
                &d.secret_settings,
            ];
            for name in [&f.one, &f.optional, &f.several].into_iter().flatten() {
                let listed = secret.iter().any(|list| list.contains(name));
                assert!(
                    listed || !crate::agents::secrets::looks_secret(name),
                    "{}: {name}",
                    d.name
                );
            }
        }
    }

    #[test]
    fn programs_and_packages_lead_to_their_agent() {
        let all = Definitions::shipped();
        let name = |d: Option<&Definition>| d.map(|d| d.name.clone());
        assert_eq!(name(all.by_program("codex")).as_deref(), Some("codex"));
        assert_eq!(name(all.by_program("node")), None);
        for package in [
            "@openai/codex",
            "@openai/codex@latest",
            "@openai/codex@0.171.0",
        ] {
            assert_eq!(name(all.by_package(package)).as_deref(), Some("codex"));
        }
        assert_eq!(name(all.by_package("@openai/codex-sdk")), None);
        assert_eq!(name(all.by_package("")), None);
    }

    #[test]
    fn an_entry_of_the_person_replaces_the_whole_shipped_one() {
        let own =
            br#"{"_note": 1, "claude": {"exact": ["-r", "{id}"]}, "mine": {"latest": ["-c"]}}"#;
        let (all, problems) = load(SHIPPED, Some(own));
        assert!(problems.is_empty(), "{problems:?}");
        let claude = all.get("claude").expect("claude");
        assert_eq!(claude.exact, ["-r", "{id}"]);
        assert!(claude.latest.is_empty() && claude.helpers.is_empty() && claude.own);
        assert!(!claude.verified);
        assert_eq!(all.get("mine").expect("mine").names, ["mine"]);
        assert!(all.get("codex").expect("codex").verified);
        assert!(all.get("_note").is_none());
    }

    #[test]
    fn a_changed_entry_has_another_fingerprint() {
        let print = |text: &[u8]| {
            let (all, _) = load("{}", Some(text));
            all.get("a").map(|d| d.fingerprint)
        };
        let one = print(br#"{"a": {"latest": ["-c"], "probe": {"expect": ["x"]}}}"#);
        let two = print(br#"{"a": {"latest": ["-c"], "probe": {"expect": ["y"]}}}"#);
        assert!(one.is_some() && one != two);
    }
}
