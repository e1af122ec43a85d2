//! Edits of a settings document: one value more, one value less, every other byte as it was. What is
//! written follows the document's own lines and indentation.

use std::ops::Range;

use super::loose::{Node, next_word};

/// How a document is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Its line end.
    pub line: &'static str,
    /// One step of its indentation.
    pub step: String,
    /// Whether all of it stands on one line.
    pub flat: bool,
}

impl Layout {
    /// The layout of a document.
    #[must_use]
    pub fn of(bytes: &[u8], root: &Node) -> Self {
        let children = root.children();
        let first = children.first();
        let step = first.and_then(|c| indentation(bytes, c.start));
        Self {
            line: if bytes.windows(2).any(|w| w == b"\r\n") {
                "\r\n"
            } else {
                "\n"
            },
            step: step
                .filter(|s| !s.is_empty())
                .unwrap_or_else(|| "  ".to_owned()),
            flat: first.is_some() && !bytes[root.span.clone()].contains(&b'\n'),
        }
    }
}

/// The blanks before `at` when nothing else stands before it on its line.
fn indentation(bytes: &[u8], at: usize) -> Option<String> {
    let blanks = back_over_blanks(bytes, at);
    (blanks == 0 || bytes[blanks - 1] == b'\n')
        .then(|| String::from_utf8_lossy(&bytes[blanks..at]).into_owned())
}

fn back_over_blanks(bytes: &[u8], mut at: usize) -> usize {
    while at > 0 && matches!(bytes[at - 1], b' ' | b'\t') {
        at -= 1;
    }
    at
}

/// The indentation of the line that `at` stands on.
fn line_indentation(bytes: &[u8], at: usize) -> String {
    let start = bytes[..at]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |n| n + 1);
    let blanks = bytes[start..at]
        .iter()
        .take_while(|b| matches!(**b, b' ' | b'\t'));
    blanks.map(|b| char::from(*b)).collect()
}

/// Behind the blanks and comments that follow `at` on its line, when nothing else does.
fn line_tail(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    loop {
        match bytes.get(end) {
            Some(b' ' | b'\t') => end += 1,
            Some(b'\r') if bytes.get(end + 1) == Some(&b'\n') => return end,
            Some(b'\n') => return end,
            Some(b'/') if bytes[end..].starts_with(b"//") => {
                let rest = &bytes[end..];
                let Some(length) = rest.iter().position(|b| *b == b'\n') else {
                    return at;
                };
                return end + length - usize::from(rest[..length].ends_with(b"\r"));
            }
            Some(b'/') if bytes[end..].starts_with(b"/*") => {
                let rest = &bytes[end + 2..];
                match rest.windows(2).position(|w| w == b"*/") {
                    Some(length) if !rest[..length].contains(&b'\n') => end += length + 4,
                    _ => return at,
                }
            }
            _ => return at,
        }
    }
}

/// The comma that follows a value ending at `end`.
fn comma(bytes: &[u8], end: usize) -> Option<usize> {
    let at = next_word(bytes, end);
    (bytes.get(at) == Some(&b',')).then_some(at)
}

/// `bytes` with one more value at the end of `container`. `item` writes it, for an indentation.
#[must_use]
pub fn add(
    bytes: &[u8],
    container: &Node,
    layout: &Layout,
    item: &dyn Fn(&str) -> String,
) -> Vec<u8> {
    let (open, line) = (container.span.start, layout.line);
    let base = line_indentation(bytes, open);
    let deeper = format!("{base}{}", layout.step);
    let Some(last) = container.children().pop() else {
        let inside = &bytes[open + 1..container.span.end - 1];
        let text = if layout.flat {
            item("")
        } else if inside.contains(&b'\n') {
            format!("{line}{deeper}{}", item(&deeper))
        } else {
            format!("{line}{deeper}{}{line}{base}", item(&deeper))
        };
        return splice(bytes, &[(open + 1..open + 1, &text)]);
    };
    let behind = comma(bytes, last.end);
    let own_line = (!layout.flat)
        .then(|| indentation(bytes, last.start))
        .flatten();
    let text = match (&own_line, behind) {
        (Some(indent), None) => format!("{line}{indent}{}", item(indent)),
        (Some(indent), Some(_)) => format!("{line}{indent}{},", item(indent)),
        (None, None) => format!(" {}", item(&deeper)),
        (None, Some(_)) => format!(" {},", item(&deeper)),
    };
    let end = behind.map_or(last.end, |comma| comma + 1);
    let place = if own_line.is_some() {
        line_tail(bytes, end)
    } else {
        end
    };
    match behind {
        Some(_) => splice(bytes, &[(place..place, &text)]),
        None => splice(bytes, &[(last.end..last.end, ","), (place..place, &text)]),
    }
}

/// `bytes` without the child `index` of `container`, its comma and its line.
#[must_use]
pub fn remove(bytes: &[u8], container: &Node, index: usize) -> Vec<u8> {
    let children = container.children();
    let Some(child) = children.get(index) else {
        return bytes.to_vec();
    };
    let blanks = back_over_blanks(bytes, child.start);
    let own_line = blanks > 0 && bytes[blanks - 1] == b'\n';
    let lead = if own_line {
        let end = blanks - 1;
        end - usize::from(bytes[..end].ends_with(b"\r"))
    } else {
        blanks
    };
    let before = index.checked_sub(1).and_then(|i| children.get(i));
    match (comma(bytes, child.end), before) {
        (Some(comma), None) if !own_line => {
            let mut end = comma + 1;
            while matches!(bytes.get(end), Some(b' ' | b'\t')) {
                end += 1;
            }
            splice(bytes, &[(child.start..child.end, ""), (comma..end, "")])
        }
        (Some(comma), _) => splice(bytes, &[(lead..child.end, ""), (comma..comma + 1, "")]),
        (None, Some(before)) => match comma(bytes, before.end) {
            Some(comma) => {
                let lead = lead.max(comma + 1);
                splice(bytes, &[(comma..comma + 1, ""), (lead..child.end, "")])
            }
            None => bytes.to_vec(),
        },
        (None, None) => splice(
            bytes,
            &[(lead.max(container.span.start + 1)..child.end, "")],
        ),
    }
}

/// `bytes` with each span replaced by its text; the spans stand in order and do not overlap.
#[must_use]
pub fn splice(bytes: &[u8], edits: &[(Range<usize>, &str)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 256);
    let mut at = 0;
    for (span, text) in edits {
        out.extend_from_slice(&bytes[at..span.start]);
        out.extend_from_slice(text.as_bytes());
        at = span.end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}
