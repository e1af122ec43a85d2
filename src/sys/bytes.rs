//! Byte-exact text: any byte string as a Rust `String` and back, without loss.
//!
//! Bytes that are not UTF-8 become the private code points U+10FF80–U+10FFFF (one each), the same
//! ones the JSON guard makes of the lone surrogates `\udc80`–`\udcff` that kitty and Python write
//! for such bytes. A real U+10FF80–U+10FFFF in the input is taken apart into its four bytes, so
//! the way back is exact for every input.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

const BASE: u32 = 0x10_ff00;

/// The private code point that stands for `byte` (0x80–0xff).
#[must_use]
pub fn stand_in(byte: u8) -> char {
    char::from_u32(BASE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte that `c` stands for, if it is one of ours.
#[must_use]
pub fn stood_for(c: char) -> Option<u8> {
    let n = u32::from(c);
    (0x10_ff80..=0x10_ffff)
        .contains(&n)
        .then_some((n & 0xff) as u8)
}

/// Whether `text` stands for bytes that are not UTF-8.
#[must_use]
pub fn is_raw(text: &str) -> bool {
    text.chars().any(|c| stood_for(c).is_some())
}

/// Bytes → text.
#[must_use]
pub fn from_bytes(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !is_raw(text)
    {
        return text.to_owned();
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_char(&mut out, c);
        }
        out.extend(chunk.invalid().iter().map(|b| stand_in(*b)));
    }
    out
}

/// Appends `c`; one of our own stand-ins is appended as its four bytes.
pub fn push_char(out: &mut String, c: char) {
    if stood_for(c).is_some() {
        let mut buf = [0; 4];
        out.extend(c.encode_utf8(&mut buf).bytes().map(stand_in));
    } else {
        out.push(c);
    }
}

/// Text → the bytes it stands for.
#[must_use]
pub fn to_bytes(text: &str) -> Vec<u8> {
    if !is_raw(text) {
        return text.as_bytes().to_vec();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut buf = [0; 4];
    for c in text.chars() {
        match stood_for(c) {
            Some(b) => out.push(b),
            None => out.extend_from_slice(c.encode_utf8(&mut buf).as_bytes()),
        }
    }
    out
}

/// Operating-system string → text.
#[must_use]
pub fn from_os(text: &OsStr) -> String {
    from_bytes(text.as_bytes())
}

/// Text → operating-system string.
#[must_use]
pub fn to_os(text: &str) -> OsString {
    OsString::from_vec(to_bytes(text))
}

/// Text → path.
#[must_use]
pub fn to_path(text: &str) -> PathBuf {
    PathBuf::from(to_os(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_string_comes_back() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> = (0..rng.usize(0..12)).map(|_| rng.u8(..)).collect();
            if rng.bool() {
                bytes.extend("\u{10ffab}é".as_bytes());
            }
            assert_eq!(to_bytes(&from_bytes(&bytes)), bytes);
        }
    }

    #[test]
    fn plain_text_stays_itself() {
        assert_eq!(from_bytes("日本語".as_bytes()), "日本語");
        assert!(is_raw(&from_bytes(b"bad\xff")));
        assert!(!is_raw("good"));
    }
}
