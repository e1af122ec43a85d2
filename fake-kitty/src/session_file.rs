//! kitty's parser of session files.

use crate::json;
use crate::layout;
use crate::options::{self, Parsed};
use crate::text::{self, expand_user, expand_vars, join_path, split_word, strip};
use crate::words;
use serde_json::Value;

/// What a session file is read with.
pub struct Context<'a> {
    /// Variables of kitty's environment.
    pub lookup: &'a dyn Fn(&str) -> Option<String>,
    /// The home directory.
    pub home: &'a str,
    /// The directory relative `cd` lines start from: that of the file.
    pub base: &'a str,
    /// kitty's `enabled_layouts`.
    pub enabled_layouts: &'a [String],
}

/// A command a shell runs at its start.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Startup {
    /// None.
    #[default]
    None,
    /// A line for the shell.
    Line(String),
    /// Words; kitty finds out only at launch that one is not a string.
    Words(Vec<Value>),
}

/// One `launch` line, or the shell of a tab without any.
#[derive(Debug, Clone, Default)]
pub struct WindowSpec {
    /// The saved id.
    pub id: Value,
    /// `cmd_at_shell_startup`.
    pub startup: Startup,
    /// Options and program.
    pub launch: Parsed,
    /// Where it starts: `--cwd`, else the `cd` line before it.
    pub cwd: Option<String>,
    /// `title` line before it.
    pub title: Option<String>,
    /// `focus_matching_window` after it.
    pub focus_matching: Option<String>,
}

/// A tab.
#[derive(Debug, Clone)]
pub struct TabSpec {
    /// Its title, empty for none.
    pub title: String,
    /// Its layout with options.
    pub layout: String,
    /// Its layouts.
    pub enabled_layouts: Vec<String>,
    /// `set_layout_state`.
    pub layout_state: Option<Value>,
    /// The last `cd`.
    pub cwd: Option<String>,
    /// Index of the window before the last `focus`.
    pub active: Option<usize>,
    /// Its windows.
    pub windows: Vec<WindowSpec>,
}

/// An OS window.
#[derive(Debug, Clone, Default)]
pub struct OsWindowSpec {
    /// `os_window_class`.
    pub class: Option<String>,
    /// `os_window_name`.
    pub name: Option<String>,
    /// Its tabs; never empty after parsing.
    pub tabs: Vec<TabSpec>,
    /// `focus_tab`.
    pub focus_tab: Option<String>,
    /// `focus_os_window`.
    pub focus: bool,
    /// Number of `launch` lines.
    pub defined: usize,
}

/// The name kitty gives a session file: its file name without a known ending.
pub fn session_name(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    [".kitty-session", ".kitty_session", ".session"]
        .iter()
        .find_map(|end| file.strip_suffix(end))
        .unwrap_or(file)
        .to_owned()
}

/// Parses a whole file.
///
/// # Errors
/// kitty's message; one fault loses everything.
pub fn parse(raw: &[u8], cx: &Context<'_>) -> Result<Vec<OsWindowSpec>, String> {
    let src = text::decode_strict(raw)?;
    let mut done = Vec::new();
    let mut parser = Parser {
        cx,
        os: OsWindowSpec::default(),
        title: None,
    };
    for line in text::split_lines(src) {
        let line = strip(line);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (keyword, rest) = split_word(line);
        if keyword == "new_os_window" {
            done.push(parser.finish());
        } else {
            parser.line(keyword, rest)?;
        }
    }
    done.push(parser.finish());
    Ok(done)
}

struct Parser<'a> {
    cx: &'a Context<'a>,
    os: OsWindowSpec,
    /// A `title` line waiting for its window.
    title: Option<String>,
}

