//! From the text of a definitions file to definitions, with the line and key of every mistake.

mod index;
mod of_hooks;
mod ways;

pub use index::{Index, index};

use super::definitions::{Definition, Flags, Form, Positional, Probe, Scope};
use super::id_form::IdForm;
use crate::sys::json::{self, JsonValue, Member};
use crate::sys::token::fingerprint;

/// The largest definitions file that is read, in bytes.
const LIMIT: usize = 1 << 20;

/// A mistake in a definitions file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The key, as `agent` or `agent.key` or `agent.key.key`; empty for the file itself.
    pub key: String,
    /// What is wrong, in plain English, without line and key.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "line {}: {}", self.line, self.what),
            key => write!(f, "line {}: \"{key}\": {}", self.line, self.what),
        }
    }
}

/// All keys of an entry.
const KEYS: [&str; 32] = [
    "chooses",
    "config_dir",
    "env",
    "exact",
    "find",
    "flags",
    "forks",
    "form",
    "headless",
    "helpers",
    "hooks",
    "id",
    "keeps_argv",
    "latest",
    "latest_scope",
    "names",
    "once",
    "packages",
    "positional",
    "probe",
    "secret_documents",
    "secret_pairs",
    "secret_settings",
    "secrets",
    "selectors",
    "strip",
    "strip_optional",
    "strip_with_value",
    "under",
    "verbs",
    "verified",
    "version",
];

