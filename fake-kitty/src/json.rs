//! JSON as Python reads and writes it: lone surrogates allowed, output ASCII only.

use crate::text;
use serde_json::Value;

/// Reads a JSON text; `\udxxx` escapes without a partner are kept as stand-in characters.
///
/// # Errors
/// A message in the shape of Python's `JSONDecodeError`.
pub fn parse(src: &str) -> Result<Value, String> {
    if text::strip(src).is_empty() {
        return Err("Expecting value: line 1 column 1 (char 0)".into());
    }
    serde_json::from_str(&keep_lone_surrogates(src)).map_err(|e| {
        let at = e.column().saturating_sub(1);
        let what = if src.starts_with('{') && e.column() <= 2 {
            "Expecting property name enclosed in double quotes"
        } else {
            "Expecting value"
        };
        format!("{what}: line {} column {} (char {at})", e.line(), at + 1)
    })
}

/// Replaces every unpaired `\uD800..\uDFFF` escape by the character that stands for it.
fn keep_lone_surrogates(src: &str) -> String {
    let unit = |at: usize| -> Option<u16> {
        let s = src.get(at..at + 6)?;
        u16::from_str_radix(s.strip_prefix("\\u")?, 16).ok()
    };
    let bytes = src.as_bytes();
    let mut out = String::with_capacity(src.len());
    let (mut at, mut done) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit(at) {
            Some(u)
                if (0xD800..0xDC00).contains(&u)
                    && unit(at + 6).is_some_and(|l| (0xDC00..0xE000).contains(&l)) =>
            {
                at += 12;
            }
            Some(u) if (0xD800..0xE000).contains(&u) => {
                out.push_str(&src[done..at]);
                out.push(text::surrogate_char(u));
                at += 6;
                done = at;
            }
            _ => at += 2,
        }
    }
    out.push_str(&src[done.min(src.len())..]);
    out
}

/// Python's `json.dumps(v)`.
pub fn dumps(v: &Value) -> String {
    let mut out = String::new();
    write(v, None, 0, false, &mut out);
    out
}

/// Python's `json.dumps(v, indent=2, sort_keys=True)`, the form of `ls`.
pub fn dumps_pretty(v: &Value) -> String {
    let mut out = String::new();
    write(v, Some(2), 0, true, &mut out);
    out
}

/// One string as ASCII JSON, quotes included.
pub fn quote(s: &str) -> String {
    let mut out = String::new();
    write_string(s, &mut out);
    out
}

fn write(v: &Value, indent: Option<usize>, depth: usize, sort: bool, out: &mut String) {
    let gap = |out: &mut String, depth: usize| {
        if let Some(n) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', n * depth));
        }
    };
    let comma = if indent.is_some() { "," } else { ", " };
    match v {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => out.push_str(&n.to_string()),
        Value::String(s) => write_string(s, out),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(comma);
                }
                gap(out, depth + 1);
                write(item, indent, depth + 1, sort, out);
            }
            gap(out, depth);
            out.push(']');
        }
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Object(map) => {
            out.push('{');
            let mut keys: Vec<&String> = map.keys().collect();
            if sort {
                keys.sort();
            }
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push_str(comma);
                }
                gap(out, depth + 1);
                write_string(key, out);
                out.push_str(": ");
                write(&map[key], indent, depth + 1, sort, out);
            }
            gap(out, depth);
            out.push('}');
        }
    }
}

fn write_string(s: &str, out: &mut String) {
    use std::fmt::Write;
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            c => match text::surrogate_of(c) {
                Some(u) => {
                    let _ = write!(out, "\\u{u:04x}");
                }
                None => {
                    for u in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{u:04x}");
                    }
                }
            },
        }
    }
    out.push('"');
}
