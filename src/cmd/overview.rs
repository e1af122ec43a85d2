//! `kittymux` alone: one screen of what runs, what is saved and what can be done.

use super::autosaved::is_autosave;
use super::exit::Exit;
use super::list::rows;
use super::look::look;
use super::report::home_text;
use crate::keep::autosaves::{self, Autosave};
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::keep::tick_state::TickState;
use crate::resume::plan::short;
use crate::resume::prompt::shown_directory;
use crate::resume::record::Mode;
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::out;

/// How many windows and saves the screen shows.
const ROWS: usize = 12;
const SAVES: usize = 3;

/// Prints the screen.
///
/// # Errors
/// When the state directory is not ours.
pub fn run() -> Outcome<Exit> {
    let state = State::existing()?;
    let kitties = look(state.as_ref())?;
    let home = home_text();
    let mut text = String::new();
    if kitties.seen.is_empty() {
        text.push_str(&format!("{}\n", kitties.why_none()));
    } else {
        let rows = rows(&kitties, state.as_ref())?;
        let windows: usize = kitties
            .seen
            .iter()
            .map(|k| crate::kitty::tree::windows(&k.tree).count())
            .sum();
        text.push_str(&format!(
            "{} · {} · {}\n",
            count(kitties.seen.len(), "kitty", "kitties"),
            count(windows, "window", "windows"),
            count(rows.len(), "agent", "agents")
        ));
        for row in rows.iter().take(ROWS) {
            let mode = if row.mode == Mode::Exact {
                short(&row.sid)
            } else {
                row.mode.word()
            };
            text.push_str(&format!(
                "  {}  {}  {}  {}\n",
                out::pad(&out::visible(&row.agent), 9),
                out::pad(&out::visible(mode), 8),
                out::pad(row.state, 7),
                shown_directory(&row.cwd, &home)
            ));
        }
        if rows.len() > ROWS {
            text.push_str(&format!(
                "  and {} more: kittymux sessions list\n",
                rows.len() - ROWS
            ));
        }
    }
    if !kitties.first_is_ours && kitties.deaf_parent.is_some() && !kitties.seen.is_empty() {
        text.push_str(&format!(
            "this kitty has no socket that kittymux can use\n{}\n",
            super::look::conf_lines()
        ));
    }
    let desks = state
        .as_ref()
        .map(autosaves::all)
        .transpose()?
        .unwrap_or_default();
    let saves: Vec<_> = state
        .as_ref()
        .map(saves)
        .transpose()?
        .unwrap_or_default()
        .into_iter()
        .filter(|s| !is_autosave(&s.name))
        .collect();
    if !saves.is_empty() {
        text.push_str("\nsaves\n");
    }
    let now = clock::wall_ns();
    for save in saves.iter().take(SAVES) {
        text.push_str(&format!(
            "  {}  {} ago\n",
            out::pad(&save.name, 24),
            clock::span(now.saturating_sub(save.written_ns) / 1_000_000_000)
        ));
    }
    text.push_str(&autosave_line(state.as_ref(), &desks, now));
    for unseen in &kitties.unseen {
        text.push_str(&format!("not looked at: {}\n", out::visible(unseen)));
    }
    let fault = state.as_ref().map(TickState::read).map(|t| t.fault);
    if let Some(fault) = fault.filter(|f| !f.is_empty()) {
        text.push_str(&format!(
            "the last save by itself failed: {}\n",
            out::visible(&fault)
        ));
    }
    text.push_str("\n  kittymux sessions save NAME      save this OS window\n");
    if desks.iter().any(Autosave::is_free) {
        text.push_str(
            "  kittymux sessions restore last   bring back the desk of a kitty that is gone\n",
        );
    }
    if let Some(newest) = saves.first() {
        text.push_str(&format!(
            "  kittymux sessions restore {}  bring it back\n",
            newest.name
        ));
    }
    text.push_str("  kittymux --help                  everything else\n");
    out::data(&text);
    Ok(Exit::Done)
}

/// How old the newest save that was made by itself is.
fn autosave_line(state: Option<&State>, desks: &[Autosave], now: u64) -> String {
    let at = |desk: &&Autosave| clock::parse_rfc3339(&desk.header.captured);
    match desks.iter().filter_map(|d| at(&d)).max() {
        Some(newest) => format!(
            "\nsaved by itself {} ago\n",
            clock::span(now.saturating_sub(newest) / 1_000_000_000)
        ),
        None if state.is_some_and(|s| s.has("autosave-off")) => {
            "\nsaving by itself is off (the file autosave-off)\n".to_owned()
        }
        None => String::new(),
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
