//! What a save holds, for a person and as JSON.

use super::expected;
use crate::cmd::report::home_text;
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::session_file::{Item, SessionFile};
use crate::resume::prompt::{command, shown_directory};
use crate::resume::record::{Mode, Record};
use crate::resume::rewrite::record_text;
use crate::sys::json::{self, Object};
use crate::sys::out;

pub(super) fn show(file: &SessionFile, as_json: bool) {
    if as_json {
        let list = json::list(expected(file).iter().map(|l| describe(l).finish()));
        out::data(
            &(Object::new()
                .number("version", 1)
                .raw("windows", &list)
                .finish()
                + "\n"),
        );
    } else {
        out::data(&window_lines(file, &|_| false));
    }
}

/// One line per window, under its tab. `is_missing` says of a window, by its place, that it did not
/// come back.
pub(super) fn window_lines(file: &SessionFile, is_missing: &dyn Fn(usize) -> bool) -> String {
    let home = home_text();
    let mut text = String::new();
    let mut dir = String::new();
    let mut count = 0;
    for line in &file.lines {
        match &line.item {
            Item::NewOsWindow => text.push_str("OS window\n"),
            Item::NewTab(title) => text.push_str(&format!(
                "tab {}\n",
                if title.is_empty() {
                    "(no title)".to_owned()
                } else {
                    out::visible(title)
                }
            )),
            Item::Cd(to) => dir = to.replace("$$", "$"),
            Item::Launch(launch) if launch.option("--type") != Some("background") => {
                let place = launch
                    .option("--cwd")
                    .map_or_else(|| dir.clone(), |d| d.replace("$$", "$"));
                let what = match record_text(launch).map(Record::read) {
                    Some(Ok(record)) => {
                        let words = if record.resume.is_empty() {
                            &record.orig
                        } else {
                            &record.resume
                        };
                        let does = match record.mode {
                            Mode::New => "starts",
                            _ if record.direct => "resumes",
                            _ => "asks",
                        };
                        format!("{does}: {}", out::clip(&command(words), 400))
                    }
                    Some(Err(_)) => "a shell (its record is damaged)".to_owned(),
                    None if launch.program().is_empty() => match launch.startup() {
                        None => "shell".to_owned(),
                        Some(Startup::Line(line)) => {
                            format!("shell, runs: {}", out::clip(&out::visible(&line), 400))
                        }
                        Some(Startup::Words(words)) => {
                            format!("shell, runs: {}", out::clip(&command(&words), 400))
                        }
                    },
                    None => command(
                        &launch
                            .program()
                            .iter()
                            .map(|w| (*w).to_owned())
                            .collect::<Vec<_>>(),
                    ),
                };
                let missing = if is_missing(count) { "missing: " } else { "" };
                count += 1;
                text.push_str(&format!(
                    "  {missing}{what}  in {}\n",
                    shown_directory(&place, &home)
                ));
            }
            Item::Launch(launch) => {
                let words: Vec<String> = launch.program().iter().map(|w| (*w).to_owned()).collect();
                text.push_str(&format!(
                    "  runs in the background: {}\n",
                    out::clip(&command(&words), 400)
                ));
            }
            _ => {}
        }
    }
    text
}

pub(super) fn describe(launch: &LaunchLine) -> Object {
    let mut object = Object::new();
    if let Some(id) = launch.id() {
        object = object.number("window", id);
    }
    match record_text(launch).map(Record::read) {
        Some(Ok(record)) => object
            .text("agent", &record.agent)
            .text("mode", record.mode.word())
            .maybe(
                "session_id",
                (!record.sid.is_empty()).then_some(record.sid.as_str()),
            )
            .text("cwd", &record.cwd)
            .texts(
                "command",
                if record.resume.is_empty() {
                    &record.orig
                } else {
                    &record.resume
                },
            ),
        _ => object
            .maybe("agent", None)
            .texts("command", &launch.program()),
    }
}
