//! Small text tools shared by records: a fingerprint, a random id, a token check.

/// FNV-1a, 64 bits: tells texts apart, proves nothing.
#[must_use]
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3)
    })
}

/// A sum with one more number in it, quicker than [`fingerprint`]; for what one machine tells apart.
#[must_use]
pub fn mixed(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Twelve random hexadecimal digits, for save ids and temporary names.
#[must_use]
pub fn random_id() -> String {
    format!("{:012x}", random() & 0xffff_ffff_ffff)
}

/// A random number, by the keys that the standard library draws for its tables.
#[must_use]
pub fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// Whether `text` is a plain token: a letter or digit, then up to 127 of `A-Za-z0-9._:-`.
#[must_use]
pub fn is_token(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 128
        && bytes.next().is_some_and(|b| b.is_ascii_alphanumeric())
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_plain() {
        for good in [
            "a",
            "0a1b-2c",
            "ses_ABC:1.2",
            "tall-yogurt",
            &"x".repeat(128),
        ] {
            assert!(is_token(good), "{good}");
        }
        for bad in [
            "",
            "-x",
            "--help",
            "a b",
            "a;b",
            "../x",
            "$(id)",
            "a\nb",
            "a\0b",
            "é",
            "_a",
            &"x".repeat(129),
        ] {
            assert!(!is_token(bad), "{bad}");
        }
        assert_ne!(random_id(), random_id());
    }
}
