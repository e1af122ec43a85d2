//! Which agent a process is, seen through the wrappers that agents are started with.

use super::definitions::{Definition, Definitions};

/// What a command line is of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A conversation on the terminal.
    Interactive,
    /// A helper: a server, a setup command.
    Helper,
    /// A run without a conversation on the terminal.
    Headless,
}

/// An agent's command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The agent's name.
    pub agent: String,
    /// Which word of the process's arguments is the program; above 0 behind a wrapper.
    pub at: usize,
    /// The program and its arguments, without wrappers. The program is as typed when that is the
    /// agent's name or a path that ends in it, else the agent's usual name.
    pub words: Vec<String>,
    /// What kind of run it is.
    pub kind: Kind,
}

/// The plain name of a program: lower-case base name without a leading dot, `-wrapped` (Nix) and
/// `.exe`. A login shell's `-fish` keeps its dash.
#[must_use]
pub fn plain(word: &str) -> String {
    let base = word.rsplit('/').next().unwrap_or(word).to_lowercase();
    let mut name = base.as_str();
    loop {
        let shorter = name
            .strip_suffix("-wrapped")
            .or_else(|| name.strip_suffix(".exe"))
            .or_else(|| name.strip_prefix('.').filter(|rest| !rest.starts_with('.')))
            .filter(|rest| !rest.is_empty());
        match shorter {
            Some(rest) => name = rest,
            None => return name.to_owned(),
        }
    }
}

/// Which agent a process is: its arguments, its program's file (without ` (deleted)`) and the
/// kernel's short name for it. `None` for everything else, and where the arguments are not known.
#[must_use]
pub fn recognise(
    defs: &Definitions,
    argv: &[String],
    exe: Option<&str>,
    comm: &str,
) -> Option<Invocation> {
    let (def, at, typed) =
        named(defs, argv).or_else(|| by_file(defs, argv, exe, comm).map(|def| (def, 0, false)))?;
    let mut words = argv[at..].to_vec();
    // A process that wrote its title over its arguments leaves a tail of empty words.
    if words[1..].iter().all(String::is_empty) {
        words.truncate(1);
    }
    if !typed || plain(&words[0]) != words[0].rsplit('/').next().unwrap_or_default() {
        words[0].clone_from(def.names.first()?);
    }
    let kind = super::argv::kind(def, &words);
    Some(Invocation {
        agent: def.name.clone(),
        at,
        words,
        kind,
    })
}

/// The agent that the words name: its definition, where, and whether a person typed it so.
fn named<'a>(defs: &'a Definitions, argv: &[String]) -> Option<(&'a Definition, usize, bool)> {
    let mut at = 0;
    for _ in 0..4 {
        let word = argv.get(at)?;
        if let Some(def) = defs.by_program(&plain(word)) {
            return Some((def, at, at == 0 && !is_store_path(word)));
        }
        if let Some(def) = by_script_path(defs, word) {
            return Some((def, at, false));
        }
        match behind(argv, at)? {
            Behind::Program(next) => at = next,
            Behind::Package(next) => {
                let def = defs
                    .by_package(argv[next].strip_prefix("npm:").unwrap_or(&argv[next]))
                    .or_else(|| defs.by_program(&plain(&argv[next])))?;
                return Some((def, next, false));
            }
            Behind::Script(next) => {
                let script = argv.get(next)?;
                let def =
                    by_script_path(defs, script).or_else(|| defs.by_program(&plain(script)))?;
                return Some((def, next, false));
            }
        }
    }
    None
}

/// Whether nobody types such a path: it changes with every update of the package.
fn is_store_path(word: &str) -> bool {
    [
        "/node_modules/",
        "/nix/store/",
        "/vendor/",
        "/Cellar/",
        "/versions/",
        "/releases/",
        "/site-packages/",
    ]
    .iter()
    .any(|part| word.contains(part))
}

/// A script or program inside an agent's package, such as
/// `…/node_modules/@anthropic-ai/claude-code/cli.js`.
fn by_script_path<'a>(defs: &'a Definitions, path: &str) -> Option<&'a Definition> {
    let (def, inside) = defs.by_package_path(path)?;
    let name = plain(inside);
    let stem = name.split('.').next().unwrap_or_default();
    let main = ["cli", "index", "main"].contains(&stem) || def.names.iter().any(|n| n == stem);
    main.then_some(def)
}

