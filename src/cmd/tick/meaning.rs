//! What of a kitty's answer means that something happened.

use crate::sys::token::mixed;

/// Lines of kitty's window list that change while nothing happens: focus, and the titles that
/// programs set all the time. The list is JSON in a JSON string, so its quotes are escaped.
const IDLE: [&[u8]; 9] = [
    b"\\\"active_group_history\\\"",
    b"\\\"active_tab_history\\\"",
    b"\\\"active_window_history\\\"",
    b"\\\"is_active\\\"",
    b"\\\"is_focused\\\"",
    b"\\\"last_cmd_exit_status\\\"",
    b"\\\"last_focused\\\"",
    b"\\\"last_focused_at\\\"",
    b"\\\"title\\\"",
];

/// How many bytes are taken at a time: this runs over every answer of every tick, and by the byte it
/// would be most of what a tick costs.
const WORD: usize = 8;

/// A fingerprint of a window list, as it came, without those lines.
pub fn meaning(answer: &[u8]) -> u64 {
    let mut sum = 0;
    let mut rest = answer;
    // In the lines of a list that means nothing.
    let mut in_list = false;
    while !rest.is_empty() {
        rest = unindented(rest);
        let (line, after) = summed(rest);
        if in_list {
            in_list = rest.first() != Some(&b']');
        } else if is_idle(rest) {
            in_list = rest[..rest.len() - after.len()].ends_with(b"[\\n");
        } else {
            sum = mixed(sum, line);
        }
        rest = after;
    }
    sum
}

/// Whether the line is one of those. Most are told by their first letter, most others by a word.
fn is_idle(line: &[u8]) -> bool {
    let names = || IDLE.iter().filter(|name| word(name) == word(line));
    matches!(line.get(2), Some(b'a' | b'i' | b'l' | b't')) && names().any(|n| line.starts_with(n))
}

/// The next bytes as a number, with zeros behind the end.
#[inline]
fn word(text: &[u8]) -> u64 {
    if let Some(bytes) = text.first_chunk::<WORD>() {
        return u64::from_le_bytes(*bytes);
    }
    let mut bytes = [0; WORD];
    bytes[..text.len()].copy_from_slice(text);
    u64::from_le_bytes(bytes)
}

/// A byte in all places of a word.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD])
}

/// The text without the blanks it begins with.
#[inline]
fn unindented(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some((first, after)) = rest.split_first_chunk::<WORD>() {
        let other = u64::from_le_bytes(*first) ^ all(b' ');
        if other != 0 {
            return &rest[other.trailing_zeros() as usize / 8..];
        }
        rest = after;
    }
    rest.trim_ascii_start()
}

/// The sum of the line that `text` begins with, up to the `\n` that JSON writes for its end, and what
/// follows it.
fn summed(text: &[u8]) -> (u64, &[u8]) {
    let (mut sum, mut rest) = (1, text);
    // A word, and the byte after it: an end may lie across.
    while let Some(nine) = rest.first_chunk::<{ WORD + 1 }>() {
        let first = word(nine);
        let second = word(&nine[1..]);
        // Zero in the places where both bytes are those of an end.
        let ends = (first ^ all(b'\\')) | (second ^ all(b'n'));
        let found = ends.wrapping_sub(all(1)) & !ends & all(0x80);
        if found != 0 {
            let length = found.trailing_zeros() as usize / WORD;
            return (mixed(sum, kept(first, length)), &rest[length + 2..]);
        }
        sum = mixed(sum, first);
        rest = &rest[WORD..];
    }
    // At most a word is left of the whole text.
    let length = rest
        .windows(2)
        .position(|w| w == b"\\n")
        .unwrap_or(rest.len());
    let sum = if length == WORD {
        mixed(mixed(sum, word(rest)), kept(0, 0))
    } else {
        mixed(sum, kept(word(rest), length))
    };
    (sum, &rest[(length + 2).min(rest.len())..])
}

/// The first `length` bytes of a word, fewer than all, and how many they are.
fn kept(word: u64, length: usize) -> u64 {
    let mask = (1 << (8 * length)) - 1;
    (word & mask) ^ (length as u64).rotate_right(8)
}

#[cfg(test)]
mod tests {

    #[test]
    fn focus_and_titles_mean_nothing_and_all_else_does() {
        let list = include_str!("../../../tests/data/kitty/ls-rich.json");
        // As kitty writes a text into its answer.
        let meaning = |list: &str| {
            let text = list.replace('\\', "\\\\").replace('"', "\\\"");
            super::meaning(text.replace('\n', "\\n").as_bytes())
        };
        let same = list
            .replace("\"is_focused\": true", "\"is_focused\": false")
            .replace("\"title\": \"manual title\"", "\"title\": \"⠋ working\"")
            .replace("_history\": [\n", "_history\": [\n          77,\n");
        assert!(same.contains("77,"));
        assert_ne!(list, same);
        assert_eq!(meaning(list), meaning(&same));
        for (from, to) in [("\"pid\": ", "\"pid\": 1"), ("/bin/bash", "/bin/zsh")] {
            assert_ne!(
                meaning(list),
                meaning(&list.replacen(from, to, 1)),
                "{from}"
            );
        }
    }

    #[test]
    fn two_lists_mean_the_same_exactly_when_their_lines_are_the_same() {
        // What the quick way must come to, one line after the other.
        let lines = |text: &[u8]| -> Vec<Vec<u8>> {
            let text = String::from_utf8_lossy(text).into_owned();
            let mut lines: Vec<&str> = text.split("\\n").collect();
            // An end behind the last line begins none.
            if lines.last().is_some_and(|last| last.is_empty()) {
                lines.pop();
            }
            let lines = lines.iter().map(|l| l.trim_start_matches(' ').as_bytes());
            lines
                .filter(|l| !super::IDLE.iter().any(|i| l.starts_with(i)))
                .map(<[u8]>::to_vec)
                .collect()
        };
        let parts: [&[u8]; 10] = [
            b"\\n",
            b"\\",
            b"n",
            b" ",
            b"        ",
            b"x",
            b"\\\"pid\\\": 1",
            b"\\\"title\\\": ",
            b"\\\"is_focused\\\"",
            b"\\\"is_self",
        ];
        let mut random = fastrand::Rng::with_seed(7);
        let (mut same, mut different) = (0, 0);
        for _ in 0..20_000 {
            let some: Vec<&[u8]> = (0..random.usize(..12))
                .map(|_| parts[random.usize(..parts.len())])
                .collect();
            let mut other = some.clone();
            match random.usize(..3) {
                0 => other.insert(random.usize(..=some.len()), parts[random.usize(..10)]),
                1 if !some.is_empty() => other[random.usize(..some.len())] = b" ",
                _ => other.push(b"\\\"title\\\"y"),
            }
            let (some, other) = (some.concat(), other.concat());
            let is_same = lines(&some) == lines(&other);
            *(if is_same { &mut same } else { &mut different }) += 1;
            assert_eq!(
                super::meaning(&some) == super::meaning(&other),
                is_same,
                "{:?} {:?}",
                String::from_utf8_lossy(&some),
                String::from_utf8_lossy(&other)
            );
        }
        assert!(same > 1000 && different > 1000, "{same} {different}");
    }
}
