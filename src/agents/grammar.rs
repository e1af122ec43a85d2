//! The grammar of an agent's command line: which words are options, values, prompts.
//!
//! commander (claude), clap (codex) and yargs (opencode) differ in small things; the command that
//! is read here was accepted by its program, so only its meaning is asked for, not its errors.

use super::definitions::{Definition, Form};
use super::secrets::looks_secret;

/// How many values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// One, whatever it looks like.
    One,
    /// None or one; a word that looks like an option is none.
    Maybe,
    /// One or more, up to the next option.
    Several,
}

/// What a part of the command line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A known option with its values.
    Flag {
        /// Its name as typed, without a value: `--model`, `-m`.
        name: String,
        /// Its values.
        values: Vec<String>,
        /// Whether the first value stands in the same word (`--model=x`, `-mx`).
        attached: bool,
    },
    /// Several letters in one word (`-cv`), the last with its value.
    Bundle {
        /// The letters as options: `-c`, `-v`.
        names: Vec<String>,
        /// The value of the last one, when it stands in the same word.
        attached: Option<String>,
        /// The values of the last one in words of their own.
        values: Vec<String>,
    },
    /// An option that no list knows, with the following word where that is taken for its value.
    Unknown {
        /// Its name as typed, without a value.
        name: String,
        /// The whole of its word.
        word: String,
        /// The following word, when it is taken for the value.
        value: Option<String>,
        /// A following word was taken for a prompt: the option stands bare, rightly or not.
        bare: bool,
    },
    /// A word that is no option.
    Word(String),
    /// `--`: only words follow.
    End,
}

impl Part {
    /// Appends the words it was read from.
    pub fn write(&self, out: &mut Vec<String>) {
        match self {
            Self::Flag {
                name,
                values,
                attached,
            } => {
                match values.first().filter(|_| *attached) {
                    Some(first) if name.starts_with("--") => out.push(format!("{name}={first}")),
                    Some(first) => out.push(format!("{name}{first}")),
                    None => out.push(name.clone()),
                }
                out.extend(values.iter().skip(usize::from(*attached)).cloned());
            }
            Self::Bundle {
                names,
                attached,
                values,
            } => {
                let letters: String = names.iter().filter_map(|n| n.chars().nth(1)).collect();
                out.push(format!("-{letters}{}", attached.as_deref().unwrap_or("")));
                out.extend(values.iter().cloned());
            }
            Self::Unknown { word, value, .. } => {
                out.push(word.clone());
                out.extend(value.clone());
            }
            Self::Word(word) => out.push(word.clone()),
            Self::End => out.push("--".to_owned()),
        }
    }

    /// The options in it, by name.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Flag { name, .. } | Self::Unknown { name, .. } => vec![name],
            Self::Bundle { names, .. } => names.iter().map(String::as_str).collect(),
            Self::Word(_) | Self::End => Vec::new(),
        }
    }
}

/// How many values `name` takes; `None` for an option that no list knows.
///
/// The lists of `flags` are asked first. An entry without them still says enough of what it
/// removes: all its `strip_with_value` may stand without their value (`-r` alone is a picker).
#[must_use]
pub fn takes(def: &Definition, name: &str) -> Option<Takes> {
    let has = |list: &[String]| list.iter().any(|n| n == name);
    let flags = &def.flags;
    if has(&flags.several) {
        Some(Takes::Several)
    } else if has(&flags.one) {
        Some(Takes::One)
    } else if has(&flags.optional) {
        Some(Takes::Maybe)
    } else if has(&flags.none) {
        Some(Takes::Nothing)
    } else if has(&def.secrets) || has(&def.secret_pairs) {
        Some(Takes::One)
    } else if has(&def.strip_with_value) || has(&def.strip_optional) || has(&def.selectors) {
        Some(Takes::Maybe)
    } else if has(&def.strip) || has(&def.once) || has(&def.headless) || has(&def.forks) {
        Some(Takes::Nothing)
    } else if def
        .exact
        .windows(2)
        .any(|w| w[0] == name && w[1].contains("{id}"))
    {
        Some(Takes::Maybe)
    } else if has(&def.latest) {
        Some(Takes::Nothing)
    } else {
        None
    }
}

/// Whether a word looks like an option: a dash, then a name without blanks.
#[must_use]
pub fn looks_like_flag(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-').filter(|r| !r.is_empty()) else {
        return false;
    };
    let name = rest.split('=').next().unwrap_or_default();
    !name.contains(char::is_whitespace)
}

/// Takes the arguments (without the program) apart.
#[must_use]
pub fn parts(def: &Definition, args: &[String]) -> Vec<Part> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        if word == "--" {
            found.push(Part::End);
            found.extend(args[at..].iter().cloned().map(Part::Word));
            break;
        }
        if !looks_like_flag(word) {
            found.push(Part::Word(word.clone()));
            continue;
        }
        let part = if word.starts_with("--") {
            long(def, word, &args[at..])
        } else {
            short(def, word, &args[at..])
        };
        at += following(&part);
        found.push(part);
    }
    found
}

