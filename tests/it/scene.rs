//! A home with one kitty: type, talk, save, restore.

use std::path::Path;

use crate::rig::{Kitty, Rig, announced, until};
use kittymux::kitty::launch_line::LaunchLine;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::resume::record::Record;
use kittymux::resume::rewrite::record_text;
use kittymux::sys::json::{self, JsonValue};

/// A home, a kitty in it, and the windows that were opened.
pub struct Scene {
    pub rig: Rig,
    pub kitty: Kitty,
}

impl Scene {
    pub fn new() -> Self {
        let rig = Rig::new("/bin/bash", true);
        let kitty = rig.start_kitty(&[]);
        Self { rig, kitty }
    }

    /// Types a line into a new shell window; gives the window once `shows` is on its screen.
    pub fn type_in(&self, dir: &Path, line: &str, shows: &str) -> u64 {
        let id = self.kitty.launch(dir, &[]);
        self.kitty.shows(id, "$");
        self.kitty.send(id, &format!("{line}\r"));
        self.kitty.shows(id, shows);
        id
    }

    /// Says something to the agent of a window, so that its conversation is kept; gives its id.
    pub fn talk(&self, id: u64) -> String {
        // A word of its own each time: an older one may still be on the screen.
        static WORDS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
        let word = format!(
            "word{}",
            WORDS.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
        );
        self.kitty.send(id, &format!("{word}\r"));
        let screen = self.kitty.shows(id, &format!("heard {word}"));
        announced(&screen).unwrap_or_else(|| panic!("no id on\n{screen}"))
    }

    /// Saves under a name; the line of each window by its id.
    pub fn save(&self, name: &str) -> Saved {
        self.rig
            .kittymux_ok(Some(&self.kitty), &["sessions", "save", name]);
        Saved(SessionFile::read(
            &self.rig.saved(name),
            Origin::Person,
            &[],
        ))
    }

    /// Kills the kitty and restores the save in a new one.
    pub fn restore(self, name: &str) -> Self {
        let old = self.kitty.pid;
        let rig = self.rig;
        self.kitty.crash();
        rig.kittymux_ok(None, &["sessions", "restore", name]);
        let kitty = rig.new_kitty(old);
        Self { rig, kitty }
    }

    /// The window that asks for a conversation.
    pub fn asking(&self, sid: &str) -> u64 {
        until("the prompt's window", || {
            self.kitty
                .windows()
                .into_iter()
                .find(|w| w.var("kittymux_sid") == Some(sid))
        })
        .id
    }

    /// Presses Enter at a prompt, once it hears keys, and waits for the agent on that conversation.
    pub fn resume(&self, id: u64, sid: &str) {
        self.kitty.shows(id, "Enter resume");
        std::thread::sleep(std::time::Duration::from_millis(200));
        self.kitty.send(id, "\r");
        self.kitty
            .shows(id, &format!("conversation {sid} (resumed)"));
    }

    /// The words of the newest start of an agent, and its directory.
    pub fn last_start(&self) -> (Vec<String>, String) {
        let line = self.rig.starts().pop().expect("a start");
        let value = json::parse(line.as_bytes(), 1 << 20).expect("JSON");
        let words = match json::member(&value, "argv") {
            Some(JsonValue::Array(items)) => items
                .iter()
                .filter_map(|i| {
                    if let JsonValue::String(s) = i {
                        Some(s.clone())
                    } else {
                        None
                    }
                })
                .collect(),
            _ => Vec::new(),
        };
        (words, json::text_at(&value, "cwd").unwrap_or("").to_owned())
    }
}

/// A save, by window.
pub struct Saved(SessionFile);

impl Saved {
    pub fn line(&self, id: u64) -> &LaunchLine {
        self.0
            .launches()
            .find(|l| l.id() == Some(id))
            .unwrap_or_else(|| panic!("window {id} is not in the save"))
    }

    pub fn record(&self, id: u64) -> Record {
        let line = self.line(id);
        Record::read(record_text(line).unwrap_or_else(|| panic!("no record: {}", line.text())))
            .expect("a record")
    }
}
