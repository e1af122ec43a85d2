//! The options of `launch` and `save_as_session`, parsed with kitty's rules and error texts.

/// What kind of value an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Text,
    List,
    Choice(&'static [&'static str]),
}

/// The names of one option (the first is the key) and its kind.
type Spec = (&'static [&'static str], Kind);

const TYPES: &[&str] = &[
    "window",
    "tab",
    "os-window",
    "os-panel",
    "overlay",
    "overlay-main",
    "background",
    "clipboard",
    "primary",
];
const PLACES: &[&str] = &[
    "default", "after", "before", "first", "hsplit", "last", "neighbor", "split", "vsplit",
];
const STDIN: &[&str] = &[
    "none",
    "@selection",
    "@screen",
    "@screen_scrollback",
    "@alternate",
    "@alternate_scrollback",
    "@first_cmd_output_on_screen",
    "@last_cmd_output",
    "@last_visited_cmd_output",
];

const LAUNCH: &[Spec] = &[
    (&["--source-window"], Kind::Text),
    (&["--title", "--window-title"], Kind::Text),
    (&["--tab-title"], Kind::Text),
    (&["--type"], Kind::Choice(TYPES)),
    (&["--keep-focus", "--dont-take-focus"], Kind::Flag),
    (&["--cwd"], Kind::Text),
    (&["--add-to-session"], Kind::Text),
    (&["--env"], Kind::List),
    (&["--var"], Kind::List),
    (&["--hold"], Kind::Flag),
    (&["--hold-after-ssh"], Kind::Flag),
    (&["--copy-colors"], Kind::Flag),
    (&["--copy-cmdline"], Kind::Flag),
    (&["--copy-env"], Kind::Flag),
    (&["--location"], Kind::Choice(PLACES)),
    (&["--next-to"], Kind::Text),
    (&["--bias"], Kind::Text),
    (&["--allow-remote-control"], Kind::Flag),
    (&["--remote-control-password"], Kind::List),
    (&["--stdin-source"], Kind::Choice(STDIN)),
    (&["--stdin-add-formatting"], Kind::Flag),
    (&["--stdin-add-line-wrap-markers"], Kind::Flag),
    (&["--marker"], Kind::Text),
    (&["--os-window-class"], Kind::Text),
    (&["--os-window-name"], Kind::Text),
    (&["--os-window-title"], Kind::Text),
    (
        &["--os-window-state"],
        Kind::Choice(&["normal", "fullscreen", "maximized", "minimized"]),
    ),
    (&["--logo"], Kind::Text),
    (&["--logo-position"], Kind::Text),
    (&["--logo-alpha"], Kind::Text),
    (&["--color"], Kind::List),
    (&["--spacing"], Kind::List),
    (&["--watcher", "-w"], Kind::List),
    (&["--os-panel"], Kind::List),
];

const SAVE: &[Spec] = &[
    (&["--save-only"], Kind::Flag),
    (&["--use-foreground-process"], Kind::Flag),
    (&["--relocatable"], Kind::Flag),
    (&["--match"], Kind::Text),
    (&["--base-dir"], Kind::Text),
];

/// Options by key, in the order given, and the words behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Key (the first name of the option) and value; flags have the value `yes`.
    pub options: Vec<(&'static str, String)>,
    /// Everything from the first word that is no option.
    pub words: Vec<String>,
}

impl Parsed {
    /// The last value of an option.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(k, _)| *k == key)
            .map(|(_, v)| v.as_str())
    }

    /// Whether a flag is set.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key) == Some("yes")
    }

    /// All values of an option.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.options
            .iter()
            .filter(move |(k, _)| *k == key)
            .map(|(_, v)| v.as_str())
    }
}

/// The options of `launch`. Values go through `expand` (kitty's `$` expansion), the words do not.
///
/// # Errors
/// kitty's message.
pub fn launch(words: &[String], expand: &dyn Fn(&str) -> String) -> Result<Parsed, String> {
    parse(LAUNCH, words, expand)
}

/// The options of `save_as_session`; as everywhere in kitty the first word ends them.
///
/// # Errors
/// kitty's message.
pub fn save(words: &[String]) -> Result<Parsed, String> {
    parse(SAVE, words, &str::to_owned)
}

fn parse(
    specs: &[Spec],
    words: &[String],
    expand: &dyn Fn(&str) -> String,
) -> Result<Parsed, String> {
    let mut out = Parsed::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if word == "--" {
            break;
        }
        if !word.starts_with('-') || word == "-" {
            at -= 1;
            break;
        }
        if word == "--help" || word == "-h" || word == "--version" {
            return Err("0".into());
        }
        let (name, given) = match word.split_once('=') {
            Some((n, v)) => (n, Some(v.to_owned())),
            None => (word.as_str(), None),
        };
        let Some((names, kind)) = specs.iter().find(|(names, _)| names.contains(&name)) else {
            return Err(if name.starts_with("--") {
                format!("Unknown flag: {name} use --help.")
            } else {
                format!("Unknown flag: {name}. Did you mean: -h?")
            });
        };
        let value = match (kind, given) {
            (Kind::Flag, None) => "yes".to_owned(),
            (Kind::Flag, Some(v)) => match v.as_str() {
                "y" | "yes" | "true" | "1" => "yes".to_owned(),
                "n" | "no" | "false" | "0" => "no".to_owned(),
                v => {
                    return Err(format!(
                        "{v} is an invalid value for {name}. Valid values are: y, yes, true, n, no and false."
                    ));
                }
            },
            (_, Some(v)) => v,
            (_, None) => {
                let next = words
                    .get(at)
                    .ok_or_else(|| format!("The {name} flag must be followed by an argument."))?;
                at += 1;
                next.clone()
            }
        };
        if let Kind::Choice(valid) = kind
            && !valid.contains(&value.as_str())
        {
            return Err(format!(
                "{value} is an invalid value for {name}. Valid values are: {}.",
                valid.join(", ")
            ));
        }
        let value = if *kind == Kind::Flag {
            value
        } else {
            expand(&value)
        };
        out.options.push((names[0], value));
    }
    out.words = words[at..].to_vec();
    Ok(out)
}