/// How many words after its own a part has.
fn following(part: &Part) -> usize {
    match part {
        Part::Flag {
            values, attached, ..
        } => values.len() - usize::from(*attached),
        Part::Bundle { values, .. } => values.len(),
        Part::Unknown { value, .. } => usize::from(value.is_some()),
        Part::Word(_) | Part::End => 0,
    }
}

fn long(def: &Definition, word: &str, rest: &[String]) -> Part {
    if let Some((name, value)) = word.split_once('=') {
        if takes(def, name).is_some() {
            return Part::Flag {
                name: name.to_owned(),
                values: vec![value.to_owned()],
                attached: true,
            };
        }
        return Part::Unknown {
            name: name.to_owned(),
            word: word.to_owned(),
            value: None,
            bare: false,
        };
    }
    match takes(def, word) {
        Some(takes) => Part::Flag {
            name: word.to_owned(),
            values: values(takes, rest),
            attached: false,
        },
        None => unknown(def, word, rest),
    }
}

/// The values that follow an option in words of their own.
fn values(takes: Takes, rest: &[String]) -> Vec<String> {
    let plain = |w: &&String| !looks_like_flag(w) && *w != "--";
    match takes {
        Takes::Nothing => Vec::new(),
        Takes::One => rest
            .iter()
            .take(1)
            .filter(|w| *w != "--")
            .cloned()
            .collect(),
        Takes::Maybe => rest.iter().take(1).filter(plain).cloned().collect(),
        Takes::Several => rest.iter().take_while(plain).cloned().collect(),
    }
}

fn short(def: &Definition, word: &str, rest: &[String]) -> Part {
    // Some agents have short options of two letters and more: `-nt`, `-if`.
    if word.chars().count() > 2
        && let Some(takes) = takes(def, word)
    {
        return Part::Flag {
            name: word.to_owned(),
            values: values(takes, rest),
            attached: false,
        };
    }
    let letters: Vec<char> = word.chars().skip(1).collect();
    let mut names: Vec<String> = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        let name = format!("-{letter}");
        let tail: String = letters[at + 1..].iter().collect();
        match takes(def, &name) {
            None if names.is_empty() => return unknown(def, word, rest),
            // A letter we do not know behind one that we do: it and what follows stay together.
            None => {
                let attached: String = letters[at + 1..].iter().collect();
                names.push(name);
                return Part::Bundle {
                    names,
                    attached: Some(attached).filter(|a| !a.is_empty()),
                    values: Vec::new(),
                };
            }
            Some(Takes::Nothing) if !tail.is_empty() => names.push(name),
            Some(takes) => {
                let attached = Some(tail).filter(|t| !t.is_empty());
                let following = match attached {
                    Some(_) => Vec::new(),
                    None => values(takes, rest),
                };
                if names.is_empty() {
                    return Part::Flag {
                        name,
                        attached: attached.is_some(),
                        values: attached.into_iter().chain(following).collect(),
                    };
                }
                names.push(name);
                return Part::Bundle {
                    names,
                    attached,
                    values: following,
                };
            }
        }
    }
    unknown(def, word, rest)
}

/// An option of next year. Whether the following word is its value or a prompt cannot be known.
/// A prompt must never be sent again, and an option must not lose its value without need, so:
/// `--no-x` takes none; a word with blanks, and a lone `/command`, is a prompt; every other word is
/// the value. An option that so lost a word to the prompt is marked bare: the rewriter puts it last,
/// where a missing value is an error of the agent and can swallow nothing.
fn unknown(def: &Definition, word: &str, rest: &[String]) -> Part {
    if looks_secret(word)
        && let Some(next) = rest.first()
        && !next.starts_with("--")
        && takes(def, next).is_none()
    {
        // Better to lose a word too many than to keep a secret that begins with a dash.
        return Part::Unknown {
            name: word.to_owned(),
            word: word.to_owned(),
            value: Some(next.clone()),
            bare: false,
        };
    }
    let value = rest.first().filter(|w| {
        !looks_like_flag(w) && *w != "--" && !word.starts_with("--no-") && !is_verb(def, w)
    });
    let prompt = value.filter(|w| looks_like_prompt(w));
    Part::Unknown {
        name: word.to_owned(),
        word: word.to_owned(),
        value: value.filter(|w| !looks_like_prompt(w)).cloned(),
        bare: prompt.is_some(),
    }
}

/// Whether a word is one of the agent's sub-commands.
fn is_verb(def: &Definition, word: &str) -> bool {
    [
        &def.helpers,
        &def.headless,
        &def.strip,
        &def.forks,
        &def.under,
    ]
    .iter()
    .any(|list| list.iter().any(|n| n == word))
        || def.verbs.iter().any(|v| v.split(' ').next() == Some(word))
        || (def.form == Form::Subcommand && def.exact.first().is_some_and(|w| w == word))
}

/// Whether a word is more likely a prompt than a value: it has blanks, or is an agent's `/command`.
fn looks_like_prompt(word: &str) -> bool {
    let command = word.strip_prefix('/').is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '-' || c == ':')
    });
    command || word.trim().contains(char::is_whitespace)
}
