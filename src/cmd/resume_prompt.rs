//! `resume-prompt`: what a restored window runs. It never ends in a usage error: whatever is wrong
//! with what it was given, the person gets a shell and one line that says why.

mod become_program;
mod elsewhere;
mod gate;

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use super::report::home_text;
use super::setting;
use crate::agents::definitions::{Definition, Definitions};
use crate::agents::find;
use crate::keep::claims::Claims;
use crate::keep::state::State;
use crate::resume::prompt::{Answer, DEAF_MS, ESC_MS, Hindrance, Keys, Question};
use crate::resume::record::{MAX, Mode, Record, Rules};
use crate::sys::bytes::{from_bytes, from_os, to_path};
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::json;
use crate::sys::look::Look;
use crate::sys::out;
use crate::sys::signals;
use crate::sys::tty::{Raw, wait_readable};
use become_program::{Next, shell_now};
use elsewhere::Holder;
use gate::Gate;

/// Runs the prompt; gives the exit code where no program takes its place.
#[must_use]
pub fn run(words: &[OsString]) -> i32 {
    let words: Vec<String> = words.iter().map(|w| from_os(w)).collect();
    let value = |name: &str| {
        words
            .iter()
            .position(|w| w == name)
            .and_then(|n| words.get(n + 1))
    };
    let state = State::open().ok();
    let record = match value("--info") {
        Some(text) => read_record(text, state.as_ref()),
        None => Err("it was started without a record".to_owned()),
    };
    let again = value("--after").map(|status| status.parse::<i32>().unwrap_or(1));
    let record = match record {
        Ok(record) => record,
        Err(_) if again.is_some() => return 0,
        Err(why) => {
            return shell_now(
                &format!("this window's saved command is not usable: {why}"),
                "",
            );
        }
    };
    let (defs, _) = setting::quiet_definitions();
    let checked = match defs.get(&record.agent) {
        Some(def) => check(&record, def).map(|()| def),
        None => Err(format!(
            "kittymux has no definition of \"{}\" (resume.json)",
            out::clip(&out::visible(&record.agent), 40)
        )),
    };
    match (checked, again) {
        (Ok(def), None) => Prompt {
            record: &record,
            def,
            defs: &defs,
            state: state.as_ref(),
        }
        .ask(None),
        (Ok(def), Some(status)) => match gate::failed_at_once(state.as_ref(), status) {
            Some(seconds) => {
                let said = format!(
                    "{} ended with status {status} after {seconds:.1} s",
                    record.agent
                );
                Prompt {
                    record: &record,
                    def,
                    defs: &defs,
                    state: state.as_ref(),
                }
                .ask(Some(&said))
            }
            None => 0,
        },
        (Err(_), Some(_)) => 0,
        (Err(why), None) => shell_now(
            &format!("this window's saved command is not usable: {why}"),
            &record.cwd,
        ),
    }
}

/// Reads the record, from the launch line or from the file it names.
fn read_record(text: &str, state: Option<&State>) -> Result<Record, String> {
    let value =
        json::parse(text.as_bytes(), MAX).map_err(|e| format!("it is not JSON ({})", e.what))?;
    let Some(name) = json::text_at(&value, "file") else {
        return Record::read(text);
    };
    if !crate::sys::token::is_token(name) {
        return Err("it names no record file".to_owned());
    }
    let records = state
        .and_then(|s| s.records().ok())
        .ok_or("the state directory cannot be read")?;
    match records.read(name, MAX) {
        Ok(Some(bytes)) => Record::read(&from_bytes(&bytes)),
        Ok(None) => Err(format!("its record {name} is not there any more")),
        Err(fault) => Err(fault.to_string()),
    }
}

fn check(record: &Record, def: &Definition) -> Result<(), String> {
    let is_id = |sid: &str| def.id.accept(sid).is_some();
    record.check(Rules {
        names: &def.names,
        is_id: &is_id,
        env: &def.env,
    })
}

