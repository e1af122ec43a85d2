//! Settings whose `hooks` has a list for each event: claude's shape, and those like it.

use super::edit::{LIMIT, Rest, Who, program_of, shell_word};
use super::setup::Setup;
use crate::sys::json::loose::{self, Kind, Node};
use crate::sys::json::push_string;
use crate::sys::json::splice::{self, Layout};

fn read(text: &[u8]) -> Result<Node, String> {
    let root = loose::read(text, LIMIT).map_err(|e| format!("it cannot be read as JSON: {e}"))?;
    match root.kind {
        Kind::Object(_) => Ok(root),
        _ => Err("it is no { } object".to_owned()),
    }
}

/// `text` as a JSON string, which python and JavaScript read alike: only what must be is escaped, for
/// a person reads it, and a pair of `\\u` is two characters to python.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '\'' | '$') || (!c.is_ascii() && !c.is_control()) {
            out.push(c);
            continue;
        }
        let mut one = String::new();
        push_string(&mut one, c.encode_utf8(&mut [0; 4]));
        out.push_str(&one[1..one.len() - 1]);
    }
    out.push('"');
    out
}

/// `text` inside the quotes of a JSON string.
fn inside_quotes(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

fn entry(setup: &Setup, who: Who<'_>, event: &str) -> String {
    setup
        .entry
        .replace("{event}", &inside_quotes(event))
        .replace("{command}", &inside_quotes(&command(who)))
}

fn command(who: Who<'_>) -> String {
    format!("{} hook {}", shell_word(who.program), who.agent)
}

/// The text with our entry in the list of every event.
pub(super) fn put_in(setup: &Setup, who: Who<'_>, old: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let mut text = match old {
        Some(old) if !is_empty(old) => old.to_vec(),
        Some(old) if old.starts_with(MARK) => [MARK, &fresh(setup)[..]].concat(),
        _ => fresh(setup),
    };
    for event in &setup.events {
        text = with_event(setup, who, &text, event)?;
    }
    Ok(text)
}

fn fresh(setup: &Setup) -> Vec<u8> {
    let base = setup.base.trim();
    let inner = base.strip_prefix('{').and_then(|b| b.strip_suffix('}'));
    match inner.map(str::trim).filter(|b| !b.is_empty()) {
        Some(inner) => format!("{{\n  {inner}\n}}\n").into_bytes(),
        None => b"{}\n".to_vec(),
    }
}

fn with_event(setup: &Setup, who: Who<'_>, text: &[u8], event: &str) -> Result<Vec<u8>, String> {
    let root = read(text)?;
    let layout = Layout::of(text, &root);
    let ours = entry(setup, who, event);
    let list = |indent: &str| {
        if layout.flat {
            return format!("[{ours}]");
        }
        let (line, step) = (layout.line, &layout.step);
        format!("[{line}{indent}{step}{ours}{line}{indent}]")
    };
    let member = |indent: &str| format!("{}: {}", quoted(event), list(indent));
    let Some(hooks) = root.get("hooks") else {
        let all = |indent: &str| {
            if layout.flat {
                return format!("\"hooks\": {{{}}}", member(indent));
            }
            let (line, deeper) = (layout.line, format!("{indent}{}", layout.step));
            format!(
                "\"hooks\": {{{line}{deeper}{}{line}{indent}}}",
                member(&deeper)
            )
        };
        return Ok(splice::add(text, &root, &layout, &all));
    };
    if !matches!(hooks.node.kind, Kind::Object(_)) {
        return Err("its \"hooks\" is no { } object".to_owned());
    }
    let Some(found) = hooks.node.get(event) else {
        return Ok(splice::add(text, &hooks.node, &layout, &member));
    };
    if !matches!(found.node.kind, Kind::List(_)) {
        return Err(format!("its \"hooks\".\"{event}\" is no list"));
    }
    let mut commands = commands(&found.node, who.agent).into_iter();
    let Some(first) = commands.next() else {
        return Ok(splice::add(text, &found.node, &layout, &|_| ours.clone()));
    };
    // What is there twice is taken out once; an older path becomes the one of now.
    if commands.next().is_some() {
        return with_event(
            setup,
            who,
            &without_one(text, &found.node, who.agent)?,
            event,
        );
    }
    let wanted = wanted(&ours, who.agent).unwrap_or_else(|| command(who));
    if first.text == wanted {
        return Ok(text.to_vec());
    }
    Ok(splice::splice(text, &[(first.span, &quoted(&wanted))]))
}

/// The command as it stands in an entry of ours.
fn wanted(entry: &str, agent: &str) -> Option<String> {
    let node = loose::read(entry.as_bytes(), LIMIT).ok()?;
    commands(&node, agent).into_iter().next().map(|c| c.text)
}

/// A command of ours in the settings.
struct Command {
    text: String,
    program: String,
    span: std::ops::Range<usize>,
}

