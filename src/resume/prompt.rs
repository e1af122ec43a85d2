//! The prompt of a restored window: what it shows and what a key means. No I/O here.

use super::plan::short;
use super::record::{Mode, Record};
use crate::sys::out::{clip, visible};

/// What stands in the way of a plain "resume".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// Nothing.
    None,
    /// The conversation is open in another process; where, for a person.
    OpenElsewhere(String),
    /// Its transcript is not there any more.
    Gone,
    /// Its directory is missing or cannot be entered; why.
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

/// What the person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Enter: resume (or go to where it is open).
    Resume,
    /// `n`
    New,
    /// `s`, Esc, ^C, ^D
    Shell,
    /// `a`: resume all prompts of this restore.
    All,
    /// `i`: show or hide the commands.
    Commands,
}

impl Question<'_> {
    /// Whether Enter resumes.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        self.record.mode != Mode::New && *self.hindrance == Hindrance::None
    }

    /// The lines, each cut to `columns`. With `colour`, the first is bold and the keys stand out.
    #[must_use]
    pub fn lines(&self, columns: usize, colour: bool) -> Vec<String> {
        let record = self.record;
        let agent = visible(&record.agent);
        let mut lines = Vec::new();
        if let Some(again) = self.again {
            lines.push(again.to_owned());
        }
        let head = match (record.mode, self.hindrance) {
            (Mode::Exact, Hindrance::Gone) => {
                format!(
                    "{agent} was running here — session {} has no transcript any more",
                    short(&record.sid)
                )
            }
            (Mode::Exact, Hindrance::OpenElsewhere(_)) => {
                format!(
                    "{agent} was running here — session {} is open elsewhere",
                    short(&record.sid)
                )
            }
            (_, Hindrance::NoDirectory(_)) => {
                format!("{agent} was running here — its conversation cannot be resumed")
            }
            (Mode::Exact, _) => format!(
                "{agent} was running here — resume session {}?",
                short(&record.sid)
            ),
            (Mode::Latest, _) => {
                format!("{agent} was running here — resume its latest conversation?")
            }
            (Mode::New, _) => format!("{agent} was running here — start a new conversation?"),
        };
        lines.push(head);
        lines.push(format!("  {}", shown_directory(&record.cwd, self.home)));
        match self.hindrance {
            Hindrance::OpenElsewhere(place) => lines.push(format!("  {}", visible(place))),
            Hindrance::NoDirectory(why) => {
                lines.push(format!("  the directory is not there: {}", visible(why)))
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
            lines.push(format!("  {}", facts.join(" · ")));
        }
        if !record.lost.is_empty() {
            lines.push(format!(
                "  left out for secrecy: {}",
                visible(&record.lost.join(" "))
            ));
        }
        if self.commands {
            if !record.resume.is_empty() {
                lines.push(format!("  resume: {}", command(&record.resume)));
            }
            lines.push(format!("  new:    {}", command(&record.orig)));
        }
        let mut lines: Vec<String> = lines.into_iter().map(|l| clip(&l, columns)).collect();
        if colour {
            let at = usize::from(self.again.is_some());
            lines[at] = format!("\x1b[1m{}\x1b[m", lines[at]);
        }
        lines.push(self.keys(columns, colour));
        lines
    }

    /// The line of keys, shorter words where the window is narrow.
    fn keys(&self, columns: usize, colour: bool) -> String {
        let enter = match self.hindrance {
            Hindrance::OpenElsewhere(_) => Some(("go to it", "go")),
            Hindrance::None if self.again.is_some() => Some(("try again", "again")),
            Hindrance::None if self.record.mode == Mode::New => Some(("start it", "start")),
            Hindrance::None => Some(("resume", "resume")),
            Hindrance::Gone | Hindrance::NoDirectory(_) => None,
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

/// How long keys are ignored after the prompt appeared, milliseconds.
pub const DEAF_MS: u64 = 150;

/// How long a lone Esc is waited for to become a sequence, milliseconds.
pub const ESC_MS: u64 = 40;

/// Turns bytes from the terminal into answers. Escape sequences, pastes, mouse and focus reports
/// and the terminal's own replies are no answers.
#[derive(Debug, Default)]
pub struct Keys {
    state: State,
    pasting: bool,
    sequence: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// CSI: until a byte from `@` to `~`.
    Control,
    /// SS3: one more byte.
    Single,
    /// OSC, DCS, APC, PM, SOS: until BEL or ST.
    Text,
    TextEscape,
    /// X10 mouse: three more bytes.
    Mouse(u8),
}

impl Keys {
    /// Takes bytes; gives the first answer among them, and drops what follows it.
    pub fn feed(&mut self, bytes: &[u8]) -> Option<Answer> {
        bytes.iter().find_map(|b| self.byte(*b))
    }

    /// Whether a lone Esc may be waiting.
    #[must_use]
    pub fn is_escape_open(&self) -> bool {
        self.state == State::Escape && !self.pasting
    }

    /// No byte followed the Esc in time: it was the key.
    pub fn escape_alone(&mut self) -> Option<Answer> {
        let alone = self.is_escape_open();
        if alone {
            self.state = State::Ground;
        }
        alone.then_some(Answer::Shell)
    }

    fn byte(&mut self, b: u8) -> Option<Answer> {
        match self.state {
            State::Ground if b == 0x1b => self.state = State::Escape,
            State::Ground if self.pasting => {}
            State::Ground => return answer(b),
            State::Escape => {
                self.sequence.clear();
                self.state = match b {
                    b'[' => State::Control,
                    b'O' => State::Single,
                    b']' | b'P' | b'_' | b'^' | b'X' => State::Text,
                    0x1b => State::Escape,
                    // Alt and a key: no answer.
                    _ => State::Ground,
                };
            }
            State::Control => {
                if b == b'M' && self.sequence.is_empty() {
                    self.state = State::Mouse(3);
                    return None;
                }
                self.sequence.push(b);
                if (0x40..=0x7e).contains(&b) {
                    self.state = State::Ground;
                    match self.sequence.as_slice() {
                        b"200~" => self.pasting = true,
                        b"201~" => self.pasting = false,
                        _ => {}
                    }
                } else if self.sequence.len() > 256 {
                    self.state = State::Ground;
                }
            }
            State::Single => self.state = State::Ground,
            State::Text => match b {
                0x07 => self.state = State::Ground,
                0x1b => self.state = State::TextEscape,
                _ => {}
            },
            State::TextEscape => {
                self.state = if b == b'\\' {
                    State::Ground
                } else {
                    State::Text
                }
            }
            State::Mouse(left) => {
                self.state = if left > 1 {
                    State::Mouse(left - 1)
                } else {
                    State::Ground
                }
            }
        }
        None
    }
}

fn answer(b: u8) -> Option<Answer> {
    match b {
        b'\r' | b'\n' | b'r' | b'R' | b'y' | b'Y' => Some(Answer::Resume),
        b'n' | b'N' => Some(Answer::New),
        b's' | b'S' | b'q' | 0x03 | 0x04 => Some(Answer::Shell),
        b'a' | b'A' => Some(Answer::All),
        b'i' | b'I' => Some(Answer::Commands),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::sample;
    use super::*;

    fn shown(change: impl Fn(&mut Record), hindrance: &Hindrance, columns: usize) -> String {
        let mut record = sample();
        record.cwd = "/home/u/code/api".into();
        change(&mut record);
        let question = Question {
            record: &record,
            hindrance,
            age: Some(720),
            history: "",
            home: "/home/u",
            commands: false,
            again: None,
        };
        question.lines(columns, false).join("\n")
    }

    #[test]
    fn what_it_asks() {
        let plain = |_: &mut Record| {};
        let mut said = vec![shown(plain, &Hindrance::None, 80)];
        said.push(shown(|r| r.mode = Mode::Latest, &Hindrance::None, 80));
        said.push(shown(|r| r.mode = Mode::New, &Hindrance::None, 80));
        said.push(shown(plain, &Hindrance::Gone, 80));
        said.push(shown(
            plain,
            &Hindrance::OpenElsewhere("in window 7 of this kitty".into()),
            80,
        ));
        said.push(shown(
            plain,
            &Hindrance::NoDirectory("it was removed".into()),
            80,
        ));
        said.push(shown(
            |r| r.lost = vec!["--api-key".into()],
            &Hindrance::None,
            80,
        ));
        said.push(shown(plain, &Hindrance::None, 50));
        said.push(shown(plain, &Hindrance::None, 12));
        said.push(shown(plain, &Hindrance::None, 4));
        expect_test::expect![[r#"
            claude was running here — resume session 0a1b2c3d?
              ~/code/api
              saved 12m ago · tab “api work”
              Enter resume   n new conversation   s shell   a resume all   i commands

            claude was running here — resume its latest conversation?
              ~/code/api
              saved 12m ago · tab “api work”
              Enter resume   n new conversation   s shell   a resume all   i commands

            claude was running here — start a new conversation?
              ~/code/api
              saved 12m ago · tab “api work”
              Enter start it   s shell   i commands

            claude was running here — session 0a1b2c3d has no transcript any more
              ~/code/api
              saved 12m ago · tab “api work”
              n new conversation   s shell   i commands

            claude was running here — session 0a1b2c3d is open elsewhere
              ~/code/api
              in window 7 of this kitty
              saved 12m ago · tab “api work”
              Enter go to it   n new conversation   s shell   i commands

            claude was running here — its conversation cannot be resumed
              ~/code/api
              the directory is not there: it was removed
              saved 12m ago · tab “api work”
              s shell   i commands

            claude was running here — resume session 0a1b2c3d?
              ~/code/api
              saved 12m ago · tab “api work”
              left out for secrecy: --api-key
              Enter resume   n new conversation   s shell   a resume all   i commands

            claude was running here — resume session 0a1b2c3d?
              ~/code/api
              saved 12m ago · tab “api work”
              Enter resume  n new  s shell  a all  i info

            claude was …
              ~/code/api
              saved 12m…
            Enter n s a…

            cla…
              ~…
              s…
            Ent…"#]]
        .assert_eq(&said.join("\n\n"));
    }

    #[test]
    fn hostile_text_is_shown_escaped() {
        let text = shown(
            |r| {
                r.agent = "cl\x1b]0;x\x07aude".into();
                r.tab = "a\nb\u{202e}c".into();
                r.cwd = "/tmp/\x1b[2J".into();
            },
            &Hindrance::OpenElsewhere("\x1b[31m".into()),
            200,
        );
        assert!(
            !text.contains('\x1b') && !text.contains('\u{202e}'),
            "{text}"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_window() {
        for columns in 0..120 {
            for hindrance in [
                Hindrance::None,
                Hindrance::Gone,
                Hindrance::OpenElsewhere("日本語".repeat(9)),
            ] {
                for line in shown(|r| r.tab = "日本語".repeat(30), &hindrance, columns).lines() {
                    assert!(crate::sys::out::width(line) <= columns, "{columns}: {line}");
                }
            }
        }
    }

    #[test]
    fn keys_answer_and_everything_else_does_not() {
        let feed = |bytes: &[u8]| Keys::default().feed(bytes);
        for (key, wanted) in [
            (&b"\r"[..], Answer::Resume),
            (b"\n", Answer::Resume),
            (b"y", Answer::Resume),
            (b"R", Answer::Resume),
            (b"n", Answer::New),
            (b"s", Answer::Shell),
            (b"\x03", Answer::Shell),
            (b"\x04", Answer::Shell),
            (b"a", Answer::All),
            (b"i", Answer::Commands),
            (b"xyn", Answer::Resume),
            (b"\x1b[An", Answer::New),
        ] {
            assert_eq!(feed(key), Some(wanted), "{key:?}");
        }
        for none in [
            &b"x"[..],
            b"\x1b[A",
            b"\x1bOA",
            b"\x1b[I",
            b"\x1b[<0;3;4M",
            b"\x1b[M\r\r\r",
            b"\x1b]11;rgb:0/0/0\x07",
            b"\x1b]10;n\x1b\\",
            b"\x1b[200~y\r\ns\x1b[201~",
            b"\x1b[?62;c",
            b"\x1bPzzz\r\x1b\\",
            b"\x1bn",
            b"\x1a",
            b"\x1c",
            "é日".as_bytes(),
        ] {
            assert_eq!(feed(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_lone_escape_is_a_shell_and_a_cut_sequence_is_not() {
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"\x1b"), None);
        assert!(keys.is_escape_open());
        assert_eq!(keys.escape_alone(), Some(Answer::Shell));
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"\x1b"), None);
        assert_eq!(keys.feed(b"[A"), None);
        assert_eq!(keys.escape_alone(), None);
        assert_eq!(keys.feed(b"\r"), Some(Answer::Resume));
    }
}