impl Parser<'_> {
    fn new_tab(&mut self, title: &str) {
        if self.os.tabs.last().is_some_and(|t| t.windows.is_empty()) {
            self.os.tabs.pop();
        }
        self.os.tabs.push(TabSpec {
            title: title.to_owned(),
            layout: self.cx.enabled_layouts.first().cloned().unwrap_or_default(),
            enabled_layouts: self.cx.enabled_layouts.to_vec(),
            layout_state: None,
            cwd: None,
            active: None,
            windows: Vec::new(),
        });
    }

    fn tab(&mut self) -> &mut TabSpec {
        if self.os.tabs.is_empty() {
            self.new_tab("");
        }
        let last = self.os.tabs.len() - 1;
        &mut self.os.tabs[last]
    }

    fn finish(&mut self) -> OsWindowSpec {
        let title = self.title.take();
        let tab = self.tab();
        if tab.windows.is_empty() {
            let cwd = tab.cwd.clone();
            tab.windows.push(WindowSpec {
                id: Value::from(0),
                title,
                cwd,
                ..WindowSpec::default()
            });
        }
        std::mem::take(&mut self.os)
    }

    fn line(&mut self, keyword: &str, raw: &str) -> Result<(), String> {
        if keyword == "launch" {
            return self.launch(raw);
        }
        if keyword == "set_layout_state" {
            self.tab().layout_state = Some(json::parse(raw)?);
            return Ok(());
        }
        let rest = expand_vars(raw, self.cx.lookup);
        match keyword {
            "new_tab" => self.new_tab(&rest),
            "layout" => {
                let name = rest.split(':').next().unwrap_or_default();
                if !layout::ALL.contains(&name) {
                    return Err(format!("{rest} is not a valid layout"));
                }
                self.tab().layout = rest;
            }
            "enabled_layouts" => self.tab().enabled_layouts = layouts(&rest)?,
            "cd" => {
                let path = expand_user(&rest, self.cx.home);
                self.tab().cwd = Some(join_path(self.cx.base, &path));
            }
            "title" => self.title = Some(rest).filter(|t| !t.is_empty()),
            "focus" => {
                let tab = self.tab();
                tab.active = Some(tab.windows.len().saturating_sub(1));
            }
            "focus_os_window" => self.os.focus = true,
            "focus_tab" => self.os.focus_tab = Some(rest),
            "focus_matching_window" => {
                if let Some(w) = self.tab().windows.last_mut() {
                    w.focus_matching = Some(rest);
                }
            }
            "os_window_size" => os_window_size(&rest)?,
            // An empty one is none.
            "os_window_class" => self.os.class = Some(rest).filter(|c| !c.is_empty()),
            "os_window_name" => self.os.name = Some(rest).filter(|n| !n.is_empty()),
            "os_window_title" | "os_window_state" | "resize_window" => {}
            other => return Err(format!("Unknown command in session file: {other}")),
        }
        Ok(())
    }

    fn launch(&mut self, raw: &str) -> Result<(), String> {
        const DATA: &str = "kitty-unserialize-data=";
        let mut words = words::split(raw, false)?;
        let mut spec = WindowSpec {
            id: Value::from(0),
            ..WindowSpec::default()
        };
        if let Some(data) = words.first().and_then(|w| w.strip_prefix(DATA)) {
            (spec.id, spec.startup) = unserialize(&json::parse(data)?)?;
            words.remove(0);
        }
        spec.launch = options::launch(&words, &|v| expand_vars(v, self.cx.lookup))?;
        spec.title = self.title.take();
        let tab = self.tab();
        spec.cwd = spec
            .launch
            .get("--cwd")
            .map(str::to_owned)
            .or_else(|| tab.cwd.clone());
        tab.windows.push(spec);
        self.os.defined += 1;
        Ok(())
    }
}

fn unserialize(data: &Value) -> Result<(Value, Startup), String> {
    let map = match data {
        Value::Object(map) => map,
        Value::Array(_) => return Err("list indices must be integers or slices, not str".into()),
        Value::String(_) => return Err("string indices must be integers, not 'str'".into()),
        Value::Null => return Err("'NoneType' object is not subscriptable".into()),
        Value::Bool(_) => return Err("'bool' object is not subscriptable".into()),
        Value::Number(_) => return Err("'int' object is not subscriptable".into()),
    };
    let id = map.get("id").ok_or("'id'")?.clone();
    let startup = match map.get("cmd_at_shell_startup") {
        None | Some(Value::Null) => Startup::None,
        Some(Value::String(s)) if s.is_empty() => Startup::None,
        Some(Value::String(s)) => Startup::Line(s.clone()),
        Some(Value::Array(items)) if items.is_empty() => Startup::None,
        Some(Value::Array(items)) => Startup::Words(items.clone()),
        Some(Value::Object(map)) => {
            Startup::Words(map.keys().map(|k| Value::from(k.as_str())).collect())
        }
        Some(Value::Bool(false)) => Startup::None,
        Some(Value::Bool(true)) => return Err("'bool' object is not iterable".into()),
        Some(Value::Number(n)) if n.as_f64() == Some(0.0) => Startup::None,
        Some(Value::Number(n)) if n.is_f64() => return Err("'float' object is not iterable".into()),
        Some(Value::Number(_)) => return Err("'int' object is not iterable".into()),
    };
    Ok((id, startup))
}

fn layouts(list: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for item in list
        .split(',')
        .map(|l| strip(l).to_lowercase())
        .filter(|l| !l.is_empty())
    {
        if item == "*" || item == "all" {
            return Ok(layout::ALL.iter().map(|l| (*l).to_owned()).collect());
        }
        let name = item.split(':').next().unwrap_or_default();
        if !layout::ALL.contains(&name) {
            return Err(format!("The window layout {name} is unknown"));
        }
        found.push(item);
    }
    if found.is_empty() {
        return Err("At least one layout must be enabled".into());
    }
    Ok(found)
}

fn os_window_size(rest: &str) -> Result<(), String> {
    let (w, h) = split_word(rest);
    let number = |v: &str| {
        let digits = v.to_lowercase();
        let digits = digits.trim_end_matches('c');
        match digits.replace('_', "").parse::<i64>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!(
                "invalid literal for int() with base 10: '{digits}'"
            )),
        }
    };
    let mut n = 0;
    for v in [w, h].into_iter().filter(|v| !v.is_empty()) {
        number(v)?;
        n += 1;
    }
    if n == 2 {
        Ok(())
    } else {
        Err(format!("not enough values to unpack (expected 2, got {n})"))
    }
}
