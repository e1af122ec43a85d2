//! What an agent's session ids look like.

use crate::sys::token::is_token;

/// The form of an id. Whatever the form, an id is a plain token: never an option, a path or a
/// piece of a shell line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdForm {
    /// A UUID in lower case.
    Uuid,
    /// A UUID in either case; the agent takes both for the same.
    UuidAnyCase,
    /// Any plain token.
    Token,
    /// A pattern of literal characters and `[a-z0-9]` classes, each with an optional `{n}` or
    /// `{n,m}`.
    Pattern(String),
}

impl IdForm {
    /// Reads a form: `uuid`, `uuid-any-case`, `token` or a pattern.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "uuid" => Some(Self::Uuid),
            "uuid-any-case" => Some(Self::UuidAnyCase),
            "token" => Some(Self::Token),
            _ => atoms(text).map(|_| Self::Pattern(text.to_owned())),
        }
    }

    /// The id in `text`, in the agent's own spelling, when it is well-formed.
    #[must_use]
    pub fn accept(&self, text: &str) -> Option<String> {
        if !is_token(text) {
            return None;
        }
        match self {
            Self::Uuid => is_uuid(text).then(|| text.to_owned()),
            Self::UuidAnyCase => Some(text.to_ascii_lowercase()).filter(|t| is_uuid(t)),
            Self::Token => Some(text.to_owned()),
            Self::Pattern(pattern) => atoms(pattern)
                .is_some_and(|atoms| fits(&atoms, text.as_bytes()))
                .then(|| text.to_owned()),
        }
    }
}

/// Whether `text` is a UUID in lower case.
#[must_use]
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// One piece of a pattern: ranges of bytes, and how often.
struct Atom {
    ranges: Vec<(u8, u8)>,
    least: usize,
    most: usize,
}

/// Takes a pattern apart; `None` when it is none of ours.
fn atoms(pattern: &str) -> Option<Vec<Atom>> {
    let mut rest = pattern.as_bytes();
    if rest.is_empty() || pattern.len() > 200 || !pattern.is_ascii() {
        return None;
    }
    let mut found = Vec::new();
    while let Some((first, tail)) = rest.split_first() {
        let ranges;
        (ranges, rest) = match first {
            b'[' => {
                let end = tail.iter().position(|b| *b == b']')?;
                (class(&tail[..end])?, &tail[end + 1..])
            }
            b if b.is_ascii_alphanumeric() || b"._:-".contains(b) => (vec![(*b, *b)], tail),
            _ => return None,
        };
        let (mut least, mut most) = (1, 1);
        if let Some(tail) = rest.strip_prefix(b"{") {
            let end = tail.iter().position(|b| *b == b'}')?;
            let count = std::str::from_utf8(&tail[..end]).ok()?;
            let (low, high) = count.split_once(',').unwrap_or((count, count));
            (least, most) = (low.parse().ok()?, high.parse().ok()?);
            rest = &tail[end + 1..];
        }
        if least > most || most > 128 {
            return None;
        }
        found.push(Atom {
            ranges,
            least,
            most,
        });
    }
    Some(found)
}

fn class(text: &[u8]) -> Option<Vec<(u8, u8)>> {
    let mut ranges = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.first() {
        if rest.len() >= 3 && rest[1] == b'-' {
            ranges.push((*first, rest[2]));
            rest = &rest[3..];
        } else {
            ranges.push((*first, *first));
            rest = &rest[1..];
        }
    }
    (!ranges.is_empty()).then_some(ranges)
}

/// Whether the whole of `text` fits. Ends after at most `atoms × 129` steps per byte position.
fn fits(atoms: &[Atom], text: &[u8]) -> bool {
    let mut places = vec![false; text.len() + 1];
    places[0] = true;
    for atom in atoms {
        let mut next = vec![false; text.len() + 1];
        for start in (0..=text.len()).filter(|s| places[*s]) {
            for count in 0..=atom.most {
                if count >= atom.least {
                    next[start + count] = true;
                }
                let byte = text.get(start + count);
                let goes_on =
                    byte.is_some_and(|b| atom.ranges.iter().any(|(l, h)| (l..=h).contains(&b)));
                if !goes_on {
                    break;
                }
            }
        }
        places = next;
    }
    places[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0b6f2f4e-1c2d-4e5f-8a9b-0123456789ab";

    #[test]
    fn hostile_ids_are_refused_in_every_form() {
        let forms = ["uuid", "uuid-any-case", "token", "ses_[0-9a-f]{12}"];
        for form in forms.map(|f| IdForm::read(f).expect("a form")) {
            for bad in [
                "",
                "--help",
                "-x",
                "a;rm -rf ~",
                "../../x",
                "$(id)",
                "a\nb",
                "a\0b",
                "a\u{202e}b",
                "x y",
                &"x".repeat(10_000),
            ] {
                assert_eq!(form.accept(bad), None, "{form:?} {bad:?}");
            }
        }
    }

    #[test]
    fn uuids_are_checked_place_by_place() {
        assert_eq!(IdForm::Uuid.accept(ID).as_deref(), Some(ID));
        assert_eq!(IdForm::Uuid.accept(&ID.to_uppercase()), None);
        assert_eq!(
            IdForm::UuidAnyCase.accept(&ID.to_uppercase()).as_deref(),
            Some(ID)
        );
        for bad in [
            &ID[1..],
            &ID.replace('-', "0"),
            &ID.replace('b', "g"),
            "latest",
            "5",
        ] {
            assert_eq!(IdForm::Uuid.accept(bad), None, "{bad}");
        }
    }

    #[test]
    fn patterns_fit_the_whole_text() {
        let form = IdForm::read("ses_[0-9a-f]{12}[0-9A-Za-z]{14}").expect("a pattern");
        let good = "ses_0123456789abABCDEFGHIJKLMN";
        assert_eq!(form.accept(good).as_deref(), Some(good));
        for bad in [
            "ses_0123456789abABCDEFGHIJKLM",
            "xses_0123456789abABCDEFGHIJKLMN",
            "ses_",
        ] {
            assert_eq!(form.accept(bad), None, "{bad}");
        }
        let open = IdForm::read("[a-z]{1,5}-[a-z]{2}").expect("a pattern");
        assert!(open.accept("tall-yo").is_some() && open.accept("tall-yogurt").is_none());
        for bad in ["", "[", "[]", "a{", "a{3,2}", "a{999}", "a b", "(x)", "é"] {
            assert_eq!(IdForm::read(bad), None, "{bad}");
        }
    }
}
