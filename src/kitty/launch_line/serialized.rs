//! The word by which kitty's saver hands a window's id and start-up command to its loader.

use super::{LaunchLine, Piece, Startup, UNSERIALIZE};
use crate::sys::json;

impl LaunchLine {
    pub(super) fn unserialize(&self) -> Option<&str> {
        self.pieces.first()?.text.strip_prefix(UNSERIALIZE)
    }

    /// The window's id when it was saved.
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        let data = json::guard(self.unserialize()?.as_bytes(), usize::MAX).ok()?;
        let member = json::members(&data)?.into_iter().find(|m| m.name == "id")?;
        data[member.value].parse().ok()
    }

    /// What kitty would start in its shell.
    #[must_use]
    pub fn startup(&self) -> Option<Startup> {
        let data = json::parse(self.unserialize()?.as_bytes(), usize::MAX).ok()?;
        match json::member(&data, "cmd_at_shell_startup")? {
            json::JsonValue::String(line) => Some(Startup::Line(line.clone())),
            json::JsonValue::Array(words) => words
                .iter()
                .map(|w| match w {
                    json::JsonValue::String(text) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Option<_>>()
                .map(Startup::Words),
            _ => None,
        }
    }

    /// Sets or takes away what kitty starts in the shell; all else in that word stays as it is.
    pub fn set_startup(&mut self, startup: Option<&Startup>) {
        let Some(data) = self.unserialize() else {
            return;
        };
        let Some(members) = json::guard(data.as_bytes(), usize::MAX)
            .ok()
            .as_deref()
            .and_then(json::members)
        else {
            return;
        };
        // The guard decodes escapes, so spans are of the decoded text: take the text it gave.
        let Ok(mut text) = json::guard(data.as_bytes(), usize::MAX) else {
            return;
        };
        if let Some(member) = members.iter().find(|m| m.name == "cmd_at_shell_startup") {
            let before = text[..member.span.start].rfind(',');
            let after = text[member.span.end..]
                .find(',')
                .map(|n| member.span.end + n);
            let cut = match (before, after) {
                (Some(comma), _) => comma..member.span.end,
                (None, Some(comma)) => {
                    let blanks = text[comma + 1..].len() - text[comma + 1..].trim_start().len();
                    member.span.start..comma + 1 + blanks
                }
                (None, None) => member.span.clone(),
            };
            text.replace_range(cut, "");
        }
        if let Some(startup) = startup {
            let mut value = String::new();
            match startup {
                Startup::Line(line) => json::push_string(&mut value, line),
                Startup::Words(words) => {
                    value = json::list(words.iter().map(|w| {
                        let mut word = String::new();
                        json::push_string(&mut word, w);
                        word
                    }));
                }
            }
            if let Some(close) = text.rfind('}') {
                let comma = if text[..close].trim_end().ends_with('{') {
                    ""
                } else {
                    ", "
                };
                text.insert_str(close, &format!("{comma}\"cmd_at_shell_startup\": {value}"));
            }
        }
        let ascii = to_ascii(&text);
        self.pieces[0] = Piece {
            gap: self.pieces[0].gap.clone(),
            ..Piece::new(&format!("{UNSERIALIZE}{ascii}"))
        };
    }
}

/// JSON text with everything beyond ASCII as `\u` escapes (only strings can hold it).
fn to_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if let Some(b) = crate::sys::bytes::stood_for(c) {
            out.push_str(&format!("\\udc{b:02x}"));
        } else if c.is_ascii() && c != '\u{7f}' {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}
