//! The left side of an option line: names of options and of their values; and what a description says
//! of them.

use crate::agents::grammar::Takes;

/// Names and values of one option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The names that a command line can hold.
    pub names: Vec<String>,
    /// The values; `None`: none is shown.
    pub takes: Option<Takes>,
    /// Whether a value was read last, and no name since.
    after_value: bool,
}

/// The description behind a spec: its column in the line, and its text.
type Description = Option<(usize, String)>;

/// Words with which Go programs name the type of a value.
const TYPES: [&str; 13] = [
    "string",
    "strings",
    "stringArray",
    "stringSlice",
    "stringToString",
    "int",
    "ints",
    "uint",
    "float",
    "duration",
    "count",
    "file",
    "path",
];

/// Reads a line that may begin with an option. `None`: it does not.
pub fn spec(line: &str) -> Option<(Spec, Description)> {
    let trimmed = line.trim_start_matches(['*', '•', '`', ' ']);
    let skipped = line.chars().count() - trimmed.chars().count();
    if !trimmed.starts_with('-') {
        return None;
    }
    // `-c cmd : what it does`
    let columns = match trimmed.split_once(" : ") {
        Some((left, _)) if left.len() <= 40 && !left.trim_end().contains("  ") => {
            columns(&trimmed.replacen(" : ", "  : ", 1))
        }
        _ => columns(trimmed),
    };
    let mut spec = Spec {
        names: Vec::new(),
        takes: None,
        after_value: false,
    };
    let mut at = 0;
    for (n, (start, text)) in columns.iter().enumerate() {
        let goes_on = if text.starts_with('-') {
            true
        } else {
            // A table with the value in a column of its own.
            n > 0 && spec.takes.is_none() && is_table_value(text)
        };
        if !goes_on {
            break;
        }
        let rest = read(text, columns.len() == n + 1, &mut spec)?;
        at = n + 1;
        if let Some(rest) = rest {
            let column = skipped + start + rest;
            let description = tail(&columns, n, rest);
            return (!spec.names.is_empty()).then_some((spec, Some((column, description))));
        }
    }
    let description = columns.get(at).map(|(start, _)| {
        let text: Vec<&str> = columns[at..].iter().map(|(_, t)| t.as_str()).collect();
        (skipped + start, text.join(" "))
    });
    (!spec.names.is_empty()).then_some((spec, description))
}

/// What stands behind `skip` characters of column `n`, and all later columns.
fn tail(columns: &[(usize, String)], n: usize, skip: usize) -> String {
    let first: String = columns[n].1.chars().skip(skip).collect();
    let later = columns[n + 1..].iter().map(|(_, t)| t.as_str());
    std::iter::once(first.as_str())
        .chain(later)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The parts of a line between runs of two and more blanks, with the place of each in characters.
fn columns(line: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = line.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let end = (at..chars.len())
            .find(|n| chars[*n] == ' ' && chars.get(n + 1).is_none_or(|c| *c == ' '))
            .unwrap_or(chars.len());
        if end > at {
            found.push((at, chars[at..end].iter().collect()));
        }
        at = (end..chars.len())
            .find(|n| chars[*n] != ' ')
            .unwrap_or(chars.len());
    }
    found
}

/// `TEXT`, `INTEGER`, `[a|b]`, `<path>` alone in a column.
fn is_table_value(text: &str) -> bool {
    !text.contains(' ')
        && (is_capital(text)
            || (text.starts_with('<') && text.ends_with('>'))
            || (text.starts_with('[') && text.ends_with(']') && text.contains('|')))
}

