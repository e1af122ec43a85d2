//! Keys of the prompt: which bytes of a terminal are an answer, and which are not.

/// What the person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Enter: resume (or go to where it is open).
    Resume,
    /// `n`
    New,
    /// `s`, Esc, ^C, ^D
    Shell,
    /// `a`: resume all prompts of this restore.
    All,
    /// `i`: show or hide the commands.
    Commands,
}

/// How long keys are ignored after the prompt appeared, milliseconds.
pub const DEAF_MS: u64 = 150;

/// How long a lone Esc is waited for to become a sequence, milliseconds.
pub const ESC_MS: u64 = 40;

/// How long the rest of any other sequence is waited for, milliseconds: what Alt and a key begin
/// (`ESC ]`, `ESC P`) is never finished, and must not swallow the keys that follow.
pub const REST_MS: u64 = 250;

/// A longer sequence is none.
const LONGEST: usize = 256;

/// Turns bytes from the terminal into answers. Escape sequences, pastes, mouse and focus reports
/// and the terminal's own replies are no answers.
#[derive(Debug, Default)]
pub struct Keys {
    state: State,
    pasting: bool,
    /// The open escape came while nothing counted: it is no answer either.
    unheard: bool,
    sequence: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// CSI: until a byte from `@` to `~`.
    Control,
    /// SS3: one more byte.
    Single,
    /// OSC, DCS, APC, PM, SOS: until BEL or ST.
    Text,
    TextEscape,
    /// X10 mouse: three more bytes.
    Mouse(u8),
}

impl Keys {
    /// Takes one byte; gives the answer it is, if any.
    pub fn feed(&mut self, byte: u8) -> Option<Answer> {
        if byte == 0x1b {
            self.unheard = false;
        }
        self.take(byte)
    }

    /// Takes a byte that is no answer, whatever it is; a sequence that it begins is still followed
    /// to its end.
    pub fn pass_over(&mut self, byte: u8) {
        let _ = self.take(byte);
        self.unheard = true;
    }

    /// How long the next byte is waited for before [`Keys::lapse`] is due, milliseconds.
    #[must_use]
    pub fn patience(&self) -> Option<u64> {
        match self.state {
            State::Ground => None,
            State::Escape | State::TextEscape => Some(ESC_MS),
            _ => Some(REST_MS),
        }
    }

    /// No byte followed in time: a lone Esc was the key, anything else begun is forgotten.
    pub fn lapse(&mut self) -> Option<Answer> {
        let alone = matches!(self.state, State::Escape | State::TextEscape);
        self.state = State::Ground;
        (alone && !self.pasting && !self.unheard).then_some(Answer::Shell)
    }

    fn take(&mut self, b: u8) -> Option<Answer> {
        match self.state {
            State::Ground if b == 0x1b => self.state = State::Escape,
            State::Ground if self.pasting => {}
            State::Ground => return answer(b),
            State::Escape => self.after_escape(b),
            State::Control => self.control(b),
            State::Single => self.state = State::Ground,
            State::Text => match b {
                // BEL ends it; CAN and SUB break it off.
                0x07 | 0x18 | 0x1a => self.state = State::Ground,
                0x1b => self.state = State::TextEscape,
                _ => {}
            },
            State::TextEscape if b == b'\\' => self.state = State::Ground,
            // Any other escape breaks the text off and begins a sequence of its own.
            State::TextEscape => self.after_escape(b),
            State::Mouse(left) => {
                self.state = if left > 1 {
                    State::Mouse(left - 1)
                } else {
                    State::Ground
                }
            }
        }
        None
    }

    fn after_escape(&mut self, b: u8) {
        self.sequence.clear();
        self.state = match b {
            b'[' => State::Control,
            b'O' => State::Single,
            b']' | b'P' | b'_' | b'^' | b'X' => State::Text,
            0x1b => State::Escape,
            // Alt and a key: no answer.
            _ => State::Ground,
        };
    }

    fn control(&mut self, b: u8) {
        if b == 0x1b {
            self.state = State::Escape;
            return;
        }
        if b == b'M' && self.sequence.is_empty() {
            self.state = State::Mouse(3);
            return;
        }
        self.sequence.push(b);
        if (0x40..=0x7e).contains(&b) {
            self.state = State::Ground;
            match self.sequence.as_slice() {
                b"200~" => self.pasting = true,
                b"201~" => self.pasting = false,
                _ => {}
            }
        } else if self.sequence.len() > LONGEST {
            self.state = State::Ground;
        }
    }
}