/// By the program's file, where the words say nothing: a renamed link, a version number as name.
fn by_file<'a>(
    defs: &'a Definitions,
    argv: &[String],
    exe: Option<&str>,
    comm: &str,
) -> Option<&'a Definition> {
    let exe = exe?;
    let first = argv.first()?;
    // `npx`, `bash` and the like run something else; so does a login shell. A program that has tools
    // built in runs itself under their names.
    let called = plain(first);
    if first.starts_with('-')
        || Wrapper::of(&called).is_some()
        || BUILT_IN.contains(&called.as_str())
    {
        return None;
    }
    if let Some(def) = defs.by_program(&plain(exe)) {
        return Some(def);
    }
    let versioned = [plain(exe), plain(first), comm.to_owned()]
        .iter()
        .any(|n| is_version(n));
    if !versioned {
        return None;
    }
    let parents = exe.rsplit('/').skip(1).take(3);
    parents
        .filter(|part| !part.is_empty())
        .find_map(|part| defs.by_program(&plain(part)))
}

/// Tools that agents carry inside their own program.
const BUILT_IN: [&str; 6] = ["rg", "bfs", "ugrep", "grep", "find", "fd"];

fn is_version(name: &str) -> bool {
    name.contains('.')
        && name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))
}

/// Where the real program stands behind a wrapper.
enum Behind {
    Program(usize),
    Script(usize),
    Package(usize),
}

/// What a program is that runs another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    /// `env`: assignments, then a program.
    Env,
    /// A shell with a script.
    Shell,
    /// An interpreter with a script.
    Interpreter,
    /// The same, and `-m MODULE`.
    Python,
    /// An interpreter that also has `run NAME` and `x NAME`.
    Runtime,
    /// A runner of packages.
    Packages,
}

impl Wrapper {
    fn of(name: &str) -> Option<Self> {
        match name {
            "env" => Some(Self::Env),
            "bash" | "sh" | "dash" | "zsh" | "ksh" => Some(Self::Shell),
            "node" | "nodejs" => Some(Self::Interpreter),
            "bun" | "deno" => Some(Self::Runtime),
            "npx" | "pnpx" | "bunx" => Some(Self::Packages),
            _ => name
                .strip_prefix("python")
                .is_some_and(|v| v.chars().all(|c| c.is_ascii_digit() || c == '.'))
                .then_some(Self::Python),
        }
    }

    /// Its options that take the following word.
    fn with_value(self) -> &'static [&'static str] {
        match self {
            Self::Env => &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"],
            Self::Shell => &["-o", "--rcfile", "--init-file"],
            Self::Interpreter | Self::Runtime => &[
                "-r",
                "--require",
                "--import",
                "--loader",
                "--experimental-loader",
                "-C",
                "--conditions",
                "--env-file",
                "--title",
                "--cwd",
                "--config",
                "--preload",
            ],
            Self::Python => &["-X", "-W"],
            Self::Packages => &[],
        }
    }

    /// Whether with this option no script follows: program text, or a package beside the command.
    fn is_hopeless(self, word: &str) -> bool {
        match self {
            Self::Env => ["-S", "--split-string"].contains(&word),
            // `-c TEXT` and `-s`, alone or among other letters.
            Self::Shell => !word.starts_with("--") && word.contains(['c', 's']),
            Self::Interpreter | Self::Runtime => {
                ["-e", "--eval", "-p", "--print", "-pe", "-c", "--check"].contains(&word)
            }
            Self::Python => word == "-c",
            Self::Packages => ["-c", "--call", "-p", "--package"].contains(&word),
        }
    }
}

/// What stands behind the wrapper at `at`; `None` when that is none, or nothing can be told.
fn behind(argv: &[String], at: usize) -> Option<Behind> {
    let wrapper = Wrapper::of(&plain(argv.get(at)?))?;
    let mut next = at + 1;
    let mut verb_seen = false;
    loop {
        let word = argv.get(next)?.as_str();
        if word == "--" {
            next += 1;
            break;
        }
        if word.starts_with('-') && word.len() > 1 {
            if wrapper == Wrapper::Python && word == "-m" {
                next += 1;
                break;
            }
            if wrapper.is_hopeless(word) {
                return None;
            }
            next += 1 + usize::from(wrapper.with_value().contains(&word));
        } else if wrapper == Wrapper::Env && word.contains('=') {
            next += 1;
        } else if wrapper == Wrapper::Runtime && !verb_seen && ["run", "x"].contains(&word) {
            verb_seen = true;
            next += 1;
        } else {
            break;
        }
    }
    argv.get(next)?;
    Some(match wrapper {
        Wrapper::Env => Behind::Program(next),
        Wrapper::Packages => Behind::Package(next),
        Wrapper::Runtime if verb_seen => Behind::Package(next),
        _ => Behind::Script(next),
    })
}
