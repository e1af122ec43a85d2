//! The record: what a restored window knows of the agent that ran in it, and what of it may be run.
//!
//! It travels as ASCII JSON in a launch line that anybody can edit, so nothing in it is believed
//! before [`Record::read`] and [`Record::check`] have passed it.

use crate::sys::json::{self, JsonValue, Object};
use crate::sys::out::{clip, visible};
use crate::sys::token::is_token;

/// The version we write. A record of a later version is read by the fields we know.
pub const VERSION: u64 = 1;

/// The longest record in a launch line; kitty and the kernel take 128 KiB as one word.
pub const MAX_IN_LINE: usize = 96 << 10;

/// The longest record at all.
pub const MAX: usize = 4 << 20;

/// How surely the conversation is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// By its session id.
    Exact,
    /// As the agent's own "latest of this directory".
    Latest,
    /// Not at all: a new conversation.
    New,
}

impl Mode {
    /// The word in records, marks and lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Latest => "latest",
            Self::New => "new",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Exact, Self::Latest, Self::New]
            .into_iter()
            .find(|m| m.word() == word)
    }
}

/// What a restored window is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The agent's name in the definitions.
    pub agent: String,
    /// How surely the conversation is known.
    pub mode: Mode,
    /// The session id; empty unless `mode` is exact.
    pub sid: String,
    /// The command without its prompt and without selectors: a new conversation.
    pub orig: Vec<String>,
    /// The command that resumes; empty when `mode` is new.
    pub resume: Vec<String>,
    /// Where the program was found, for when PATH is poorer at restore; may be empty.
    pub exe: String,
    /// The directory the conversation belongs to.
    pub cwd: String,
    /// The tab's title, for the prompt.
    pub tab: String,
    /// The save it belongs to.
    pub save: String,
    /// When it was written, RFC 3339.
    pub at: String,
    /// The window's original program; empty: kitty's own shell.
    pub was: Vec<String>,
    /// `NAME=value` of the agent's own configuration directory, where it was set.
    pub env: Vec<String>,
    /// Options that were left out because they carry a secret.
    pub lost: Vec<String>,
    /// Whether it is run without asking (`save --direct`).
    pub direct: bool,
}

/// What a definition says of an agent, as far as a record is checked against it.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// The agent's program names.
    pub names: &'a [String],
    /// Whether an id has the agent's form.
    pub is_id: &'a dyn Fn(&str) -> bool,
    /// The environment names that may be carried.
    pub env: &'a [String],
}

