//! Our hook in an agent's settings: where it is, whether it is due, in and out. `hooks` and `setup`
//! both go through here.

use std::path::{Path, PathBuf};

use super::changes;
use crate::agents::definitions::{Definition, Definitions};
use crate::agents::hooks::edit::{self, LIMIT, Rest, Standing, Who};
use crate::agents::hooks::setup::Way;
use crate::agents::hooks::{Hooks, Setup};
use crate::keep::settings_file as file;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::out;

/// A settings file that may hold our hook.
#[derive(Debug, Clone)]
pub struct Place {
    /// The agent's name.
    pub agent: String,
    /// The file.
    pub path: PathBuf,
    setup: Setup,
}

/// Where the agents on PATH are told; a second file of an agent only where it is told there already.
#[must_use]
pub fn of_installed(defs: &Definitions) -> Vec<Place> {
    let installed = defs.iter().filter(|d| is_installed(d));
    let mut found = Vec::new();
    for def in installed {
        if let Ok(places) = places(def) {
            let more = places.more.filter(|m| is_there(m, &def.name));
            found.extend(places.always.into_iter().chain(more).map(|s| (def, s)));
        }
    }
    found.into_iter().filter_map(place).collect()
}

/// Where there is something of ours, also of agents that are gone.
#[must_use]
pub fn of_ours(defs: &Definitions) -> Vec<Place> {
    let known = defs
        .iter()
        .filter_map(|def| places(def).ok().map(|p| (def, p)));
    known
        .flat_map(|(def, places)| places.all().map(move |setup| (def, setup)))
        .filter(|(def, setup)| is_there(setup, &def.name))
        .filter_map(place)
        .collect()
}

fn place((def, setup): (&Definition, &Setup)) -> Option<Place> {
    Some(Place {
        agent: def.name.clone(),
        path: file::place(&setup.file).ok()?,
        setup: setup.clone(),
    })
}

impl Place {
    /// How it stands there.
    ///
    /// # Errors
    /// When the file cannot be read as what it should be.
    pub fn standing(&self, program: &str) -> Outcome<Standing> {
        standing(&self.setup, self.who(program), &self.path)
    }

    /// What would change; `None`: all is there already.
    ///
    /// # Errors
    /// When the file is left alone: it cannot be read, or is changed where it is ours.
    pub fn is_due(&self, program: &str) -> Outcome<bool> {
        Ok(change(&self.setup, self.who(program), &self.path)?.is_some())
    }

    /// Puts our hook in and says what was done.
    ///
    /// # Errors
    /// What kept it from being written.
    pub fn put_in(&self, program: &str) -> Outcome<String> {
        put_in(&self.setup, self.who(program), false)
    }

    /// Takes our hook out and says what was done.
    ///
    /// # Errors
    /// What kept it from being written.
    pub fn take_out(&self) -> Outcome<String> {
        let said = take_out(&self.setup, &self.agent, false)?;
        Ok(said.unwrap_or_else(|| "nothing of ours is there".to_owned()))
    }

    fn who<'a>(&'a self, program: &'a str) -> Who<'a> {
        Who {
            agent: &self.agent,
            program,
        }
    }
}

/// How our hook stands in a settings file.
///
/// # Errors
/// When it cannot be read as what it should be.
pub(super) fn standing(setup: &Setup, who: Who<'_>, path: &Path) -> Outcome<Standing> {
    match file::read(path, LIMIT)? {
        None => Ok(Standing::Absent),
        Some(text) => edit::standing(setup, who, &text).map_err(|why| left_alone(path, &why)),
    }
}

/// Whether something of ours is in the settings file.
pub(super) fn is_there(setup: &Setup, agent: &str) -> bool {
    let text = file::place(&setup.file).and_then(|path| file::read(&path, LIMIT));
    let text = text.ok().flatten();
    text.is_some_and(|t| matches!(edit::program_in(setup, agent, &t), Ok(Some(_))))
}

/// A change of a settings file.
struct Change {
    old: Option<Vec<u8>>,
    new: Vec<u8>,
    /// Nothing of ours is in it yet.
    first: bool,
}

/// What putting our hook in changes; `None`: nothing.
fn change(setup: &Setup, who: Who<'_>, path: &Path) -> Outcome<Option<Change>> {
    let old = file::read(path, LIMIT)?;
    let wrong = |why: String| left_alone(path, &why);
    let first = match &old {
        Some(old) => edit::program_in(setup, who.agent, old)
            .map_err(wrong)?
            .is_none(),
        None => true,
    };
    let new = edit::put_in(setup, who, old.as_deref()).map_err(wrong)?;
    if new.len() > LIMIT {
        // It could not be read again to take ours out.
        return Err(wrong(format!("it would be larger than {LIMIT} bytes")));
    }
    let same = old.as_deref() == Some(&new[..]);
    Ok((!same).then_some(Change { old, new, first }))
}

