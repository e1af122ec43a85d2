//! Names of sessions: they are file stems, and kitty tells sessions apart by nothing else.

/// The longest name.
pub const MAX: usize = 60;

/// The ending of a session file.
pub const ENDING: &str = ".kitty-session";

/// Checks a name that a person gives to a save.
///
/// # Errors
/// Why it cannot be one, and what a name looks like.
pub fn check(name: &str) -> Result<(), String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let shown = crate::sys::out::clip(&crate::sys::out::visible(name), 40);
    if !name
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphanumeric())
        || !name.bytes().all(plain)
    {
        return Err(format!(
            "\"{shown}\" is no session name: use a letter or digit, then letters, digits, '.', '_' and '-'"
        ));
    }
    if name.len() > MAX {
        return Err(format!(
            "\"{shown}\" is too long for a session name: {MAX} characters at most"
        ));
    }
    if is_reserved(name) {
        return Err(format!(
            "\"{shown}\" is a name kittymux uses itself: choose another"
        ));
    }
    Ok(())
}

/// Whether kittymux gives this name itself.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "startup" | "last" | "previous" | "recovered")
        || name.starts_with("autosave-")
}

/// The name of a file of ours, if it is a session file.
#[must_use]
pub fn stem(file: &str) -> Option<&str> {
    file.strip_suffix(ENDING)
        .filter(|s| !s.is_empty() && !s.starts_with('.'))
}

/// A name for a save without one: `saved-20261130-080409`.
#[must_use]
pub fn for_time(rfc3339: &str) -> String {
    let digits: String = rfc3339.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    format!("saved-{day}-{time}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_none_of_ours() {
        for good in ["a", "work", "My.project_2-x", "7", &"x".repeat(60)] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            ".hidden",
            "-x",
            "_x",
            "a b",
            "../evil",
            "a/b",
            "é",
            "a\nb",
            "startup",
            "LAST",
            "previous",
            "recovered",
            "autosave-1",
            &"x".repeat(61),
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert_eq!(for_time("2026-11-30T08:04:09Z"), "saved-20261130-080409");
        assert_eq!(
            (
                stem("a.kitty-session"),
                stem(".kitty-session"),
                stem("a.txt")
            ),
            (Some("a"), None, None)
        );
    }
}
