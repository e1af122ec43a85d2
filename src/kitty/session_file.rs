//! A session file, read so that writing it again changes no byte that we did not mean to change.

use super::launch_line::LaunchLine;
use super::words::is_separator;

/// Who wrote the text, which decides how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// kitty's saver: a quoted word may run over several lines, and `$` stands for itself.
    Kitty,
    /// Us or a person: lines end where kitty's loader ends them, and `$` is written as `$$`.
    Person,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Nothing.
    Blank,
    /// A comment; without its `#`.
    Comment(String),
    /// A tab begins; its title, empty when it has none of its own.
    NewTab(String),
    /// An OS window begins.
    NewOsWindow,
    /// The directory of the windows that follow.
    Cd(String),
    /// A window.
    Launch(Box<LaunchLine>),
    /// The window before it is the active one.
    Focus,
    /// The tab that is visible, by its place in the OS window from 0.
    FocusTab(String),
    /// Any other line that kitty knows: keyword and the rest.
    Other(String, String),
    /// A line for which kitty refuses the whole file; why.
    Refused(String),
}

/// A line with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub item: Item,
    pub(super) raw: String,
    end: String,
}

impl Line {
    /// A new line that ends as the file's lines do.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            item: read_line(text),
            raw: text.to_owned(),
            end: "\n".to_owned(),
        }
    }

    /// Its text without the line's end.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.item {
            Item::Launch(launch) => launch.text(),
            _ => self.raw.clone(),
        }
    }

    pub(super) fn set(&mut self, text: &str) {
        self.item = read_line(text);
        text.clone_into(&mut self.raw);
    }
}

/// A session file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFile {
    /// Its lines, in order.
    pub lines: Vec<Line>,
}

const KEYWORDS: [&str; 18] = [
    "new_tab",
    "new_os_window",
    "layout",
    "launch",
    "focus",
    "focus_tab",
    "focus_os_window",
    "enabled_layouts",
    "cd",
    "title",
    "os_window_size",
    "os_window_class",
    "os_window_name",
    "os_window_title",
    "os_window_state",
    "resize_window",
    "focus_matching_window",
    "set_layout_state",
];

const LAYOUTS: [&str; 7] = [
    "fat",
    "grid",
    "horizontal",
    "splits",
    "stack",
    "tall",
    "vertical",
];

impl SessionFile {
    /// Reads a text. `several` are values of the kitty it came from that hold line separators
    /// (titles, directories, window classes): kitty's saver writes them raw, and only by knowing
    /// them can the line that holds one be told from lines that a hostile value imitates.
    #[must_use]
    pub fn read(text: &str, origin: Origin, several: &[String]) -> Self {
        // Titles lose the blanks at their end when they are saved, directories do not.
        let mut values: Vec<&str> = several
            .iter()
            .flat_map(|v| [v.as_str(), v.trim_end()])
            .filter(|v| v.chars().any(is_separator))
            .collect();
        values.sort_by_key(|v| std::cmp::Reverse(v.len()));
        let mut lines = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let length = match origin {
                Origin::Kitty => length_as_written(rest, &values),
                Origin::Person => line_length(rest),
            };
            let (raw, after) = rest.split_at(length);
            let end = end_length(after);
            lines.push(Line {
                item: match raw.split_once(' ') {
                    // The saver writes a value as it is; only the loader trims it.
                    Some(("cd", dir)) if origin == Origin::Kitty => Item::Cd(dir.to_owned()),
                    Some(("new_tab", title)) if origin == Origin::Kitty => {
                        Item::NewTab(title.to_owned())
                    }
                    _ => read_line(raw),
                },
                raw: raw.to_owned(),
                end: after[..end].to_owned(),
            });
            rest = &after[end..];
        }
        Self { lines }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines.iter().map(|l| l.text() + &l.end).collect()
    }

    /// The windows, in order.
    pub fn launches(&self) -> impl Iterator<Item = &LaunchLine> {
        self.lines.iter().filter_map(|l| match &l.item {
            Item::Launch(launch) => Some(&**launch),
            _ => None,
        })
    }

    /// The windows, to be changed.
    pub fn launches_mut(&mut self) -> impl Iterator<Item = &mut LaunchLine> {
        self.lines.iter_mut().filter_map(|l| match &mut l.item {
            Item::Launch(launch) => Some(&mut **launch),
            _ => None,
        })
    }

    /// Whether it would open any window of its own.
    #[must_use]
    pub fn has_windows(&self) -> bool {
        self.launches()
            .any(|l| l.option("--type") != Some("background"))
    }

    /// Why kitty would refuse this file, or end over it: line number from 1 and reason.
    #[must_use]
    pub fn refusal(&self) -> Option<(usize, String)> {
        self.lines.iter().enumerate().find_map(|(n, line)| {
            let why = match &line.item {
                Item::Refused(why) => Some(why.clone()),
                Item::Launch(launch) => launch.refusal(),
                Item::Other(keyword, value) => other_refusal(keyword, value),
                _ if line
                    .raw
                    .chars()
                    .any(|c| crate::sys::bytes::stood_for(c).is_some()) =>
                {
                    Some("it is not UTF-8".to_owned())
                }
                _ => None,
            };
            let raw = line
                .raw
                .chars()
                .any(|c| crate::sys::bytes::stood_for(c).is_some());
            why.or_else(|| raw.then(|| "it is not UTF-8".to_owned()))
                .map(|why| (n + 1, why))
        })
    }
}

fn line_length(text: &str) -> usize {
    text.find(is_separator).unwrap_or(text.len())
}

