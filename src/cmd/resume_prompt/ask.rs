//! Waiting for the answer: keys, signals and "resume all", without waking up for nothing.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use super::Prompt;
use super::gate;
use super::screen::Screen;
use crate::cmd::elsewhere::Holder;
use crate::cmd::report::home_text;
use crate::keep::journal;
use crate::resume::keys::{Answer, DEAF_MS, Keys};
use crate::resume::prompt::{Hindrance, Past, Question};
use crate::resume::record::Mode;
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault_point;
use crate::sys::lock::Lock;
use crate::sys::signals::{self, Signal};
use crate::sys::tty::{Raw, wait_readable};

/// What is to be done.
#[derive(Debug)]
pub enum Wish {
    /// Resume; with its turn among those that were permitted together.
    Resume(Option<Lock>),
    /// A new conversation.
    New,
    /// Go to the window where it is open.
    Go(Holder),
    /// A shell.
    Shell,
    /// The terminal is gone, or we were told to end.
    Ended,
}

/// What came.
enum Event {
    Typed(Vec<u8>),
    Resized,
    Ended,
    /// Nothing, for as long as was to be waited.
    Nothing,
}

fn next(raw: &Raw, signals: &OwnedFd, wait: Option<Duration>) -> Event {
    let [typed, signalled] = wait_readable([raw.as_fd(), signals.as_fd()], wait);
    if signalled {
        return match signals::drain(signals) {
            Some(Signal::End) => Event::Ended,
            _ => Event::Resized,
        };
    }
    if !typed {
        return Event::Nothing;
    }
    let bytes = raw.read();
    if bytes.is_empty() {
        Event::Ended
    } else {
        Event::Typed(bytes)
    }
}

impl Prompt<'_> {
    /// Asks until there is an answer; the terminal is as it was but for its mode.
    pub fn ask(
        &self,
        raw: &Raw,
        signals: &OwnedFd,
        hindrance: Hindrance,
        again: Option<&str>,
    ) -> Wish {
        let colour = dirs::var("NO_COLOR").is_none();
        let mut asking = Asking {
            prompt: self,
            raw,
            signals,
            screen: Screen::begin(raw, &self.record.agent, colour),
            hindrance,
            holder: None,
            again,
            age: clock::parse_rfc3339(&self.record.at)
                .map(|at| clock::wall_ns().saturating_sub(at) / 1_000_000_000),
            history: String::new(),
            home: home_text(),
            commands: false,
            keys: Keys::default(),
        };
        let wish = asking.wait();
        asking.screen.end();
        wish
    }
}

struct Asking<'a> {
    prompt: &'a Prompt<'a>,
    raw: &'a Raw,
    signals: &'a OwnedFd,
    screen: Screen<'a>,
    hindrance: Hindrance,
    /// Who has the conversation, where that is the hindrance.
    holder: Option<Holder>,
    again: Option<&'a str>,
    age: Option<u64>,
    /// What the journal says of the conversation.
    history: String,
    home: String,
    commands: bool,
    keys: Keys,
}