fn answer(b: u8) -> Option<Answer> {
    match b {
        b'\r' | b'\n' | b'r' | b'R' | b'y' | b'Y' => Some(Answer::Resume),
        b'n' | b'N' => Some(Answer::New),
        b's' | b'S' | b'q' | b'Q' | 0x03 | 0x04 => Some(Answer::Shell),
        b'a' | b'A' => Some(Answer::All),
        b'i' | b'I' => Some(Answer::Commands),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(keys: &mut Keys, bytes: &[u8]) -> Vec<Answer> {
        bytes.iter().filter_map(|b| keys.feed(*b)).collect()
    }

    #[test]
    fn keys_answer_and_everything_else_does_not() {
        let feed = |bytes: &[u8]| all(&mut Keys::default(), bytes);
        for (keys, wanted) in [
            (&b"\r"[..], &[Answer::Resume][..]),
            (b"\n", &[Answer::Resume]),
            (b"y", &[Answer::Resume]),
            (b"R", &[Answer::Resume]),
            (b"n", &[Answer::New]),
            (b"s", &[Answer::Shell]),
            (b"q", &[Answer::Shell]),
            (b"\x03", &[Answer::Shell]),
            (b"\x04", &[Answer::Shell]),
            (b"a", &[Answer::All]),
            (b"i", &[Answer::Commands]),
            (b"xyn", &[Answer::Resume, Answer::New]),
            (b"\x1b[An", &[Answer::New]),
            // A text broken off by another sequence.
            (b"\x1b]11;rgb\x1b[Bn", &[Answer::New]),
            (b"\x1b]11;rgb\x18n", &[Answer::New]),
            (b"\x1b[20\x1b[An", &[Answer::New]),
        ] {
            assert_eq!(feed(keys), wanted, "{keys:?}");
        }
        for none in [
            &b"x"[..],
            b"\x1b[A",
            b"\x1bOA",
            b"\x1b[I",
            b"\x1b[<0;3;4M",
            b"\x1b[M\r\r\r",
            b"\x1b]11;rgb:0/0/0\x07",
            b"\x1b]10;n\x1b\\",
            b"\x1b[200~y\r\ns\x1b[201~",
            b"\x1b[200~y\x1b]s\x1bn\x1b[201~",
            b"\x1b[?62;c",
            b"\x1bPzzz\r\x1b\\",
            b"\x1b_Gi=1;OK\x1b\\",
            b"\x1bn",
            b"\x1a",
            b"\x1c",
            "é日".as_bytes(),
        ] {
            assert_eq!(feed(none), [], "{none:?}");
        }
    }

    #[test]
    fn a_lone_escape_is_a_shell_and_a_cut_sequence_is_not() {
        let mut keys = Keys::default();
        assert_eq!(all(&mut keys, b"\x1b"), []);
        assert_eq!(keys.patience(), Some(ESC_MS));
        assert_eq!(keys.lapse(), Some(Answer::Shell));
        let mut keys = Keys::default();
        assert_eq!(all(&mut keys, b"\x1b"), []);
        assert_eq!(all(&mut keys, b"[A"), []);
        assert_eq!(keys.patience(), None);
        assert_eq!(all(&mut keys, b"\r"), [Answer::Resume]);
    }

    #[test]
    fn what_alt_and_a_key_begin_swallows_no_later_key() {
        for begun in [&b"\x1b]"[..], b"\x1bP", b"\x1b[", b"\x1bO", b"\x1b[M"] {
            let mut keys = Keys::default();
            assert_eq!(all(&mut keys, begun), []);
            assert_eq!(keys.patience(), Some(REST_MS));
            assert_eq!(keys.lapse(), None);
            assert_eq!(all(&mut keys, b"s"), [Answer::Shell], "{begun:?}");
        }
    }

    #[test]
    fn what_is_passed_over_is_no_answer_and_still_followed() {
        let pass = |keys: &mut Keys, bytes: &[u8]| bytes.iter().for_each(|b| keys.pass_over(*b));
        let mut keys = Keys::default();
        pass(&mut keys, b"\r\x1b[200~ls");
        assert_eq!(all(&mut keys, b"\rs\x1b[201~n"), [Answer::New]);
        let mut keys = Keys::default();
        pass(&mut keys, b"\x1b");
        assert_eq!(all(&mut keys, b"[A"), []);
        let mut keys = Keys::default();
        pass(&mut keys, b"\x1b");
        assert_eq!(keys.lapse(), None);
        assert_eq!(all(&mut keys, b"\x1b"), []);
        assert_eq!(keys.lapse(), Some(Answer::Shell));
    }
}
