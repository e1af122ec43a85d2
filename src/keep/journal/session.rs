//! One record of the journal: an agent session.

use crate::sys::clock;
use crate::sys::json::{self, JsonValue, Object};
use crate::sys::proc::ProcId;
use crate::sys::token::is_token;

/// A kitty, told apart from any other of any machine and boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Its process id; 0: not known.
    pub pid: i32,
    /// Its start time, as in [`ProcId`].
    pub start: u64,
    /// First digits of the boot id.
    pub boot: String,
    /// The machine.
    pub host: String,
}

/// What a session was last seen doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// It was there; nobody says what it does.
    #[default]
    Seen,
    /// It works on an answer.
    Working,
    /// It waits for the person.
    Waiting,
    /// Its last answer is finished.
    Done,
}

impl Progress {
    /// The word in the file and in lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Done => "done",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Seen, Self::Working, Self::Waiting, Self::Done]
            .into_iter()
            .find(|p| p.word() == word)
    }
}

/// How far the events of one process were counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// The process.
    pub pid: i32,
    /// Its start time.
    pub start: u64,
    /// Its boot.
    pub boot: String,
    /// The end of the last counted line in its file of events.
    pub end: u64,
    /// When the work under way began, milliseconds of the boot clock; 0: none is.
    pub since_up_ms: u64,
    /// The same by wall time, nanoseconds.
    pub since_ns: u64,
}

/// One agent session. Times are nanoseconds of wall time, 0 where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The agent.
    pub agent: String,
    /// Its session id; empty: not known (yet).
    pub sid: String,
    /// The directory it belongs to.
    pub cwd: String,
    /// The title of its tab, where that was set by hand: another may hold what was typed.
    pub tab: String,
    /// Its command without prompt, selectors and secrets.
    pub argv: Vec<String>,
    /// `NAME=value` of its configuration directory.
    pub env: Vec<String>,
    /// The file of its program.
    pub exe: String,
    /// When it was first seen.
    pub first_ns: u64,
    /// When it was last seen running.
    pub last_ns: u64,
    /// What it did then.
    pub state: Progress,
    /// What it waits for; empty unless it does.
    pub waiting_for: String,
    /// How many answers were finished.
    pub runs: u64,
    /// How long it worked, milliseconds.
    pub work_ms: u64,
    /// Whether it was not closed: it runs, or its kitty ended with it.
    pub open: bool,
    /// When it was closed.
    pub closed_ns: u64,
    /// Whether the person went to another conversation inside the agent (`/clear`).
    pub left: bool,
    /// Its kitty.
    pub kitty: Owner,
    /// Its window there.
    pub window: u64,
    /// Its process, of the kitty's boot and machine; pid 0: not started yet.
    pub process: ProcId,
    /// How far events were counted, the newest process last.
    pub counted: Vec<Counted>,
}

/// Whether a text reads back from the file.
pub(super) fn can_be_kept(text: &str) -> bool {
    !text.contains('\0')
}

/// The members of a record that we know.
pub(super) const MEMBERS: [&str; 20] = [
    "agent",
    "sid",
    "cwd",
    "tab",
    "argv",
    "env",
    "exe",
    "first",
    "last",
    "state",
    "waiting_for",
    "runs",
    "work_ms",
    "open",
    "closed",
    "left",
    "kitty",
    "window",
    "process",
    "counted",
];

impl Session {
    /// Seconds of work.
    #[must_use]
    pub fn work_secs(&self) -> u64 {
        self.work_ms / 1000
    }

    /// Reads a record; `None` when a member of it is of another kind than we know, or says what
    /// cannot be.
    #[must_use]
    pub fn read(raw: &[u8], limit: usize) -> Option<Self> {
        let value = json::parse(raw, limit).ok()?;
        let value = Reader(&value);
        let sid = value.text("sid")?;
        let session = Self {
            agent: value.text("agent")?,
            cwd: value.text("cwd")?,
            tab: value.text("tab")?,
            argv: value.texts("argv")?,
            env: value.texts("env")?,
            exe: value.text("exe")?,
            first_ns: value.time("first")?,
            last_ns: value.time("last")?,
            state: match value.text("state")?.as_str() {
                "" => Progress::Seen,
                word => Progress::from_word(word)?,
            },
            waiting_for: value.text("waiting_for")?,
            runs: value.number("runs")?,
            work_ms: value.number("work_ms")?,
            open: value.flag("open", false)?,
            closed_ns: value.time("closed")?,
            left: value.flag("left", false)?,
            kitty: value.owner()?,
            window: value.number("window")?,
            process: value.process()?,
            counted: value.counted()?,
            sid,
        };
        let good = !session.agent.is_empty()
            && (session.sid.is_empty() || is_token(&session.sid))
            && (session.cwd.is_empty() || session.cwd.starts_with('/'));
        good.then_some(session)
    }