/// Puts our hook in; `dry`: only says what would change.
///
/// # Errors
/// When the file is left alone, or cannot be written.
pub(super) fn put_in(setup: &Setup, who: Who<'_>, dry: bool) -> Outcome<String> {
    let path = file::place(&setup.file)?;
    let Some(Change { old, new, first }) = change(setup, who, &path)? else {
        return Ok(format!("is in {} already", shown(&path)));
    };
    if dry {
        let changes = changes::between(old.as_deref().unwrap_or_default(), &new);
        return Ok(format!("would change {}\n{changes}", shown(&path)));
    }
    file::write(&path, old.as_deref(), &new, first)?;
    let verb = match (&old, first) {
        (None, _) => "made",
        (_, true) => "put into",
        (_, false) => "brought up to date in",
    };
    let mut said = format!("{verb} {}", shown(&path));
    if !setup.warning.is_empty() {
        said.push_str(&format!("\n  {}", setup.warning));
    }
    Ok(said)
}

/// What was done; `None`: nothing of ours is there.
pub(super) fn take_out(setup: &Setup, agent: &str, dry: bool) -> Outcome<Option<String>> {
    let path = file::place(&setup.file)?;
    let Some(old) = file::read(&path, LIMIT)? else {
        return Ok(None);
    };
    let wrong = |why: String| left_alone(&path, &why);
    if edit::program_in(setup, agent, &old)
        .map_err(wrong)?
        .is_none()
    {
        return Ok(None);
    }
    let kept = file::original(&path, LIMIT);
    let original = kept.as_ref().map(|(_, bytes)| &bytes[..]);
    let rest = edit::give_back(setup, agent, &old, original).map_err(wrong)?;
    let shown_file = shown(&path);
    if dry {
        let new = match &rest {
            Rest::Text(new) => &new[..],
            Rest::Nothing => return Ok(Some(format!("would remove {shown_file}"))),
        };
        let changes = changes::between(&old, new);
        return Ok(Some(format!("would change {shown_file}\n{changes}")));
    }
    let said = match &rest {
        Rest::Text(new) => {
            file::write(&path, Some(&old), new, false)?;
            format!("taken out of {shown_file}")
        }
        Rest::Nothing => {
            let instead: &[u8] = if setup.way == Way::Json { b"{}\n" } else { b"" };
            file::remove(&path, &old, instead)?;
            format!("removed {shown_file}, which held nothing else")
        }
    };
    match (kept, rest) {
        // What is kept is what stands there again.
        (Some((kept, original)), Rest::Text(new)) if original == new => {
            file::remove(&kept, &original, b"")?;
            Ok(Some(said))
        }
        (Some((kept, _)), _) => Ok(Some(format!(
            "{said}\n  it was changed since; as it was before: {}",
            shown(&kept)
        ))),
        (None, _) => Ok(Some(said)),
    }
}

/// Where an agent is told.
pub(super) struct Places<'a> {
    /// Where it is always told: the first, and what that one needs.
    pub always: Vec<&'a Setup>,
    /// Where it is told more, when the person asks for it.
    pub more: Option<&'a Setup>,
}

impl<'a> Places<'a> {
    /// All of them.
    pub fn all(self) -> impl Iterator<Item = &'a Setup> {
        self.always.into_iter().chain(self.more)
    }
}

/// Where an agent is told; or why nobody knows.
pub(super) fn places(def: &Definition) -> Result<Places<'_>, String> {
    let nobody = || "it is not known how it is told".to_owned();
    let Some(hooks) = &def.hooks else {
        return Err(nobody());
    };
    match hooks {
        Hooks {
            setup: Some(setup),
            beside,
            more,
            ..
        } => Ok(Places {
            always: [Some(setup), beside.as_ref()]
                .into_iter()
                .flatten()
                .collect(),
            more: more.as_ref(),
        }),
        Hooks { unknown, .. } if !unknown.is_empty() => Err(unknown.clone()),
        _ => Err(nobody()),
    }
}

pub(super) fn is_installed(def: &Definition) -> bool {
    def.names
        .iter()
        .any(|n| dirs::find_program(Path::new(n)).is_some())
}

fn left_alone(path: &Path, why: &str) -> Fault {
    Fault::refused(format!(
        "{} is left alone: {}",
        shown(path),
        out::visible(why)
    ))
}

/// A path as a person writes it.
pub(super) fn shown(path: &Path) -> String {
    match dirs::home()
        .ok()
        .and_then(|home| path.strip_prefix(home).ok().map(shown_path))
    {
        Some(below) => format!("~/{below}"),
        None => shown_path(path),
    }
}
