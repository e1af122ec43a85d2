//! The prompt on the terminal: painted in place, and taken back without a trace.

use std::cell::RefCell;

use crate::resume::prompt::Question;
use crate::sys::out;
use crate::sys::tty::Raw;

/// What the terminal is told at the end: no paste marks, the keyboard as it was.
pub const CALM: &str = "\x1b[?2004l\x1b[<u";

/// Tells kitty that the prompt has begun in this window, whatever comes of it: until then a save
/// keeps the window's record, since its shell's start-up files still run.
pub fn announce() {
    if let Ok(mut tty) = std::fs::OpenOptions::new().write(true).open("/dev/tty") {
        let mark = format!(
            "\x1b]1337;SetUserVar={}=MQ==\x1b\\",
            crate::resume::rewrite::VAR_ASKED
        );
        let _ = std::io::Write::write_all(&mut tty, mark.as_bytes());
    }
}

/// The lines on the terminal, repainted in place.
pub struct Screen<'a> {
    raw: &'a Raw,
    widths: RefCell<Vec<usize>>,
    colour: bool,
}

impl<'a> Screen<'a> {
    /// Pastes marked, plain keys, a title, and a mark by which "resume all" from a key finds us.
    pub fn begin(raw: &'a Raw, agent: &str, colour: bool) -> Self {
        let title = out::clip(&out::visible(agent), 40);
        raw.write(&format!(
            "\x1b[>0u\x1b[?2004h\x1b]2;resume {title}?\x1b\\\x1b]1337;SetUserVar=kittymux_wait=MQ==\x1b\\"
        ));
        Self {
            raw,
            widths: RefCell::default(),
            colour,
        }
    }

    /// Paints the question over what was painted before.
    pub fn paint(&self, question: &Question<'_>) {
        let (columns, rows) = self.raw.size();
        let lines = question.lines(columns, rows, self.colour);
        let plain = question.lines(columns, rows, false);
        self.show(&lines, columns);
        self.widths
            .replace(plain.iter().map(|l| out::width(l)).collect());
    }

    /// Paints one plain line in place of the question.
    pub fn say(&self, line: &str) {
        let (columns, _) = self.raw.size();
        let line = out::clip(line, columns);
        self.show(std::slice::from_ref(&line), columns);
        self.widths.replace(vec![out::width(&line)]);
    }

    fn show(&self, lines: &[String], columns: usize) {
        // The terminal may have become narrower since: what was one row can be several now.
        let rows: usize = self
            .widths
            .borrow()
            .iter()
            .map(|w| w.div_ceil(columns.max(1)).max(1))
            .sum();
        let mut text = String::from("\r");
        if rows > 1 {
            text.push_str(&format!("\x1b[{}A", rows - 1));
        }
        text.push_str("\x1b[J");
        text.push_str(&lines.join("\r\n"));
        self.raw.write(&text);
    }

    /// Takes paste marks, title and mark away again.
    pub fn end(&self) {
        self.raw.write(&format!(
            "\r\n{CALM}\x1b]2;\x1b\\\x1b]1337;SetUserVar=kittymux_wait\x1b\\"
        ));
    }
}
