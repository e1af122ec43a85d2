//! The state directory: there, ours, private, writable.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Finding;
use crate::cmd::report::home_text;
use crate::keep::state::State;
use crate::resume::prompt::shown_directory;
use crate::sys::fault::{Outcome, shown_path};

/// How deep it is looked into.
const DEPTH: usize = 4;

pub(super) fn findings(state: &Outcome<Option<State>>) -> Vec<Finding> {
    let state = match state {
        Err(fault) => return vec![Finding::problem(fault.to_string(), "")],
        Ok(None) => {
            return vec![Finding::warning(
                "nothing was saved yet and nothing is set up",
                "kittymux setup",
            )];
        }
        Ok(Some(state)) => state,
    };
    let mut loose = Vec::new();
    look(state.dir.path(), DEPTH, &mut loose);
    let mut found = vec![
        match rustix::fs::access(state.dir.path(), rustix::fs::Access::WRITE_OK) {
            Ok(()) => Finding::ok(format!(
                "state is kept in {}",
                shown_directory(&state.text(), &home_text())
            )),
            Err(e) => Finding::problem(
                format!(
                    "{} cannot be written: {}",
                    shown_path(state.dir.path()),
                    crate::sys::fault::plain_cause(&e.into())
                ),
                "make it writable for you",
            ),
        },
    ];
    if let Some(first) = loose.first() {
        let more = if loose.len() > 1 {
            format!(" and {} more", loose.len() - 1)
        } else {
            String::new()
        };
        found.push(Finding::warning(
            format!("others can read {first}{more}"),
            format!("chmod -R go= {}", shown_path(state.dir.path())),
        ));
    }
    found
}

/// Files and directories that others may read.
fn look(dir: &Path, depth: usize, loose: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(meta) = path.symlink_metadata() else {
            continue;
        };
        if meta.file_type().is_symlink() {
            continue;
        }
        if meta.mode() & 0o077 != 0 {
            loose.push(shown_path(&path));
        }
        if meta.is_dir() && depth > 0 {
            look(&path, depth - 1, loose);
        }
    }
}