/// All commands of ours in a value.
fn commands(node: &Node, agent: &str) -> Vec<Command> {
    match &node.kind {
        Kind::Text(text) => program_of(text, agent)
            .map(|program| Command {
                text: text.clone(),
                program,
                span: node.span.clone(),
            })
            .into_iter()
            .collect(),
        Kind::List(nodes) => nodes.iter().flat_map(|n| commands(n, agent)).collect(),
        Kind::Object(entries) => entries
            .iter()
            .flat_map(|e| commands(&e.node, agent))
            .collect(),
        Kind::Other => Vec::new(),
    }
}

/// The path of kittymux that the settings name.
pub(super) fn program_in(agent: &str, text: &[u8]) -> Result<Option<String>, String> {
    if is_empty(text) {
        return Ok(None);
    }
    let root = read(text)?;
    let Some(hooks) = root.get("hooks") else {
        return Ok(None);
    };
    Ok(commands(&hooks.node, agent)
        .into_iter()
        .next()
        .map(|c| c.program))
}

/// A byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

fn is_empty(text: &[u8]) -> bool {
    text.strip_prefix(MARK)
        .unwrap_or(text)
        .trim_ascii()
        .is_empty()
}

/// The settings without any command of ours, and without the lists that only held those.
pub(super) fn take_out(setup: &Setup, agent: &str, text: &[u8]) -> Result<Rest, String> {
    let mut text = text.to_vec();
    loop {
        let root = read(&text)?;
        let Some(hooks) = root.get("hooks") else {
            break;
        };
        let Kind::Object(events) = &hooks.node.kind else {
            break;
        };
        let Some(index) = events
            .iter()
            .position(|e| !commands(&e.node, agent).is_empty())
        else {
            break;
        };
        text = without_one(&text, &events[index].node, agent)?;
        text = without_empty(&text, index)?;
    }
    let root = read(&text)?;
    Ok(if is_base(setup, &text, &root) {
        Rest::Nothing
    } else {
        Rest::Text(text)
    })
}

/// The text without the first command of ours in the value of an event: with all that surrounds it
/// where nothing else is in there.
fn without_one(text: &[u8], node: &Node, agent: &str) -> Result<Vec<u8>, String> {
    let lost = || "a hook of ours stands in it in a way that cannot be taken out".to_owned();
    let Kind::List(groups) = &node.kind else {
        return Err(lost());
    };
    let index = groups.iter().position(|g| !commands(g, agent).is_empty());
    let index = index.ok_or_else(lost)?;
    let inner = groups[index].get("hooks").map(|e| &e.node);
    if let Some(Node {
        kind: Kind::List(hooks),
        ..
    }) = inner
        && hooks.iter().any(|h| commands(h, agent).is_empty())
        && let Some(ours) = hooks.iter().position(|h| !commands(h, agent).is_empty())
        && let Some(inner) = inner
    {
        return Ok(splice::remove(text, inner, ours));
    }
    Ok(splice::remove(text, node, index))
}

/// The text without the list of the event `index`, and without `hooks`, where they are empty now.
fn without_empty(text: &[u8], index: usize) -> Result<Vec<u8>, String> {
    let holds_nothing = |text: &[u8], node: &Node| {
        let inside = &text[node.span.start + 1..node.span.end - 1];
        node.children().is_empty() && inside.trim_ascii().is_empty()
    };
    let root = read(text)?;
    let Some(hooks) = root.get("hooks") else {
        return Ok(text.to_vec());
    };
    let Kind::Object(events) = &hooks.node.kind else {
        return Ok(text.to_vec());
    };
    if !events
        .get(index)
        .is_some_and(|e| holds_nothing(text, &e.node))
    {
        return Ok(text.to_vec());
    }
    let text = splice::remove(text, &hooks.node, index);
    let root = read(&text)?;
    let Kind::Object(members) = &root.kind else {
        return Ok(text);
    };
    let place = members.iter().rposition(|m| m.name == "hooks");
    match place.filter(|i| holds_nothing(&text, &members[*i].node)) {
        Some(place) => Ok(splice::remove(&text, &root, place)),
        None => Ok(text),
    }
}

/// Whether nothing is left but what a file of ours begins with.
fn is_base(setup: &Setup, text: &[u8], root: &Node) -> bool {
    let base = fresh(setup);
    let Ok(begin) = loose::read(&base, LIMIT) else {
        return false;
    };
    let Kind::Object(members) = &root.kind else {
        return false;
    };
    let same = members.iter().all(|m| {
        begin
            .get(&m.name)
            .is_some_and(|b| base[b.node.span.clone()] == text[m.node.span.clone()])
    });
    let around = [&text[..root.span.start], &text[root.span.end..]];
    let is_bare = around.iter().all(|t| is_empty(t));
    let inside = &text[root.span.start + 1..root.span.end - 1];
    same && is_bare && (!members.is_empty() || inside.trim_ascii().is_empty())
}
