//! What is there already, in a line or two: nothing is started to find it out.

use std::path::{Path, PathBuf};

use crate::cmd::setting;
use crate::kitty::conf;
use crate::sys::dirs;
use crate::sys::out;
use crate::sys::private_file::read_foreign;

/// The first kitty that has sessions.
const SESSIONS: (u32, u32) = (0, 43);

/// The line, broken at 80 columns.
pub(super) fn text() -> String {
    let conf = conf::read();
    let kitty = match version() {
        Some((text, number)) if number < SESSIONS => {
            format!("kitty {text} (too old: it must be 0.43 or newer)")
        }
        Some((text, _)) => format!("kitty {text}"),
        None if dirs::find_program(Path::new("kitty")).is_some() => "kitty".to_owned(),
        None => "no kitty on PATH".to_owned(),
    };
    let socket = match conf.forbids() {
        Some(line) => format!("kitty.conf says {line}"),
        None if conf.listens() => "a socket for remote control".to_owned(),
        None => "no socket for remote control yet".to_owned(),
    };
    let shell = dirs::shell();
    let shell = shell.file_name().unwrap_or_default().to_string_lossy();
    let shell = format!(
        "{} {} kitty's integration",
        out::visible(&shell),
        if conf.integrates() { "with" } else { "without" }
    );
    let defs = setting::quiet_definitions().0;
    let here = |n: &String| dirs::find_program(Path::new(n)).is_some();
    let agents: Vec<String> = defs
        .iter()
        .filter(|d| d.names.iter().any(here))
        .map(|d| out::visible(&d.name))
        .collect();
    let agents = if agents.is_empty() {
        "no agent on PATH".to_owned()
    } else {
        agents.join(", ")
    };
    let parts = [kitty, socket, shell, agents];
    let mut text = String::new();
    let mut line = "Here:".to_owned();
    for (n, part) in parts.iter().enumerate() {
        let comma = if n + 1 < parts.len() { ";" } else { "" };
        for word in format!("{part}{comma}").split(' ') {
            if out::width(&line) + out::width(word) + 1 > 78 {
                text.push_str(&(line + "\n"));
                line = "     ".to_owned();
            }
            line.push_str(&format!(" {word}"));
        }
    }
    text + &line + "\n"
}

/// The version of the kitty on PATH, as its own files say.
fn version() -> Option<(String, (u32, u32))> {
    let program = dirs::find_program(Path::new("kitty"))?
        .canonicalize()
        .ok()?;
    let prefix = program.parent()?.parent()?.to_owned();
    let in_environment = dirs::var("KITTY_INSTALLATION_DIR").map(PathBuf::from);
    let places = [
        in_environment,
        Some(prefix.join("lib/kitty")),
        Some(prefix.join("lib64/kitty")),
        Some(prefix.join("Resources/kitty")),
    ];
    places.into_iter().flatten().find_map(|dir| {
        let bytes = read_foreign(&dir.join("kitty/constants.py"), 1 << 20).ok()?;
        number(&String::from_utf8_lossy(&bytes))
    })
}

fn number(text: &str) -> Option<(String, (u32, u32))> {
    let line = text.lines().find(|l| l.starts_with("version:"))?;
    let inner = line.split_once("Version(")?.1.split(')').next()?;
    let parts: Vec<u32> = inner
        .split(',')
        .map(|p| p.trim().parse().ok())
        .collect::<Option<_>>()?;
    let [major, minor, ..] = parts[..] else {
        return None;
    };
    let text: Vec<String> = parts.iter().map(u32::to_string).collect();
    Some((text.join("."), (major, minor)))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn the_version_is_read_where_kitty_has_it() {
        let text = "x = 1\nversion: Version = Version(0, 48, 2)\nstr_version: str = ''\n";
        assert_eq!(number(text), Some(("0.48.2".to_owned(), (0, 48))));
        for odd in [
            "",
            "version: str = '1'",
            "version: V = Version()",
            "version: V = Version(a, b)",
        ] {
            assert_eq!(number(odd), None, "{odd}");
        }
    }
}
