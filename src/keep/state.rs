//! Our state directory and what lies where in it.

use std::path::PathBuf;

use crate::sys::dirs;
use crate::sys::fault::Outcome;
use crate::sys::private_file::PrivateDir;

/// The state directory.
#[derive(Debug)]
pub struct State {
    /// The directory itself.
    pub dir: PrivateDir,
}

impl State {
    /// Opens it, making it when absent.
    ///
    /// # Errors
    /// When it cannot be made or is not ours.
    pub fn open() -> Outcome<Self> {
        Ok(Self {
            dir: PrivateDir::open(&dirs::state()?)?,
        })
    }

    /// Opens it if it is there.
    ///
    /// # Errors
    /// When it is there and not ours.
    pub fn existing() -> Outcome<Option<Self>> {
        Ok(PrivateDir::existing(&dirs::state()?)?.map(|dir| Self { dir }))
    }

    /// Where it is, as text.
    #[must_use]
    pub fn text(&self) -> String {
        crate::sys::bytes::from_os(self.dir.path().as_os_str())
    }

    /// `sessions/`
    ///
    /// # Errors
    /// When it cannot be made or is not ours.
    pub fn sessions(&self) -> Outcome<PrivateDir> {
        self.dir.sub("sessions")
    }

    /// `sessions/.records/`: records too long for a launch line.
    ///
    /// # Errors
    /// When it cannot be made or is not ours.
    pub fn records(&self) -> Outcome<PrivateDir> {
        self.sessions()?.sub(".records")
    }

    /// `claims/`
    ///
    /// # Errors
    /// When it cannot be made or is not ours.
    pub fn claims(&self) -> Outcome<PrivateDir> {
        self.dir.sub("claims")
    }

    /// Removes the temporary files of writers that were broken off, in every directory of ours.
    pub fn sweep(&self) {
        self.dir.sweep();
        for name in [
            "claims",
            "hooks",
            "kitty",
            "log",
            "sessions",
            "sessions/.closed",
            "sessions/.history",
            "sessions/.previous",
            "sessions/.records",
            "sessions/.taken",
            "shell",
            "shell/zsh",
        ] {
            if let Ok(Some(dir)) = PrivateDir::existing(&self.dir.join(name)) {
                dir.sweep();
            }
        }
    }

    /// Whether the switch file `name` is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }

    /// The stable path of kittymux that the last interactive run wrote down, if it still works.
    #[must_use]
    pub fn self_path(&self) -> Option<PathBuf> {
        let bytes = self.dir.read("self-path", 4096).ok()??;
        let path = crate::sys::bytes::to_path(
            crate::sys::bytes::from_bytes(&bytes).trim_end_matches('\n'),
        );
        (path.is_absolute() && dirs::is_executable(&path)).then_some(path)
    }
}

/// Whether we, or the person for us, gave something in the state directory this name: what else lies
/// there is none of ours, and a state directory may be any that was named to us.
#[must_use]
pub fn is_name_of_ours(name: &str) -> bool {
    const NAMES: [&str; 19] = [
        "agent-sessions.json",
        "autosave-off",
        "claims",
        "hooks",
        "journal-off",
        "kitties",
        "kitty",
        "locks",
        "log",
        "plan.json",
        "resume-all-until",
        "resume-auto",
        "resume-check.json",
        "resume-check.json.bad",
        "resume-never",
        "self-path",
        "sessions",
        "shell",
        "tick.json",
    ];
    const BEGINNINGS: [&str; 3] = ["agent-sessions.bad-", ".check-", ".tmp-"];
    NAMES.contains(&name) || BEGINNINGS.iter().any(|b| name.starts_with(b))
}

/// The path a person would start us by: found on PATH under our name if that is this very program,
/// else where we were started from; never a link's end in a store of versions.
#[must_use]
pub fn stable_path() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let same = |path: &PathBuf| {
        path.canonicalize()
            .ok()
            .zip(own.canonicalize().ok())
            .is_some_and(|(a, b)| a == b)
    };
    let started_as = crate::sys::start::words().first().map(PathBuf::from);
    let by_name = dirs::find_program(std::path::Path::new("kittymux")).filter(same);
    let as_typed = started_as
        .filter(|p| p.as_os_str().as_encoded_bytes().contains(&b'/'))
        .and_then(|p| std::path::absolute(p).ok())
        .filter(same);
    by_name.or(as_typed).or(Some(own))
}

/// Writes our stable path down when a person runs us (stdout or stdin is a terminal) and it changed;
/// gives the path that saved files are to name.
#[must_use]
pub fn note_self_path(state: &State) -> Option<PathBuf> {
    let known = state.self_path();
    let interactive = rustix::termios::isatty(rustix::stdio::stdin())
        || rustix::termios::isatty(rustix::stdio::stdout());
    if known.is_some() && !interactive {
        return known;
    }
    let path = stable_path()?;
    if known.as_ref() != Some(&path) {
        let mut line = path.as_os_str().as_encoded_bytes().to_vec();
        line.push(b'\n');
        let _ = state.dir.write("self-path", &line);
    }
    Some(path)
}
