//! The files kitty and the shells load: inside the binary, written to the state directory when needed.

use super::state::State;
use crate::sys::fault::Outcome;
use crate::sys::private_file::PrivateDir;

const CAPTURE: &str = include_str!("../../assets/kittymux_capture.py");
const WATCHER: &str = include_str!("../../assets/kittymux_watcher.py");
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

/// Writes the files kitty loads; gives the path of the capture kitten.
///
/// # Errors
/// When one cannot be written.
pub fn write_kitty_files(state: &State) -> Outcome<String> {
    let kitty = state.dir.sub("kitty")?;
    write(&kitty, "kittymux_capture.py", CAPTURE)?;
    write(&kitty, "kittymux_watcher.py", WATCHER)?;
    Ok(crate::sys::bytes::from_os(
        kitty.join("kittymux_capture.py").as_os_str(),
    ))
}

fn write(dir: &PrivateDir, name: &str, text: &str) -> Outcome<()> {
    match dir.read(name, 1 << 20) {
        Ok(Some(bytes)) if bytes == text.as_bytes() => Ok(()),
        _ => dir.write(name, text.as_bytes()),
    }
}
