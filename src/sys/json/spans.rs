//! Byte spans of an object's members, for edits that leave everything else as it stands.

use std::ops::Range;

use nanoserde::DeJson;

use super::guard;

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
    let mut found = Vec::new();
    let mut is_whole = true;
    walk(text, |raw, span, value| {
        let name = match raw.contains('\\') {
            false => Some(raw.to_owned()),
            true => decoded(&text[span.start..=span.start + raw.len() + 1]),
        };
        is_whole = name.is_some();
        found.extend(name.map(|name| Member { name, span, value }));
        is_whole
    })?;
    is_whole.then_some(found)
}

fn decoded(name: &str) -> Option<String> {
    DeJson::deserialize_json(&guard(name.as_bytes(), usize::MAX).ok()?).ok()
}

/// Shows `each` member of the outermost object of `text`, until it says to stop: its name as it is
/// written, without the quotes, and the spans of a [`Member`]. `None` when it is no object. Only for a
/// text that [`guard`] accepted.
pub fn walk(
    text: &str,
    mut each: impl FnMut(&str, Range<usize>, Range<usize>) -> bool,
) -> Option<()> {
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
    loop {
        blank(&mut at);
        if bytes.get(at) == Some(&b'}') {
            return Some(());
        }
        let start = at;
        at = value_end(bytes, at)?;
        let name = text.get(start + 1..at.checked_sub(1)?)?;
        blank(&mut at);
        at += 1;
        blank(&mut at);
        let value = at;
        at = value_end(bytes, at)?;
        if !each(name, start..at, value..at) {
            return Some(());
        }
        blank(&mut at);
        if bytes.get(at) == Some(&b',') {
            at += 1;
        }
    }
}

/// The byte spans of the elements of the list that `text` is, as far as they are complete: a list
/// that breaks off gives those before the break. `None` when it is no list.
#[must_use]
pub fn elements(text: &str) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut at = text.len() - text.trim_start().len();
    if bytes.get(at) != Some(&b'[') {
        return None;
    }
    let mut found = Vec::new();
    loop {
        at += 1;
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let Some(end) = value_end(bytes, at).filter(|end| *end > at) else {
            return Some(found);
        };
        found.push(at..end);
        at = end;
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if bytes.get(at) != Some(&b',') {
            return Some(found);
        }
    }
}

/// What a string without escapes says, without a copy; `None` for all else. Only for a text that
/// [`guard`] accepted.
#[must_use]
pub fn plain(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains(['\\', '"'])).then_some(inner)
}

/// Where the value that starts at `at` ends.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at += 1;
                loop {
                    let rest = bytes.get(at..)?;
                    let end = rest.iter().position(|b| matches!(*b, b'"' | b'\\'))?;
                    if rest[end] == b'"' {
                        at += end + 1;
                        break;
                    }
                    at += end + 2;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            // What else stands between brackets is passed over at once.
            _ if depth > 0 => {
                let rest = &bytes[at..];
                let next = |b: &u8| matches!(*b, b'"' | b'{' | b'}' | b'[' | b']');
                at += rest.iter().position(next)?;
            }
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
    use super::elements;

    #[test]
    fn elements_are_the_bytes_between_the_commas() {
        let text = " [1, {\"a\":[2,3]} ,\"x,]\",[]] ";
        let found: Vec<&str> = elements(text)
            .expect("a list")
            .into_iter()
            .map(|span| &text[span])
            .collect();
        assert_eq!(found, ["1", "{\"a\":[2,3]}", "\"x,]\"", "[]"]);
        assert_eq!(elements("[]"), Some(vec![]));
        assert_eq!(elements("{}"), None);
    }
}
