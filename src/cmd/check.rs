//! `sessions check`: ask each installed agent for its help, and say whether its definition fits.
//!
//! The only verb that starts an agent's program without being told to resume it.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::exit::Exit;
use super::report::home_text;
use super::setting;
use super::table::Args;
use crate::agents::definitions::{Definition, Definitions, Scope};
use crate::agents::probe::ask::{self, Answer, Installed, LIMIT, MOST};
use crate::agents::probe::{Check, FileId, Verdict, help, judge, merge, probe_of, quoted};
use crate::keep::checks;
use crate::keep::state::State;
use crate::resume::prompt::shown_directory;
use crate::sys::bytes::from_os;
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::{Outcome, shown_path};
use crate::sys::json::{self, Object};
use crate::sys::out;
use crate::sys::proc;
use crate::sys::token::random_id;

/// How many agents are asked at once.
const AT_ONCE: usize = 4;

/// How the directories begin in which agents are asked.
const PLACE: &str = ".check-";

/// What is known of one agent.
struct Row<'a> {
    def: &'a Definition,
    path: Option<PathBuf>,
    verdict: Option<Verdict>,
    at_ns: Option<u64>,
    /// Whether the answer is an earlier one.
    kept: bool,
    /// Why its windows come back with new conversations, if they do.
    unused: Option<String>,
}

/// Asks and reports.
///
/// # Errors
/// When the state directory is not ours.
pub fn run(args: &Args) -> Outcome<Exit> {
    let defs = setting::definitions();
    let mut wanted: Vec<&Definition> = Vec::new();
    for name in &args.words {
        let Some(def) = defs.get(name).or_else(|| defs.by_program(name)) else {
            out::message(&format!(
                "no agent is called \"{}\": kittymux sessions check lists all",
                out::clip(&out::visible(name), 24)
            ));
            return Ok(Exit::UsedWrongly);
        };
        if !wanted.iter().any(|d| d.name == def.name) {
            wanted.push(def);
        }
    }
    if wanted.is_empty() {
        wanted = defs.iter().collect();
    }
    let state = State::open()?;
    let rows = rows(&state, &defs, &wanted, args.has("again"));
    if args.has("json") {
        out::data(&(as_json(&rows) + "\n"));
    } else {
        out::data(&as_text(&rows));
    }
    for row in &rows {
        if let Some(said) = advice(row) {
            out::message(&said);
        }
    }
    let bad = rows
        .iter()
        .any(|r| matches!(r.verdict, Some(Verdict::Lacks(_) | Verdict::Failed(_))));
    Ok(if bad { Exit::CouldNot } else { Exit::Done })
}

fn rows<'a>(
    state: &State,
    defs: &Definitions,
    wanted: &[&'a Definition],
    again: bool,
) -> Vec<Row<'a>> {
    let now = clock::wall_ns();
    let known = checks::read(state);
    let mut rows = Vec::new();
    let mut open: Vec<(usize, PathBuf, FileId)> = Vec::new();
    for def in wanted {
        let mut row = Row {
            def,
            path: None,
            verdict: None,
            at_ns: None,
            kept: false,
            unused: None,
        };
        match ask::find(def) {
            Installed::No => {}
            Installed::NotExecutable(path) => {
                row.path = Some(path);
                row.verdict = Some(Verdict::Failed("it is not executable".to_owned()));
            }
            Installed::At(path) => match FileId::of(&path) {
                Some(file) => {
                    let earlier = known
                        .iter()
                        .find(|c| !again && c.is_of(def, &file) && c.is_fresh(now));
                    match earlier {
                        Some(check) => {
                            row.verdict = Some(check.verdict.clone());
                            row.at_ns = Some(check.at_ns);
                            row.kept = true;
                        }
                        None => open.push((rows.len(), path.clone(), file)),
                    }
                    row.path = Some(path);
                }
                None => {
                    row.path = Some(path);
                    row.verdict = Some(Verdict::Failed("it cannot be looked at".to_owned()));
                }
            },
        }
        rows.push(row);
    }
    let done = ask_all(state, wanted, open, now);
    for (at, check) in &done {
        rows[*at].verdict = Some(check.verdict.clone());
        rows[*at].at_ns = Some(check.at_ns);
    }
    let done: Vec<Check> = done.into_iter().map(|(_, check)| check).collect();
    if !done.is_empty()
        && let Err(fault) = checks::add(state, &done)
    {
        out::message(&format!("{fault}; the answers are not kept"));
    }
    let mut all = done;
    all.extend(known);
    let defs = defs.clone().with_checks(all);
    for row in &mut rows {
        row.unused = defs.may_use(row.def, row.path.clone()).err();
    }
    rows
}

