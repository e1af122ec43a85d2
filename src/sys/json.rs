//! JSON: one guard before every parser, an ASCII-only writer, and byte spans for splicing.
//!
//! The parsers behind it (nanoserde, tinyjson) loop, overflow the stack or refuse on texts that the
//! outside world does send: half documents, deep nesting, the lone surrogates of Python programs.
//! The guard checks the whole grammar first, so that they only see what they survive.

use std::ops::Range;

use nanoserde::{DeJson, DeJsonErrReason};
pub use tinyjson::JsonValue;

use super::bytes::{push_char, stand_in};

/// How deep a document may nest.
pub const MAX_DEPTH: usize = 64;

/// Why a text is no JSON for us: what is wrong, and where (line and column from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub what: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.what
        )
    }
}

/// Checks that `bytes` are one complete JSON document of at most `limit` bytes and [`MAX_DEPTH`]
/// levels, and gives it back with every escape above U+001F decoded: lone surrogates that stand for
/// bytes become the code points of [`super::bytes`], other lone ones U+FFFD.
///
/// # Errors
/// What is wrong and where.
pub fn guard(bytes: &[u8], limit: usize) -> Result<String, Wrong> {
    let mut scan = Scan {
        bytes,
        at: 0,
        out: String::with_capacity(bytes.len()),
    };
    if bytes.len() > limit {
        return Err(scan.wrong(&format!("larger than {limit} bytes")));
    }
    scan.document()?;
    Ok(scan.out)
}

/// Guards and decodes a typed document.
///
/// # Errors
/// What is wrong and where; a value of the wrong type is reported by its field.
pub fn decode<T: DeJson>(bytes: &[u8], limit: usize) -> Result<T, Wrong> {
    let text = guard(bytes, limit)?;
    decode_guarded(&text)
}

/// Decodes a text that [`guard`] gave.
///
/// # Errors
/// A value of the wrong type, by its field.
pub fn decode_guarded<T: DeJson>(text: &str) -> Result<T, Wrong> {
    T::deserialize_json(text).map_err(|e| Wrong {
        what: match e.msg {
            DeJsonErrReason::MissingKey(name) => format!("the key \"{name}\" is missing"),
            DeJsonErrReason::UnexpectedToken(_, wanted) => format!("{wanted} was expected here"),
            other => format!("{other:?}").trim().to_lowercase(),
        },
        line: e.line + 1,
        column: e.col.max(1),
    })
}

/// Guards and reads a foreign document.
///
/// # Errors
/// What is wrong and where.
pub fn parse(bytes: &[u8], limit: usize) -> Result<JsonValue, Wrong> {
    let text = guard(bytes, limit)?;
    text.parse().map_err(|e: tinyjson::JsonParseError| Wrong {
        what: e.to_string(),
        line: 1,
        column: 1,
    })
}

/// The string at `key` of an object.
#[must_use]
pub fn text_at<'a>(value: &'a JsonValue, key: &str) -> Option<&'a str> {
    match member(value, key)? {
        JsonValue::String(text) => Some(text),
        _ => None,
    }
}

/// The number at `key` of an object.
#[must_use]
pub fn number_at(value: &JsonValue, key: &str) -> Option<f64> {
    match member(value, key)? {
        JsonValue::Number(number) => Some(*number),
        _ => None,
    }
}

/// The value at `key` of an object.
#[must_use]
pub fn member<'a>(value: &'a JsonValue, key: &str) -> Option<&'a JsonValue> {
    match value {
        JsonValue::Object(map) => map.get(key),
        _ => None,
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    out: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    List,
    Object,
}

