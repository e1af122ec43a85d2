//! kitty's search expressions: `id:1 or (var:k=v and not state:focused)`.

use regex_lite::Regex;

/// Locations windows are searched by.
pub const WINDOW: &[&str] = &[
    "id", "title", "pid", "cwd", "cmdline", "num", "env", "var", "recent", "state", "neighbor",
    "session",
];
/// Locations tabs are searched by.
pub const TAB: &[&str] = &[
    "id",
    "index",
    "title",
    "window_id",
    "window_title",
    "pid",
    "cwd",
    "env",
    "var",
    "cmdline",
    "recent",
    "state",
    "session",
];

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// Both.
    And(Box<Query>, Box<Query>),
    /// Either.
    Or(Box<Query>, Box<Query>),
    /// Not.
    Not(Box<Query>),
    /// A location and what it is searched for.
    Leaf(String, String),
}

impl Query {
    /// Evaluates with `leaf` deciding each location.
    ///
    /// # Errors
    /// The first error of `leaf`.
    pub fn test(&self, leaf: &dyn Fn(&str, &str) -> Result<bool, String>) -> Result<bool, String> {
        Ok(match self {
            Query::And(a, b) => a.test(leaf)? && b.test(leaf)?,
            Query::Or(a, b) => a.test(leaf)? || b.test(leaf)?,
            Query::Not(a) => !a.test(leaf)?,
            Query::Leaf(location, value) => leaf(location, value)?,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Bracket(char),
    Word(String),
    Quoted(String),
}

fn tokens(src: &str) -> Vec<Token> {
    let chars: Vec<char> = src.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if c == '(' || c == ')' {
            out.push(Token::Bracket(c));
            at += 1;
        } else if c.is_whitespace() {
            at += 1;
        } else if c == '"' {
            let end = (at + 1..chars.len()).find(|i| chars[*i] == '"' && chars[*i - 1] != '\\');
            // The scanner stops at a quote that is not closed; what is behind it is not looked at.
            let Some(end) = end else { break };
            let text: String = chars[at + 1..end].iter().collect();
            out.push(Token::Quoted(
                text.replace("\\\"", "\"").replace("\\\\", "\\"),
            ));
            at = end + 1;
        } else {
            let end = (at..chars.len())
                .find(|i| matches!(chars[*i], '"' | '(' | ')') || chars[*i].is_whitespace())
                .unwrap_or(chars.len());
            out.push(Token::Word(chars[at..end].iter().collect()));
            at = end;
        }
    }
    out
}

/// Parses an expression over the given locations.
///
/// # Errors
/// kitty's texts: `missing )`, `frob is not a recognized location in frob:1`, `No location specified before x`.
pub fn parse(src: &str, locations: &[&str]) -> Result<Query, String> {
    let mut p = Parser {
        tokens: tokens(src),
        at: 0,
        locations,
    };
    let query = p.or()?;
    match p.tokens.get(p.at) {
        None => Ok(query),
        Some(_) => Err("Extra characters at end of search".into()),
    }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    locations: &'a [&'a str],
}

impl Parser<'_> {
    fn keyword(&self) -> Option<String> {
        match self.tokens.get(self.at)? {
            Token::Word(w) => Some(w.to_lowercase()),
            _ => None,
        }
    }

    fn or(&mut self) -> Result<Query, String> {
        let left = self.and()?;
        if self.keyword().as_deref() == Some("or") {
            self.at += 1;
            return Ok(Query::Or(Box::new(left), Box::new(self.or()?)));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Query, String> {
        let left = self.not()?;
        if self.keyword().as_deref() == Some("and") {
            self.at += 1;
            return Ok(Query::And(Box::new(left), Box::new(self.and()?)));
        }
        let more = match self.tokens.get(self.at) {
            None | Some(Token::Bracket(')')) => false,
            Some(_) => self.keyword().as_deref() != Some("or"),
        };
        if more {
            return Ok(Query::And(Box::new(left), Box::new(self.and()?)));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Query, String> {
        if self.keyword().as_deref() == Some("not") {
            self.at += 1;
            return Ok(Query::Not(Box::new(self.not()?)));
        }
        self.location()
    }

    fn location(&mut self) -> Result<Query, String> {
        match self.tokens.get(self.at).cloned() {
            Some(Token::Bracket('(')) => {
                self.at += 1;
                let inner = self.or()?;
                if self.tokens.get(self.at) != Some(&Token::Bracket(')')) {
                    return Err("missing )".into());
                }
                self.at += 1;
                Ok(inner)
            }
            Some(Token::Word(w)) => {
                self.at += 1;
                let Some((name, value)) = w.split_once(':') else {
                    return Err(format!("No location specified before {w}"));
                };
                let location = name.to_lowercase();
                if !self.locations.contains(&location.as_str()) {
                    return Err(format!("{name} is not a recognized location in {w}"));
                }
                if let (true, Some(Token::Quoted(q))) = (value.is_empty(), self.tokens.get(self.at))
                {
                    let q = q.clone();
                    self.at += 1;
                    return Ok(Query::Leaf(location, q));
                }
                Ok(Query::Leaf(location, value.to_owned()))
            }
            Some(Token::Quoted(q)) => {
                self.at += 1;
                Err(format!("No location specified before {q}"))
            }
            _ => Err("Invalid syntax. Expected a lookup name or a word".into()),
        }
    }
}

/// `re.search`.
///
/// # Errors
/// When the pattern is no regular expression.
pub fn found(pattern: &str, text: &str) -> Result<bool, String> {
    Regex::new(pattern)
        .map(|r| r.is_match(text))
        .map_err(|e| e.to_string())
}

/// The test of `env:` and `var:`: a pattern for the name and, behind the first `=`, one for the value.
///
/// # Errors
/// When a pattern is no regular expression.
pub fn found_pair<'a>(
    pattern: &str,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<bool, String> {
    let (key, value) = pattern.split_once('=').unwrap_or((pattern, ""));
    for (k, v) in pairs {
        if found(key, k)? && (value.is_empty() || found(value, v)?) {
            return Ok(true);
        }
    }
    Ok(false)
}