/// Asks all that are open, several at a time.
fn ask_all(
    state: &State,
    wanted: &[&Definition],
    open: Vec<(usize, PathBuf, FileId)>,
    now: u64,
) -> Vec<(usize, Check)> {
    sweep(state);
    let threads = open.len().min(AT_ONCE);
    let queue = Mutex::new(open);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut q| q.pop());
                    let Some((at, path, file)) = next else { return };
                    let check = ask_one(state, wanted[at], &path, file, now);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, check));
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

fn ask_one(state: &State, def: &Definition, path: &Path, file: FileId, now: u64) -> Check {
    let mut check = Check {
        agent: def.name.clone(),
        file,
        fingerprint: def.fingerprint,
        at_ns: now,
        verdict: Verdict::Fits,
        news: Vec::new(),
    };
    let name = format!("{PLACE}{}-{}", std::process::id(), random_id());
    let place = match state.dir.sub(&name) {
        Ok(place) => place,
        Err(fault) => {
            check.verdict = Verdict::Failed(fault.to_string());
            return check;
        }
    };
    let answer = ask::ask(path, &probe_of(def).args, place.path(), LIMIT);
    let _ = std::fs::remove_dir_all(place.path());
    check.verdict = match answer {
        Answer::Text { bytes, cut } => {
            let options = help::options(&bytes);
            let verdict = match judge(def, &bytes) {
                Verdict::Lacks(_) if cut => {
                    Verdict::Failed(format!("it prints more than {} KiB", MOST >> 10))
                }
                // Nothing of a help: an error, and no word on what it knows.
                Verdict::Lacks(texts) if options.is_empty() && texts.len() == expected(def) => {
                    Verdict::Failed(format!("it printed no help but: {}", first_line(&bytes)))
                }
                verdict => verdict,
            };
            check.news = merge::news(def, options);
            verdict
        }
        Answer::TooSlow => Verdict::Failed(format!("not done in {} s", LIMIT.as_secs())),
        Answer::NotStarted(why) => Verdict::Failed(format!("it cannot be executed: {why}")),
        Answer::Silent(how) => Verdict::Failed(format!("it printed nothing, {how}")),
    };
    check
}

fn expected(def: &Definition) -> usize {
    probe_of(def).expect.len()
}

/// The first line that says anything, cut short.
fn first_line(bytes: &[u8]) -> String {
    let text = help::clean(bytes);
    let line = text.lines().map(str::trim).find(|l| !l.is_empty());
    out::clip(&out::visible(line.unwrap_or_default()), 60)
}

/// Removes the directories of checks that were cut short.
fn sweep(state: &State) {
    for name in state.dir.names().unwrap_or_default() {
        let pid = name
            .strip_prefix(PLACE)
            .and_then(|rest| rest.split('-').next()?.parse::<i32>().ok());
        if pid.is_some_and(|p| !proc::is_alive(p)) {
            let _ = std::fs::remove_dir_all(state.dir.join(&name));
        }
    }
}

/// What to do about it, for an agent that does not fit.
fn advice(row: &Row<'_>) -> Option<String> {
    let name = out::visible(&row.def.name);
    let file = dirs::config().map(|d| shown_path(&d.join("resume.json")));
    let file = file.unwrap_or_else(|_| "resume.json".to_owned());
    match row.verdict.as_ref()? {
        Verdict::Fits => None,
        Verdict::Lacks(_) if row.def.own => Some(format!(
            "{name} does not fit: its windows come back with new conversations; correct its entry in {file}"
        )),
        Verdict::Lacks(_) => Some(format!(
            "{name} does not fit: its windows come back with new conversations; update {name} or kittymux, or describe it in {file}"
        )),
        Verdict::Failed(why) if row.unused.is_some() => Some(format!(
            "{name} could not be asked ({}): its windows come back with new conversations; try {} by hand",
            out::visible(why),
            by_hand(row)
        )),
        Verdict::Failed(why) => Some(format!(
            "{name} could not be asked ({}) and is taken as it was known; try {} by hand",
            out::visible(why),
            by_hand(row)
        )),
    }
}

fn by_hand(row: &Row<'_>) -> String {
    let path = row.path.as_ref().map(|p| shown_path(p)).unwrap_or_default();
    out::visible(&format!("{path} {}", probe_of(row.def).args.join(" ")))
}

