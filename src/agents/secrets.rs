//! Which options and values carry a secret. Such a value never reaches a file of ours.

use super::definitions::Definition;
use super::grammar::Part;
use crate::sys::json::{self, JsonValue};

/// Words that make a name one of a secret, wherever they stand in it.
const ALWAYS: [&str; 7] = [
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "credential",
    "credentials",
];

/// Words that do so as the last one: `api-key`, but not `key-bindings`; `token`, not `token-limit`.
const LAST: [&str; 7] = [
    "token",
    "key",
    "secrets",
    "bearer",
    "authorization",
    "auth",
    "cookie",
];

/// Last words that make it the name of a place where the secret is, not the secret itself.
const PLACES: [&str; 9] = [
    "env", "var", "vars", "variable", "file", "path", "dir", "name", "helper",
];

/// How tokens of well-known services begin.
const SHAPES: [&str; 9] = [
    "sk-",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "eyJhbGci",
];

/// Whether the value under this name (of an option, a variable, a setting) is a secret: `--api-key`,
/// `GITHUB_TOKEN`, `providers.x.authToken`; not `--token-file`, `env_key`, `max-tokens`, `keymap`.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    // A dotted name is secret when any of its pieces is.
    name.split('.').any(|piece| {
        let mut words = words_of(piece);
        words.retain(|w| !w.bytes().all(|b| b.is_ascii_digit()));
        let Some(last) = words.last() else {
            return false;
        };
        let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_place = PLACES.contains(&last) || words == ["env", "key"];
        !is_place && (LAST.contains(&last) || words.iter().any(|w| ALWAYS.contains(&w.as_str())))
    })
}

/// Whether a value looks like the token of a well-known service.
fn is_token_shaped(value: &str) -> bool {
    value.len() >= 12 && SHAPES.iter().any(|s| value.starts_with(s))
}

/// `api-key`, `API_KEY` and `apiKey` → `api`, `key`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
        } else {
            if c.is_ascii_uppercase() && lower {
                words.push(String::new());
            }
            if let Some(last) = words.last_mut() {
                last.push(c.to_ascii_lowercase());
            }
        }
        lower = c.is_ascii_lowercase();
    }
    words.retain(|w| !w.is_empty());
    words
}

/// What becomes of a part of the command line.
pub enum Verdict {
    /// It holds no secret.
    Clean,
    /// It goes, with its value.
    Gone,
    /// This is left of it.
    Less(Part),
}

/// Judges one part.
#[must_use]
pub fn judge(def: &Definition, part: &Part) -> Verdict {
    let has = |list: &[String], name: &str| list.iter().any(|n| n == name);
    match part {
        Part::Flag {
            name,
            values,
            attached,
        } => {
            if has(&def.secrets, name) {
                return Verdict::Gone;
            }
            let is_secret = |value: &str| {
                (has(&def.secret_pairs, name) && is_secret_pair(value))
                    || (has(&def.secret_documents, name) && is_document(value))
                    || (has(&def.secret_settings, name) && is_secret_document(value))
            };
            let kept: Vec<String> = values.iter().filter(|v| !is_secret(v)).cloned().collect();
            if kept.len() == values.len() {
                Verdict::Clean
            } else if kept.is_empty() {
                Verdict::Gone
            } else {
                let attached = *attached && values.first() == kept.first();
                Verdict::Less(Part::Flag {
                    name: name.clone(),
                    values: kept,
                    attached,
                })
            }
        }
        Part::Bundle {
            names,
            attached,
            values,
        } => {
            let last = names.last().map_or("", String::as_str);
            let value = attached.iter().chain(values).next();
            let is_secret = has(&def.secrets, last)
                || (has(&def.secret_pairs, last) && value.is_some_and(|v| is_secret_pair(v)));
            if is_secret {
                Verdict::Gone
            } else {
                Verdict::Clean
            }
        }
        Part::Unknown {
            name, word, value, ..
        } => {
            // Even one that stands alone: without its neighbours it would take another word.
            if looks_secret(name) {
                return Verdict::Gone;
            }
            let inline = value.as_deref().or(word.split_once('=').map(|(_, v)| v));
            match inline {
                Some(v) if is_secret_document(v) || is_secret_pair(v) || is_token_shaped(v) => {
                    Verdict::Gone
                }
                _ => Verdict::Clean,
            }
        }
        Part::Word(_) | Part::End => Verdict::Clean,
    }
}

