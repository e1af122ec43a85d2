//! A help text without what only a terminal understands.

/// `bytes` as plain lines: escape sequences, overstrikes and boxes taken out, tabs as blanks, bytes
/// that are not UTF-8 as U+FFFD.
#[must_use]
pub fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\n' => {
                out.push('\n');
                column = 0;
            }
            '\r' => {}
            '\t' => loop {
                out.push(' ');
                column += 1;
                if column % 8 == 0 {
                    break;
                }
            },
            // `x\bx`, as manual pages make letters bold.
            '\u{8}' => {
                if column > 0 {
                    out.pop();
                    column -= 1;
                }
            }
            c if c.is_control() => {}
            c => {
                out.push(if is_frame(c) { ' ' } else { c });
                column += 1;
            }
        }
    }
    out
}

/// Lines, corners and no-break blanks of boxes.
fn is_frame(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '\u{a0}')
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => skip_control_sequence(chars),
        // A title or a link: up to BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                match c {
                    '\u{7}' => return,
                    '\u{1b}' => {
                        chars.next_if_eq(&'\\');
                        return;
                    }
                    '\n' => return,
                    _ => {}
                }
            }
        }
        Some('(' | ')' | '*' | '+' | '#' | '%') => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_control_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = chars.next_if(|c| !matches!(c, '\u{1b}' | '\n')) {
        if ('@'..='~').contains(&c) {
            return;
        }
    }
}

/// Whether a cleaned text says `wanted`. Runs of blanks and line ends count as one blank, for texts
/// are wrapped; an option counts as a whole word: `--resume` is not said by `--resume-at`.
#[must_use]
pub fn says(cleaned: &str, wanted: &str) -> bool {
    let wanted = one_line(wanted);
    if wanted.is_empty() {
        return true;
    }
    let text = one_line(cleaned);
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(&wanted).any(|(at, found)| {
        !wanted.starts_with('-')
            || (!text[..at].chars().next_back().is_some_and(in_name)
                && !text[at + found.len()..].chars().next().is_some_and(in_name))
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