fn word(row: &Row<'_>) -> &'static str {
    match row.verdict {
        None => "not-installed",
        Some(Verdict::Fits) => "ok",
        Some(Verdict::Lacks(_)) => "missing",
        Some(Verdict::Failed(_)) => "could-not-run",
    }
}

/// How surely its conversations can come back.
fn capability(row: &Row<'_>) -> &'static str {
    let def = row.def;
    match (def.exact.is_empty(), def.latest.is_empty()) {
        _ if row.unused.is_some() => "new",
        (false, false) => "exact, latest",
        (false, true) => "exact",
        (true, _) => "latest",
    }
}

/// How wide a line is at most, and the place of a program's file in it.
const COLUMNS: usize = 80;
const PATH: usize = 24;

fn as_text(rows: &[Row<'_>]) -> String {
    let home = home_text();
    let path = |row: &Row<'_>| {
        let path = row.path.as_ref().map(|p| from_os(p.as_os_str()));
        path.map(|p| end_of(&shown_directory(&p, &home), PATH))
    };
    let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let name = |row: &Row<'_>| out::clip(&out::visible(&row.def.name), 24);
    let names = widest(&mut rows.iter().map(|r| out::width(&name(r))));
    let paths = widest(&mut rows.iter().filter_map(path).map(|p| out::width(&p)));
    let mut text = String::new();
    for row in rows {
        let mut line = out::pad(&name(row), names);
        line.push_str("  ");
        match path(row) {
            None => line.push_str("not installed"),
            Some(path) => {
                line.push_str(&out::pad(&path, paths));
                line.push_str("  ");
                let room = COLUMNS.saturating_sub(out::width(&line));
                line.push_str(&judged(row, room));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The verdict, what can come back, and as many of the places where ids come from as there is room.
fn judged(row: &Row<'_>, room: usize) -> String {
    let verdict = match &row.verdict {
        Some(Verdict::Fits) => "ok".to_owned(),
        Some(Verdict::Lacks(texts)) => format!("missing: {}", quoted(texts)),
        Some(Verdict::Failed(why)) => format!("could not run: {}", out::visible(why)),
        None => String::new(),
    };
    let mut from: Vec<&str> = row
        .def
        .id_sources()
        .iter()
        .map(|(_, shown)| *shown)
        .collect();
    if row.unused.is_some() {
        from.clear();
    }
    let can = capability(row);
    loop {
        let line = match from.is_empty() {
            true => format!("{verdict}  {can}"),
            false => format!("{verdict}  {can}; id from {}", from.join(", ")),
        };
        if out::width(&line) <= room {
            return line;
        }
        if from.pop().is_none() {
            return out::clip(&verdict, room);
        }
    }
}

/// `text` cut at its beginning to `columns`, with `…` where something was cut.
fn end_of(text: &str, columns: usize) -> String {
    if out::width(text) <= columns {
        return text.to_owned();
    }
    let mut rest = text.chars();
    while out::width(rest.as_str()) >= columns && rest.next().is_some() {}
    format!("…{}", rest.as_str())
}

fn as_json(rows: &[Row<'_>]) -> String {
    let list = json::list(rows.iter().map(|row| {
        let def = row.def;
        let path = row.path.as_ref().map(|p| from_os(p.as_os_str()));
        let (lacks, why): (&[String], Option<&str>) = match &row.verdict {
            Some(Verdict::Lacks(texts)) => (texts, None),
            Some(Verdict::Failed(why)) => (&[], Some(why)),
            _ => (&[], None),
        };
        let from: Vec<&str> = def.id_sources().iter().map(|(word, _)| *word).collect();
        let scope = match def.latest_scope {
            _ if def.latest.is_empty() => None,
            Scope::Directory => Some("directory"),
            Scope::Unstated => Some("unstated"),
            Scope::Anywhere => Some("anywhere"),
        };
        Object::new()
            .text("agent", &def.name)
            .maybe("path", path.as_deref())
            .text("verdict", word(row))
            .texts("missing", lacks)
            .maybe("why", why)
            .flag("exact", !def.exact.is_empty())
            .flag("latest", !def.latest.is_empty())
            .maybe("latest_scope", scope)
            .texts("id_from", &from)
            .flag("used", row.unused.is_none())
            .maybe("unused_why", row.unused.as_deref())
            .flag("own", def.own)
            .flag("verified", def.verified)
            .maybe("seen_version", def.version.as_deref())
            .maybe("checked", row.at_ns.map(clock::rfc3339).as_deref())
            .flag("kept", row.kept)
            .finish()
    }));
    Object::new()
        .number("version", 1)
        .raw("agents", &list)
        .finish()
}
