//! TOML, as far as an edit of one key needs it: where each statement stands, and the texts of a list.
//! The whole file is walked, so that a file we do not understand is never edited.

use std::ops::Range;

use super::json::Wrong;

/// `key = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The parts of the key.
    pub key: Vec<String>,
    /// From the first byte of the key to the end of its line, the line end included.
    pub span: Range<usize>,
    /// The value.
    pub value: Range<usize>,
}

/// The statements before the first table, in order. The rest of the file is only checked.
///
/// # Errors
/// What is wrong and where.
pub fn top(bytes: &[u8]) -> Result<Vec<Statement>, Wrong> {
    let mut scan = Scan {
        bytes,
        at: start(bytes),
    };
    let (mut found, mut in_table) = (Vec::new(), false);
    loop {
        scan.blank_lines();
        let begin = scan.at;
        match scan.peek() {
            None => return Ok(found),
            Some(b'[') => {
                in_table = true;
                let brackets = 1 + usize::from(scan.bytes.get(scan.at + 1) == Some(&b'['));
                scan.at += brackets;
                scan.key()?;
                for _ in 0..brackets {
                    scan.expect(b']')?;
                }
                scan.line_end()?;
            }
            Some(_) => {
                let key = scan.key()?;
                scan.expect(b'=')?;
                scan.blanks();
                let from = scan.at;
                scan.value(0)?;
                let value = from..scan.at;
                scan.line_end()?;
                if !in_table {
                    let span = begin..scan.at;
                    found.push(Statement { key, span, value });
                }
            }
        }
    }
}

