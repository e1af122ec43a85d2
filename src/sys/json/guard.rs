//! The guard: the whole grammar, checked before any parser sees the text.

use crate::sys::bytes::{push_char, stand_in};

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

impl Wrong {
    /// `what` is wrong at the offset `at` of `bytes`.
    #[must_use]
    pub fn at(bytes: &[u8], at: usize, what: &str) -> Self {
        let before = &bytes[..at.min(bytes.len())];
        Self {
            what: what.to_owned(),
            line: 1 + before.iter().filter(|b| **b == b'\n').count(),
            column: 1 + before.iter().rev().take_while(|b| **b != b'\n').count(),
        }
    }
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
        kept: 0,
        out: String::with_capacity(bytes.len()),
    };
    if bytes.len() > limit {
        return Err(scan.wrong(&format!("larger than {limit} bytes")));
    }
    scan.document()?;
    scan.keep_up();
    Ok(scan.out)
}

/// Most of a document goes out as it came in: what lies between `kept` and `at` is copied at once,
/// when something else is to follow.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    kept: usize,
    out: String,
}

/// Whether a byte stands for itself inside a string.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut b = 0x20;
    while b < 0x80 {
        plain[b] = b != b'"' as usize && b != b'\\' as usize;
        b += 1;
    }
    plain
};

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    List,
    Object,
}

impl Scan<'_> {
    fn wrong(&self, what: &str) -> Wrong {
        Wrong::at(self.bytes, self.at, what)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Copies what went by since the last time; all of it is ASCII.
    fn keep_up(&mut self) {
        let run = &self.bytes[self.kept..self.at];
        self.out.push_str(&String::from_utf8_lossy(run));
        self.kept = self.at;
    }

    /// Goes on behind `n` bytes, in whose place something else was written.
    fn pass(&mut self, n: usize) {
        self.at += n;
        self.kept = self.at;
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
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
                    self.at += 1;
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
                        self.at += 1;
                        open.pop();
                    }
                    (Some(b','), _) => {
                        self.at += 1;
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
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Wrong> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.wrong("a value was expected here"));
        }
        self.at += word.len();
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Wrong> {
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.wrong("a digit was expected here"));
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Wrong> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Wrong> {
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at..];
            let plain = rest.iter().position(|b| !PLAIN[usize::from(*b)]);
            self.at += plain.unwrap_or(rest.len());
            match self.peek() {
                None => return Err(self.wrong("the text ends inside a string")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(0..0x20) => return Err(self.wrong("a control character inside a string")),
                Some(_) => self.beyond_ascii(),
            }
        }
    }

    /// Copies one run of non-ASCII bytes; those that are no UTF-8 become stand-ins.
    fn beyond_ascii(&mut self) {
        self.keep_up();
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii).unwrap_or(rest.len());
        for chunk in rest[..end].utf8_chunks() {
            for c in chunk.valid().chars() {
                push_char(&mut self.out, c);
            }
            self.out
                .extend(chunk.invalid().iter().map(|b| stand_in(*b)));
        }
        self.pass(end);
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'/') => {
                self.keep_up();
                self.out.push('/');
                self.pass(2);
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
        self.keep_up();
        self.pass(6);
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
                        self.pass(6);
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
