//! `sessions history`: what the journal knows, newest first.

use super::exit::Exit;
use super::report::home_text;
use super::table::Args;
use crate::keep::journal::{self, Progress, Session};
use crate::keep::state::State;
use crate::resume::plan::short;
use crate::resume::prompt::shown_directory;
use crate::sys::clock::{self, long_span, rfc3339, span};
use crate::sys::fault::Outcome;
use crate::sys::json::{self, Object};
use crate::sys::out;
use crate::sys::proc;

/// The columns of a line; titles and directories are cut to fit.
const COLUMNS: usize = 80;

/// Shows the journal.
///
/// # Errors
/// When the state directory is not ours.
pub fn run(args: &Args) -> Outcome<Exit> {
    let Some(since) = since(args, None) else {
        return Ok(Exit::UsedWrongly);
    };
    let journal = State::existing()?
        .as_ref()
        .map(journal::read)
        .unwrap_or_default();
    let now = clock::wall_ns();
    let from = since.map_or(0, |secs| now.saturating_sub(secs * 1_000_000_000));
    let mut list: Vec<&Session> = journal.sessions().filter(|s| s.last_ns >= from).collect();
    list.sort_by_key(|s| (std::cmp::Reverse(s.last_ns), &s.agent, &s.sid));
    if args.has("json") {
        out::data(&(as_json(&list) + "\n"));
    } else {
        out::data(&as_text(&list, now, &home_text(), &is_running));
    }
    Ok(Exit::Done)
}

/// The seconds that `--since` gives, else `usual`; `None`: it was no span, which is said.
#[must_use]
pub fn since(args: &Args, usual: Option<u64>) -> Option<Option<u64>> {
    let Some(text) = args.value("since") else {
        return Some(usual);
    };
    let secs = clock::parse_span(text);
    if secs.is_none() {
        out::message(&format!(
            "--since takes a span like 90s, 90m, 12h, 7d or 2w, not \"{}\"",
            out::clip(&out::visible(text), 40)
        ));
    }
    secs.map(Some)
}

/// Whether the process of a session runs, here and now.
#[must_use]
pub fn is_running(session: &Session) -> bool {
    session.open
        && session.process.pid > 0
        && session.kitty.boot == clock::boot8()
        && session.kitty.host == clock::host8()
        && proc::is_running(session.process)
}

/// In one word, how a session stands.
fn standing(session: &Session, running: bool) -> &'static str {
    match (running, session.open, session.left, session.state) {
        (true, _, _, Progress::Working | Progress::Waiting) => session.state.word(),
        (true, ..) => "running",
        (false, true, ..) => "open",
        (false, false, true, _) => "left",
        (false, false, false, _) => "closed",
    }
}