/// Where the text begins, behind a byte order mark.
#[must_use]
pub fn start(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

/// The texts of the list at `value`, each with its span; `None` when it is no list of texts.
#[must_use]
pub fn texts(bytes: &[u8], value: &Range<usize>) -> Option<Vec<(Range<usize>, String)>> {
    let mut scan = Scan {
        bytes: &bytes[..value.end],
        at: value.start,
    };
    scan.expect(b'[').ok()?;
    let mut found = Vec::new();
    loop {
        scan.blank_lines();
        match scan.peek()? {
            b']' => return Some(found),
            b'"' | b'\'' => {
                let from = scan.at;
                let text = scan.string().ok()?;
                found.push((from..scan.at, text));
            }
            _ => return None,
        }
        scan.blank_lines();
        if scan.peek() == Some(b',') {
            scan.at += 1;
        }
    }
}

/// `text` as a TOML string.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// How deep lists may nest.
const DEPTH: usize = 64;

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn wrong(&self, what: &str) -> Wrong {
        Wrong::at(self.bytes, self.at, what)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Skips blanks, line ends and comments.
    fn blank_lines(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'#') => {
                    while self.peek().is_some_and(|b| b != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Wrong> {
        self.blanks();
        if self.peek() != Some(byte) {
            return Err(self.wrong(&format!("\"{}\" was expected here", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    /// Only a comment may follow on the line.
    fn line_end(&mut self) -> Result<(), Wrong> {
        self.blanks();
        if self.peek() == Some(b'#') {
            while self.peek().is_some_and(|b| b != b'\n') {
                self.at += 1;
            }
        }
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        match self.peek() {
            None => Ok(()),
            Some(b'\n') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.wrong("the end of the line was expected here")),
        }
    }

    fn key(&mut self) -> Result<Vec<String>, Wrong> {
        let mut parts = Vec::new();
        loop {
            self.blanks();
            let from = self.at;
            match self.peek() {
                Some(b'"' | b'\'') => parts.push(self.string()?),
                _ => {
                    while self
                        .peek()
                        .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
                    {
                        self.at += 1;
                    }
                    if from == self.at {
                        return Err(self.wrong("a key was expected here"));
                    }
                    parts.push(String::from_utf8_lossy(&self.bytes[from..self.at]).into_owned());
                }
            }
            self.blanks();
            if self.peek() != Some(b'.') {
                return Ok(parts);
            }
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), Wrong> {
        match self.peek() {
            _ if depth > DEPTH => Err(self.wrong("nested too deeply")),
            Some(b'"' | b'\'') => self.string().map(|_| ()),
            Some(b'[') => {
                self.at += 1;
                loop {
                    self.blank_lines();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                        return Ok(());
                    }
                    self.value(depth + 1)?;
                    self.blank_lines();
                    self.comma_or(b']')?;
                }
            }
            Some(b'{') => {
                self.at += 1;
                loop {
                    self.blank_lines();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                        return Ok(());
                    }
                    self.key()?;
                    self.expect(b'=')?;
                    self.blanks();
                    self.value(depth + 1)?;
                    self.blank_lines();
                    self.comma_or(b'}')?;
                }
            }
            _ => {
                // Numbers, dates (one may hold a blank), true and false.
                let from = self.at;
                while self.peek().is_some_and(|b| {
                    b.is_ascii_alphanumeric()
                        || matches!(b, b'+' | b'-' | b'.' | b':' | b'_')
                        || (b == b' '
                            && self.at == from + 10
                            && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit))
                }) {
                    self.at += 1;
                }
                if from == self.at {
                    return Err(self.wrong("a value was expected here"));
                }
                Ok(())
            }
        }
    }

    fn comma_or(&mut self, close: u8) -> Result<(), Wrong> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(b) if b == close => Ok(()),
            _ => Err(self.wrong("a comma or a closing bracket was expected here")),
        }
    }

    /// A string of any of the four kinds; what is in it matters only where it is short and plain.
    fn string(&mut self) -> Result<String, Wrong> {
        let quote = self.bytes[self.at];
        let long = self.bytes[self.at..].starts_with(&[quote; 3]);
        let from = self.at + if long { 3 } else { 1 };
        self.at = from;
        loop {
            match self.peek() {
                None => return Err(self.wrong("the text ends inside a string")),
                Some(b'\n') if !long => return Err(self.wrong("a line ends inside a string")),
                Some(b'\\') if quote == b'"' => self.at += 2,
                Some(b) if b == quote && !long => {
                    self.at += 1;
                    return self.content(from..self.at - 1, quote);
                }
                Some(b) if b == quote && self.bytes[self.at..].starts_with(&[quote; 3]) => {
                    let end = self.at;
                    self.at += 3;
                    // Up to two quotes may stand before the three that end it.
                    while self.peek() == Some(quote) && self.at < end + 5 {
                        self.at += 1;
                    }
                    return self.content(from..self.at - 3, quote);
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn content(&self, span: Range<usize>, quote: u8) -> Result<String, Wrong> {
        let raw = super::bytes::from_bytes(&self.bytes[span.clone()]);
        if quote == b'\'' || !raw.contains('\\') {
            return Ok(raw);
        }
        let mut out = String::with_capacity(raw.len());
        let mut chars = raw.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '\\' {
                out.push(c);
                continue;
            }
            let digits = |chars: &mut dyn Iterator<Item = char>, n| {
                let hex: String = chars.take(n).collect();
                u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32)
            };
            let decoded = match chars.next() {
                Some(c @ ('"' | '\\')) => Some(c),
                Some('b') => Some('\u{8}'),
                Some('e') => Some('\u{1b}'),
                Some('f') => Some('\u{c}'),
                Some('n') => Some('\n'),
                Some('r') => Some('\r'),
                Some('t') => Some('\t'),
                Some('x') => digits(&mut chars, 2),
                Some('u') => digits(&mut chars, 4),
                Some('U') => digits(&mut chars, 8),
                // The line goes on in the next one.
                Some(c) if c.is_whitespace() => {
                    while chars.peek().is_some_and(|c| c.is_whitespace()) {
                        chars.next();
                    }
                    continue;
                }
                _ => None,
            };
            match decoded {
                Some(c) => out.push(c),
                None => {
                    return Err(Wrong::at(
                        self.bytes,
                        span.start,
                        "an unknown escape in a string",
                    ));
                }
            }
        }
        Ok(out)
    }
}
