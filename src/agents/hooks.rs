//! What agents tell the programs they run on their events ("hooks"): which fields of the payload say
//! what, and which of their events mean something to us. The names are data of the definitions.

pub mod edit;
mod groups;
pub mod notify;
mod script;
pub mod setup;

pub use setup::Setup;

use super::id_form::IdForm;
use crate::sys::json::{self, JsonValue};

/// What an event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A conversation is open now.
    Start,
    /// The person sent something.
    Prompt,
    /// The answer is finished.
    Done,
    /// It waits for the person: a permission, a choice.
    Waiting,
    /// The conversation was left; the process may have another one.
    End,
}

impl Event {
    /// The word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Prompt => "prompt",
            Self::Done => "done",
            Self::Waiting => "waiting",
            Self::End => "end",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Start,
            Self::Prompt,
            Self::Done,
            Self::Waiting,
            Self::End,
        ]
        .into_iter()
        .find(|e| e.word() == word)
    }
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// It was cut off, or the agent does not say.
    #[default]
    Cut,
    /// The person went to another one inside the agent.
    Left,
    /// The person ended the agent.
    Exit,
}

impl Ending {
    /// The word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Left => "left",
            Self::Exit => "exit",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Cut, Self::Left, Self::Exit]
            .into_iter()
            .find(|e| e.word() == word)
    }
}

/// The names in an agent's payloads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Fields with the event's name, the first that is there counts. None: the hook's own command
    /// names it.
    pub event: Vec<String>,
    /// Fields with the session id, the first that is there counts.
    pub sid: Vec<String>,
    /// Fields with the directory.
    pub cwd: Vec<String>,
    /// Fields with more about the event: why it started or ended, what is asked.
    pub detail: Vec<String>,
    /// Fields that only events of an agent inside the conversation have: those are left out.
    pub nested: Vec<String>,
    /// A field, and how its text, or the first of its list, begins in a conversation that the agent
    /// keeps for itself: those are left out.
    pub hidden: Vec<String>,
    /// The arguments of a process of the agent's own between it and its hooks.
    pub worker: Vec<String>,
    /// Names of events that mean [`Event::Start`].
    pub start: Vec<String>,
    /// … [`Event::Prompt`].
    pub prompt: Vec<String>,
    /// … [`Event::Done`].
    pub done: Vec<String>,
    /// … [`Event::Waiting`].
    pub waiting: Vec<String>,
    /// … [`Event::End`].
    pub end: Vec<String>,
    /// Details of an end that mean [`Ending::Left`].
    pub leaves: Vec<String>,
    /// … [`Ending::Exit`].
    pub exits: Vec<String>,
    /// What the agent wants to read from its hook; may be empty.
    pub says: String,
    /// Why nothing can be put into its settings; empty where it can.
    pub unknown: String,
    /// Where the hook is put in.
    pub setup: Option<Setup>,
    /// A second file without which the first is nothing to the agent.
    pub beside: Option<Setup>,
    /// Where it is put in only when the person asks for more.
    pub more: Option<Setup>,
}

/// One event, as an agent told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What it means.
    pub event: Event,
    /// The session id; empty where the payload has no field for it.
    pub sid: String,
    /// The directory; empty where it is not known.
    pub cwd: String,
    /// More about it; may be empty.
    pub detail: String,
    /// How it ended, if it did.
    pub ending: Ending,
}

impl Hooks {
    /// The keys of a definition's `hooks`.
    pub const KEYS: [&str; 19] = [
        "beside", "cwd", "detail", "done", "end", "event", "exits", "hidden", "leaves", "more",
        "nested", "prompt", "says", "setup", "sid", "start", "unknown", "waiting", "worker",
    ];

    /// The list behind a key.
    pub fn list(&mut self, key: &str) -> Option<&mut Vec<String>> {
        Some(match key {
            "sid" => &mut self.sid,
            "cwd" => &mut self.cwd,
            "detail" => &mut self.detail,
            "nested" => &mut self.nested,
            "start" => &mut self.start,
            "prompt" => &mut self.prompt,
            "done" => &mut self.done,
            "waiting" => &mut self.waiting,
            "end" => &mut self.end,
            "leaves" => &mut self.leaves,
            "exits" => &mut self.exits,
            "hidden" => &mut self.hidden,
            "worker" => &mut self.worker,
            _ => return None,
        })
    }

