//! What differs between two texts, line by line, for a person.

use crate::sys::bytes::from_bytes;
use crate::sys::out;

/// Lines that are compared at most; beyond that, all of both are shown.
const MOST: usize = 3000;

/// The lines that go, with `-`, and those that come, with `+`.
pub(super) fn between(old: &[u8], new: &[u8]) -> String {
    let (old, new) = (from_bytes(old), from_bytes(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut shown = String::new();
    let mut say = |sign: char, line: &str| {
        shown.push_str(&format!(
            "  {sign} {}\n",
            out::visible(line).replace("\\t", "    ")
        ));
    };
    let kept = common(old, new);
    let (mut a, mut b) = (0, 0);
    for (to_a, to_b) in kept.into_iter().chain([(old.len(), new.len())]) {
        old[a..to_a].iter().for_each(|l| say('-', l));
        new[b..to_b].iter().for_each(|l| say('+', l));
        (a, b) = (to_a + 1, to_b + 1);
    }
    shown
}

/// The places of lines that both have, as many as can be, in order.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len().max(new.len()) > MOST {
        return Vec::new();
    }
    let wide = new.len() + 1;
    let mut length = vec![0u16; (old.len() + 1) * wide];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            length[a * wide + b] = if old[a] == new[b] {
                length[(a + 1) * wide + b + 1] + 1
            } else {
                length[(a + 1) * wide + b].max(length[a * wide + b + 1])
            };
        }
    }
    let (mut a, mut b, mut found) = (0, 0, Vec::new());
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            found.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if length[(a + 1) * wide + b] >= length[a * wide + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let old = b"{\n  \"a\": 1,\n  \"b\": 2\n}\n";
        let new = b"{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\":\t\"\x1b\"\n}\n";
        expect_test::expect![[r#"
            changes:
              -   "b": 2
              +   "b": 2,
              +   "c":    "\u{1b}"
        "#]]
        .assert_eq(&format!("changes:\n{}", between(old, new)));
        expect_test::expect![[r#"
            changes:
              + one
              - three
        "#]]
        .assert_eq(&format!(
            "changes:\n{}",
            between(b"two\nthree\nfour\n", b"one\ntwo\nfour\n")
        ));
        assert_eq!(between(old, old), "");
        assert_eq!(between(b"", b"a\n"), "  + a\n");
        let long = "x\n".repeat(MOST + 2);
        let other = format!("y\n{}z\n", "w\n".repeat(MOST));
        assert_eq!(
            between(long.as_bytes(), other.as_bytes()).lines().count(),
            2 * MOST + 4
        );
    }
}