struct Prompt<'a> {
    record: &'a Record,
    def: &'a Definition,
    defs: &'a Definitions,
    state: Option<&'a State>,
}

/// What is done without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unasked {
    No,
    Resume,
    Never,
}

impl Prompt<'_> {
    fn ask(&self, again: Option<&str>) -> i32 {
        let hindrance = if again.is_some() {
            Hindrance::None
        } else {
            self.hindrance()
        };
        match self.unasked() {
            Unasked::Never => {
                return shell_now(
                    "resuming is switched off (KITTYMUX_RESUME=never or the file resume-never)",
                    &self.record.cwd,
                );
            }
            Unasked::Resume if again.is_none() && hindrance == Hindrance::None => {
                return self.resume(None);
            }
            _ => {}
        }
        let new_needs_no_answer =
            self.record.mode == Mode::New && again.is_none() && hindrance == Hindrance::None;
        if new_needs_no_answer && !asks_for_new() {
            return self.start_new(None);
        }
        let Ok(raw) = Raw::open() else {
            // Nobody can answer: the original command, as kitty would have run it.
            return self.start_new(None);
        };
        become_program::restore_on_panic(&raw);
        let Ok(signals) = signals::listen() else {
            return self.start_new(Some(raw));
        };
        let answer = self.wait_for_answer(&raw, &signals, hindrance, again);
        signals::forget();
        match answer {
            Some((Answer::New, _)) => self.start_new(Some(raw)),
            Some((Answer::All, _)) => {
                if let Some(state) = self.state {
                    gate::open(state, &self.record.save);
                }
                self.resume(Some(raw))
            }
            Some((_, Hindrance::OpenElsewhere(_))) => self.go_there(raw),
            Some((Answer::Resume, _)) if self.record.mode == Mode::New => self.start_new(Some(raw)),
            Some((Answer::Resume, _)) => self.resume(Some(raw)),
            Some((Answer::Shell | Answer::Commands, _)) => {
                drop(raw);
                shell_now("", &self.record.cwd)
            }
            // The terminal went away, or we were told to end.
            None => 129,
        }
    }

    fn unasked(&self) -> Unasked {
        let word = dirs::var("KITTYMUX_RESUME").map(|v| from_os(&v));
        let has = |name: &str| self.state.is_some_and(|s| s.has(name));
        match word.as_deref() {
            Some("never") => Unasked::Never,
            Some("auto") => Unasked::Resume,
            _ if has("resume-never") => Unasked::Never,
            _ if has("resume-auto") || self.record.direct => Unasked::Resume,
            _ => Unasked::No,
        }
    }

    /// What stands in the way: the directory, the transcript. Where the conversation is open is
    /// looked at once the prompt is on the screen.
    fn hindrance(&self) -> Hindrance {
        if let Err(e) = std::fs::read_dir(to_path(&self.record.cwd)).map(drop)
            && !self.record.cwd.is_empty()
        {
            // A directory that can be entered and not listed is good enough to start in.
            let enterable =
                rustix::fs::access(to_path(&self.record.cwd), rustix::fs::Access::EXEC_OK).is_ok()
                    && to_path(&self.record.cwd).is_dir();
            if !enterable {
                return Hindrance::NoDirectory(crate::sys::fault::plain_cause(&e));
            }
        }
        if self.record.mode == Mode::Exact && self.transcript_is_gone() {
            return Hindrance::Gone;
        }
        Hindrance::None
    }

    fn env(&self) -> Vec<(String, String)> {
        self.record
            .env
            .iter()
            .filter_map(|e| e.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned())))
            .collect()
    }

    fn transcript_is_gone(&self) -> bool {
        dirs::home().is_ok_and(|home| {
            find::transcript(self.def, &self.env(), &home, &self.record.sid) == Look::Nothing
        })
    }

    fn wait_for_answer(
        &self,
        raw: &Raw,
        signals: &std::os::fd::OwnedFd,
        mut hindrance: Hindrance,
        again: Option<&str>,
    ) -> Option<(Answer, Hindrance)> {
        let begin = Instant::now();
        raw.drop_input();
        let age = clock::parse_rfc3339(&self.record.at)
            .map(|at| clock::wall_ns().saturating_sub(at) / 1_000_000_000);
        let home = home_text();
        let colour = dirs::var("NO_COLOR").is_none();
        let mut screen = Screen {
            raw,
            rows: Vec::new(),
        };
        let mut commands = false;
        let paint = |screen: &mut Screen<'_>, hindrance: &Hindrance, commands: bool| {
            let question = Question {
                record: self.record,
                hindrance,
                age,
                history: "",
                home: &home,
                commands,
                again,
            };
            screen.paint(&question, colour);
        };
        screen.begin(&self.record.agent);
        paint(&mut screen, &hindrance, commands);
        let mut looked = self.record.mode != Mode::Exact;
        let mut keys = Keys::default();
        loop {
            if !looked {
                looked = true;
                if hindrance == Hindrance::None
                    && let Some(holder) = self.holder()
                {
                    hindrance = Hindrance::OpenElsewhere(holder.place);
                    paint(&mut screen, &hindrance, commands);
                }
            }
            let deaf = Duration::from_millis(DEAF_MS).checked_sub(begin.elapsed());
            let wait = match deaf {
                Some(left) => Some(left),
                None if keys.is_escape_open() => Some(Duration::from_millis(ESC_MS)),
                None => None,
            };
            let [typed, signalled] = wait_readable([raw.as_fd(), signals.as_fd()], wait);
            if signalled {
                match signals::drain(signals) {
                    Some(signals::Signal::End) => {
                        screen.end();
                        return None;
                    }
                    _ => {
                        // "Resume all" in another window wakes us the same way.
                        if hindrance == Hindrance::None
                            && again.is_none()
                            && self.record.mode != Mode::New
                            && self
                                .state
                                .is_some_and(|s| gate::is_open(s, &self.record.save))
                        {
                            screen.end();
                            return Some((Answer::Resume, hindrance));
                        }
                        paint(&mut screen, &hindrance, commands);
                    }
                }
            }
            if !typed {
                if deaf.is_none()
                    && !signalled
                    && let Some(answer) = keys.escape_alone()
                {
                    screen.end();
                    return Some((answer, hindrance));
                }
                if deaf.is_some()
                    && !signalled
                    && again.is_none()
                    && hindrance == Hindrance::None
                    && self.record.mode != Mode::New
                    && self
                        .state
                        .is_some_and(|s| gate::is_open(s, &self.record.save))
                {
                    screen.end();
                    return Some((Answer::Resume, hindrance));
                }
                continue;
            }
            let bytes = raw.read();
            if bytes.is_empty() {
                screen.end();
                return None;
            }
            if deaf.is_some() {
                continue;
            }
            let question = Question {
                record: self.record,
                hindrance: &hindrance,
                age,
                history: "",
                home: &home,
                commands,
                again,
            };
            match keys.feed(&bytes) {
                Some(Answer::Commands) => {
                    commands = !commands;
                    paint(&mut screen, &hindrance, commands);
                }
                Some(Answer::All) if !question.can_resume() || again.is_some() => {}
                Some(Answer::Resume)
                    if matches!(hindrance, Hindrance::Gone | Hindrance::NoDirectory(_)) => {}
                Some(Answer::New)
                    if self.record.mode == Mode::New
                        || matches!(hindrance, Hindrance::NoDirectory(_)) => {}
                Some(answer) => {
                    screen.end();
                    let answer_to = if matches!(answer, Answer::Resume) {
                        hindrance
                    } else {
                        Hindrance::None
                    };
                    return Some((answer, answer_to));
                }
                None => {}
            }
        }
    }

    fn holder(&self) -> Option<Holder> {
        let home = dirs::home().ok()?;
        let claims = self.state.and_then(|s| s.claims().ok()).map(Claims::new);
        elsewhere::find(
            self.defs,
            self.def,
            &home,
            claims.as_ref(),
            &self.record.sid,
        )
    }

    /// Brings the window to the front in which the conversation is open.
    fn go_there(&self, raw: Raw) -> i32 {
        let went = self
            .holder()
            .is_some_and(|holder| elsewhere::focus(&holder));
        drop(raw);
        let said = if went {
            ""
        } else {
            "its window could not be brought to the front; it is still open there"
        };
        shell_now(said, &self.record.cwd)
    }

    /// Becomes the agent on its conversation, unless it was opened elsewhere meanwhile.
    fn resume(&self, raw: Option<Raw>) -> i32 {
        let gate = self.state.and_then(|s| Gate::pass(s, &self.record.save));
        let claims = self.state.and_then(|s| s.claims().ok()).map(Claims::new);
        // Looking, claiming and exec are one step for all prompts; the lock opens at exec.
        let lock = claims.as_ref().and_then(|c| c.lock().ok());
        if self.record.mode == Mode::Exact {
            if let Some(holder) = self.holder() {
                drop(raw);
                return shell_now(
                    &format!(
                        "session {} was opened meanwhile {}",
                        crate::resume::plan::short(&self.record.sid),
                        holder.place
                    ),
                    &self.record.cwd,
                );
            }
            if let Some(claims) = &claims {
                let _ = claims.claim(&self.record.agent, &self.record.sid);
            }
        }
        let code = self.become_it(&self.record.resume, raw);
        drop((lock, gate));
        code
    }

    fn start_new(&self, raw: Option<Raw>) -> i32 {
        self.become_it(&self.record.orig, raw)
    }

    fn become_it(&self, words: &[String], raw: Option<Raw>) -> i32 {
        drop(raw);
        if let Some(state) = self.state {
            gate::note_start(state);
        }
        Next {
            words,
            exe: &self.record.exe,
            cwd: &self.record.cwd,
            env: &self.env(),
        }
        .exec()
    }
}