    /// What a payload means; `None`: nothing to us, or it is not believed (an id that is none).
    /// `named`: the event, where the command names it.
    #[must_use]
    pub fn read(&self, payload: &JsonValue, named: Option<&str>, id: &IdForm) -> Option<Told> {
        let text = |fields: &[String]| {
            let found = |f: &String| json::text_at(payload, f).filter(|t| !t.is_empty());
            fields.iter().find_map(found)
        };
        let is_set =
            |f: &String| json::member(payload, f).is_some_and(|v| !matches!(v, JsonValue::Null));
        if self.nested.iter().any(is_set) || self.is_hidden(payload) {
            return None;
        }
        let name = named.or_else(|| text(&self.event))?;
        let means = [
            (Event::Start, &self.start),
            (Event::Prompt, &self.prompt),
            (Event::Done, &self.done),
            (Event::Waiting, &self.waiting),
            (Event::End, &self.end),
        ];
        let (event, _) = means
            .into_iter()
            .find(|(_, names)| names.iter().any(|n| n == name))?;
        let sid = match text(&self.sid) {
            Some(sid) => id.accept(sid)?,
            None => String::new(),
        };
        let detail = text(&self.detail).unwrap_or_default();
        let is_one_of = |list: &[String]| list.iter().any(|d| d == detail);
        Some(Told {
            ending: match event {
                Event::End if is_one_of(&self.leaves) => Ending::Left,
                Event::End if is_one_of(&self.exits) => Ending::Exit,
                _ => Ending::Cut,
            },
            event,
            sid,
            cwd: text(&self.cwd)
                .filter(|c| c.starts_with('/') && !c.contains('\0'))
                .unwrap_or_default()
                .to_owned(),
            detail: detail.to_owned(),
        })
    }

    fn is_hidden(&self, payload: &JsonValue) -> bool {
        let [field, begin] = &self.hidden[..] else {
            return false;
        };
        let first = match json::member(payload, field) {
            Some(JsonValue::Array(texts)) => texts.first(),
            other => other,
        };
        matches!(first, Some(JsonValue::String(text)) if text.starts_with(begin.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::definitions::Definitions;

    fn told(payload: &str) -> Option<Told> {
        let defs = Definitions::shipped();
        let claude = defs.get("claude").expect("claude");
        let payload = json::parse(payload.as_bytes(), 1 << 16).expect("JSON");
        claude
            .hooks
            .as_ref()
            .expect("claude has hooks")
            .read(&payload, None, &claude.id)
    }

    const SID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

    #[test]
    fn each_event_of_claude_that_counts_is_understood() {
        let mut said = Vec::new();
        for (name, more) in [
            ("SessionStart", r#","source":"resume""#),
            ("UserPromptSubmit", r#","prompt":"my words""#),
            ("Stop", ""),
            ("Notification", r#","message":"needs your permission""#),
            ("SessionEnd", r#","reason":"clear""#),
            ("SessionEnd", r#","reason":"prompt_input_exit""#),
            ("SessionEnd", r#","reason":"other""#),
            ("SubagentStop", ""),
            ("PreToolUse", ""),
            ("Stop", r#","agent_id":"a1""#),
            ("Stop", r#","agent_id":null"#),
        ] {
            let told = told(&format!(
                r#"{{"session_id":"{SID}","cwd":"/p","hook_event_name":"{name}"{more}}}"#
            ));
            said.push(match told {
                Some(t) => format!(
                    "{name}: {} {:?} {} {} {}",
                    t.event.word(),
                    t.detail,
                    t.cwd,
                    t.sid == SID,
                    t.ending.word()
                ),
                None => format!("{name}: -"),
            });
        }
        expect_test::expect![[r#"
            SessionStart: start "resume" /p true cut
            UserPromptSubmit: prompt "" /p true cut
            Stop: done "" /p true cut
            Notification: waiting "needs your permission" /p true cut
            SessionEnd: end "clear" /p true left
            SessionEnd: end "prompt_input_exit" /p true exit
            SessionEnd: end "other" /p true cut
            SubagentStop: -
            PreToolUse: -
            Stop: -
            Stop: done "" /p true cut"#]]
        .assert_eq(&said.join("\n"));
    }

    #[test]
    fn what_cannot_be_believed_is_nothing() {
        for bad in [
            "{}",
            "[]",
            r#"{"hook_event_name":7}"#,
            r#"{"hook_event_name":"Stop","session_id":"--help"}"#,
            r#"{"hook_event_name":"Stop","session_id":"../../x"}"#,
        ] {
            assert_eq!(told(bad), None, "{bad}");
        }
        let odd = told(r#"{"hook_event_name":"Stop","session_id":7,"cwd":"relative"}"#);
        let odd = odd.expect("an event without id");
        assert_eq!((odd.sid.as_str(), odd.cwd.as_str()), ("", ""));
        for event in ["start", "prompt", "done", "waiting", "end"] {
            assert_eq!(Event::from_word(event).expect("a word").word(), event);
        }
        for ending in ["cut", "left", "exit"] {
            assert_eq!(Ending::from_word(ending).expect("a word").word(), ending);
        }
    }
}
