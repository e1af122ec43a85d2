//! The files kitty and the shells load: inside the binary, written to the state directory when needed.

use std::path::Path;

use super::autosaves;
use super::state::State;
use crate::sys::bytes::from_os;
use crate::sys::fault::Outcome;
use crate::sys::private_file::PrivateDir;

const CAPTURE: &str = include_str!("../../assets/kittymux_capture.py");
const WATCHER: &str = include_str!("../../assets/kittymux_watcher.py");
const CONF: &str = include_str!("../../assets/kittymux.conf");
const BASH: &str = include_str!("../../assets/shell/kittymux.bash");
const ZSHENV: &str = include_str!("../../assets/shell/zsh/.zshenv");
const FISH: &str = include_str!("../../assets/shell/kittymux.fish");

/// The one line for fish's `-C`.
#[must_use]
pub fn fish_line() -> &'static str {
    FISH.trim_end_matches('\n')
}

/// Writes the shells' start-up files, where they are not there or of another version.
///
/// # Errors
/// When one cannot be written.
pub fn write_shell_files(state: &State) -> Outcome<()> {
    let shell = state.dir.sub("shell")?;
    write(&shell, "kittymux.bash", BASH)?;
    write(&shell.sub("zsh")?, ".zshenv", ZSHENV)
}

/// Where the files kitty loads are, once they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KittyFiles {
    /// The capture kitten.
    pub capture: String,
    /// What a person includes in kitty.conf.
    pub conf: String,
}

/// Writes the files kitty loads. `kittymux` is our stable path, for the keys in `kittymux.conf`.
///
/// # Errors
/// When one cannot be written.
pub fn write_kitty_files(state: &State, kittymux: Option<&str>) -> Outcome<KittyFiles> {
    let kitty = state.dir.sub("kitty")?;
    write(&kitty, "kittymux_capture.py", CAPTURE)?;
    write(&kitty, "kittymux_watcher.py", WATCHER)?;
    // kitty.conf names it, so it is always there.
    autosaves::begin_startup(&state.sessions()?)?;
    if let Some(own) = kittymux {
        write(&kitty, "kittymux.conf", &conf(&state.text(), own))?;
    }
    let path = |name: &str| crate::sys::bytes::from_os(kitty.join(name).as_os_str());
    Ok(KittyFiles {
        capture: path("kittymux_capture.py"),
        conf: path("kittymux.conf"),
    })
}

/// Whether all files that kitty and the shells load are there, as they would be written now.
#[must_use]
pub fn are_written(state: &Path, kittymux: &str) -> bool {
    let is_so = |dir: &str, name: &str, text: &str| {
        let path = state.join(dir).join(name);
        std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
    };
    is_so("kitty", "kittymux_capture.py", CAPTURE)
        && is_so("kitty", "kittymux_watcher.py", WATCHER)
        && is_so(
            "kitty",
            "kittymux.conf",
            &conf(&from_os(state.as_os_str()), kittymux),
        )
        && is_so("shell", "kittymux.bash", BASH)
        && is_so("shell/zsh", ".zshenv", ZSHENV)
}

/// `kittymux.conf` with its paths filled in. A program on a `map` line is a word of kitty's; the
/// watcher's path is the rest of its line as it is.
fn conf(state: &str, kittymux: &str) -> String {
    CONF.replace("@KITTYMUX@", &crate::kitty::words::quote(kittymux))
        .replace("@STATE@", state)
}

fn write(dir: &PrivateDir, name: &str, text: &str) -> Outcome<()> {
    match dir.read(name, 1 << 20) {
        Ok(Some(bytes)) if bytes == text.as_bytes() => Ok(()),
        _ => dir.write(name, text.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kittymux_conf_names_our_paths_and_keeps_no_mark() {
        let text = conf("/home/u/.local/state/kittymux", "/opt/my tools/kittymux");
        assert!(
            text.contains("\nwatcher /home/u/.local/state/kittymux/kitty/kittymux_watcher.py\n")
        );
        assert!(text.contains(" remote_control_script '/opt/my tools/kittymux' sessions save\n"));
        assert!(!text.contains("@KITTYMUX@") && !text.contains("@STATE@"));
    }

    #[test]
    fn fish_gets_one_line_that_holds_no_data() {
        assert!(!fish_line().contains('\n') && !fish_line().is_empty() && fish_line().len() < 700);
    }
}
