//! `resume-prompt`: what a restored window runs. It never ends in a usage error: whatever is wrong
//! with what it was given, the person gets a shell and one line that says why.

mod ask;
mod become_program;
mod first_moments;
mod gate;
mod screen;

use std::ffi::OsString;

use super::elsewhere::{self, Holder, Wanted};
use super::restored::take_offered;
use super::setting;
use crate::agents::definitions::{Definition, Definitions};
use crate::agents::find;
use crate::keep::claims::Claims;
use crate::keep::records;
use crate::keep::state::State;
use crate::kitty::discover;
use crate::resume::plan::short;
use crate::resume::prompt::Hindrance;
use crate::resume::record::{Mode, Record, Rules};
use crate::sys::bytes::{from_os, to_path};
use crate::sys::dirs;
use crate::sys::fault::plain_cause;
use crate::sys::json;
use crate::sys::lock::Lock;
use crate::sys::look::Look;
use crate::sys::out;
use crate::sys::private_file::read_foreign;
use crate::sys::signals;
use crate::sys::tty::Raw;
use ask::Wish;
use become_program::{Next, shell_now};

/// Runs the prompt; gives the exit code where no program takes its place.
#[must_use]
pub fn run(words: &[OsString]) -> i32 {
    become_program::survive_panic();
    screen::announce();
    let words: Vec<String> = words.iter().map(|w| from_os(w)).collect();
    let value = |name: &str| {
        let at = words.iter().position(|w| w == name)?;
        words.get(at + 1)
    };
    let state = State::open().ok();
    let again = value("--after").map(|status| status.parse::<i32>().unwrap_or(1));
    let record = match value("--info") {
        Some(text) => records::resolve(text, state.as_ref()).and_then(|text| Record::read(&text)),
        None => Err("there is none".to_owned()),
    };
    let (defs, _) = setting::quiet_definitions();
    let checked = match &record {
        Ok(record) => check(record, &defs),
        Err(why) => Err(why.clone()),
    };
    let (record, def) = match (&record, checked) {
        (Ok(record), Ok(def)) => (record, def),
        // The first question has said what is wrong already.
        _ if again.is_some() => return 0,
        (record, Err(why)) => {
            let cwd = record.as_ref().map_or("", |r| r.cwd.as_str());
            return shell_now(
                &format!("this window has no agent to bring back: its record is not usable, {why}"),
                cwd,
            );
        }
        (Err(_), Ok(_)) => return 0,
    };
    let prompt = Prompt {
        record,
        def,
        defs: &defs,
        state: state.as_ref(),
    };
    match again {
        None => prompt.run(None),
        Some(status) => match first_moments::failed_at_once(state.as_ref(), status) {
            Some(seconds) => prompt.run(Some(&format!(
                "{} ended with status {status} after {seconds:.1} s",
                record.agent
            ))),
            None => 0,
        },
    }
}