/// `key=value` with a secret key, or with a document as value that has one.
fn is_secret_pair(value: &str) -> bool {
    // `-c=key=value` is the short option with `=`.
    let value = value.strip_prefix('=').unwrap_or(value);
    let Some((key, value)) = value.split_once('=') else {
        return false;
    };
    let bare = value.trim().trim_matches(['"', '\'']);
    looks_secret(key.trim())
        || is_env(key)
        || is_token_shaped(bare)
        || (is_document(value) && names_secret(value))
}

/// A setting that holds environment variables: any of them may be a secret.
fn is_env(key: &str) -> bool {
    key.trim()
        .split('.')
        .any(|piece| ["env", "set", "http_headers", "headers"].contains(&piece))
}

/// A JSON (or TOML inline) document instead of a file name.
fn is_document(value: &str) -> bool {
    value.trim_start().starts_with(['{', '['])
}

fn is_secret_document(value: &str) -> bool {
    is_document(value) && names_secret(value)
}

/// Whether a name in the document is one of a secret.
fn names_secret(document: &str) -> bool {
    match json::parse(document.as_bytes(), usize::MAX) {
        Ok(value) => holds_secret(&value),
        Err(_) => scan(document),
    }
}

fn holds_secret(value: &JsonValue) -> bool {
    match value {
        JsonValue::Object(map) => map
            .iter()
            .any(|(name, value)| looks_secret(name) || is_env(name) || holds_secret(value)),
        JsonValue::Array(values) => values.iter().any(|v| match v {
            // The arguments of a program: `["--api-key", "x"]`.
            JsonValue::String(word) if word.starts_with('-') => {
                looks_secret(word.split('=').next().unwrap_or_default())
            }
            other => holds_secret(other),
        }),
        JsonValue::String(text) => is_token_shaped(text),
        _ => false,
    }
}

/// The same for a document that is not JSON (TOML's inline form): every name before `:` or `=`.
fn scan(document: &str) -> bool {
    let mut name = String::new();
    let mut gap = false;
    for c in document.chars() {
        match c {
            ':' | '=' => {
                if looks_secret(&name) || is_env(&name) {
                    return true;
                }
                name.clear();
            }
            c if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') => {
                if gap {
                    name.clear();
                    gap = false;
                }
                name.push(c);
            }
            // Quotes and blanks may stand between a name and its colon.
            '"' | '\'' | ' ' | '\t' | '\n' | '\r' => gap = true,
            _ => name.clear(),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for name in [
            "--api-key",
            "GITHUB_TOKEN",
            "authToken",
            "x.token",
            "AWS_SECRET_ACCESS_KEY",
            "password",
            "client_secret",
            "API_KEY_2",
            "TOKEN1",
            "KEY",
            "--key",
            "dbPassword",
            "apikey",
            "--auth",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "--token-file",
            "env_key",
            "max-tokens",
            "keymap",
            "--key-bindings",
            "token_limit",
            "--model",
            "",
            "-",
            "12",
            "bearer_token_env_var",
            "--secret-env-vars",
            "--remote-auth-token-env",
            "monkey",
            "author",
            "--password-file",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn documents_with_secrets() {
        for text in [
            r#"{"env":{}}"#,
            r#"{"a":[{"apiKey":1}]}"#,
            r#"{"mcp":{"args":["--token","x"]}}"#,
            r#"{"h":["ghp_0123456789abc"]}"#,
            r#"{x = "1", token = "y"}"#,
            r#"[{"password":""}]"#,
            r#"{ "token" : 1"#,
        ] {
            assert!(is_secret_document(text), "{text}");
        }
        for text in [
            r#"{"model":"opus"}"#,
            "[]",
            "{",
            "file.json",
            r#"{"a":"token: no"}"#,
        ] {
            assert!(!is_secret_document(text), "{text}");
        }
    }
}
