//! Printing: data on stdout, messages on stderr, nothing that a terminal would obey.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

/// Writes data to stdout. A reader that went away ends the program quietly (exit 0).
pub fn data(text: &str) {
    let mut stdout = io::stdout().lock();
    if let Err(e) = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        if e.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        message(&format!(
            "could not write the output: {}",
            super::fault::plain_cause(&e)
        ));
        std::process::exit(1);
    }
}

/// Writes one message to stderr, with nothing in it that a terminal would obey but its line ends; a
/// closed stderr is not an error.
pub fn message(text: &str) {
    let mut line = String::with_capacity(text.len() + 12);
    line.push_str("kittymux: ");
    let shown: Vec<String> = text.split('\n').map(visible).collect();
    line.push_str(&shown.join("\n"));
    line.push('\n');
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// Writes one plain line to stderr, without our name before it.
pub fn note(text: &str) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{text}\n").as_bytes());
}

/// Whether what goes to stdout may be coloured: it is a terminal, and nobody asked for none.
#[must_use]
pub fn paints() -> bool {
    rustix::termios::isatty(rustix::stdio::stdout()) && super::dirs::var("NO_COLOR").is_none()
}

/// Whether `c` may be shown: no control, no bidi override, no invisible direction mark.
fn shows(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{061c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `text` with every character a terminal would obey shown as an escape.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if let Some(b) = super::bytes::stood_for(c) {
            out.push_str(&format!("\\x{b:02x}"));
        } else if shows(c) {
            out.push(c);
        } else {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                _ => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            }
        }
    }
    out
}

/// How many columns `text` takes on a terminal.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// `text` cut to `columns`, with `…` where something was cut.
#[must_use]
pub fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > columns {
            break;
        }
        used += w;
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// `text` padded with blanks to `columns`.
#[must_use]
pub fn pad(text: &str, columns: usize) -> String {
    let mut out = text.to_owned();
    out.extend(std::iter::repeat_n(
        ' ',
        columns.saturating_sub(width(text)),
    ));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_obeys_is_shown() {
        assert_eq!(
            visible("a\x1b]0;x\x07b\u{202e}c\nd"),
            "a\\u{1b}]0;x\\u{7}b\\u{202e}c\\nd"
        );
        assert_eq!(
            visible(&crate::sys::bytes::from_bytes(b"bad\xff")),
            "bad\\xff"
        );
    }

    #[test]
    fn columns_are_counted_by_display_width() {
        assert_eq!(width("日本é"), 5);
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip("abc", 0), "");
        assert_eq!(pad("日", 4), "日  ");
    }
}
