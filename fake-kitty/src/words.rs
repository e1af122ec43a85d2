//! kitty's shell-like splitting and Python's `shlex.join`.

use crate::text;

/// Splits a line as kitty's own `shlex` does: blanks are space, tab and line ends; `'…'` is literal;
/// in `"…"` and outside quotes a backslash takes the next character as it is; a NUL cuts the word.
/// With `ansi`, `$'…'` is read as bash writes it (used for reported command lines only).
///
/// # Errors
/// kitty's message for an open quote or a backslash at the end.
pub fn split(line: &str, ansi: bool) -> Result<Vec<String>, String> {
    const OPEN: &str = "Unterminated string at the end of input";
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    let mut word: Option<String> = None;
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let w = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(OPEN.into()),
                        Some('\'') => break,
                        Some(c) => w.push(c),
                    }
                }
            }
            '"' => {
                let w = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(OPEN.into()),
                        Some('"') => break,
                        Some('\\') => w.push(chars.next().ok_or(OPEN)?),
                        Some(c) => w.push(c),
                    }
                }
            }
            '\\' => match chars.next() {
                None => return Err("Trailing backslash at end of input data".into()),
                Some(c) => word.get_or_insert_default().push(c),
            },
            '$' if ansi && chars.peek() == Some(&'\'') => {
                chars.next();
                ansi_quoted(&mut chars, word.get_or_insert_default()).ok_or(OPEN)?;
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    for w in &mut words {
        if let Some(nul) = w.find('\0') {
            w.truncate(nul);
        }
    }
    Ok(words)
}

/// The inside of `$'…'`; `None` when it does not end.
fn ansi_quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Option<()> {
    let mut raw: Vec<u8> = Vec::new();
    loop {
        let c = chars.next()?;
        let plain = match c {
            '\'' => break,
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\u{7}',
                'b' => '\u{8}',
                'v' => '\u{b}',
                'f' => '\u{c}',
                'e' | 'E' => '\u{1b}',
                'x' => {
                    raw.push(number(chars, 16, 2, 0) as u8);
                    continue;
                }
                'u' => char::from_u32(number(chars, 16, 4, 0)).unwrap_or('\u{fffd}'),
                'U' => char::from_u32(number(chars, 16, 8, 0)).unwrap_or('\u{fffd}'),
                d @ '0'..='7' => {
                    raw.push(number(chars, 8, 2, d.to_digit(8)?) as u8);
                    continue;
                }
                other => other,
            },
            c => c,
        };
        raw.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
    }
    out.push_str(&text::from_os(&raw));
    Some(())
}

fn number(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    base: u32,
    most: usize,
    first: u32,
) -> u32 {
    let mut n = first;
    for _ in 0..most {
        let Some(d) = chars.peek().and_then(|c| c.to_digit(base)) else {
            break;
        };
        n = n.wrapping_mul(base).wrapping_add(d);
        chars.next();
    }
    n
}

/// Python's `shlex.quote`.
pub fn quote(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// Python's `shlex.join`.
pub fn join<S: AsRef<str>>(words: &[S]) -> String {
    words
        .iter()
        .map(|w| quote(w.as_ref()))
        .collect::<Vec<_>>()
        .join(" ")
}