/// Whether what the record would run is an agent we know, and nothing else.
///
/// # Errors
/// What is wrong, for a person.
pub fn check<'a>(record: &Record, defs: &'a Definitions) -> Result<&'a Definition, String> {
    let Some(def) = defs.get(&record.agent) else {
        return Err(format!(
            "no agent \"{}\" is defined",
            out::clip(&out::visible(&record.agent), 40)
        ));
    };
    let is_id = |sid: &str| def.id.accept(sid).is_some();
    record.check(Rules {
        names: &def.names,
        is_id: &is_id,
        env: &def.env,
    })?;
    Ok(def)
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
    fn run(&self, again: Option<&str>) -> i32 {
        let hindrance = if again.is_some() {
            Hindrance::None
        } else {
            self.hindrance()
        };
        let nothing_to_say = again.is_none() && hindrance == Hindrance::None;
        match self.unasked() {
            Unasked::Never => {
                return shell_now(
                    "resuming is switched off (KITTYMUX_RESUME=never or the file resume-never)",
                    &self.record.cwd,
                );
            }
            Unasked::Resume if nothing_to_say => {
                self.take_desk();
                return self.resume(None, None);
            }
            _ => {}
        }
        if self.record.mode == Mode::New && nothing_to_say && !asks_for_new() {
            self.take_desk();
            return self.start_new(None);
        }
        let Ok(raw) = Raw::open() else {
            // Nobody can answer: the original command, as kitty would have run it.
            return self.start_new(None);
        };
        become_program::remember(&raw);
        let Ok(signals) = signals::listen() else {
            return self.start_new(Some(raw));
        };
        let wish = self.ask(&raw, &signals, hindrance, again);
        match wish {
            Wish::New => self.start_new(Some(raw)),
            Wish::Resume(turn) => self.resume(Some(raw), turn),
            Wish::Go(holder) => self.go_there(raw, &holder),
            Wish::Shell => {
                drop(raw);
                shell_now("", &self.record.cwd)
            }
            // The terminal went away, or we were told to end.
            Wish::Ended => 129,
        }
    }

    /// The desk this window is of has come back: no other kitty offers it from now on.
    fn take_desk(&self) {
        if let Some(state) = self.state
            && let Some(kitty) = discover::parent()
        {
            let _ = take_offered(state, &self.record.save, kitty);
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
        if let Some(why) = why_no_directory(&self.record.cwd) {
            return Hindrance::NoDirectory(why);
        }
        let gone = || {
            dirs::home().is_ok_and(|home| {
                find::transcript(
                    self.def,
                    &self.env(),
                    &home,
                    &self.record.sid,
                    Some(&self.record.cwd),
                ) == Look::Nothing
            })
        };
        if self.record.mode == Mode::Exact && gone() {
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

    fn claims(&self) -> Option<Claims> {
        self.state.and_then(|s| s.claims().ok()).map(Claims::new)
    }

    /// The live process that has this conversation, if any.
    fn holder(&self) -> Option<Holder> {
        let wanted = match self.record.mode {
            Mode::Exact => Wanted::Session(&self.record.sid),
            Mode::Latest => Wanted::LatestOf(&self.record.cwd),
            Mode::New => return None,
        };
        let home = dirs::home().ok()?;
        let claims = self.claims();
        let ground = elsewhere::Ground {
            defs: self.defs,
            home: &home,
            claims: claims.as_ref(),
            state: self.state,
        };
        elsewhere::find(ground, self.def, wanted)
    }

    /// Brings the window to the front in which the conversation is open.
    fn go_there(&self, raw: Raw, holder: &Holder) -> i32 {
        let went = elsewhere::focus(holder, self.state);
        drop(raw);
        let said = if went {
            String::new()
        } else {
            format!(
                "could not bring its window to the front: session {} is open {}",
                short(&self.record.sid),
                holder.place
            )
        };
        shell_now(&said, &self.record.cwd)
    }

    /// Becomes the agent on its conversation, unless it was opened elsewhere meanwhile.
    fn resume(&self, raw: Option<Raw>, turn: Option<Lock>) -> i32 {
        if self.record.mode == Mode::New {
            return self.start_new(raw);
        }
        let claims = self.claims();
        // Looking, claiming and exec are one step for all prompts; the lock opens at exec.
        let lock = claims.as_ref().and_then(|c| c.lock().ok());
        if let Some(holder) = self.holder() {
            drop(raw);
            let what = if self.record.mode == Mode::Exact {
                format!("session {}", short(&self.record.sid))
            } else {
                "its latest conversation".to_owned()
            };
            let said = format!("{what} was opened meanwhile {}", holder.place);
            return shell_now(&said, &self.record.cwd);
        }
        if self.record.mode == Mode::Exact
            && let Some(claims) = &claims
        {
            let _ = claims.claim(&self.record.agent, &self.record.sid);
        }
        let code = self.become_it(&self.record.resume, raw);
        drop((lock, turn));
        code
    }

    fn start_new(&self, raw: Option<Raw>) -> i32 {
        self.become_it(&self.record.orig, raw)
    }

    fn become_it(&self, words: &[String], raw: Option<Raw>) -> i32 {
        drop(raw);
        signals::forget();
        if let Some(state) = self.state {
            first_moments::note_start(state);
        }
        Next {
            words,
            exe: &self.record.exe,
            cwd: &self.record.cwd,
            env: &self.env(),
            unset: &self.def.env,
        }
        .exec()
    }
}

/// Why a directory cannot be started in; `None`: it can, or none is named.
#[must_use]
pub fn why_no_directory(cwd: &str) -> Option<String> {
    if cwd.is_empty() {
        return None;
    }
    let path = to_path(cwd);
    match std::fs::metadata(&path) {
        Ok(meta) if !meta.is_dir() => Some("its directory is a file now".to_owned()),
        // One that can be entered and not listed is good enough to start in.
        Ok(_) => rustix::fs::access(&path, rustix::fs::Access::EXEC_OK)
            .err()
            .map(|e| {
                format!(
                    "its directory cannot be entered: {}",
                    plain_cause(&e.into())
                )
            }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Some("its directory is not there any more".to_owned())
        }
        Err(e) => Some(format!(
            "its directory cannot be entered: {}",
            plain_cause(&e)
        )),
    }
}

/// Whether the person wants to be asked before a new conversation (`config.json`, `ask_new`).
fn asks_for_new() -> bool {
    let read = || {
        let path = dirs::config().ok()?.join("config.json");
        let bytes = read_foreign(&path, 1 << 20).ok()?;
        let value = json::parse(&bytes, 1 << 20).ok()?;
        Some(matches!(
            json::member(&value, "ask_new"),
            Some(json::JsonValue::Boolean(true))
        ))
    };
    read().unwrap_or(false)
}
