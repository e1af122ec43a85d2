//! Writing: one line of ASCII, member by member.

use crate::sys::bytes::stood_for;

/// Appends `text` as a JSON string of plain ASCII, with `$`, `'`, DEL and all line separators as
/// `\u` escapes: it goes through a kitty launch line exactly, without expansion or splitting.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if let Some(b) = stood_for(c) {
            out.push_str(&format!("\\udc{b:02x}"));
            continue;
        }
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' | '\'' | '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            ' '..='~' => out.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// Writes one JSON object, member by member, on one line of ASCII.
#[derive(Debug, Default)]
pub struct Object {
    text: String,
}

impl Object {
    /// An empty object.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn name(&mut self, name: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        push_string(&mut self.text, name);
        self.text.push(':');
    }

    /// Adds a string.
    #[must_use]
    pub fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        push_string(&mut self.text, value);
        self
    }

    /// Adds a string, or null.
    #[must_use]
    pub fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self.raw(name, "null"),
        }
    }

    /// Adds a whole number.
    #[must_use]
    pub fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, &value.to_string())
    }

    /// Adds true or false.
    #[must_use]
    pub fn flag(self, name: &str, value: bool) -> Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// Adds a list of strings.
    #[must_use]
    pub fn texts<S: AsRef<str>>(self, name: &str, values: &[S]) -> Self {
        let list = list(values.iter().map(|v| {
            let mut text = String::new();
            push_string(&mut text, v.as_ref());
            text
        }));
        self.raw(name, &list)
    }

    /// Adds a value that is JSON already.
    #[must_use]
    pub fn raw(mut self, name: &str, json: &str) -> Self {
        self.name(name);
        self.text.push_str(json);
        self
    }

    /// The text.
    #[must_use]
    pub fn finish(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

/// A JSON list of values that are JSON already.
pub fn list(values: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (n, value) in values.enumerate() {
        if n > 0 {
            out.push(',');
        }
        out.push_str(&value);
    }
    out.push(']');
    out
}