/// Reads a whole file. A wrong entry gives a problem and no definition.
#[must_use]
pub fn entries(bytes: &[u8], own: bool) -> (Vec<Definition>, Vec<Problem>) {
    let text = match json::guard(bytes, LIMIT) {
        Ok(text) => text,
        Err(e) => {
            let problem = Problem {
                line: e.line,
                key: String::new(),
                what: format!("this is not JSON: {}", e.what),
            };
            return (Vec::new(), vec![problem]);
        }
    };
    let Some(members) = json::members(&text) else {
        let problem = Problem {
            line: 1,
            key: String::new(),
            what: "the file must be one { } object with a key for each agent".to_owned(),
        };
        return (Vec::new(), vec![problem]);
    };
    let mut found: Vec<Definition> = Vec::new();
    let mut problems = Vec::new();
    for member in members.iter().filter(|m| !m.name.starts_with('_')) {
        let place = Place {
            text: &text,
            member,
            start: 0,
            path: member.name.clone(),
        };
        match entry(&place, own) {
            Ok(definition) => {
                found.retain(|d| d.name != definition.name);
                found.push(definition);
            }
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

/// One member of the file: where it stands and what it is called from the top.
struct Place<'a> {
    text: &'a str,
    member: &'a Member,
    /// Where the member's spans count from.
    start: usize,
    path: String,
}

impl Place<'_> {
    fn problem(&self, what: impl Into<String>) -> Problem {
        let before = &self.text.as_bytes()[..self.start + self.member.span.start];
        Problem {
            line: 1 + before.iter().filter(|b| **b == b'\n').count(),
            key: self.path.clone(),
            what: what.into(),
        }
    }

    fn raw(&self) -> &str {
        let value = &self.member.value;
        &self.text[self.start + value.start..self.start + value.end]
    }

    fn value(&self) -> Result<JsonValue, Problem> {
        self.raw()
            .parse()
            .map_err(|_| self.problem("this value cannot be read"))
    }

    /// Calls `each` for the members of this object, but those that begin with `_`.
    fn inside(
        &self,
        mut each: impl FnMut(&str, &Place<'_>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let members =
            json::members(self.raw()).ok_or_else(|| self.problem("this must be a { } object"))?;
        for member in members.iter().filter(|m| !m.name.starts_with('_')) {
            each(&member.name, &self.at(member))?;
        }
        Ok(())
    }

    /// A member of this object.
    fn at<'a>(&'a self, member: &'a Member) -> Place<'a> {
        Place {
            text: self.text,
            member,
            start: self.start + self.member.value.start,
            path: format!("{}.{}", self.path, member.name),
        }
    }

    fn texts(&self) -> Result<Vec<String>, Problem> {
        let wrong = || self.problem("this must be a list of texts, like [\"--resume\", \"-r\"]");
        // Most of a file are lists of plain texts: those are read without a parser.
        let spans = json::elements(self.raw()).ok_or_else(wrong)?;
        spans
            .into_iter()
            .map(|span| {
                let text = text(&self.raw()[span]).ok_or_else(wrong)?;
                match text.is_empty() || text.contains('\0') {
                    true => Err(wrong()),
                    false => Ok(text),
                }
            })
            .collect()
    }

    fn text_of(&self) -> Result<String, Problem> {
        text(self.raw()).ok_or_else(|| self.problem("this must be a text in quotes"))
    }

    fn yes_or_no(&self) -> Result<bool, Problem> {
        match self.value()? {
            JsonValue::Boolean(yes) => Ok(yes),
            _ => Err(self.problem("this must be true or false")),
        }
    }

    /// One of a few words.
    fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Problem> {
        let text = self.text_of()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Ok(*value);
        }
        let names: Vec<String> = choices.iter().map(|(n, _)| format!("\"{n}\"")).collect();
        Err(self.problem(format!("this must be {}", names.join(" or "))))
    }

    fn unknown(&self, key: &str, keys: &[&str]) -> Problem {
        let near = keys
            .iter()
            .map(|k| (distance(k, key), *k))
            .min()
            .filter(|(d, _)| *d <= 3 && *d < key.len());
        match near {
            Some((_, near)) => self.problem(format!("no such key; did you mean \"{near}\"?")),
            None => self.problem("no such key"),
        }
    }
}

/// The text that a JSON value is.
fn text(raw: &str) -> Option<String> {
    match json::plain(raw) {
        Some(plain) => Some(plain.to_owned()),
        None => match raw.parse() {
            Ok(JsonValue::String(text)) => Some(text),
            _ => None,
        },
    }
}

fn empty(name: &str, own: bool, fingerprint: u64) -> Definition {
    Definition {
        name: name.to_owned(),
        names: vec![name.to_owned()],
        packages: Vec::new(),
        form: Form::Flags,
        exact: Vec::new(),
        latest: Vec::new(),
        latest_scope: Scope::Unstated,
        strip_with_value: Vec::new(),
        strip: Vec::new(),
        strip_optional: Vec::new(),
        selectors: Vec::new(),
        chooses: Vec::new(),
        forks: Vec::new(),
        under: Vec::new(),
        verbs: Vec::new(),
        helpers: Vec::new(),
        headless: Vec::new(),
        flags: Flags::default(),
        once: Vec::new(),
        secrets: Vec::new(),
        secret_pairs: Vec::new(),
        secret_documents: Vec::new(),
        secret_settings: Vec::new(),
        positional: Positional::Prompt,
        probe: None,
        env: Vec::new(),
        config_dir: None,
        id: IdForm::Token,
        find: Vec::new(),
        hooks: None,
        verified: false,
        version: None,
        keeps_argv: true,
        own,
        fingerprint,
    }
}

const SCOPES: [(&str, Scope); 3] = [
    ("directory", Scope::Directory),
    ("unstated", Scope::Unstated),
    ("anywhere", Scope::Anywhere),
];
const FORMS: [(&str, Form); 2] = [("flags", Form::Flags), ("subcommand", Form::Subcommand)];
const POSITIONALS: [(&str, Positional); 3] = [
    ("prompt", Positional::Prompt),
    ("keep", Positional::Keep),
    ("one-shot", Positional::OneShot),
];
fn entry(place: &Place<'_>, own: bool) -> Result<Definition, Problem> {
    let name = &place.member.name;
    if name.is_empty() || name.contains(['/', '\0']) {
        return Err(place.problem("this cannot be the name of a program"));
    }
    let mut d = empty(name, own, fingerprint(place.raw().as_bytes()));
    let mut form = None;
    let mut selectors = None;
    place.inside(|key, at| {
        match key {
            "names" => d.names = at.texts()?,
            "packages" => d.packages = at.texts()?,
            "form" => form = Some(at.choice(&FORMS)?),
            "exact" => {
                d.exact = at.texts()?;
                if !d.exact.iter().any(|w| w.contains("{id}")) {
                    return Err(at.problem("one of the words must hold {id}"));
                }
            }
            "latest" => d.latest = at.texts()?,
            "latest_scope" => d.latest_scope = at.choice(&SCOPES)?,
            "strip_with_value" => d.strip_with_value = at.texts()?,
            "strip" => d.strip = at.texts()?,
            "strip_optional" => d.strip_optional = at.texts()?,
            "selectors" => selectors = Some(at.texts()?),
            "chooses" => d.chooses = at.texts()?,
            "forks" => d.forks = at.texts()?,
            "under" => d.under = at.texts()?,
            "verbs" => d.verbs = at.texts()?,
            "helpers" => d.helpers = at.texts()?,
            "headless" => d.headless = at.texts()?,
            "flags" => d.flags = flags(at)?,
            "once" => d.once = at.texts()?,
            "secrets" => d.secrets = at.texts()?,
            "secret_pairs" => d.secret_pairs = at.texts()?,
            "secret_documents" => d.secret_documents = at.texts()?,
            "secret_settings" => d.secret_settings = at.texts()?,
            "positional" => d.positional = at.choice(&POSITIONALS)?,
            "probe" => d.probe = Some(probe(at)?),
            "env" => d.env = at.texts()?,
            "config_dir" => d.config_dir = Some(at.text_of()?),
            "id" => {
                d.id = IdForm::read(&at.text_of()?).ok_or_else(|| {
                    at.problem(
                        "this must be \"uuid\", \"token\" or a pattern like \"ses_[0-9a-f]{12}\"",
                    )
                })?;
            }
            "find" => d.find = ways::read(at)?,
            "hooks" => d.hooks = Some(of_hooks::hooks(at)?),
            "verified" => d.verified = at.yes_or_no()?,
            "keeps_argv" => d.keeps_argv = at.yes_or_no()?,
            "version" => d.version = Some(at.text_of()?),
            _ => return Err(at.unknown(key, &KEYS)),
        }
        Ok(())
    })?;
    if d.exact.is_empty() && d.latest.is_empty() {
        return Err(place.problem("neither \"exact\" nor \"latest\" says how to resume"));
    }
    if d.names.is_empty() {
        return Err(place.problem("\"names\" must not be an empty list"));
    }
    let first = d.exact.first().or(d.latest.first());
    d.form = form.unwrap_or(match first {
        Some(word) if !word.starts_with('-') => Form::Subcommand,
        _ => Form::Flags,
    });
    // An entry without the list takes every option whose value is removed for one that names the
    // conversation.
    d.selectors =
        selectors.unwrap_or_else(|| [&d.strip_with_value[..], &d.strip_optional].concat());
    Ok(d)
}

fn flags(place: &Place<'_>) -> Result<Flags, Problem> {
    let mut flags = Flags::default();
    place.inside(|key, at| {
        match key {
            "none" => flags.none = at.texts()?,
            "one" => flags.one = at.texts()?,
            "optional" => flags.optional = at.texts()?,
            "several" => flags.several = at.texts()?,
            _ => return Err(at.unknown(key, &["none", "one", "optional", "several"])),
        }
        Ok(())
    })?;
    Ok(flags)
}

fn probe(place: &Place<'_>) -> Result<Probe, Problem> {
    let mut probe = Probe::default();
    place.inside(|key, at| {
        match key {
            "args" => probe.args = at.texts()?,
            "expect" => probe.expect = at.texts()?,
            _ => return Err(at.unknown(key, &["args", "expect"])),
        }
        Ok(())
    })?;
    Ok(probe)
}

/// How many letters must change to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut corner = i;
        for (j, y) in b.iter().enumerate() {
            let best = (corner + usize::from(x != *y))
                .min(left + 1)
                .min(row[j + 1] + 1);
            corner = row[j + 1];
            row[j] = left;
            left = best;
        }
        row[b.len()] = left;
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
