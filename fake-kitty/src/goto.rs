//! `goto_session`, and the windows kitty opens to tell or ask something.

use crate::engine::Kitty;
use crate::launch::Launch;
use crate::model::lock;
use crate::session_file;
use crate::sessions::Failure;
use crate::state::State;
use crate::text;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

impl Kitty {
    /// `goto_session` with its words.
    pub(crate) fn goto_session(self: &Arc<Self>, words: &[String]) {
        let mut state = lock(&self.state);
        let word = words.iter().find(|w| *w != "--").map(String::as_str);
        let Some(word) = word else {
            let names = state.session_history.join("\n");
            return self.show(&mut state, "ask", "Select a session", &names);
        };
        if word == "-1" {
            let n = state.session_history.len();
            if n >= 2 {
                let name = state.session_history[n - 2].clone();
                self.switch_to(&mut state, &name);
            }
            return;
        }
        let path = self.session_path(word);
        if std::path::Path::new(&path).is_dir() {
            return self.show_directory(&mut state, &path);
        }
        let name = session_file::session_name(&path);
        if self.switch_to(&mut state, &name) {
            return;
        }
        let error = match self.read_session(&path) {
            Ok(specs) => match self.open_session(&mut state, &specs, &name, true) {
                Ok(()) => return,
                Err(Failure::Launch(e) | Failure::Parse(e)) => e,
                Err(Failure::Missing) => return,
            },
            Err(Failure::Missing) => {
                self.log(format!(
                    "Failed to read from session file, ignoring: {path}"
                ));
                return;
            }
            Err(Failure::Parse(e) | Failure::Launch(e)) => e,
        };
        self.show(
            &mut state,
            "__show_error__",
            "Failed to create session",
            &error,
        );
    }

    /// Goes to a session that is open; says whether it was.
    fn switch_to(&self, state: &mut State, name: &str) -> bool {
        let newest = state
            .windows
            .values()
            .filter(|w| w.session == name && !name.is_empty())
            .max_by(|a, b| {
                a.last_focused_at
                    .total_cmp(&b.last_focused_at)
                    .then(a.id.cmp(&b.id))
            })
            .map(|w| w.id);
        let Some(id) = newest else { return false };
        state.focus_window(id, self.now());
        state.session_history.retain(|s| s != name);
        state.session_history.push(name.to_owned());
        true
    }

    fn show_directory(self: &Arc<Self>, state: &mut State, dir: &str) {
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| text::from_os(e.file_name().as_bytes()))
            .filter(|n| !n.starts_with('.'))
            .map(|n| session_file::session_name(&n))
            .collect();
        names.sort();
        if names.is_empty() {
            self.show(state, "__show_error__", "No session files found", dir);
        } else {
            self.show(state, "ask", "Select a session", &names.join("\n"));
        }
    }

    /// Opens one of kitty's own windows over the active one.
    pub(crate) fn show(
        self: &Arc<Self>,
        state: &mut State,
        kitten: &str,
        title: &str,
        message: &str,
    ) {
        let Some(over) = state.active_window() else {
            self.log(format!("{title}: {message}"));
            return;
        };
        self.show_over(state, over, kitten, title, message);
    }

    /// The same over any window.
    pub(crate) fn show_over(
        self: &Arc<Self>,
        state: &mut State,
        over: u64,
        kitten: &str,
        title: &str,
        message: &str,
    ) {
        let Some((o, t)) = state.locate(over) else {
            return;
        };
        let tab = state.os_windows[o].tabs[t].id;
        let launch = Launch {
            argv: vec![kitten.into(), "--title".into(), title.into()],
            message: Some(format!("{title}\n\n\n{message}\n")),
            title: Some(title.into()),
            overlay: Some("overlay"),
            ..Launch::default()
        };
        if let Err(e) = self.add_window(state, tab, launch, Some(over)) {
            self.log(e);
        }
    }
}
