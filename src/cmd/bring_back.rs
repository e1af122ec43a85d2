//! From a record of the journal to a window that asks for, or resumes, its conversation.

use std::collections::{BTreeMap, BTreeSet};

use std::path::PathBuf;

use super::elsewhere::{self, OpenNow, is_same_place};
use super::resume_prompt::why_no_directory;
use super::setting;
use crate::agents::argv::{Selector, fresh, resume};
use crate::agents::definitions::{Definition, Definitions, Scope};
use crate::agents::find;
use crate::keep::assets;
use crate::keep::claims::Claims;
use crate::keep::journal::{Journal, Session};
use crate::keep::state::State;
use crate::kitty::launch_line::LaunchLine;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::kitty::words::{can_stand, double_dollars, nearest};
use crate::resume::record::{Mode, Record, Rules, is_program};
use crate::resume::rewrite::{Content, Form, LongRecords, Setting, WindowPlan, rewrite};
use crate::resume::window::shell_by_path;
use crate::sys::bytes::{from_os, to_path};
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::Outcome;
use crate::sys::look::Look;

/// What all records are looked at with.
pub struct Ground<'a> {
    /// The definitions.
    pub defs: Definitions,
    /// The home directory.
    pub home: PathBuf,
    /// What is open now.
    pub open: OpenNow,
    /// What restored windows ask for, by agent and id.
    pub asked_for: &'a BTreeSet<(String, String)>,
    /// The journal they are of.
    pub journal: &'a Journal,
}

impl<'a> Ground<'a> {
    /// Looks at what is open now.
    ///
    /// # Errors
    /// When there is no home directory.
    pub fn look(
        state: &State,
        asked_for: &'a BTreeSet<(String, String)>,
        journal: &'a Journal,
    ) -> Outcome<Self> {
        let defs = setting::checked_definitions(Some(state));
        let home = setting::home()?;
        let claims = state.claims().ok().map(Claims::new);
        let open = OpenNow::look(elsewhere::Ground {
            defs: &defs,
            home: &home,
            claims: claims.as_ref(),
            state: Some(state),
        });
        Ok(Self {
            defs,
            home,
            open,
            asked_for,
            journal,
        })
    }

    /// The record with which a window brings the session back.
    ///
    /// # Errors
    /// Why it cannot come back, for a person.
    pub fn record(&self, session: &Session) -> Result<Record, String> {
        let Some(def) = self.defs.get(&session.agent) else {
            return Err("no agent of that name is defined".to_owned());
        };
        if session.cwd.is_empty() {
            return Err("its directory is not known".to_owned());
        }
        if let Some(why) = why_no_directory(&session.cwd) {
            return Err(why);
        }
        let selector = if session.sid.is_empty() {
            self.latest(def, session)?;
            Selector::Latest
        } else {
            self.exact(def, session)?;
            Selector::Exact(&session.sid)
        };
        let record = of(def, session, selector)?;
        let program = Some(&record.exe).filter(|e| !e.is_empty());
        let by_name = || dirs::find_program(&to_path(&record.orig[0]));
        let files = program.map(|e| to_path(e)).into_iter().chain(by_name());
        self.defs.may_use(def, files)?;
        Ok(record)
    }

    fn exact(&self, def: &Definition, session: &Session) -> Result<(), String> {
        if let Some(place) = self.open.holder(&session.agent, &session.sid) {
            return Err(format!("it is open {place}"));
        }
        let key = (session.agent.clone(), session.sid.clone());
        if self.asked_for.contains(&key) {
            return Err("a restored window asks for it already".to_owned());
        }
        let transcript = find::transcript(
            def,
            &env(session),
            &self.home,
            &session.sid,
            Some(&session.cwd),
        );
        match transcript {
            Look::Nothing => Err("nothing is stored of it".to_owned()),
            _ => Ok(()),
        }
    }

