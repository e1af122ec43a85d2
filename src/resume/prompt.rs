//! The prompt of a restored window: what it shows. No I/O here.

use super::plan::short;
use super::record::{Mode, Record};
use crate::sys::out::{clip, visible};

/// What stands in the way of a plain "resume".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// Nothing.
    None,
    /// The conversation is open in another process.
    OpenElsewhere {
        /// Where, for a person.
        place: String,
        /// Whether that is a window we can bring to the front.
        reachable: bool,
    },
    /// Its transcript is not there any more.
    Gone,
    /// Its directory cannot be entered; why, as a whole line.
    NoDirectory(String),
}

/// What the prompt asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question<'a> {
    /// The record.
    pub record: &'a Record,
    /// What stands in the way.
    pub hindrance: &'a Hindrance,
    /// How long ago it was saved, seconds; `None`: not known.
    pub age: Option<u64>,
    /// What the journal says of it, ready to show; may be empty.
    pub history: &'a str,
    /// The home directory, shown as `~`.
    pub home: &'a str,
    /// Whether the commands are shown.
    pub commands: bool,
    /// Why it asks once more, after the agent failed at once.
    pub again: Option<&'a str>,
}

impl Question<'_> {
    /// Whether Enter resumes.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        self.record.mode != Mode::New && *self.hindrance == Hindrance::None
    }

    /// The lines, each cut to `columns`, and no more of them than `rows`. With `colour`, the first
    /// is bold and the keys stand out.
    #[must_use]
    pub fn lines(&self, columns: usize, rows: usize, colour: bool) -> Vec<String> {
        let mut lines = self.facts(columns);
        lines.push((1, self.keys(columns, colour)));
        while lines.len() > rows.max(1) {
            let least = lines.iter().map(|(rank, _)| *rank).max();
            if let Some(at) = lines.iter().rposition(|(rank, _)| Some(*rank) == least) {
                lines.remove(at);
            }
        }
        lines
            .into_iter()
            .map(|(rank, line)| match rank {
                // The keys fit already, and hold what makes them bold.
                1 => line,
                0 if colour => format!("\x1b[1m{}\x1b[m", clip(&line, columns)),
                _ => clip(&line, columns),
            })
            .collect()
    }

    /// What is said above the keys, each line with its rank: where there is no room for all, the
    /// highest goes first.
    fn facts(&self, columns: usize) -> Vec<(u8, String)> {
        let record = self.record;
        let mut lines = Vec::new();
        if let Some(again) = self.again {
            lines.push((2, visible(again)));
        }
        lines.push((0, self.head(columns)));
        lines.push((4, format!("  {}", shown_directory(&record.cwd, self.home))));
        match self.hindrance {
            Hindrance::OpenElsewhere { place: why, .. } | Hindrance::NoDirectory(why) => {
                lines.push((3, format!("  {}", visible(why))));
            }
            _ => {}
        }
        let mut facts = Vec::new();
        if !self.history.is_empty() {
            facts.push(visible(self.history));
        } else if let Some(age) = self.age {
            facts.push(format!("saved {} ago", crate::sys::clock::span(age)));
        }
        if !record.tab.is_empty() {
            facts.push(format!("tab “{}”", visible(&record.tab)));
        }
        if !facts.is_empty() {
            lines.push((5, format!("  {}", facts.join(" · "))));
        }
        if !record.lost.is_empty() {
            lines.push((
                6,
                format!(
                    "  left out for secrecy: {}",
                    visible(&record.lost.join(" "))
                ),
            ));
        }
        if self.commands {
            if !record.resume.is_empty() {
                lines.push((7, format!("  resume: {}", command(&record.resume))));
            }
            lines.push((7, format!("  new:    {}", command(&record.orig))));
        }
        lines
    }

    /// The question, in fewer words where the window is narrow: the id is what tells windows apart.
    fn head(&self, columns: usize) -> String {
        let record = self.record;
        let agent = visible(&record.agent);
        let said = match (record.mode, self.hindrance) {
            (_, Hindrance::NoDirectory(_)) => "its conversation cannot be resumed".to_owned(),
            (Mode::Exact, Hindrance::Gone) => {
                format!("session {} has no transcript any more", short(&record.sid))
            }
            (Mode::Exact, Hindrance::OpenElsewhere { .. }) => {
                format!("session {} is open elsewhere", short(&record.sid))
            }
            (Mode::Latest, Hindrance::OpenElsewhere { .. }) => {
                "its latest conversation is open elsewhere".to_owned()
            }
            (Mode::Exact, _) => format!("resume session {}?", short(&record.sid)),
            (Mode::Latest, _) => "resume its latest conversation?".to_owned(),
            (Mode::New, _) => "start a new conversation?".to_owned(),
        };
        let whole = format!("{agent} was running here — {said}");
        if crate::sys::out::width(&whole) <= columns {
            return whole;
        }
        let brief = format!("{agent}: {said}");
        if crate::sys::out::width(&brief) <= columns || record.mode != Mode::Exact {
            return brief;
        }
        format!("{agent} {}?", short(&record.sid))
    }

    /// The line of keys, shorter words where the window is narrow.
    fn keys(&self, columns: usize, colour: bool) -> String {
        let enter = match self.hindrance {
            Hindrance::OpenElsewhere {
                reachable: true, ..
            } => Some(("go to it", "go")),
            Hindrance::None if self.again.is_some() => Some(("try again", "again")),
            Hindrance::None if self.record.mode == Mode::New => Some(("start it", "start")),
            Hindrance::None => Some(("resume", "resume")),
            _ => None,
        };
        let mut keys: Vec<(&str, &str, &str)> = Vec::new();
        keys.extend(enter.map(|(long, short)| ("Enter", long, short)));
        if self.record.mode != Mode::New && !matches!(self.hindrance, Hindrance::NoDirectory(_)) {
            keys.push(("n", "new conversation", "new"));
        }
        keys.push(("s", "shell", "shell"));
        if self.can_resume() && self.again.is_none() {
            keys.push(("a", "resume all", "all"));
        }
        keys.push(("i", "commands", "info"));
        let plain = |which: fn(&(&str, &str, &str)) -> String, gap: &str| {
            "  ".to_owned() + &keys.iter().map(which).collect::<Vec<_>>().join(gap)
        };
        let long = plain(|k| format!("{} {}", k.0, k.1), "   ");
        let middle = plain(|k| format!("{} {}", k.0, k.2), "  ");
        let letters = keys.iter().map(|k| k.0).collect::<Vec<_>>().join(" ");
        let width = crate::sys::out::width;
        if width(&long) <= columns {
            if colour {
                return "  ".to_owned()
                    + &keys
                        .iter()
                        .map(|k| format!("\x1b[1m{}\x1b[m {}", k.0, k.1))
                        .collect::<Vec<_>>()
                        .join("   ");
            }
            return long;
        }
        if width(&middle) <= columns {
            return middle;
        }
        clip(&letters, columns)
    }
}