fn end_length(text: &str) -> usize {
    if text.starts_with("\r\n") {
        2
    } else {
        text.chars().next().map_or(0, char::len_utf8)
    }
}

/// The length of the line as kitty's saver wrote it: a known value with separators belongs to its
/// line, and so does everything up to the end of a quote.
fn length_as_written(text: &str, values: &[&str]) -> usize {
    let first = line_length(text);
    for keyword in ["new_tab ", "cd ", "os_window_class ", "os_window_name "] {
        if let Some(value) = text.strip_prefix(keyword)
            && let Some(known) = values.iter().find(|v| {
                value
                    .strip_prefix(**v)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
            })
        {
            return keyword.len() + known.len();
        }
    }
    if !text.starts_with("launch ") || LaunchLine::parse(&text[..first]).is_ok() {
        return first;
    }
    let mut length = first;
    while length < text.len() {
        let end = length + end_length(&text[length..]);
        length = end + line_length(&text[end..]);
        if LaunchLine::parse(&text[..length]).is_ok() {
            return length;
        }
    }
    first
}

fn read_line(raw: &str) -> Item {
    let line = raw.trim();
    if line.is_empty() {
        return Item::Blank;
    }
    if let Some(comment) = line.strip_prefix('#') {
        return Item::Comment(comment.to_owned());
    }
    let (keyword, value) = match line.split_once(char::is_whitespace) {
        Some((keyword, value)) => (keyword, value.trim()),
        None => (line, ""),
    };
    match keyword {
        "launch" => match LaunchLine::parse(raw) {
            Ok(launch) => Item::Launch(Box::new(launch)),
            Err(_) => Item::Refused("a quote does not end".to_owned()),
        },
        "new_tab" => Item::NewTab(value.to_owned()),
        "new_os_window" => Item::NewOsWindow,
        "cd" => Item::Cd(value.to_owned()),
        "focus" => Item::Focus,
        "focus_tab" => Item::FocusTab(value.to_owned()),
        known if KEYWORDS.contains(&known) => Item::Other(keyword.to_owned(), value.to_owned()),
        unknown => Item::Refused(format!(
            "kitty knows no line that begins with {:?}",
            crate::sys::out::visible(unknown)
        )),
    }
}

fn other_refusal(keyword: &str, value: &str) -> Option<String> {
    let unknown = |name: &str| {
        let name = name.split(':').next().unwrap_or("").trim();
        (!LAYOUTS.contains(&name) && name != "all" && name != "*")
            .then(|| format!("kitty knows no layout {name:?}"))
    };
    match keyword {
        "layout" => unknown(value),
        "enabled_layouts" => value.split(',').find_map(unknown),
        "set_layout_state" => match crate::sys::json::parse(value.as_bytes(), usize::MAX) {
            Err(e) => Some(format!("set_layout_state is not JSON ({})", e.what)),
            Ok(_) => None,
        },
        "os_window_size" => {
            let good = |w: &str| w.trim_end_matches(['c', 'x', 'p']).parse::<i64>().is_ok();
            let parts: Vec<&str> = value.split_whitespace().collect();
            (parts.len() != 2 || !parts.iter().all(|w| good(w)))
                .then(|| "os_window_size wants a width and a height".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn captures() -> Vec<(String, String)> {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kitty");
        let mut found: Vec<(String, String)> = std::fs::read_dir(dir)
            .expect("captures")
            .flatten()
            .filter(|e| e.path().extension().is_some_and(|x| x == "kitty-session"))
            .map(|e| {
                let text =
                    crate::sys::bytes::from_bytes(&std::fs::read(e.path()).expect("readable"));
                (e.file_name().to_string_lossy().into_owned(), text)
            })
            .collect();
        found.sort();
        assert!(found.len() > 40, "{}", found.len());
        found
    }

    #[test]
    fn reading_and_writing_any_capture_changes_no_byte() {
        for (name, text) in captures() {
            for origin in [Origin::Kitty, Origin::Person] {
                assert_eq!(SessionFile::read(&text, origin, &[]).text(), text, "{name}");
            }
        }
    }

    #[test]
    fn we_refuse_what_kittys_own_parser_refuses() {
        let cases = crate::sys::json::parse(
            include_bytes!("../../tests/data/kitty/parser-odd-lines.json"),
            1 << 24,
        )
        .expect("JSON");
        let json_true = |v: Option<&crate::sys::json::JsonValue>| {
            matches!(v, Some(crate::sys::json::JsonValue::Boolean(true)))
        };
        let crate::sys::json::JsonValue::Object(cases) = cases else {
            panic!("an object")
        };
        let mut wrong = Vec::new();
        let mut held = 0;
        for (name, case) in &cases {
            let input = crate::sys::json::text_at(case, "input").unwrap_or("");
            if name.starts_with("long-") {
                continue;
            }
            let bytes: Vec<u8> = input
                .chars()
                .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
                .collect();
            let text = crate::sys::bytes::from_bytes(&bytes);
            let ours = SessionFile::read(&text, Origin::Person, &[]).refusal();
            let result = crate::sys::json::member(case, "result").expect("a result");
            let ok = json_true(crate::sys::json::member(result, "ok"));
            let launches = matches!(crate::sys::json::member(result, "launch_errors"), Some(crate::sys::json::JsonValue::Array(a)) if !a.is_empty());
            held += 1;
            if (ok && !launches) != ours.is_none() {
                wrong.push(format!("{name}: kitty {ok}, we {ours:?}"));
            }
        }
        assert!(held > 75, "{held}");
        expect_test::expect![[r#""#]].assert_eq(&wrong.join("\n"));
    }
}