/// Whether the person wants to be asked before a new conversation (`config.json`, `ask_new`).
fn asks_for_new() -> bool {
    let Ok(path) = dirs::config().map(|d| d.join("config.json")) else {
        return false;
    };
    let Ok(bytes) = crate::sys::private_file::read_foreign(Path::new(&path), 1 << 20) else {
        return false;
    };
    json::parse(&bytes, 1 << 20).is_ok_and(|v| {
        matches!(
            json::member(&v, "ask_new"),
            Some(json::JsonValue::Boolean(true))
        )
    })
}

/// The lines on the terminal, repainted in place.
struct Screen<'a> {
    raw: &'a Raw,
    rows: Vec<usize>,
}

impl Screen<'_> {
    /// Bracketed paste on, a title, and a mark by which "resume all" from a key finds us.
    fn begin(&self, agent: &str) {
        let title = out::clip(&out::visible(agent), 40);
        self.raw.write(&format!(
            "\x1b[?2004h\x1b]2;resume {title}?\x1b\\\x1b]1337;SetUserVar=kittymux_wait=MQ==\x1b\\"
        ));
    }

    fn paint(&mut self, question: &Question<'_>, colour: bool) {
        let (columns, _) = self.raw.size();
        // The terminal may have become narrower since: what was one row can be several now.
        let rows: usize = self
            .rows
            .iter()
            .map(|w| w.div_ceil(columns.max(1)).max(1))
            .sum();
        let mut text = String::from("\r");
        if rows > 1 {
            text.push_str(&format!("\x1b[{}A", rows - 1));
        }
        text.push_str("\x1b[J");
        let lines = question.lines(columns, colour);
        self.rows = question
            .lines(columns, false)
            .iter()
            .map(|l| out::width(l))
            .collect();
        text.push_str(&lines.join("\r\n"));
        self.raw.write(&text);
    }

    /// Takes paste mode, title and mark away again.
    fn end(&self) {
        self.raw
            .write("\r\n\x1b[?2004l\x1b]2;\x1b\\\x1b]1337;SetUserVar=kittymux_wait\x1b\\");
    }
}
