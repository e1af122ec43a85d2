//! kitty's word rules: which characters end a line, how words are split, quoted and expanded
//! (facts 6.1, 6.4–6.6).

use std::ops::Range;

/// The characters at which kitty's reader ends a line (Python's `str.splitlines`).
pub const LINE_SEPARATORS: [char; 10] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// Whether kitty's reader ends a line at `c`.
#[must_use]
pub fn is_separator(c: char) -> bool {
    LINE_SEPARATORS.contains(&c)
}

/// Whether kitty can read `text` back from a launch line, `cd` or title: no line separator, no NUL,
/// nothing that is not UTF-8.
#[must_use]
pub fn can_stand(text: &str) -> bool {
    !text
        .chars()
        .any(|c| is_separator(c) || c == '\0' || crate::sys::bytes::stood_for(c).is_some())
}

/// `text` with each run of what cannot stand there as one blank (NUL vanishes, bytes become U+FFFD).
#[must_use]
pub fn nearest(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_separator = false;
    for c in text.chars() {
        if is_separator(c) {
            if !after_separator {
                out.push(' ');
            }
            after_separator = true;
            continue;
        }
        after_separator = false;
        if crate::sys::bytes::stood_for(c).is_some() {
            out.push('\u{fffd}');
        } else if c != '\0' {
            out.push(c);
        }
    }
    out
}

/// Doubles every `$`, for options, `cd` and titles, which kitty expands when it loads a file.
#[must_use]
pub fn double_dollars(text: &str) -> String {
    text.replace('$', "$$")
}

/// One word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its value after unquoting.
    pub text: String,
    /// Its bytes in the line, quotes included.
    pub span: Range<usize>,
}

/// Splits a line into words as kitty does: blanks and tabs part words; `'…'` is literal; in `"…"`
/// and outside quotes a backslash takes the next character as it is; `#` and `$'` are nothing special.
///
/// # Errors
/// A quote that does not end, or a backslash at the end.
pub fn split(line: &str) -> Result<Vec<Word>, Unbalanced> {
    let mut words = Vec::new();
    let mut chars = line.char_indices().peekable();
    loop {
        while chars
            .next_if(|(_, c)| matches!(c, ' ' | '\t' | '\n' | '\r'))
            .is_some()
        {}
        let Some(&(start, _)) = chars.peek() else {
            return Ok(words);
        };
        let mut text = String::new();
        let mut end = line.len();
        while let Some(&(at, c)) = chars.peek() {
            if matches!(c, ' ' | '\t' | '\n' | '\r') {
                end = at;
                break;
            }
            chars.next();
            match c {
                '\'' => loop {
                    match chars.next() {
                        Some((_, '\'')) => break,
                        Some((_, c)) => text.push(c),
                        None => return Err(Unbalanced),
                    }
                },
                '"' => loop {
                    match chars.next() {
                        Some((_, '"')) => break,
                        Some((_, '\\')) => text.push(chars.next().ok_or(Unbalanced)?.1),
                        Some((_, c)) => text.push(c),
                        None => return Err(Unbalanced),
                    }
                },
                '\\' => text.push(chars.next().ok_or(Unbalanced)?.1),
                c => text.push(c),
            }
        }
        words.push(Word {
            text,
            span: start..end,
        });
    }
}

/// A quote that does not end: kitty refuses the whole file for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unbalanced;

/// Quotes `text` as one word, as kitty's own saver does (Python's `shlex.quote`).
#[must_use]
pub fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        split(line)
            .map(|ws| ws.into_iter().map(|w| w.text).collect())
            .unwrap_or_default()
    }

    #[test]
    fn lines_are_split_as_kitty_splits_them() {
        assert_eq!(
            texts(r#"a 'b c' "d\n\"e" f\ g '' h"i"'j' $'k' #l ~"#),
            ["a", "b c", "dn\"e", "f g", "", "hij", "$k", "#l", "~"]
        );
        assert_eq!(texts("  \t "), Vec::<String>::new());
        for bad in ["'a", "\"a", "a\\", "a 'b'\"", "\"a\\"] {
            assert_eq!(split(bad), Err(Unbalanced), "{bad}");
        }
        let line = "a  'b c'd e";
        let spans: Vec<_> = split(line)
            .expect("balanced")
            .into_iter()
            .map(|w| &line[w.span])
            .collect();
        assert_eq!(spans, ["a", "'b c'd", "e"]);
    }

    #[test]
    fn every_word_comes_back_through_quoting() {
        let pool: Vec<char> = "ab '\"\\$`!#*?~-=\té日😀\u{7f};&|<>(){}[]\u{a0}"
            .chars()
            .collect();
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let words: Vec<String> = (0..rng.usize(1..5))
                .map(|_| {
                    (0..rng.usize(0..9))
                        .map(|_| *rng.choice(&pool).unwrap_or(&'x'))
                        .collect()
                })
                .collect();
            let line = words.iter().map(|w| quote(w)).collect::<Vec<_>>().join(" ");
            assert_eq!(texts(&line), words, "{line}");
        }
        assert_eq!(quote("it's"), r#"'it'"'"'s'"#);
        assert_eq!(quote("é"), "'é'");
    }

    #[test]
    fn what_cannot_stand_is_brought_as_near_as_it_can_be() {
        assert_eq!(nearest("a\r\nb\u{2028}c\0d"), "a b cd");
        assert!(can_stand("a\tb\u{1b}") && !can_stand("a\u{85}b") && !can_stand("a\0"));
        assert_eq!(double_dollars("a$HOME$"), "a$$HOME$$");
    }
}