    /// Whether the agent's own "latest" can only be this one: it is the only one of its agent there
    /// (or anywhere, where nobody knows what "latest" means), now and in its time.
    fn latest(&self, def: &Definition, session: &Session) -> Result<(), String> {
        let unknown = || Err("its session id is not known".to_owned());
        let env = env(session);
        let subject = find::Subject {
            def,
            process: session.process,
            inner: &[],
            cwd: Some(&session.cwd),
            env: &env,
            home: &self.home,
        };
        // Where its conversations can be looked up, "latest" is no answer.
        let looked_up = !matches!(
            find::conversations(&subject, session.first_ns),
            Look::Unknown(_)
        );
        if def.latest.is_empty() || looked_up {
            return unknown();
        }
        let dir = (def.latest_scope == Scope::Directory).then_some(session.cwd.as_str());
        let near = |cwd: &str| dir.is_none_or(|dir| cwd.is_empty() || is_same_place(cwd, dir));
        let others = self
            .journal
            .sessions()
            .filter(|s| s.agent == session.agent && near(&s.cwd) && s.last_ns >= session.first_ns)
            .count();
        if others > 1 || self.open.runs_in(&session.agent, dir) {
            return Err(format!(
                "its session id is not known, and another {} ran there",
                session.agent
            ));
        }
        Ok(())
    }
}

fn env(session: &Session) -> Vec<(String, String)> {
    session
        .env
        .iter()
        .filter_map(|e| e.split_once('='))
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect()
}

fn of(def: &Definition, session: &Session, selector: Selector<'_>) -> Result<Record, String> {
    let words = if session.argv.is_empty() {
        def.names[..1].to_vec()
    } else {
        session.argv.clone()
    };
    let mode = match selector {
        Selector::Exact(_) => Mode::Exact,
        Selector::Latest => Mode::Latest,
    };
    let record = Record {
        agent: def.name.clone(),
        mode,
        sid: session.sid.clone(),
        orig: fresh(def, &words)?.words,
        resume: resume(def, &words, selector)?.words,
        exe: Some(&session.exe)
            .filter(|e| e.starts_with('/') && is_program(e, &def.names))
            .cloned()
            .unwrap_or_default(),
        cwd: session.cwd.clone(),
        tab: session.tab.clone(),
        save: String::new(),
        at: clock::rfc3339(session.last_ns),
        was: Vec::new(),
        env: session.env.clone(),
        lost: Vec::new(),
        direct: false,
    };
    // The journal is a file that anybody can edit.
    record.check(Rules {
        names: &def.names,
        is_id: &|sid| def.id.accept(sid).is_some(),
        env: &def.env,
    })?;
    Ok(record)
}

/// A tab to be opened.
pub struct Tab {
    /// What its window brings back.
    pub record: Record,
    /// Its title, where that was set by hand.
    pub title: Option<String>,
}

impl Tab {
    /// The tab of a session.
    #[must_use]
    pub fn of(session: &Session, record: Record) -> Self {
        let title = nearest(&session.tab);
        let title: String = title.chars().filter(|c| !c.is_control()).collect();
        let title = title.trim().to_owned();
        Self {
            record,
            title: (!title.is_empty()).then_some(title),
        }
    }
}

/// A session file with these tabs, each the person's shell with the prompt, and the records that are
/// too long for it.
#[must_use]
pub fn session_file(tabs: Vec<Tab>, setting: Setting<'_>) -> (SessionFile, LongRecords) {
    let mut text = String::new();
    let mut plans = BTreeMap::new();
    for (id, tab) in (1..).zip(tabs) {
        text.push_str("\nnew_tab");
        if let Some(title) = &tab.title {
            text.push_str(&format!(" {}", double_dollars(title)));
        }
        let cwd = &tab.record.cwd;
        // kitty takes the rest of the line as it is, without the blanks at its ends.
        if can_stand(cwd) && cwd.trim() == cwd {
            text.push_str(&format!("\ncd {}", double_dollars(cwd)));
        }
        text.push_str(&format!("\n{}\n", LaunchLine::new(Some(id)).text()));
        plans.insert(id, in_own_shell(tab.record));
    }
    let mut file = SessionFile::read(&text, Origin::Kitty, &[]);
    let long = rewrite(&mut file, &plans, setting);
    (file, long)
}

/// The plan of a window that is the person's shell and runs the prompt for `record`.
#[must_use]
pub fn in_own_shell(record: Record) -> WindowPlan {
    let own_shell = from_os(dirs::shell().as_os_str());
    let zdotdir = dirs::var("ZDOTDIR")
        .map(|v| from_os(&v))
        .filter(|dir| !dir.ends_with("/shell/zsh"));
    WindowPlan {
        content: Content::Ask {
            record: Box::new(record),
            form: Form::Shell(shell_by_path(&own_shell, zdotdir)),
        },
        session: String::new(),
    }
}

/// What every line of ours names.
#[must_use]
pub fn setting<'a>(kittymux: &'a str, state: &'a str, save: &'a str) -> Setting<'a> {
    Setting {
        kittymux,
        state,
        save,
        fish: assets::fish_line(),
    }
}
