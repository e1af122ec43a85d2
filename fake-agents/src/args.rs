//! The options of the agents, as their own parsers take them apart.

/// The options of one agent by the values they take.
pub struct Grammar {
    /// No value.
    pub none: &'static [&'static str],
    /// One value.
    pub one: &'static [&'static str],
    /// None or one.
    pub optional: &'static [&'static str],
    /// One or more.
    pub several: &'static [&'static str],
}

/// A command line taken apart.
#[derive(Debug, Default)]
pub struct Args {
    /// Options in order, with their values.
    pub options: Vec<(String, Vec<String>)>,
    /// The other words.
    pub words: Vec<String>,
}

impl Args {
    /// Whether one of `names` is there.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(n, _)| names.contains(&n.as_str()))
    }

    /// The value of the last of `names`; `Some(None)` when it stands alone.
    pub fn value(&self, names: &[&str]) -> Option<Option<&str>> {
        let (_, values) = self
            .options
            .iter()
            .rev()
            .find(|(n, _)| names.contains(&n.as_str()))?;
        Some(values.first().map(String::as_str))
    }
}

/// Takes `args` apart. An unknown option is an error when `strict`, else one without a value.
pub fn parse(grammar: &Grammar, args: &[String], strict: bool) -> Result<Args, String> {
    let mut found = Args::default();
    let mut rest = args.iter().peekable();
    while let Some(word) = rest.next() {
        if word == "--" {
            found.words.extend(rest.cloned());
            break;
        }
        if !word.starts_with('-') || word.len() == 1 {
            found.words.push(word.clone());
            continue;
        }
        let (mut name, mut attached) = match word.split_once('=') {
            Some((name, value)) if word.starts_with("--") => {
                (name.to_owned(), Some(value.to_owned()))
            }
            _ => (word.clone(), None),
        };
        let known = |n: &str| {
            [grammar.none, grammar.one, grammar.optional, grammar.several]
                .iter()
                .any(|l| l.contains(&n))
        };
        // Letters in one word: all but the last take no value.
        while !known(&name) && !name.starts_with("--") && attached.is_none() {
            let (first, tail) =
                name.split_at(name.char_indices().nth(2).map_or(name.len(), |c| c.0));
            if tail.is_empty() || !known(first) {
                break;
            }
            if grammar.none.contains(&first) {
                found.options.push((first.to_owned(), Vec::new()));
                name = format!("-{tail}");
            } else {
                attached = Some(tail.to_owned());
                name = first.to_owned();
            }
        }
        let name_is = |list: &[&str]| list.contains(&name.as_str());
        let mut values: Vec<String> = attached.into_iter().collect();
        if values.is_empty() {
            if name_is(grammar.one) {
                match rest.next() {
                    Some(value) => values.push(value.clone()),
                    None => return Err(format!("option '{name}' needs a value")),
                }
            } else if name_is(grammar.optional) {
                values.extend(rest.next_if(|w| !w.starts_with('-')).cloned());
            } else if name_is(grammar.several) {
                while let Some(value) = rest.next_if(|w| !w.starts_with('-')) {
                    values.push(value.clone());
                }
            } else if strict && !known(&name) {
                return Err(format!("unknown option '{name}'"));
            }
        }
        found.options.push((name, values));
    }
    Ok(found)
}
