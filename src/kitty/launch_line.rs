//! One `launch` line of a session file, with every byte we do not mean to change kept as it stands
//! (facts 7.1–7.7).

mod refusal;
mod serialized;
#[cfg(test)]
mod tests;

use super::words::{Unbalanced, quote, split};

/// The word with which kitty's saver hands a window's id and start-up command to its loader; it must
/// be the first word after `launch`.
const UNSERIALIZE: &str = "kitty-unserialize-data=";

/// Launch options that take a value.
const VALUED: [&str; 27] = [
    "--source-window",
    "--window-title",
    "--title",
    "--tab-title",
    "--type",
    "--cwd",
    "--add-to-session",
    "--env",
    "--var",
    "--location",
    "--next-to",
    "--bias",
    "--remote-control-password",
    "--stdin-source",
    "--marker",
    "--os-window-class",
    "--os-window-name",
    "--os-window-title",
    "--os-window-state",
    "--os-window-position",
    "--logo",
    "--logo-position",
    "--logo-alpha",
    "--color",
    "--spacing",
    "--watcher",
    "--os-panel",
];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    gap: String,
    raw: String,
    text: String,
}

impl Piece {
    fn new(text: &str) -> Self {
        Self {
            gap: " ".to_owned(),
            raw: quote(text),
            text: text.to_owned(),
        }
    }
}

/// What kitty starts in a window's shell once it is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// A line the shell evaluates.
    Line(String),
    /// Exact words.
    Words(Vec<String>),
}

/// A launch line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchLine {
    head: String,
    pieces: Vec<Piece>,
    tail: String,
    /// How many pieces are options (with the values that stand apart, and `--`).
    options_end: usize,
    options_begin: usize,
}

impl LaunchLine {
    /// Reads a line whose first word is `launch`.
    ///
    /// # Errors
    /// A quote that does not end.
    pub fn parse(line: &str) -> Result<Self, Unbalanced> {
        let words = split(line)?;
        let mut at = 0;
        let mut pieces = Vec::with_capacity(words.len());
        let mut head = String::new();
        for (n, word) in words.into_iter().enumerate() {
            let gap = line[at..word.span.start].to_owned();
            at = word.span.end;
            if n == 0 {
                head = gap + &line[word.span];
            } else {
                pieces.push(Piece {
                    gap,
                    raw: line[word.span].to_owned(),
                    text: word.text,
                });
            }
        }
        let mut launch = Self {
            head,
            pieces,
            tail: line[at..].to_owned(),
            options_end: 0,
            options_begin: 0,
        };
        launch.find_options();
        Ok(launch)
    }

    /// A line made anew: window id, then what is added.
    #[must_use]
    pub fn new(id: Option<u64>) -> Self {
        let pieces = id.map(|id| Piece::new(&format!("{UNSERIALIZE}{{\"id\": {id}}}")));
        let mut launch = Self {
            head: "launch".to_owned(),
            pieces: pieces.into_iter().collect(),
            tail: String::new(),
            options_end: 0,
            options_begin: 0,
        };
        launch.find_options();
        launch
    }

    fn find_options(&mut self) {
        let mut at = usize::from(
            self.pieces
                .first()
                .is_some_and(|p| p.text.starts_with(UNSERIALIZE)),
        );
        self.options_begin = at;
        while let Some(piece) = self.pieces.get(at) {
            if piece.text == "--" {
                at += 1;
                break;
            }
            if !piece.text.starts_with('-') || piece.text == "-" {
                break;
            }
            let apart = !piece.text.contains('=') && VALUED.contains(&name_of(&piece.text));
            at += if apart { 2 } else { 1 };
        }
        self.options_end = at.min(self.pieces.len());
    }

    /// The options in order: name, value (`None` for one without), as they stand in the file.
    #[must_use]
    pub fn options(&self) -> Vec<(&str, Option<&str>)> {
        let mut found = Vec::new();
        let mut at = self.options_begin;
        while at < self.options_end {
            let text = self.pieces[at].text.as_str();
            if text == "--" {
                break;
            }
            match text.split_once('=') {
                Some((name, value)) => found.push((name, Some(value))),
                None if VALUED.contains(&name_of(text)) => {
                    at += 1;
                    found.push((text, self.pieces.get(at).map(|p| p.text.as_str())));
                }
                None => found.push((text, None)),
            }
            at += 1;
        }
        found
    }

