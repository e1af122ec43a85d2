//! Python's view of text, as kitty has it.
//!
//! kitty's strings may hold lone surrogates (a byte that is not UTF-8 becomes `U+DC80..U+DCFF`, and
//! JSON can name any of them). A Rust `String` cannot, so a lone surrogate `U+D800+n` is kept as the
//! private-use character `U+10D800+n`; it becomes a `\udxxx` escape in JSON and an error in a file.

/// What is added to a lone surrogate's number to get the character that stands for it.
const SURROGATE_SHIFT: u32 = 0x10_0000;

/// The character that stands for the lone surrogate `unit` (`0xD800..=0xDFFF`).
pub fn surrogate_char(unit: u16) -> char {
    char::from_u32(SURROGATE_SHIFT + u32::from(unit)).unwrap_or('\u{fffd}')
}

/// The surrogate that `c` stands for, if it stands for one.
pub fn surrogate_of(c: char) -> Option<u16> {
    let n = (c as u32).checked_sub(SURROGATE_SHIFT)?;
    (0xD800..=0xDFFF).contains(&n).then_some(n as u16)
}

/// Bytes of the system as kitty reads them: UTF-8, each byte that is not becomes a lone surrogate.
pub fn from_os(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for b in chunk.invalid() {
            out.push(surrogate_char(0xDC00 + u16::from(*b)));
        }
    }
    out
}

/// The way back: `U+DC80..U+DCFF` become bytes.
///
/// # Errors
/// kitty's message when another lone surrogate is in the text.
pub fn to_os(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut buf = [0; 4];
    for c in text.chars() {
        match surrogate_of(c) {
            None => out.extend_from_slice(c.encode_utf8(&mut buf).as_bytes()),
            Some(u) if (0xDC80..=0xDCFF).contains(&u) => out.push((u - 0xDC00) as u8),
            Some(_) => return Err(encode_error(text).unwrap_or_default()),
        }
    }
    Ok(out)
}

/// Python's message for writing `text` as UTF-8, or nothing when it can be written.
pub fn encode_error(text: &str) -> Option<String> {
    let (at, unit) = text
        .chars()
        .enumerate()
        .find_map(|(i, c)| surrogate_of(c).map(|u| (i, u)))?;
    let run = text
        .chars()
        .skip(at)
        .take_while(|c| surrogate_of(*c).is_some())
        .count();
    Some(if run == 1 {
        format!(
            "'utf-8' codec can't encode character '\\u{unit:04x}' in position {at}: surrogates not allowed"
        )
    } else {
        format!(
            "'utf-8' codec can't encode characters in position {at}-{}: surrogates not allowed",
            at + run - 1
        )
    })
}

/// Strict UTF-8 decoding.
///
/// # Errors
/// Python's message for the first bad byte.
pub fn decode_strict(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        let why = match (e.error_len(), byte) {
            (None, _) => "unexpected end of data",
            (_, 0x80..=0xC1 | 0xF5..) => "invalid start byte",
            _ => "invalid continuation byte",
        };
        format!("'utf-8' codec can't decode byte 0x{byte:02x} in position {at}: {why}")
    })
}

/// Whether Python's `str.strip` takes `c` off.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Python's `str.strip()`.
pub fn strip(s: &str) -> &str {
    s.trim_matches(is_space)
}

/// Python's `str.rstrip()`.
pub fn strip_end(s: &str) -> &str {
    s.trim_end_matches(is_space)
}

/// Whether `str.splitlines()` ends a line at `c`.
pub fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Python's `str.splitlines()` (an empty piece between `\r` and `\n` makes no difference here,
/// because empty lines of a session file mean nothing).
pub fn split_lines(s: &str) -> impl Iterator<Item = &str> {
    s.split(is_line_break)
}

/// Python's `str.split(maxsplit=1)` for a line that is already stripped: first word, rest.
pub fn split_word(line: &str) -> (&str, &str) {
    match line.find(is_space) {
        None => (line, ""),
        Some(at) => (&line[..at], line[at..].trim_start_matches(is_space)),
    }
}

/// kitty's `expandvars`: `$NAME` and `${NAME}` from `lookup`, unknown ones kept, `$$` is one `$`.
pub fn expand_vars(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    if !text.contains('$') {
        return text.to_owned();
    }
    expand(&text.replace("$$", "\0"), lookup, false).replace('\0', "$")
}

/// Python's `os.path.expandvars`: as [`expand_vars`], but `$$` stays and names are ASCII.
pub fn expand_path_vars(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    expand(text, lookup, true)
}

fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>, ascii: bool) -> String {
    let word = |c: char| {
        c == '_'
            || if ascii {
                c.is_ascii_alphanumeric()
            } else {
                c.is_alphanumeric()
            }
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, used) = if let Some(inner) = after.strip_prefix('{') {
            match inner.find('}') {
                Some(end) if end > 0 => (&inner[..end], end + 2),
                _ => ("", 0),
            }
        } else {
            let end = after.find(|c| !word(c)).unwrap_or(after.len());
            (&after[..end], end)
        };
        match (!name.is_empty()).then(|| lookup(name)).flatten() {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[at..at + 1 + used]),
        }
        rest = &after[used..];
    }
    out.push_str(rest);
    out
}

/// Python's `os.path.expanduser` for `~` and `~/…` (other people's homes are left alone).
pub fn expand_user(path: &str, home: &str) -> String {
    match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => format!("{}{rest}", home.trim_end_matches('/')),
        _ => path.to_owned(),
    }
}

/// Python's `os.path.abspath(os.path.join(base, path))`, without looking at the disk.
pub fn join_path(base: &str, path: &str) -> String {
    let joined = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{base}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for p in joined.split('/') {
        match p {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            p => parts.push(p),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The time since the epoch in nanoseconds.
pub fn epoch_ns() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as u64)
}