/// What the journal knows of a conversation, for the prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past<'a> {
    /// How long ago it was last seen running, seconds.
    pub age: u64,
    /// How many answers were finished.
    pub runs: u64,
    /// Seconds of work.
    pub work: u64,
    /// The title of its tab, where the record has none.
    pub tab: &'a str,
}

impl Past<'_> {
    /// `last active 12m ago · 7 runs finished · 1h20m of work`
    #[must_use]
    pub fn text(&self) -> String {
        let mut parts = vec![format!(
            "last active {} ago",
            crate::sys::clock::span(self.age)
        )];
        match self.runs {
            0 => {}
            1 => parts.push("1 run finished".to_owned()),
            n => parts.push(format!("{n} runs finished")),
        }
        if self.work > 0 {
            parts.push(format!(
                "{} of work",
                crate::sys::clock::long_span(self.work)
            ));
        }
        if !self.tab.is_empty() {
            parts.push(format!("tab “{}”", visible(self.tab)));
        }
        parts.join(" · ")
    }
}

/// A directory for people: `~` for home, nothing a terminal obeys.
#[must_use]
pub fn shown_directory(dir: &str, home: &str) -> String {
    let shown = match dir.strip_prefix(home) {
        Some(rest)
            if !home.is_empty() && home != "/" && (rest.is_empty() || rest.starts_with('/')) =>
        {
            format!("~{rest}")
        }
        _ => dir.to_owned(),
    };
    visible(&shown)
}

/// A command for people: quoted so that its words can be told apart.
#[must_use]
pub fn command(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|w| {
            let shown = visible(w);
            if shown == *w {
                crate::kitty::words::quote(w)
            } else {
                format!("'{shown}'")
            }
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