    /// The value of the last option `name`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options()
            .into_iter()
            .rev()
            .find(|(n, _)| *n == name)
            .and_then(|(_, v)| v)
    }

    /// Whether the option is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.options().iter().any(|(n, _)| *n == name)
    }

    /// The value of `--var=NAME=…` (the last one counts).
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.pair("--var", name)
    }

    /// The value of `--env=NAME=…`.
    #[must_use]
    pub fn env(&self, name: &str) -> Option<&str> {
        self.pair("--env", name)
    }

    fn pair(&self, option: &str, name: &str) -> Option<&str> {
        self.options()
            .into_iter()
            .rev()
            .filter(|(o, _)| *o == option)
            .find_map(|(_, v)| v?.strip_prefix(name)?.strip_prefix('='))
    }

    /// Takes away the options for which `doomed` says so.
    pub fn remove_options(&mut self, doomed: impl Fn(&str, Option<&str>) -> bool) {
        let mut kept = Vec::with_capacity(self.pieces.len());
        let mut at = 0;
        while at < self.pieces.len() {
            let piece = &self.pieces[at];
            let is_option =
                (self.options_begin..self.options_end).contains(&at) && piece.text != "--";
            let apart =
                is_option && !piece.text.contains('=') && VALUED.contains(&name_of(&piece.text));
            let size = if apart { 2 } else { 1 };
            let gone = is_option
                && match piece.text.split_once('=') {
                    Some((name, value)) => doomed(name, Some(value)),
                    None if apart => doomed(
                        &piece.text,
                        self.pieces.get(at + 1).map(|p| p.text.as_str()),
                    ),
                    None => doomed(&piece.text, None),
                };
            if !gone {
                kept.extend(
                    self.pieces[at..(at + size).min(self.pieces.len())]
                        .iter()
                        .cloned(),
                );
            }
            at += size;
        }
        self.pieces = kept;
        self.find_options();
    }

    /// Changes the values of options; `change` gives the new value where it is to change.
    pub fn change_options(&mut self, change: impl Fn(&str, &str) -> Option<String>) {
        let mut at = self.options_begin;
        while at < self.options_end {
            let text = self.pieces[at].text.clone();
            if let Some((name, value)) = text.split_once('=') {
                if let Some(new) = change(name, value) {
                    let gap = self.pieces[at].gap.clone();
                    self.pieces[at] = Piece {
                        gap,
                        ..Piece::new(&format!("{name}={new}"))
                    };
                }
            } else if VALUED.contains(&name_of(&text)) {
                at += 1;
                if let Some(piece) = self.pieces.get(at)
                    && let Some(new) = change(&text, &piece.text)
                {
                    self.pieces[at] = Piece {
                        gap: piece.gap.clone(),
                        ..Piece::new(&new)
                    };
                }
            }
            at += 1;
        }
        self.find_options();
    }

    /// Sets `OPTION=NAME=VALUE` (for `--var` and `--env`), replacing what was there. `value` is
    /// written as it is: the caller has doubled its `$`.
    pub fn set_pair(&mut self, option: &str, name: &str, value: Option<&str>) {
        let prefix = format!("{name}=");
        self.remove_options(|o, v| {
            o == option && v.is_some_and(|v| v.starts_with(&prefix) || v == name)
        });
        if let Some(value) = value {
            self.add_option(&format!("{option}={name}={value}"));
        }
    }

    /// Adds an option word behind the others.
    pub fn add_option(&mut self, word: &str) {
        let mut at = self.options_end;
        if at > self.options_begin && self.pieces[at - 1].text == "--" {
            at -= 1;
        }
        self.pieces.insert(at, Piece::new(word));
        self.find_options();
    }

    /// The program and its arguments; empty: kitty's own shell.
    #[must_use]
    pub fn program(&self) -> Vec<&str> {
        self.pieces[self.options_end..]
            .iter()
            .map(|p| p.text.as_str())
            .collect()
    }

    /// Sets the program; words that are already there keep their bytes.
    pub fn set_program<S: AsRef<str>>(&mut self, words: &[S]) {
        let old: Vec<Piece> = self.pieces.drain(self.options_end..).collect();
        if self.pieces.last().is_some_and(|p| p.text == "--")
            && self.pieces.len() > self.options_begin
        {
            self.pieces.pop();
        }
        if words
            .first()
            .is_some_and(|w| w.as_ref().starts_with('-') || w.as_ref().starts_with(UNSERIALIZE))
        {
            self.pieces.push(Piece::new("--"));
        }
        self.pieces
            .extend(words.iter().enumerate().map(|(n, word)| match old.get(n) {
                Some(piece) if piece.text == word.as_ref() => piece.clone(),
                _ => Piece::new(word.as_ref()),
            }));
        self.find_options();
    }

    /// The whole line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = self.head.clone();
        for piece in &self.pieces {
            out.push_str(&piece.gap);
            out.push_str(&piece.raw);
        }
        out.push_str(&self.tail);
        out
    }
}

/// The long name of an option; `-w` is `--watcher`.
fn name_of(option: &str) -> &str {
    if option == "-w" { "--watcher" } else { option }
}