/// Reads names and values at the start of `text`; gives where something else begins, in characters.
/// `None`: this is no option at all.
fn read(text: &str, is_last: bool, spec: &mut Spec) -> Option<Option<usize>> {
    let words = words(text);
    let mut n = 0;
    let mut read_name = false;
    while n < words.len() {
        let (at, word) = &words[n];
        let bare = word.trim_end_matches(',');
        if matches!(bare, "/" | "|" | "or" | "") {
            if !words.get(n + 1).is_some_and(|(_, w)| w.starts_with('-')) {
                return Some(Some(*at));
            }
            n += 1;
            continue;
        }
        if bare.starts_with('-') {
            for piece in names_in(bare) {
                let (names, takes) = name_and_value(piece)?;
                spec.names.extend(names);
                spec.after_value = false;
                more(spec, takes);
            }
            read_name = true;
            n += 1;
            continue;
        }
        let alone = words.len() == n + 1;
        if read_name || !spec.names.is_empty() {
            let takes = value_name(bare, alone && !is_last);
            // `<list> SSL ciphers to use`: a second value only where nothing but values follows.
            let only_values = |w: &(usize, String)| {
                let w = w.1.trim_end_matches(',');
                w.starts_with('-') || value_name(w, false).is_some()
            };
            if spec.after_value && !words[n..].iter().all(only_values) {
                return Some(Some(*at));
            }
            if let Some(takes) = takes {
                more(spec, Some(takes));
                n += 1;
                continue;
            }
            // `--model name` and nothing more: a value, or a description of one word. And
            // `--files a b    …`: several values, or a description with wide gaps.
            let unsure = if is_last {
                alone && is_plain(bare)
            } else {
                true
            };
            if unsure && spec.takes.is_none() {
                return None;
            }
        }
        return Some(Some(*at));
    }
    Some(None)
}

/// One value more.
fn more(spec: &mut Spec, takes: Option<Takes>) {
    let Some(now) = takes else { return };
    spec.takes = Some(match spec.takes {
        None => now,
        // `--pair A B` and `X [X ...]` are several; `-m MODEL, --model MODEL` says it twice.
        Some(_) if spec.after_value || now == Takes::Several => Takes::Several,
        Some(before) => before,
    });
    spec.after_value = true;
}

/// `text` at single blanks, brackets kept whole, with the place of each word in characters.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut depth = 0_i32;
    let mut word = String::new();
    let mut start = 0;
    for (at, c) in text.chars().enumerate() {
        match c {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth = (depth - 1).max(0),
            _ => {}
        }
        if c == ' ' && depth == 0 {
            if !word.is_empty() {
                found.push((start, std::mem::take(&mut word)));
            }
            continue;
        }
        if word.is_empty() {
            start = at;
        }
        word.push(c);
    }
    if !word.is_empty() {
        found.push((start, word));
    }
    found
}

/// `-f|--flag`, `-f/--flag` and `-f,--flag` in one word.
fn names_in(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in word.char_indices() {
        let next_is_name = word[at + c.len_utf8()..].starts_with('-');
        if matches!(c, '|' | '/' | ',') && next_is_name {
            found.push(&word[start..at]);
            start = at + c.len_utf8();
        }
    }
    found.push(&word[start..]);
    found
}

/// A word that begins with a dash: the names it stands for, and a value in the same word.
fn name_and_value(word: &str) -> Option<(Vec<String>, Option<Takes>)> {
    if let Some(name) = word.strip_prefix("--[no-]") {
        let (name, value) = split_name(name);
        let names = [format!("--{name}"), format!("--no-{name}")];
        return names
            .iter()
            .all(|n| is_name(n))
            .then(|| (names.to_vec(), attached(value)));
    }
    let (name, value) = split_name(word);
    // `-v...`: to be given several times.
    let name = name.trim_end_matches("...");
    if !is_name(name) {
        return None;
    }
    // `-nt`: one dash and several letters. No command line is read so; the other name counts.
    let single = !name.starts_with("--") && name.chars().count() > 2;
    let names = if single {
        Vec::new()
    } else {
        vec![name.to_owned()]
    };
    Some((names, attached(value)))
}

fn split_name(word: &str) -> (&str, &str) {
    let end = word
        .char_indices()
        .skip_while(|(_, c)| *c == '-')
        .find(|(_, c)| matches!(c, '=' | '[' | '<' | '{' | ':'))
        .map_or(word.len(), |(at, _)| at);
    (&word[..end], word[end..].trim_end_matches([':', '`']))
}

fn is_name(name: &str) -> bool {
    let bare = name.trim_start_matches('-');
    let dashes = name.len() - bare.len();
    (1..=2).contains(&dashes)
        && name.len() <= 64
        && (bare == "?" || bare.starts_with(|c: char| c.is_ascii_alphanumeric()))
        && bare
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '?'))
}

/// A value in the same word as its option: `=X`, `[=X]`, `<n>`.
fn attached(value: &str) -> Option<Takes> {
    if value.is_empty() {
        return None;
    }
    // `--color[=WHEN]`: only behind `=`, so no word that follows is ever its value.
    if value.starts_with("[=") {
        return Some(Takes::Nothing);
    }
    // `--name=...`: the dots stand for the value.
    let value = match value.strip_prefix('=').unwrap_or(value) {
        "..." => return Some(Takes::One),
        value => value,
    };
    Some(value_name(value, true).unwrap_or(Takes::One))
}

