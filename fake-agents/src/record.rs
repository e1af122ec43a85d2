//! Switches, and the line that each start leaves.

use std::io::Write;
use std::path::PathBuf;

use crate::Agent;

/// The variables that a start line tells, when they are set.
const TOLD: [&str; 8] = [
    "FOO",
    "DENV",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "KITTY_WINDOW_ID",
    "KITTYMUX_RECORD",
    "KITTYMUX_BIN",
    "PATH",
];

/// The home directory.
pub fn home() -> PathBuf {
    std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// A switch: from the environment, else from `$HOME/.fake-agent`.
pub fn switch(name: &str) -> Option<String> {
    if let Some(value) = std::env::var_os(name) {
        return Some(value.to_string_lossy().into_owned()).filter(|v| !v.is_empty());
    }
    let text = std::fs::read_to_string(home().join(".fake-agent")).ok()?;
    text.lines()
        .filter_map(|l| l.split_once('='))
        .find(|(n, _)| *n == name)
        .map(|(_, v)| v.to_owned())
        .filter(|v| !v.is_empty())
}

/// Whether a switch is set to anything but `0`.
pub fn is_on(name: &str) -> bool {
    switch(name).is_some_and(|v| v != "0")
}

/// Appends the line of this start to the log, in one write.
pub fn start(agent: Agent, words: &[String]) {
    let Some(log) = switch("FAKE_AGENT_LOG") else {
        return;
    };
    let cwd = std::env::current_dir().unwrap_or_default();
    let argv: Vec<String> = words.iter().map(|w| json(w)).collect();
    let env: Vec<String> = TOLD
        .iter()
        .filter_map(|n| Some((n, std::env::var_os(n)?)))
        .map(|(n, v)| format!("{}:{}", json(n), json(&v.to_string_lossy())))
        .collect();
    let line = format!(
        "{{\"agent\":{},\"argv\":[{}],\"cwd\":{},\"pid\":{},\"ppid\":{},\"env\":{{{}}}}}\n",
        json(agent.name()),
        argv.join(","),
        json(&cwd.to_string_lossy()),
        std::process::id(),
        std::os::unix::process::parent_id(),
        env.join(","),
    );
    append(&PathBuf::from(log), &line);
}

/// Appends `text` to a file in one write, making the file and its directory.
pub fn append(path: &std::path::Path, text: &str) {
    if let Some(dir) = path.parent() {
        let _ = std::fs::create_dir_all(dir);
    }
    let file = std::fs::File::options()
        .create(true)
        .append(true)
        .open(path);
    if let Err(e) = file.and_then(|mut f| f.write_all(text.as_bytes())) {
        eprintln!("fake-agent: could not write {}: {e}", path.display());
    }
}

/// `text` as a JSON string.
pub fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The text at `"key":"…"` of a line that one of our own programs wrote.
pub fn text_at(line: &str, key: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{key}\":\""))?;
    let mut out = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
}
