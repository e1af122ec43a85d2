//! JSON: one guard before every parser, an ASCII-only writer, and byte spans for splicing.
//!
//! The parsers behind it (nanoserde, tinyjson) loop, overflow the stack or refuse on texts that the
//! outside world does send: half documents, deep nesting, the lone surrogates of Python programs.
//! The guard checks the whole grammar first, so that they only see what they survive.

mod guard;
pub mod loose;
mod spans;
pub mod splice;
mod write;

use nanoserde::{DeJson, DeJsonErrReason};
pub use tinyjson::JsonValue;

pub use guard::{MAX_DEPTH, Wrong, guard};
pub use spans::{Member, elements, members, plain, walk};
pub use write::{Object, list, push_string};

/// Guards and decodes a typed document.
///
/// # Errors
/// What is wrong and where; a value of the wrong type is reported by its field.
pub fn decode<T: DeJson>(bytes: &[u8], limit: usize) -> Result<T, Wrong> {
    let text = guard(bytes, limit)?;
    decode_guarded(&text)
}

/// Decodes a text that [`guard`] gave.
///
/// # Errors
/// A value of the wrong type, by its field.
pub fn decode_guarded<T: DeJson>(text: &str) -> Result<T, Wrong> {
    T::deserialize_json(text).map_err(|e| Wrong {
        what: match e.msg {
            DeJsonErrReason::MissingKey(name) => format!("the key \"{name}\" is missing"),
            DeJsonErrReason::UnexpectedToken(_, wanted) => format!("{wanted} was expected here"),
            other => format!("{other:?}").trim().to_lowercase(),
        },
        line: e.line + 1,
        column: e.col.max(1),
    })
}

/// Guards and reads a foreign document.
///
/// # Errors
/// What is wrong and where.
pub fn parse(bytes: &[u8], limit: usize) -> Result<JsonValue, Wrong> {
    let text = guard(bytes, limit)?;
    text.parse().map_err(|e: tinyjson::JsonParseError| Wrong {
        what: e.to_string(),
        line: 1,
        column: 1,
    })
}

/// The string at `key` of an object.
#[must_use]
pub fn text_at<'a>(value: &'a JsonValue, key: &str) -> Option<&'a str> {
    match member(value, key)? {
        JsonValue::String(text) => Some(text),
        _ => None,
    }
}

/// The number at `key` of an object.
#[must_use]
pub fn number_at(value: &JsonValue, key: &str) -> Option<f64> {
    match member(value, key)? {
        JsonValue::Number(number) => Some(*number),
        _ => None,
    }
}