/// What the name of a value says; `plain`: whether a word in small letters may be one.
fn value_name(word: &str, plain: bool) -> Option<Takes> {
    let dots = |w: &str| w.contains("...") || w.contains('…');
    let open = word.chars().next()?;
    match open {
        '[' if word.starts_with("[=") => Some(Takes::Nothing),
        '[' => {
            let end = word.rfind(']')?;
            let inside = &word[1..end];
            // `[default: x]`, `[string]`, `[env: X]` are words of the description.
            if inside.contains(": ") || is_yargs_type(inside) || inside.is_empty() {
                return None;
            }
            let several = dots(&word[end..]) || dots(inside);
            Some(if several {
                Takes::Several
            } else {
                Takes::Maybe
            })
        }
        '<' => {
            let end = word.rfind('>')?;
            let several = dots(&word[end..]) || dots(&word[..end]);
            Some(if several { Takes::Several } else { Takes::One })
        }
        '{' => word.ends_with('}').then_some(Takes::One),
        '=' => value_name(&word[1..], true).or(Some(Takes::One)),
        '.' if dots(word) => Some(Takes::Several),
        _ => {
            let bare = word.split('[').next().unwrap_or(word);
            if word.contains("[=") && TYPES.contains(&bare) {
                return Some(Takes::Nothing);
            }
            if dots(word) && is_plain(word.trim_end_matches(['.', '…'])) {
                return Some(Takes::Several);
            }
            if bare == "count" && word == bare {
                return plain.then_some(Takes::Nothing);
            }
            (is_capital(word) || TYPES.contains(&word) || (plain && is_plain(word)))
                .then_some(Takes::One)
        }
    }
}

/// `MODEL`, `KEY=VALUE`, `A|B`, `ID/NAME`: capitals, as nobody begins a sentence.
fn is_capital(word: &str) -> bool {
    let word = word.trim_end_matches("...");
    // `NAME=value`
    let word = word.split_once('=').map_or(word, |(name, _)| name);
    !matches!(word, "A" | "I")
        && word.chars().any(|c| c.is_ascii_uppercase())
        && word.chars().all(|c| {
            c.is_ascii_uppercase()
                || c.is_ascii_digit()
                || matches!(c, '_' | '-' | '=' | '|' | '/' | ':' | '.' | ',')
        })
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|c| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '=' | '|' | '/' | ':' | '.')
        })
        && !word.ends_with(['.', ':'])
}

fn is_yargs_type(tag: &str) -> bool {
    yargs_type(tag).is_some() || matches!(tag, "required" | "deprecated" | "default")
}

/// yargs takes no word that begins with a dash for the value of a text, and lets it be left out.
fn yargs_type(tag: &str) -> Option<Takes> {
    match tag {
        "boolean" | "count" => Some(Takes::Nothing),
        "string" | "number" => Some(Takes::Maybe),
        "array" => Some(Takes::Several),
        _ => None,
    }
}

/// What the tags at the end of a yargs description say: `… [string] [choices: "a", "b"]`.
pub fn of_description(text: &str) -> Option<Takes> {
    tags(text).find_map(yargs_type)
}

/// The `[…]` tags at the end of a description, the last one first.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_end();
    std::iter::from_fn(move || {
        let before = rest.strip_suffix(']')?;
        let mut depth = 1;
        let open = before.char_indices().rev().find_map(|(at, c)| {
            match c {
                ']' => depth += 1,
                '[' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at)
        })?;
        rest = before[..open].trim_end();
        Some(&before[open + 1..])
    })
}

/// Further names that clap shows as a tag: `[aliases: --yolo]`, `[short aliases: k]`.
pub fn aliases(text: &str) -> Vec<String> {
    tags(text)
        .filter_map(|tag| {
            let (what, names) = tag.split_once(": ")?;
            matches!(what, "alias" | "aliases" | "short alias" | "short aliases").then(|| {
                let short = what.starts_with("short");
                names
                    .split([',', ' '])
                    .filter(|n| !n.is_empty())
                    .map(|n| match n {
                        n if n.starts_with('-') => n.to_owned(),
                        n if short => format!("-{n}"),
                        n => format!("--{n}"),
                    })
                    .filter(|n| is_name(n))
                    .collect::<Vec<_>>()
            })
        })
        .flatten()
        .collect()
}