    /// The record as JSON members.
    #[must_use]
    pub(super) fn object(&self) -> Object {
        let mut object = Object::new()
            .text("agent", &self.agent)
            .text("sid", &self.sid)
            .text("cwd", &self.cwd)
            .text("tab", &self.tab)
            .texts("argv", &self.argv)
            .texts("env", &self.env)
            .text("exe", &self.exe)
            .text("first", &clock::rfc3339_ms(self.first_ns))
            .text("last", &clock::rfc3339_ms(self.last_ns))
            .text("state", self.state.word())
            .text("waiting_for", &self.waiting_for)
            .number("runs", self.runs)
            .number("work_ms", self.work_ms)
            .flag("open", self.open);
        if self.closed_ns > 0 {
            object = object.text("closed", &clock::rfc3339_ms(self.closed_ns));
        }
        if self.left {
            object = object.flag("left", true);
        }
        let kitty = Object::new()
            .number("pid", pid_number(self.kitty.pid))
            .number("start", self.kitty.start)
            .text("boot", &self.kitty.boot)
            .text("host", &self.kitty.host)
            .finish();
        let process = Object::new()
            .number("pid", pid_number(self.process.pid))
            .number("start", self.process.start)
            .finish();
        let counted = json::list(self.counted.iter().map(|c| {
            Object::new()
                .number("pid", pid_number(c.pid))
                .number("start", c.start)
                .text("boot", &c.boot)
                .number("end", c.end)
                .number("since_up_ms", c.since_up_ms)
                .text("since", &clock::rfc3339_ms(c.since_ns))
                .finish()
        }));
        object
            .raw("kitty", &kitty)
            .number("window", self.window)
            .raw("process", &process)
            .raw("counted", &counted)
    }
}

fn pid_number(pid: i32) -> u64 {
    u64::try_from(pid).unwrap_or(0)
}

/// Reads members; absent ones are empty, ones of another kind are none.
struct Reader<'a>(&'a JsonValue);

impl<'a> Reader<'a> {
    fn member(&self, key: &str) -> Option<&'a JsonValue> {
        json::member(self.0, key).filter(|v| !matches!(v, JsonValue::Null))
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.member(key) {
            None => Some(String::new()),
            Some(JsonValue::String(text)) if !text.contains('\0') => Some(text.clone()),
            Some(_) => None,
        }
    }

    fn texts(&self, key: &str) -> Option<Vec<String>> {
        match self.member(key) {
            None => Some(Vec::new()),
            Some(JsonValue::Array(items)) => items
                .iter()
                .map(|item| match item {
                    JsonValue::String(text) if !text.contains('\0') => Some(text.clone()),
                    _ => None,
                })
                .collect(),
            Some(_) => None,
        }
    }

    fn flag(&self, key: &str, absent: bool) -> Option<bool> {
        match self.member(key) {
            None => Some(absent),
            Some(JsonValue::Boolean(yes)) => Some(*yes),
            Some(_) => None,
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn number(&self, key: &str) -> Option<u64> {
        match self.member(key) {
            None => Some(0),
            // Every whole number up to here is exact.
            Some(JsonValue::Number(n)) if n.fract() == 0.0 && (0.0..9e15).contains(n) => {
                Some(*n as u64)
            }
            Some(_) => None,
        }
    }

    fn time(&self, key: &str) -> Option<u64> {
        match self.text(key)?.as_str() {
            "" => Some(0),
            text => clock::parse_rfc3339(text),
        }
    }

    fn pid(&self, key: &str) -> Option<i32> {
        i32::try_from(self.number(key)?).ok()
    }

    fn inside(&self, key: &str) -> Option<Option<Reader<'a>>> {
        match self.member(key) {
            None => Some(None),
            Some(value @ JsonValue::Object(_)) => Some(Some(Reader(value))),
            Some(_) => None,
        }
    }

    fn owner(&self) -> Option<Owner> {
        let Some(kitty) = self.inside("kitty")? else {
            return Some(Owner::default());
        };
        Some(Owner {
            pid: kitty.pid("pid")?,
            start: kitty.number("start")?,
            boot: kitty.text("boot")?,
            host: kitty.text("host")?,
        })
    }

    fn process(&self) -> Option<ProcId> {
        let none = ProcId { pid: 0, start: 0 };
        let Some(process) = self.inside("process")? else {
            return Some(none);
        };
        Some(ProcId {
            pid: process.pid("pid")?,
            start: process.number("start")?,
        })
    }

    fn counted(&self) -> Option<Vec<Counted>> {
        let items = match self.member("counted") {
            None => return Some(Vec::new()),
            Some(JsonValue::Array(items)) => items,
            Some(_) => return None,
        };
        items
            .iter()
            .map(|item| {
                let item = Reader(item);
                Some(Counted {
                    pid: item.pid("pid")?,
                    start: item.number("start")?,
                    boot: item.text("boot")?,
                    end: item.number("end")?,
                    since_up_ms: item.number("since_up_ms")?,
                    since_ns: item.time("since")?,
                })
            })
            .collect()
    }
}