/// The value at `key` of an object.
#[must_use]
pub fn member<'a>(value: &'a JsonValue, key: &str) -> Option<&'a JsonValue> {
    match value {
        JsonValue::Object(map) => map.get(key),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(text: &str) -> String {
        guard(text.as_bytes(), 1 << 20).expect(text)
    }

    #[test]
    fn what_is_changed_stands_between_what_is_kept() {
        let parts = [
            ("plain ", "plain "),
            ("\\/", "/"),
            ("ü", "ü"),
            ("\\u00fc", "ü"),
            ("\\\"", "\\\""),
            ("\\u0022", "\\\""),
            ("\\ud83d\\ude00", "😀"),
            ("\\ud83d", "\u{fffd}"),
            ("\\n", "\\n"),
            ("\\u0001", "\\u0001"),
        ];
        for (a, out_a) in parts {
            for (b, out_b) in parts {
                for (c, out_c) in parts {
                    let text = format!("[\"{a}{b}\", {{\"{c}\" : 1.5}}, true ]");
                    let wanted = format!("[\"{out_a}{out_b}\", {{\"{out_c}\" : 1.5}}, true ]");
                    assert_eq!(ok(&text), wanted, "{text}");
                }
            }
        }
    }

    #[test]
    fn whole_documents_pass_and_halves_do_not() {
        for good in [
            "{}",
            "[]",
            " null ",
            "-1.5e+3",
            "0",
            "\"\"",
            "{\"a\":[1,{\"b\":null}],\"c\":\"d\"}",
            "[true,false]",
        ] {
            assert_eq!(ok(good), good);
        }
        for bad in [
            "",
            " ",
            "{",
            "{\"id\":1,\"x\":[",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "[1 2]",
            "01",
            "1.",
            "1e",
            "-",
            "tru",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a\nb\"",
            "{} {}",
            "{\"a\" 1}",
            "[}",
            "nul",
            "{\"a\":}",
            "\u{feff}{}",
        ] {
            assert!(guard(bad.as_bytes(), 1 << 20).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_column() {
        let wrong = guard(b"{\n  \"a\": 1\n  \"b\": 2\n}", 100).expect_err("no comma");
        assert_eq!(
            wrong.to_string(),
            "line 3, column 3: a comma or a closing bracket was expected here"
        );
        assert!(guard(b"[1,2,3]", 3).is_err());
    }

    #[test]
    fn depth_is_bounded() {
        let nest = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(guard(nest(MAX_DEPTH).as_bytes(), 1 << 20).is_ok());
        assert!(guard(nest(MAX_DEPTH + 1).as_bytes(), 1 << 20).is_err());
        assert!(guard(nest(300_000).as_bytes(), 1 << 20).is_err());
    }

    #[test]
    fn surrogates_become_bytes_and_pairs_become_characters() {
        let text: String =
            decode(br#""a\udcff\ud83d\ude00\ud800z\/\u0041\u0022""#, 100).expect("a string");
        assert_eq!(
            crate::sys::bytes::to_bytes(&text),
            b"a\xff\xf0\x9f\x98\x80\xef\xbf\xbdz/A\""
        );
        let raw: String = decode(b"\"a\xff\"", 100).expect("a string");
        assert_eq!(crate::sys::bytes::to_bytes(&raw), b"a\xff");
    }

    #[test]
    fn what_we_write_is_ascii_and_reads_back() {
        let nasty = "it's $HOME \"q\" \\ é😀\u{2028}\u{85}\n\t\u{7f}\0".to_owned()
            + &crate::sys::bytes::from_bytes(b"\xff\x80");
        let text = Object::new()
            .text("a", &nasty)
            .texts("b", &["", "x"])
            .number("n", 7)
            .flag("f", true)
            .maybe("m", None)
            .finish();
        assert!(
            text.bytes()
                .all(|b| (0x20..0x7f).contains(&b) && b != b'$' && b != b'\''),
            "{text}"
        );
        let value = parse(text.as_bytes(), 10_000).expect("reads back");
        assert_eq!(text_at(&value, "a"), Some(nasty.as_str()));
        assert_eq!(Object::new().finish(), "{}");
    }

    #[test]
    fn members_have_exact_spans() {
        let text = r#"{"id": 3, "cmd_at_shell_startup": ["a", "}{\""], "x":{"y":[1,2]} }"#;
        let found = members(text).expect("an object");
        let shown: Vec<_> = found
            .iter()
            .map(|m| (m.name.as_str(), &text[m.value.clone()]))
            .collect();
        assert_eq!(
            shown,
            [
                ("id", "3"),
                ("cmd_at_shell_startup", r#"["a", "}{\""]"#),
                ("x", r#"{"y":[1,2]}"#)
            ]
        );
        assert!(members("[1]").is_none());
        assert_eq!(members("{}"), Some(vec![]));
    }

    #[test]
    fn elements_are_given_as_far_as_they_are_whole() {
        let found = |text: &str| {
            elements(text).map(|spans| spans.into_iter().map(|s| text[s].to_owned()).collect())
        };
        let all: Option<Vec<String>> = found(r#" [ {"a":"]"} , [1,2],"x",3 ] "#);
        assert_eq!(
            all.expect("a list"),
            [r#"{"a":"]"}"#, "[1,2]", "\"x\"", "3"]
        );
        let cut: Option<Vec<String>> = found(r#"[{"a":1},{"b":"#);
        assert_eq!(cut.expect("a list"), [r#"{"a":1}"#]);
        assert_eq!(elements("[]"), Some(vec![]));
        assert_eq!(elements("{}"), None);
        assert_eq!(elements(""), None);
    }
}