/// A row: what stands left and is cut where there is no room, and what does not.
fn as_text(
    list: &[&Session],
    now_ns: u64,
    home: &str,
    is_running: &dyn Fn(&Session) -> bool,
) -> String {
    if list.is_empty() {
        return "the journal knows no such session yet\n".to_owned();
    }
    let head = [
        "agent",
        "session",
        "directory",
        "tab",
        "runs",
        "work",
        "last",
        "state",
    ]
    .map(str::to_owned);
    let rows: Vec<[String; 8]> = std::iter::once(head)
        .chain(list.iter().map(|s| {
            let sid = if s.sid.is_empty() { "-" } else { short(&s.sid) };
            [
                out::clip(&out::visible(&s.agent), 10),
                out::visible(sid),
                shown_directory(&s.cwd, home),
                out::visible(&s.tab),
                s.runs.to_string(),
                if s.work_ms == 0 {
                    "-".to_owned()
                } else {
                    long_span(s.work_secs())
                },
                span(now_ns.saturating_sub(s.last_ns) / 1_000_000_000),
                standing(s, is_running(s)).to_owned(),
            ]
        }))
        .collect();
    let mut widths: [usize; 8] =
        std::array::from_fn(|n| rows.iter().map(|r| out::width(&r[n])).max().unwrap_or(0));
    let gaps = 2 * (widths.len() - 1);
    let fixed: usize = [0, 1, 4, 5, 6, 7].iter().map(|n| widths[*n]).sum();
    let room = COLUMNS.saturating_sub(gaps + fixed);
    let tab = widths[3].min((room / 3).max(room.saturating_sub(widths[2])));
    widths[3] = tab;
    widths[2] = widths[2].min(room.saturating_sub(tab));
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(n, (cell, width))| match n {
                // Numbers stand right.
                4 => format!("{cell:>width$}"),
                _ => out::pad(&out::clip(cell, width), width),
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    let runs: u64 = list.iter().map(|s| s.runs).sum();
    let work: u64 = list.iter().map(|s| s.work_secs()).sum();
    let mut sums = vec![plural(list.len() as u64, "session")];
    if runs > 0 {
        sums.push(plural(runs, "run"));
    }
    if work > 0 {
        sums.push(format!("{} of work", long_span(work)));
    }
    text.push_str(&format!("{}\n", sums.join(" · ")));
    text
}

fn plural(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn as_json(list: &[&Session]) -> String {
    let sessions = json::list(list.iter().map(|s| {
        let running = is_running(s);
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        Object::new()
            .text("agent", &s.agent)
            .maybe("session_id", some(&s.sid).as_deref())
            .text("cwd", &s.cwd)
            .text("tab", &s.tab)
            .texts("command", &s.argv)
            .text("state", standing(s, running))
            .text("last_state", s.state.word())
            .maybe("waiting_for", some(&s.waiting_for).as_deref())
            .flag("running", running)
            .flag("open", s.open)
            .number("runs", s.runs)
            .number("work_seconds", s.work_secs())
            .text("first", &rfc3339(s.first_ns))
            .text("last", &rfc3339(s.last_ns))
            .maybe(
                "closed",
                (s.closed_ns > 0).then(|| rfc3339(s.closed_ns)).as_deref(),
            )
            .number("kitty", u64::try_from(s.kitty.pid).unwrap_or(0))
            .number("window", s.window)
            .finish()
    }));
    Object::new()
        .number("version", 1)
        .raw("sessions", &sessions)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400;

    fn session(agent: &str, sid: &str, cwd: &str, tab: &str) -> Session {
        Session {
            agent: agent.into(),
            sid: sid.into(),
            cwd: cwd.into(),
            tab: tab.into(),
            last_ns: 1000 * DAY * 1_000_000_000,
            ..Session::default()
        }
    }

    #[test]
    fn columns_line_up_and_fit() {
        let long = "/home/u/code/a/very/long/way/down/to/日本語/project";
        let mut list = [
            session("claude", "0a1b2c3d-0000", "/home/u/code/api", "api work"),
            session("codex", "", "/home/u", ""),
            session(
                "opencode-with-a-long-name",
                "ses_12345678",
                long,
                "日本語のタイトルが長い",
            ),
            session("cl\u{1b}[2J", "s", "/p\n", "t\u{202e}"),
        ];
        list[0].runs = 7;
        list[0].work_ms = 4_800_000;
        list[1].open = true;
        list[2].left = true;
        list[2].runs = 12345;
        list[3].open = true;
        list[3].state = Progress::Working;
        let now = (1000 * DAY + 720) * 1_000_000_000;
        let refs: Vec<&Session> = list.iter().collect();
        let text = as_text(&refs, now, "/home/u", &|s| s.state == Progress::Working);
        assert!(text.lines().all(|l| out::width(l) <= COLUMNS), "{text}");
        expect_test::expect![[r#"
            agent       session   directory           tab         runs  work   last  state
            claude      0a1b2c3d  ~/code/api          api work       7  1h20m  12m   closed
            codex       -         ~                                  0  -      12m   open
            opencode-…  ses_1234  ~/code/a/very/lon…  日本語の…  12345  -      12m   left
            cl\u{1b}[…  s         /p\n                t\u{202e}      0  -      12m   working
            4 sessions · 12352 runs · 1h20m of work
        "#]]
        .assert_eq(&text);
        assert_eq!(
            as_text(&[], now, "", &|_| false),
            "the journal knows no such session yet\n"
        );
    }
}