impl Record {
    /// The record as ASCII JSON without `$`, `'` or a line separator.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = Object::new()
            .number("v", VERSION)
            .text("agent", &self.agent)
            .text("mode", self.mode.word())
            .text("sid", &self.sid)
            .texts("orig", &self.orig)
            .texts("resume", &self.resume)
            .text("exe", &self.exe)
            .text("cwd", &self.cwd)
            .text("tab", &self.tab)
            .text("save", &self.save)
            .text("at", &self.at)
            .texts("was", &self.was);
        if !self.env.is_empty() {
            out = out.texts("env", &self.env);
        }
        if !self.lost.is_empty() {
            out = out.texts("lost", &self.lost);
        }
        if self.direct {
            out = out.flag("direct", true);
        }
        out.finish()
    }

    /// Reads a record: an object, of strings and lists of strings only, without NUL, complete.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn read(text: &str) -> Result<Self, String> {
        let value = json::parse(text.as_bytes(), MAX)
            .map_err(|e| format!("it is not JSON ({})", e.what))?;
        let JsonValue::Object(map) = &value else {
            return Err("it is not a JSON object".to_owned());
        };
        match map.get("v") {
            Some(JsonValue::Number(v)) if *v >= 1.0 => {}
            _ => return Err("it has no version".to_owned()),
        }
        let text_of = |name: &str| match map.get(name) {
            Some(JsonValue::String(text)) if !text.contains('\0') => Ok(text.clone()),
            Some(_) => Err(format!("its {name} is not a plain text")),
            None => Ok(String::new()),
        };
        let words_of = |name: &str| match map.get(name) {
            None => Ok(Vec::new()),
            Some(JsonValue::Array(items)) => items
                .iter()
                .map(|item| match item {
                    JsonValue::String(text) if !text.contains('\0') => Ok(text.clone()),
                    _ => Err(format!(
                        "its {name} holds something that is not a plain text"
                    )),
                })
                .collect(),
            Some(_) => Err(format!("its {name} is not a list of words")),
        };
        let mode = text_of("mode")?;
        Ok(Self {
            agent: text_of("agent")?,
            mode: Mode::from_word(&mode).ok_or("its mode is none of exact, latest and new")?,
            sid: text_of("sid")?,
            orig: words_of("orig")?,
            resume: words_of("resume")?,
            exe: text_of("exe")?,
            cwd: text_of("cwd")?,
            tab: text_of("tab")?,
            save: text_of("save")?,
            at: text_of("at")?,
            was: words_of("was")?,
            env: words_of("env")?,
            lost: words_of("lost")?,
            direct: matches!(map.get("direct"), Some(JsonValue::Boolean(true))),
        })
    }

    /// Whether what it would run is that agent and nothing else.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn check(&self, rules: Rules<'_>) -> Result<(), String> {
        let program = self.orig.first().ok_or("it has no command")?;
        if !is_program(program, rules.names) {
            return Err(format!(
                "its command is \"{}\", which is not {}",
                shown(program),
                self.agent
            ));
        }
        match self.mode {
            Mode::New if !self.resume.is_empty() => {
                return Err("it resumes nothing and has a resume command".to_owned());
            }
            Mode::New => {}
            Mode::Exact | Mode::Latest => {
                if self.resume.first() != Some(program) {
                    return Err("its two commands start different programs".to_owned());
                }
            }
        }
        match self.mode {
            Mode::Exact if !is_token(&self.sid) || !(rules.is_id)(&self.sid) => {
                return Err(format!(
                    "\"{}\" is no session id of {}",
                    shown(&self.sid),
                    self.agent
                ));
            }
            Mode::Exact if !self.resume.iter().any(|w| w.contains(&self.sid)) => {
                return Err("its resume command does not name its session id".to_owned());
            }
            Mode::Latest | Mode::New if !self.sid.is_empty() => {
                return Err("it names a session id that it does not resume".to_owned());
            }
            _ => {}
        }
        let is_agent = self.exe.starts_with('/') && is_program(&self.exe, rules.names);
        if !self.exe.is_empty() && !is_agent {
            return Err(format!(
                "its program file \"{}\" is no full path of {}",
                shown(&self.exe),
                self.agent
            ));
        }
        if !self.cwd.is_empty() && !self.cwd.starts_with('/') {
            return Err("its directory is not an absolute path".to_owned());
        }
        for entry in &self.env {
            let name = entry.split('=').next().unwrap_or("");
            if !entry.contains('=') || !rules.env.iter().any(|n| n == name) {
                return Err(format!("it sets \"{}\" in the environment", shown(name)));
            }
        }
        if !self.save.is_empty() && !is_token(&self.save) {
            return Err("its save id is not a plain word".to_owned());
        }
        Ok(())
    }
}

/// A word of the record for a person: short, and nothing a terminal obeys.
fn shown(word: &str) -> String {
    clip(&visible(word), 40)
}