impl Scan<'_> {
    fn wrong(&self, what: &str) -> Wrong {
        let before = &self.bytes[..self.at.min(self.bytes.len())];
        Wrong {
            what: what.to_owned(),
            line: 1 + before.iter().filter(|b| **b == b'\n').count(),
            column: 1 + before.iter().rev().take_while(|b| **b != b'\n').count(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b @ (b' ' | b'\t' | b'\n' | b'\r')) = self.peek() {
            self.out.push(char::from(b));
            self.at += 1;
        }
    }

    fn take(&mut self, b: u8) {
        self.out.push(char::from(b));
        self.at += 1;
    }

    fn document(&mut self) -> Result<(), Wrong> {
        let mut open: Vec<Inside> = Vec::new();
        loop {
            // A value is due here.
            self.blanks();
            match self.peek() {
                None => return Err(self.wrong("the text ends too early")),
                Some(b @ (b'[' | b'{')) => {
                    let inside = if b == b'[' {
                        Inside::List
                    } else {
                        Inside::Object
                    };
                    if open.len() == MAX_DEPTH {
                        return Err(self.wrong("nested too deeply"));
                    }
                    self.take(b);
                    open.push(inside);
                    self.blanks();
                    let close = if inside == Inside::List { b']' } else { b'}' };
                    if self.peek() != Some(close) {
                        if inside == Inside::Object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(_) => return Err(self.wrong("a value was expected here")),
            }
            // A value has ended: close what ends, or go on to the next.
            loop {
                self.blanks();
                let Some(inside) = open.last().copied() else {
                    return match self.peek() {
                        None => Ok(()),
                        Some(_) => Err(self.wrong("something follows the document")),
                    };
                };
                match (self.peek(), inside) {
                    (None, _) => return Err(self.wrong("the text ends too early")),
                    (Some(b']'), Inside::List) | (Some(b'}'), Inside::Object) => {
                        let b = self.bytes[self.at];
                        self.take(b);
                        open.pop();
                    }
                    (Some(b','), _) => {
                        self.take(b',');
                        if inside == Inside::Object {
                            self.blanks();
                            self.key()?;
                        }
                        break;
                    }
                    _ => return Err(self.wrong("a comma or a closing bracket was expected here")),
                }
            }
        }
    }

    fn key(&mut self) -> Result<(), Wrong> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a name in quotes was expected here"));
        }
        self.string()?;
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(self.wrong("a colon was expected here"));
        }
        self.take(b':');
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Wrong> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.wrong("a value was expected here"));
        }
        self.out.push_str(word);
        self.at += word.len();
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Wrong> {
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.wrong("a digit was expected here"));
        }
        while let Some(b @ b'0'..=b'9') = self.peek() {
            self.take(b);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Wrong> {
        if self.peek() == Some(b'-') {
            self.take(b'-');
        }
        if self.peek() == Some(b'0') {
            self.take(b'0');
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.take(b'.');
            self.digits()?;
        }
        if let Some(b @ (b'e' | b'E')) = self.peek() {
            self.take(b);
            if let Some(b @ (b'+' | b'-')) = self.peek() {
                self.take(b);
            }
            self.digits()?;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Wrong> {
        self.take(b'"');
        loop {
            match self.peek() {
                None => return Err(self.wrong("the text ends inside a string")),
                Some(b'"') => {
                    self.take(b'"');
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(0..0x20) => return Err(self.wrong("a control character inside a string")),
                Some(b @ 0x20..0x80) => self.take(b),
                Some(_) => self.beyond_ascii(),
            }
        }
    }

    /// Copies one run of non-ASCII bytes; those that are no UTF-8 become stand-ins.
    fn beyond_ascii(&mut self) {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii).unwrap_or(rest.len());
        for chunk in rest[..end].utf8_chunks() {
            for c in chunk.valid().chars() {
                push_char(&mut self.out, c);
            }
            self.out
                .extend(chunk.invalid().iter().map(|b| stand_in(*b)));
        }
        self.at += end;
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        match self.bytes.get(self.at + 1) {
            Some(b @ (b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')) => {
                self.out.push('\\');
                self.out.push(char::from(*b));
                self.at += 2;
                Ok(())
            }
            Some(b'/') => {
                self.out.push('/');
                self.at += 2;
                Ok(())
            }
            Some(b'u') => self.code_unit(),
            _ => Err(self.wrong("an unknown escape inside a string")),
        }
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    fn code_unit(&mut self) -> Result<(), Wrong> {
        let Some(unit) = self.hex4(self.at + 2) else {
            return Err(self.wrong("\\u needs four hexadecimal digits"));
        };
        self.at += 6;
        match unit {
            0..0x20 => self.out.push_str(&format!("\\u{unit:04x}")),
            0x22 => self.out.push_str("\\\""),
            0x5c => self.out.push_str("\\\\"),
            0xd800..0xdc00 => {
                let low = (self.bytes.get(self.at..self.at + 2) == Some(b"\\u"))
                    .then(|| self.hex4(self.at + 2))
                    .flatten()
                    .filter(|low| (0xdc00..0xe000).contains(low));
                match low {
                    Some(low) => {
                        self.at += 6;
                        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        push_char(&mut self.out, char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    None => self.out.push('\u{fffd}'),
                }
            }
            0xdc80..0xdd00 => self.out.push(stand_in((unit & 0xff) as u8)),
            _ => push_char(&mut self.out, char::from_u32(unit).unwrap_or('\u{fffd}')),
        }
        Ok(())
    }
}

/// Appends `text` as a JSON string of plain ASCII, with `$`, `'`, DEL and all line separators as
/// `\u` escapes: it goes through a kitty launch line exactly, without expansion or splitting.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if let Some(b) = super::bytes::stood_for(c) {
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

/// One member of an object as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The decoded name.
    pub name: String,
    /// From the first byte of the name to the last of the value.
    pub span: Range<usize>,
    /// The value's bytes.
    pub value: Range<usize>,
}

/// The members of the outermost object of `text`, in order; `None` when it is no object.
/// Only for a text that [`guard`] accepted.
#[must_use]
pub fn members(text: &str) -> Option<Vec<Member>> {
    let bytes = text.as_bytes();
    let blank = |at: &mut usize| {
        while bytes.get(*at).is_some_and(u8::is_ascii_whitespace) {
            *at += 1;
        }
    };
    let mut at = 0;
    blank(&mut at);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at += 1;
    let mut found = Vec::new();
    loop {
        blank(&mut at);
        if bytes.get(at) == Some(&b'}') {
            return Some(found);
        }
        let start = at;
        at = value_end(bytes, at)?;
        let name: String =
            DeJson::deserialize_json(&guard(&bytes[start..at], usize::MAX).ok()?).ok()?;
        blank(&mut at);
        at += 1;
        blank(&mut at);
        let value = at;
        at = value_end(bytes, at)?;
        found.push(Member {
            name,
            span: start..at,
            value: value..at,
        });
        blank(&mut at);
        if bytes.get(at) == Some(&b',') {
            at += 1;
        }
    }
}

/// Where the value that starts at `at` ends.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at += 1;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' if depth > 0 => at += 1,
            b if b.is_ascii_whitespace() && depth > 0 => at += 1,
            _ => {
                while bytes
                    .get(at)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
                {
                    at += 1;
                }
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(text: &str) -> String {
        guard(text.as_bytes(), 1 << 20).expect(text)
    }

    #[test]
    fn whole_documents_pass_and_halves_do_not() {
        for good in [
            "{}",
            "[]",
            " null ",
            "-1.5e+3",
            "0",
            "\"\"",
            "{\"a\":[1,{\"b\":null}],\"c\":\"d\"}",
            "[true,false]",
        ] {
            assert_eq!(ok(good), good);
        }
        for bad in [
            "",
            " ",
            "{",
            "{\"id\":1,\"x\":[",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "[1 2]",
            "01",
            "1.",
            "1e",
            "-",
            "tru",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a\nb\"",
            "{} {}",
            "{\"a\" 1}",
            "[}",
            "nul",
            "{\"a\":}",
            "\u{feff}{}",
        ] {
            assert!(guard(bad.as_bytes(), 1 << 20).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_column() {
        let wrong = guard(b"{\n  \"a\": 1\n  \"b\": 2\n}", 100).expect_err("no comma");
        assert_eq!(
            wrong.to_string(),
            "line 3, column 3: a comma or a closing bracket was expected here"
        );
        assert!(guard(b"[1,2,3]", 3).is_err());
    }

    #[test]
    fn depth_is_bounded() {
        let nest = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(guard(nest(MAX_DEPTH).as_bytes(), 1 << 20).is_ok());
        assert!(guard(nest(MAX_DEPTH + 1).as_bytes(), 1 << 20).is_err());
        assert!(guard(nest(300_000).as_bytes(), 1 << 20).is_err());
    }

    #[test]
    fn surrogates_become_bytes_and_pairs_become_characters() {
        let text: String =
            decode(br#""a\udcff\ud83d\ude00\ud800z\/\u0041\u0022""#, 100).expect("a string");
        assert_eq!(
            crate::sys::bytes::to_bytes(&text),
            b"a\xff\xf0\x9f\x98\x80\xef\xbf\xbdz/A\""
        );
        let raw: String = decode(b"\"a\xff\"", 100).expect("a string");
        assert_eq!(crate::sys::bytes::to_bytes(&raw), b"a\xff");
    }

    #[test]
    fn what_we_write_is_ascii_and_reads_back() {
        let nasty = "it's $HOME \"q\" \\ é😀\u{2028}\u{85}\n\t\u{7f}\0".to_owned()
            + &crate::sys::bytes::from_bytes(b"\xff\x80");
        let text = Object::new()
            .text("a", &nasty)
            .texts("b", &["", "x"])
            .number("n", 7)
            .flag("f", true)
            .maybe("m", None)
            .finish();
        assert!(
            text.bytes()
                .all(|b| (0x20..0x7f).contains(&b) && b != b'$' && b != b'\''),
            "{text}"
        );
        let value = parse(text.as_bytes(), 10_000).expect("reads back");
        assert_eq!(text_at(&value, "a"), Some(nasty.as_str()));
        assert_eq!(Object::new().finish(), "{}");
    }

    #[test]
    fn members_have_exact_spans() {
        let text = r#"{"id": 3, "cmd_at_shell_startup": ["a", "}{\""], "x":{"y":[1,2]} }"#;
        let found = members(text).expect("an object");
        let shown: Vec<_> = found
            .iter()
            .map(|m| (m.name.as_str(), &text[m.value.clone()]))
            .collect();
        assert_eq!(
            shown,
            [
                ("id", "3"),
                ("cmd_at_shell_startup", r#"["a", "}{\""]"#),
                ("x", r#"{"y":[1,2]}"#)
            ]
        );
        assert!(members("[1]").is_none());
        assert_eq!(members("{}"), Some(vec![]));
    }
}
