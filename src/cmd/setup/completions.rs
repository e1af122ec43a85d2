//! Completion files for the person's shells, where those look for a person's own.

use std::path::{Path, PathBuf};

use super::{Group, Status, Step, in_shell, shown};
use crate::cmd::completions::SHELLS;
use crate::cmd::doctor::Finding;
use crate::keep::settings_file;
use crate::keep::state::stable_path;
use crate::kitty::conf;
use crate::sys::bytes::{from_bytes, from_os};
use crate::sys::dirs;
use crate::sys::fault::Outcome;
use crate::sys::private_file::read_foreign;

pub(super) const NAME: &str = "completions";

/// The largest completion file that is looked at.
const LIMIT: usize = 1 << 20;

/// A shell, and where it finds completions.
struct Shell {
    name: &'static str,
    text: &'static str,
    /// The file of the person's own.
    file: PathBuf,
    /// Where a package puts it.
    packaged: Vec<PathBuf>,
}

/// How a shell stands.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// It comes with the program.
    Packaged,
    /// It is there.
    Whole,
    /// It is not there, or of another version.
    Due,
    /// Something else has that name.
    Foreign,
}

/// The directories of packages' data, the person's own left out.
fn data_dirs() -> Vec<PathBuf> {
    let listed = dirs::var("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let mut found: Vec<PathBuf> = std::env::split_paths(&listed)
        .filter(|p| p.is_absolute())
        .collect();
    // What the program's own prefix holds came with it.
    let prefix = stable_path().and_then(|p| Some(p.parent()?.parent()?.join("share")));
    for dir in prefix
        .into_iter()
        .chain(["/usr/local/share", "/usr/share", "/opt/homebrew/share"].map(PathBuf::from))
    {
        if !found.contains(&dir) {
            found.push(dir);
        }
    }
    found
}

fn shells() -> Vec<Shell> {
    let Ok(data) = dirs::base("XDG_DATA_HOME", ".local/share") else {
        return Vec::new();
    };
    let in_data = |below: &[&str]| -> Vec<PathBuf> {
        let dirs = data_dirs();
        below
            .iter()
            .flat_map(|b| dirs.iter().map(move |d| d.join(b)))
            .collect()
    };
    let of = |name: &'static str, text: &'static str| match name {
        "bash" => Some(Shell {
            name,
            text,
            file: dirs::var("BASH_COMPLETION_USER_DIR")
                .map(PathBuf::from)
                .filter(|d| d.is_absolute())
                .unwrap_or_else(|| data.join("bash-completion"))
                .join("completions/kittymux"),
            packaged: in_data(&["bash-completion/completions/kittymux"]),
        }),
        "zsh" => Some(Shell {
            name,
            text,
            file: data.join("zsh/site-functions/_kittymux"),
            packaged: in_data(&[
                "zsh/site-functions/_kittymux",
                "zsh/vendor-completions/_kittymux",
            ]),
        }),
        "fish" => Some(Shell {
            name,
            text,
            file: dirs::base("XDG_CONFIG_HOME", ".config")
                .ok()?
                .join("fish/completions/kittymux.fish"),
            packaged: in_data(&["fish/vendor_completions.d/kittymux.fish"]),
        }),
        _ => None,
    };
    SHELLS
        .iter()
        .filter_map(|(name, text)| of(name, text))
        .collect()
}

/// Whether the person uses it: it is theirs, kitty's, or they have a start-up file of it.
fn is_used(name: &str) -> bool {
    let base = |p: &Path| p.file_name().is_some_and(|n| n == name);
    let kittys = conf::read().shell.unwrap_or_default();
    let kittys = kittys.split_whitespace().next().unwrap_or("").to_owned();
    if base(&dirs::shell()) || base(Path::new(&kittys)) {
        return true;
    }
    let file = match name {
        "bash" => dirs::home().map(|h| h.join(".bashrc")),
        "zsh" => zsh_directory().map(|d| d.join(".zshrc")),
        _ => dirs::base("XDG_CONFIG_HOME", ".config").map(|c| c.join("fish/config.fish")),
    };
    file.is_ok_and(|f| f.exists()) && dirs::find_program(Path::new(name)).is_some()
}

fn zsh_directory() -> Outcome<PathBuf> {
    match dirs::var("ZDOTDIR").map(PathBuf::from) {
        Some(dir) if dir.is_absolute() => Ok(dir),
        _ => dirs::home(),
    }
}

impl Shell {
    fn standing(&self) -> Standing {
        let packaged = |p: &PathBuf| p != &self.file && p.exists();
        if self.packaged.iter().any(packaged) || (self.came_with_it() && self.file.exists()) {
            return Standing::Packaged;
        }
        match read_foreign(&self.file, LIMIT) {
            Ok(bytes) if bytes == self.text.as_bytes() => Standing::Whole,
            // Somebody's link: what it leads to is not ours to write.
            _ if self.file.is_symlink() => Standing::Foreign,
            Ok(bytes) if self.is_ours(&from_bytes(&bytes)) => Standing::Due,
            Err(fault) if fault.is_absent() => Standing::Due,
            _ => Standing::Foreign,
        }
    }

    /// Whether the program was installed below the same prefix, so that its removal takes this along.
    fn came_with_it(&self) -> bool {
        self.packaged.contains(&self.file)
    }

    /// A file of any version of ours says so in its comment.
    fn is_ours(&self, text: &str) -> bool {
        let comment = |text: &str| {
            let line = text.lines().find(|l| l.starts_with("# "));
            line.unwrap_or("").to_owned()
        };
        comment(text) == comment(self.text)
    }

    fn write(&self) -> Outcome<()> {
        let old = settings_file::read(&self.file, LIMIT)?;
        settings_file::write(&self.file, old.as_deref(), self.text.as_bytes(), false)
    }
}

pub(super) fn step() -> Step {
    let used: Vec<Shell> = shells().into_iter().filter(|s| is_used(s.name)).collect();
    let mut lines = Vec::new();
    let mut due = Vec::new();
    let (mut whole, mut foreign) = (0, Vec::new());
    for shell in used {
        match shell.standing() {
            Standing::Packaged => lines.push(format!("{}: came with kittymux", shell.name)),
            Standing::Foreign => foreign.push(shown(&shell.file)),
            standing => {
                lines.push(shown(&shell.file));
                if shell.name == "bash" && !has_bash_completion() {
                    lines.push("(bash looks there once bash-completion is installed)".to_owned());
                }
                if standing == Standing::Due {
                    due.push(shell);
                } else {
                    whole += 1;
                }
            }
        }
    }
    let is_any = whole > 0 || !lines.is_empty();
    let status = if !due.is_empty() {
        Status::ToDo
    } else if !foreign.is_empty() {
        Status::Left(format!("{} is not ours", foreign.join(", ")))
    } else if is_any {
        Status::Done
    } else {
        Status::Left("none of bash, zsh and fish is your shell".to_owned())
    };
    if lines.is_empty() {
        lines.push("what a Tab completes".to_owned());
    }
    Step {
        name: NAME,
        group: Group::Own,
        does: lines.join("\n"),
        status,
        act: Box::new(move || due.iter().try_for_each(Shell::write)),
    }
}

/// The files that setup wrote.
pub(super) fn ours() -> Vec<PathBuf> {
    shells()
        .into_iter()
        .filter(|s| !s.came_with_it() && !s.file.is_symlink())
        .filter(|s| read_foreign(&s.file, LIMIT).is_ok_and(|b| s.is_ours(&from_bytes(&b))))
        .map(|s| s.file)
        .collect()
}

/// Removes the directories that only setup makes, where they are empty.
pub(super) fn sweep() {
    let made = shells().into_iter().filter(|s| s.name != "fish");
    for shell in made.filter(|s| !s.came_with_it()) {
        for dir in shell.file.ancestors().skip(1).take(2) {
            let _ = std::fs::remove_dir(dir);
        }
    }
}

fn has_bash_completion() -> bool {
    [
        "/usr/share/bash-completion/bash_completion",
        "/usr/local/share/bash-completion/bash_completion",
        "/opt/homebrew/etc/profile.d/bash_completion.sh",
        "/usr/local/etc/profile.d/bash_completion.sh",
        "/etc/bash_completion",
    ]
    .iter()
    .any(|p| Path::new(p).exists())
        || dirs::var("BASH_COMPLETION_VERSINFO").is_some()
}

/// The line that ~/.zshrc needs: zsh has no directory of a person's own that it looks into by itself.
/// `None`: the file is not there, or the line is.
pub(super) fn zsh_line() -> Option<String> {
    let zsh = shells().into_iter().find(|s| s.name == "zsh")?;
    if !is_used("zsh") || zsh.standing() != Standing::Whole {
        return None;
    }
    let dir = zsh.file.parent()?;
    let text = from_os(dir.as_os_str());
    let named = [".zshenv", ".zprofile", ".zshrc"].iter().any(|name| {
        let file = zsh_directory().ok().map(|d| d.join(name));
        let bytes = file.and_then(|f| read_foreign(&f, LIMIT).ok());
        // `$HOME/…`, `~/…`, `${XDG_DATA_HOME}/…`: the end tells.
        bytes.is_some_and(|b| {
            from_bytes(&b).lines().any(|l| {
                !l.trim_start().starts_with('#')
                    && l.to_ascii_lowercase().contains("fpath")
                    && l.contains("zsh/site-functions")
            })
        })
    });
    let in_environment =
        dirs::var("FPATH").is_some_and(|v| std::env::split_paths(&v).any(|p| p == dir));
    (!named && !in_environment).then(|| {
        let dir = in_shell(Path::new(&text));
        format!("fpath=({dir} $fpath)")
    })
}

/// How the person's shells stand, for the doctor.
pub(in crate::cmd) fn findings() -> Vec<Finding> {
    let mut found = Vec::new();
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for shell in shells().into_iter().filter(|s| is_used(s.name)) {
        match shell.standing() {
            Standing::Due => without.push(shell.name),
            _ => with.push(shell.name),
        }
    }
    if !with.is_empty() {
        found.push(Finding::ok(format!("completions: {}", with.join(", "))));
    }
    if !without.is_empty() {
        found.push(Finding {
            mend: "kittymux setup".to_owned(),
            ..Finding::ok(format!("no completions in {}", without.join(", ")))
        });
    }
    if let Some(line) = zsh_line() {
        found.push(Finding::warning(
            "zsh does not look where its completions for kittymux are",
            format!("in ~/.zshrc, above compinit:\n  {line}"),
        ));
    }
    found
}
