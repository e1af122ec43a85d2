//! The file that is restored.

use std::path::PathBuf;

use crate::cmd::autosaved::is_autosave;
use crate::keep::autosaves::read_header;
use crate::keep::names::ENDING;
use crate::keep::publish::LIMIT;
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::sys::bytes::{from_bytes, from_os, to_path};
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::out;
use crate::sys::private_file::{PrivateDir, read_foreign};

/// The file that is restored.
pub(super) struct Source {
    path: PathBuf,
    pub(super) stem: String,
    dir: Option<PrivateDir>,
    /// The id of a desk that was saved by itself.
    pub(super) desk: Option<String>,
}

impl Source {
    pub(super) fn find(state: &State, wanted: &str) -> Outcome<Self> {
        if wanted.contains('/') || wanted.ends_with(ENDING) {
            let path = std::path::absolute(to_path(wanted))
                .map_err(|e| Fault::file("find", &to_path(wanted), e))?;
            let file = path.file_name().map(from_os).unwrap_or_default();
            let stem = file.strip_suffix(ENDING).unwrap_or(&file).to_owned();
            // One of our own desks is that desk by its path too.
            let sessions = state.sessions()?;
            let is_ours = path.parent() == Some(sessions.path()) && is_autosave(&stem);
            let desk = is_ours.then(|| read_header(&sessions, &file)).flatten();
            return Ok(Self {
                path,
                stem,
                dir: None,
                desk: desk.map(|h| h.save),
            });
        }
        let sessions = state.sessions()?;
        let file = format!("{wanted}{ENDING}");
        let known = saves(state)?;
        if known.iter().all(|s| s.name != wanted) {
            let shown = out::clip(&out::visible(wanted), 40);
            let near: Vec<String> = known.iter().take(5).map(|s| s.name.clone()).collect();
            let there = if near.is_empty() {
                "nothing is saved yet: kittymux sessions save NAME".to_owned()
            } else {
                format!("there is: {}", near.join(", "))
            };
            return Err(Fault::refused(format!(
                "no save is called \"{shown}\"; {there}"
            )));
        }
        Ok(Self {
            desk: is_autosave(wanted)
                .then(|| read_header(&sessions, &file))
                .flatten()
                .map(|h| h.save),
            path: sessions.join(&file),
            stem: wanted.to_owned(),
            dir: Some(sessions),
        })
    }

    /// Reads it; a file kitty would refuse is refused here, before kitty is asked.
    pub(super) fn read(&self) -> Outcome<SessionFile> {
        let bytes = match &self.dir {
            Some(dir) => dir
                .read(&format!("{}{ENDING}", self.stem), LIMIT)?
                .unwrap_or_default(),
            None => {
                let bytes = read_foreign(&self.path, LIMIT)?;
                // A session file is a list of commands to run: somebody else's is not run by its name.
                let owner = std::os::unix::fs::MetadataExt::uid(
                    &std::fs::metadata(&self.path)
                        .map_err(|e| Fault::file("look at", &self.path, e))?,
                );
                if owner != rustix::process::geteuid().as_raw() && owner != 0 {
                    return Err(Fault::refused(format!(
                        "{} belongs to another user: copy it and look into it first",
                        shown_path(&self.path)
                    )));
                }
                bytes
            }
        };
        let file = SessionFile::read(&from_bytes(&bytes), Origin::Person, &[]);
        if let Some((line, why)) = file.refusal() {
            return Err(Fault::refused(format!(
                "kitty would refuse {} for line {line}: {why}",
                shown_path(&self.path)
            )));
        }
        if !file.has_windows() {
            return Err(Fault::refused(format!(
                "{} holds no window",
                shown_path(&self.path)
            )));
        }
        Ok(file)
    }
}
