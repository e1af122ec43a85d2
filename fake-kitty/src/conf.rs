//! The little of kitty.conf that matters here.

use crate::config::{Config, RemoteControl};
use std::path::{Path, PathBuf};

/// Options in the order they came; the last of a name wins, `watcher` may come often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conf {
    options: Vec<(String, String)>,
}

impl Conf {
    /// Reads a file and the files it includes. A file that is not there is empty.
    pub fn read(path: &Path) -> Conf {
        let mut conf = Conf::default();
        conf.add_file(path, 0);
        conf
    }

    fn add_file(&mut self, path: &Path, depth: usize) {
        let Ok(text) = std::fs::read(path) else {
            return;
        };
        for line in String::from_utf8_lossy(&text).lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let value = value.trim();
            if key == "include" && depth < 10 {
                let base = path.parent().unwrap_or(Path::new("/"));
                self.add_file(&base.join(value), depth + 1);
            } else {
                self.set(key, value);
            }
        }
    }

    /// Adds an option, as `-o key=value` does.
    pub fn set(&mut self, key: &str, value: &str) {
        self.options.push((key.to_owned(), value.to_owned()));
    }

    /// The last value of an option.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }

    /// All watchers.
    pub fn watchers(&self) -> impl Iterator<Item = &str> {
        self.options
            .iter()
            .filter(|(k, _)| k == "watcher")
            .map(|(_, v)| v.as_str())
    }

    /// Puts the options into a configuration. `listen_on` counts as one of kitty.conf.
    pub fn apply(&self, mut config: Config) -> Config {
        let allowed = self
            .get("allow_remote_control")
            .map_or(RemoteControl::No, RemoteControl::parse);
        config = config.remote_control(allowed);
        config = match self.get("listen_on") {
            Some(address) => config.listen_on_of_conf(address),
            None => config.no_socket(),
        };
        if let Some(shell) = self.get("shell") {
            config = config.shell(shell);
        }
        if let Some(words) = self.get("shell_integration") {
            config = config.shell_integration(words);
        }
        if let Some(layouts) = self.get("enabled_layouts") {
            config = config.enabled_layouts(layouts);
        }
        if let Some(file) = self.get("startup_session") {
            config = config.startup_session(file);
        }
        config
    }
}

/// The configuration directory: `KITTY_CONFIG_DIRECTORY`, `$XDG_CONFIG_HOME/kitty`, `~/.config/kitty`.
pub fn directory() -> PathBuf {
    let var = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    var("KITTY_CONFIG_DIRECTORY")
        .or_else(|| var("XDG_CONFIG_HOME").map(|d| d.join("kitty")))
        .or_else(|| var("HOME").map(|d| d.join(".config/kitty")))
        .unwrap_or_else(|| "/".into())
}
