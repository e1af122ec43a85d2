//! JSON as people keep it in settings: with comments, commas behind the last value and a byte order
//! mark. Read with the byte spans of everything, so that an edit can leave all else as it stands.

use std::ops::Range;

use super::guard::{MAX_DEPTH, Wrong};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its bytes.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// An object with its members, in order.
    Object(Vec<Entry>),
    /// A list.
    List(Vec<Node>),
    /// A string, decoded.
    Text(String),
    /// A number, `true`, `false` or `null`.
    Other,
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The decoded name.
    pub name: String,
    /// Where the name begins.
    pub start: usize,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The member `name`; of two, the last, as every reader of JSON takes it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Object(entries) => entries.iter().rev().find(|e| e.name == name),
            _ => None,
        }
    }

    /// The spans of what is in it: members with their names, or elements.
    #[must_use]
    pub fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(entries) => entries.iter().map(|e| e.start..e.node.span.end).collect(),
            Kind::List(nodes) => nodes.iter().map(|n| n.span.clone()).collect(),
            _ => Vec::new(),
        }
    }
}

/// Reads a document of at most `limit` bytes.
///
/// # Errors
/// What is wrong and where.
pub fn read(bytes: &[u8], limit: usize) -> Result<Node, Wrong> {
    let mut scan = Scan { bytes, at: 0 };
    if bytes.len() > limit {
        return Err(scan.wrong(&format!("larger than {limit} bytes")));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        scan.at = 3;
    }
    scan.skip()?;
    let node = scan.value(0)?;
    scan.skip()?;
    match scan.peek() {
        None => Ok(node),
        Some(_) => Err(scan.wrong("something follows the document")),
    }
}

/// Where the next byte is that is neither blank nor comment, from `at` on.
#[must_use]
pub fn next_word(bytes: &[u8], at: usize) -> usize {
    let mut scan = Scan { bytes, at };
    // A comment that does not end was refused before.
    let _ = scan.skip();
    scan.at
}

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

    /// Skips blanks and comments.
    fn skip(&mut self) -> Result<(), Wrong> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') => {
                    let rest = &self.bytes[self.at..];
                    if rest.starts_with(b"//") {
                        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                    } else if rest.starts_with(b"/*") {
                        let end = rest[2..].windows(2).position(|w| w == b"*/");
                        let Some(end) = end else {
                            return Err(self.wrong("a comment that does not end"));
                        };
                        self.at += end + 4;
                    } else {
                        return Err(self.wrong("a value was expected here"));
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Wrong> {
        let start = self.at;
        let kind = match self.peek() {
            None => return Err(self.wrong("the text ends too early")),
            Some(b'{' | b'[') if depth == MAX_DEPTH => {
                return Err(self.wrong("nested too deeply"));
            }
            Some(b'{') => {
                let mut entries = Vec::new();
                self.inside(b'}', |scan| {
                    let start = scan.at;
                    let name = scan.string()?;
                    scan.skip()?;
                    if scan.peek() != Some(b':') {
                        return Err(scan.wrong("a colon was expected here"));
                    }
                    scan.at += 1;
                    scan.skip()?;
                    let node = scan.value(depth + 1)?;
                    entries.push(Entry { name, start, node });
                    Ok(())
                })?;
                Kind::Object(entries)
            }
            Some(b'[') => {
                let mut nodes = Vec::new();
                self.inside(b']', |scan| {
                    nodes.push(scan.value(depth + 1)?);
                    Ok(())
                })?;
                Kind::List(nodes)
            }
            Some(b'"') => Kind::Text(self.string()?),
            Some(_) => {
                self.word()?;
                Kind::Other
            }
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    /// Reads what stands between the bracket here and `close`, with commas between and, at will, one
    /// behind the last.
    fn inside(
        &mut self,
        close: u8,
        mut one: impl FnMut(&mut Self) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        self.at += 1;
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(());
            }
            one(self)?;
            self.skip()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b) if b == close => {}
                None => return Err(self.wrong("the text ends too early")),
                Some(_) => {
                    return Err(self.wrong("a comma or a closing bracket was expected here"));
                }
            }
        }
    }

    fn string(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a name in quotes was expected here"));
        }
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.wrong("the text ends inside a string")),
                Some(b'\\') => self.at += 2,
                Some(b'"') => break,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        super::decode(&self.bytes[start..self.at], usize::MAX).map_err(|wrong| {
            let at = start + wrong.column.saturating_sub(1);
            Wrong::at(self.bytes, at, &wrong.what)
        })
    }

    fn word(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
        {
            self.at += 1;
        }
        super::guard(&self.bytes[start..self.at], usize::MAX)
            .map_err(|_| Wrong::at(self.bytes, start, "a value was expected here"))?;
        Ok(())
    }
}