impl Asking<'_> {
    fn wait(&mut self) -> Wish {
        let begin = Instant::now();
        self.raw.drop_input();
        self.paint();
        let _ = fault_point::pass("prompt");
        self.look_back();
        self.look_elsewhere();
        let mut deaf = true;
        loop {
            // It ends at the first quiet moment: what was typed before it may be read late.
            let wait = if deaf {
                Some(Duration::from_millis(DEAF_MS).saturating_sub(begin.elapsed()))
            } else {
                self.keys.patience().map(Duration::from_millis)
            };
            match next(self.raw, self.signals, wait) {
                Event::Ended => return Wish::Ended,
                // "Resume all" in another window wakes us as a new size does.
                Event::Resized => {
                    if let Some(wish) = self.permitted() {
                        return wish;
                    }
                    self.paint();
                }
                Event::Nothing if deaf => {
                    deaf = begin.elapsed() < Duration::from_millis(DEAF_MS);
                    if !deaf {
                        // Now, since no key that comes meanwhile is lost any more.
                        self.prompt.take_desk();
                    }
                    if !deaf && let Some(wish) = self.permitted() {
                        return wish;
                    }
                }
                Event::Nothing => {
                    if let Some(wish) = self.keys.lapse().and_then(|a| self.answer(a)) {
                        return wish;
                    }
                }
                Event::Typed(bytes) => {
                    for byte in bytes {
                        if deaf {
                            self.keys.pass_over(byte);
                        } else if let Some(wish) = self.keys.feed(byte).and_then(|a| self.answer(a))
                        {
                            return wish;
                        }
                    }
                }
            }
        }
    }

    fn question(&self) -> Question<'_> {
        Question {
            record: self.prompt.record,
            hindrance: &self.hindrance,
            age: self.age,
            history: &self.history,
            home: &self.home,
            commands: self.commands,
            again: self.again,
        }
    }

    fn paint(&self) {
        self.screen.paint(&self.question());
    }

    /// Looks into the journal, which may be long: the question is on the screen already.
    fn look_back(&mut self) {
        let record = self.prompt.record;
        let Some(state) = self.prompt.state.filter(|_| record.mode == Mode::Exact) else {
            return;
        };
        let journal = journal::read(state);
        let Some(session) = journal.find(&record.agent, &record.sid) else {
            return;
        };
        let age = clock::wall_ns().saturating_sub(session.last_ns) / 1_000_000_000;
        let past = Past {
            age,
            runs: session.runs,
            work: session.work_secs(),
            tab: if record.tab.is_empty() {
                &session.tab
            } else {
                ""
            },
        };
        self.history = past.text();
        self.paint();
    }

    /// Looks whether the conversation is open in another process; says so when that changed.
    fn look_elsewhere(&mut self) {
        if !matches!(
            self.hindrance,
            Hindrance::None | Hindrance::OpenElsewhere { .. }
        ) {
            return;
        }
        self.holder = self.prompt.holder();
        let now = match &self.holder {
            Some(holder) => Hindrance::OpenElsewhere {
                place: holder.place.clone(),
                reachable: holder.is_reachable(),
            },
            None => Hindrance::None,
        };
        if now != self.hindrance {
            self.hindrance = now;
            self.paint();
        }
    }

    /// What a key means here; `None`: it is no answer (now).
    fn answer(&mut self, answer: Answer) -> Option<Wish> {
        let is_new = self.prompt.record.mode == Mode::New;
        match answer {
            Answer::Shell => Some(Wish::Shell),
            Answer::Commands => {
                self.commands = !self.commands;
                self.paint();
                None
            }
            Answer::New if is_new || matches!(self.hindrance, Hindrance::NoDirectory(_)) => None,
            Answer::New => Some(Wish::New),
            Answer::All if !self.question().can_resume() || self.again.is_some() => None,
            Answer::All => {
                let turn = self
                    .prompt
                    .state
                    .and_then(|s| gate::open(s, &self.prompt.record.save));
                Some(Wish::Resume(turn))
            }
            Answer::Resume => self.resume(),
        }
    }

    /// Enter: what it means depends on what has become of the conversation since it was asked.
    fn resume(&mut self) -> Option<Wish> {
        let before = self.hindrance.clone();
        self.look_elsewhere();
        match &self.hindrance {
            Hindrance::Gone | Hindrance::NoDirectory(_) => None,
            Hindrance::None => Some(Wish::Resume(None)),
            // The answer was to another question.
            Hindrance::OpenElsewhere { .. } if before == Hindrance::None => None,
            Hindrance::OpenElsewhere { .. } => {
                self.holder.take_if(|h| h.is_reachable()).map(Wish::Go)
            }
        }
    }

    /// Whether "resume all" was said in another window, and then its outcome.
    fn permitted(&mut self) -> Option<Wish> {
        if self.again.is_some() || !self.question().can_resume() {
            return None;
        }
        let state = self.prompt.state?;
        let save = &self.prompt.record.save;
        if !gate::is_open(state, save) {
            return None;
        }
        self.screen
            .say("  resume all: waiting for its turn   s shell");
        let mut gap = None;
        let mut turn = None;
        while gate::is_open(state, save) {
            if turn.is_none() {
                turn = gate::try_turn(state);
            }
            if turn.is_some() {
                let end = *gap.get_or_insert_with(|| Instant::now() + gate::gap());
                if Instant::now() >= end {
                    return Some(Wish::Resume(turn));
                }
            }
            match next(self.raw, self.signals, Some(Duration::from_millis(50))) {
                Event::Ended => return Some(Wish::Ended),
                Event::Typed(bytes) => {
                    let answers = |b: &u8| self.keys.feed(*b) == Some(Answer::Shell);
                    if bytes.iter().any(answers) {
                        return Some(Wish::Shell);
                    }
                }
                Event::Nothing if self.keys.lapse() == Some(Answer::Shell) => {
                    return Some(Wish::Shell);
                }
                Event::Nothing | Event::Resized => {}
            }
        }
        self.paint();
        None
    }
}