/// Whether `word` names one of `names`: its last path component, without a leading dot, `.exe` and
/// `-wrapped`, upper and lower case alike.
#[must_use]
pub fn is_program(word: &str, names: &[String]) -> bool {
    let base = word.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
    let base = base.strip_prefix('.').unwrap_or(&base);
    let base = base.strip_suffix(".exe").unwrap_or(base);
    let base = base.strip_suffix("-wrapped").unwrap_or(base);
    names
        .iter()
        .any(|n| n.strip_suffix(".exe").unwrap_or(n) == base)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sample() -> Record {
        Record {
            agent: "claude".into(),
            mode: Mode::Exact,
            sid: "0a1b2c3d-0000-4000-8000-000000000001".into(),
            orig: vec!["claude".into(), "--model".into(), "opus".into()],
            resume: [
                "claude",
                "--resume",
                "0a1b2c3d-0000-4000-8000-000000000001",
                "--model",
                "opus",
            ]
            .map(String::from)
            .to_vec(),
            exe: "/usr/bin/claude".into(),
            cwd: "/p".into(),
            tab: "api work".into(),
            save: "s1".into(),
            at: "2026-11-30T08:00:00Z".into(),
            was: vec![],
            env: vec!["CLAUDE_CONFIG_DIR=/h/.claude-work".into()],
            lost: vec![],
            direct: false,
        }
    }

    fn check(record: &Record) -> Result<(), String> {
        let names = ["claude".to_owned(), "claude.exe".to_owned()];
        let env = ["CLAUDE_CONFIG_DIR".to_owned()];
        let is_id = |id: &str| id.len() == 36;
        record.check(Rules {
            names: &names,
            is_id: &is_id,
            env: &env,
        })
    }

    #[test]
    fn the_form_is_frozen() {
        expect_test::expect![[r#"{"v":1,"agent":"claude","mode":"exact","sid":"0a1b2c3d-0000-4000-8000-000000000001","orig":["claude","--model","opus"],"resume":["claude","--resume","0a1b2c3d-0000-4000-8000-000000000001","--model","opus"],"exe":"/usr/bin/claude","cwd":"/p","tab":"api work","save":"s1","at":"2026-11-30T08:00:00Z","was":[],"env":["CLAUDE_CONFIG_DIR=/h/.claude-work"]}"#]]
            .assert_eq(&sample().text());
    }

    #[test]
    fn every_text_comes_back_exactly() {
        let mut record = sample();
        record
            .orig
            .push("it's $HOME `x` \"q\" \\ \n\u{2028}é😀".into());
        record.cwd = crate::sys::bytes::from_bytes(b"/p/\xff");
        record.lost.push("--api-key".into());
        let text = record.text();
        assert!(
            text.bytes()
                .all(|b| (b' '..0x7f).contains(&b) && b != b'\'' && b != b'$')
        );
        assert_eq!(Record::read(&text), Ok(record));
    }

    #[test]
    fn a_later_version_with_more_fields_is_read() {
        let text = sample()
            .text()
            .replace("\"v\":1", "\"v\":2,\"later\":{\"a\":[1]}");
        assert_eq!(Record::read(&text), Ok(sample()));
    }

    #[test]
    fn what_is_no_record_is_refused_with_a_reason() {
        for text in [
            "",
            "{",
            "[]",
            "null",
            "5",
            "{}",
            r#"{"v":1}"#,
            r#"{"v":1,"mode":"auto"}"#,
            r#"{"v":1,"mode":"new","orig":"claude"}"#,
            r#"{"v":1,"mode":"new","orig":[1]}"#,
            r#"{"v":1,"mode":"new","orig":["a\u0000"]}"#,
            r#"{"v":"1","mode":"new"}"#,
            r#"{"v":1,"mode":"new","sid":7}"#,
            &"[".repeat(100_000),
        ] {
            assert!(Record::read(text).is_err(), "{text:.40}");
        }
    }

    #[test]
    fn only_the_agent_itself_is_ever_run() {
        assert_eq!(check(&sample()), Ok(()));
        let mut said = Vec::new();
        let mut refused = |what: &str, change: &dyn Fn(&mut Record)| {
            let mut record = sample();
            change(&mut record);
            said.push(format!("{what}: {}", check(&record).expect_err(what)));
        };
        refused("no command", &|r| r.orig.clear());
        refused("another program", &|r| r.orig[0] = "rm".into());
        refused("two programs", &|r| r.resume[0] = "/evil/claude".into());
        refused("another exe", &|r| r.exe = "/bin/rm".into());
        refused("relative exe", &|r| r.exe = "claude".into());
        refused("relative directory", &|r| r.cwd = "p".into());
        refused("environment", &|r| r.env.push("LD_PRELOAD=/evil.so".into()));
        refused("id left out", &|r| {
            r.resume.remove(2);
        });
        refused("id in new", &|r| {
            r.mode = Mode::New;
            r.resume.clear();
        });
        refused("resume in new", &|r| {
            r.mode = Mode::New;
            r.sid.clear();
        });
        refused("save id", &|r| r.save = "a b".into());
        for id in [
            "--help",
            "-x",
            "a;rm -rf ~",
            "../../x",
            "$(id)",
            "",
            "a\nb",
            "a\u{202e}b",
            &"x".repeat(10_000),
        ] {
            refused("id", &|r| r.sid = id.into());
        }
        expect_test::expect![[r#"
            no command: it has no command
            another program: its command is "rm", which is not claude
            two programs: its two commands start different programs
            another exe: its program file "/bin/rm" is no full path of claude
            relative exe: its program file "claude" is no full path of claude
            relative directory: its directory is not an absolute path
            environment: it sets "LD_PRELOAD" in the environment
            id left out: its resume command does not name its session id
            id in new: it names a session id that it does not resume
            resume in new: it resumes nothing and has a resume command
            save id: its save id is not a plain word
            id: "--help" is no session id of claude
            id: "-x" is no session id of claude
            id: "a;rm -rf ~" is no session id of claude
            id: "../../x" is no session id of claude
            id: "$(id)" is no session id of claude
            id: "" is no session id of claude
            id: "a\nb" is no session id of claude
            id: "a\u{202e}b" is no session id of claude
            id: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is no session id of claude"#]]
        .assert_eq(&said.join("\n"));
    }

    #[test]
    fn program_names_are_seen_through_their_dress() {
        let names = ["claude".to_owned(), "opencode.exe".to_owned()];
        for good in [
            "claude",
            "/usr/bin/claude",
            ".claude-wrapped",
            "Claude.exe",
            "/nix/store/x/bin/.claude-wrapped",
            "opencode",
        ] {
            assert!(is_program(good, &names), "{good}");
        }
        for bad in [
            "",
            "/",
            "claude/",
            "rm",
            "claudette",
            "claude ",
            "/claude/rm",
        ] {
            assert!(!is_program(bad, &names), "{bad}");
        }
    }
}
