//! `sessions save`: look, plan, mark, let kitty save, rewrite, publish.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::capture::{self, Capture, Choice};
use super::desk::{Desk, Ground, gather};
use super::exit::Exit;
use super::look::{Kitties, SeenKitty, look};
use super::report;
use super::setting;
use super::table::Args;
use crate::keep::assets;
use crate::keep::claims::Claims;
use crate::keep::names;
use crate::keep::publish::{Header, publish};
use crate::keep::state::State;
use crate::kitty::commands;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::kitty::tree::{self, OsWindow};
use crate::kitty::words::is_separator;
use crate::resume::plan::WindowKey;
use crate::resume::record::Mode;
use crate::resume::rewrite::{
    LongRecords, Setting, VAR_AGENT, VAR_RESUME, VAR_SID, WindowPlan, count_modes, rewrite,
};
use crate::resume::window::{Common, Runs, plan};
use crate::sys::bytes::from_os;
use crate::sys::clock;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::lock::Lock;
use crate::sys::out;
use crate::sys::proc::{self, ProcId};
use crate::sys::token::random_id;

/// How long a save waits for another of the same kitty.
const WAIT: Duration = Duration::from_secs(10);

/// Saves.
///
/// # Errors
/// Why nothing was saved; then the old save stands.
pub fn run(args: &Args) -> Outcome<Exit> {
    let name = match args.words.first() {
        Some(name) => {
            if let Err(why) = names::check(name) {
                out::message(&why);
                return Ok(Exit::UsedWrongly);
            }
            name.clone()
        }
        None => names::for_time(&clock::rfc3339(clock::wall_ns())),
    };
    let state = State::open()?;
    let mut kitties = look(Some(&state))?;
    let saved = save(
        &mut kitties,
        &state,
        &name,
        args.has("all"),
        args.has("direct"),
    );
    report::show(
        &mut kitties,
        saved.as_ref().map(Saved::line).map_err(ToString::to_string),
    );
    let saved = saved?;
    out::data(&saved.text());
    Ok(Exit::Done)
}

/// What was saved.
#[derive(Debug)]
pub struct Saved {
    name: String,
    windows: usize,
    os_windows: usize,
    modes: BTreeMap<Mode, usize>,
    said: Vec<String>,
}

impl Saved {
    /// In one short line, as a title shows it.
    #[must_use]
    pub fn line(&self) -> String {
        let count = |mode: Mode| self.modes.get(&mode).copied().unwrap_or(0);
        let mut parts = vec![format!("saved {}", plural(self.windows, "window"))];
        let known = count(Mode::Exact) + count(Mode::Latest);
        if known > 0 {
            parts.push(plural(known, "conversation"));
        }
        if count(Mode::New) > 0 {
            parts.push(format!("{} new", count(Mode::New)));
        }
        parts.join(" · ")
    }

    fn text(&self) -> String {
        let os_windows = if self.os_windows > 1 {
            format!(" in {} OS windows", self.os_windows)
        } else {
            String::new()
        };
        let mut text = format!("{}{os_windows} as {}\n", self.line(), self.name);
        for line in &self.said {
            text.push_str(&format!("  {line}\n"));
        }
        text.push_str(&format!(
            "  bring it back: kittymux sessions restore {}\n",
            self.name
        ));
        text
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn save(
    kitties: &mut Kitties,
    state: &State,
    name: &str,
    all: bool,
    direct: bool,
) -> Outcome<Saved> {
    let sessions = state.sessions()?;
    check_case(&sessions.names()?, name)?;
    let defs = setting::definitions();
    let claims = Claims::new(state.claims()?);
    let ground = Ground {
        defs: &defs,
        home: setting::home()?,
        claims: Some(&claims),
    };
    let process = kitties.meant()?.process;
    let at = kitties
        .seen
        .iter()
        .position(|k| k.process == process)
        .unwrap_or(0);
    let choice = choose(
        &kitties.seen[at],
        all,
        kitties
            .surroundings
            .window
            .filter(|_| kitties.first_is_ours),
    )?;
    let mut desk = gather(&kitties.seen, &ground);
    let lock_dir = state.dir.sub("locks")?;
    let _lock = Lock::take(&lock_dir, &format!("save-{}", process.pid % 16), WAIT)?;
    mark(&mut kitties.seen[at], &desk);
    let header = Header::now(process, &random_id());
    let capture = capture::take(&mut kitties.seen[at], &choice, state)?;
    if changed(&kitties.seen[at].tree, &capture.tree) {
        kitties.seen[at].tree.clone_from(&capture.tree);
        desk = gather(&kitties.seen, &ground);
    }
    let km = setting::own_path(state)?;
    let made = make(
        &capture,
        &choice,
        &desk,
        process,
        direct,
        &header,
        &km,
        &state.text(),
    )?;
    assets::write_shell_files(state)?;
    let records = state.records()?;
    for (name, text) in &made.long {
        records.write(name, text.as_bytes())?;
    }
    publish(
        &sessions,
        &format!("{name}{}", names::ENDING),
        &header,
        &made.text,
    )?;
    Ok(Saved {
        name: name.to_owned(),
        windows: made.windows,
        os_windows: choice
            .os_windows
            .as_ref()
            .map_or(capture.tree.len(), Vec::len),
        modes: count_modes(&made.plans),
        said: made.said,
    })
}

/// Names are told apart without case: kitty's sessions are file stems.
fn check_case(files: &[String], name: &str) -> Outcome<()> {
    let twin = files
        .iter()
        .filter_map(|f| names::stem(f))
        .find(|s| s.eq_ignore_ascii_case(name) && *s != name);
    match twin {
        Some(twin) => Err(Fault::refused(format!(
            "there is a save \"{twin}\" already, which differs by case only: use that name"
        ))),
        None => Ok(()),
    }
}

/// Which OS windows are saved, and which windows are none of the desk: our own overlays.
fn choose(kitty: &SeenKitty, all: bool, window: Option<u64>) -> Outcome<Choice> {
    let skip = tree::windows(&kitty.tree)
        .filter(|p| p.window.is_utility())
        .map(|p| p.window.id)
        .collect();
    if all {
        return Ok(Choice {
            os_windows: None,
            skip,
        });
    }
    let os_window = tree::meant(&kitty.tree, window).ok_or_else(|| {
        Fault::refused(
            "no OS window has the focus: run this inside the one you mean, or save with --all",
        )
    })?;
    if os_window
        .tabs
        .iter()
        .all(|t| t.windows.iter().all(crate::kitty::tree::Window::is_utility))
    {
        return Err(Fault::refused("that OS window holds nothing to save"));
    }
    Ok(Choice {
        os_windows: Some(vec![os_window.id]),
        skip,
    })
}

/// Sets the marks of agent windows that differ and deletes those of windows without an agent.
fn mark(kitty: &mut SeenKitty, desk: &Desk) {
    let mut frames = Vec::new();
    for place in tree::windows(&kitty.tree) {
        let key = WindowKey {
            kitty: kitty.process,
            window: place.window.id,
        };
        let Some(seen) = desk.windows.get(&key) else {
            continue;
        };
        let wanted: [Option<&str>; 3] = match &seen.runs {
            Runs::Agent(agent) => {
                let sid = &agent.choice.sid;
                [
                    Some(&agent.agent),
                    Some(agent.choice.mode.word()),
                    (!sid.is_empty()).then_some(sid),
                ]
            }
            Runs::Waiting { .. } => continue,
            Runs::Other => [None; 3],
        };
        let now = [VAR_AGENT, VAR_RESUME, VAR_SID]
            .map(|name| (name, place.window.user_vars.get(name).map(String::as_str)));
        let change: Vec<(&str, Option<&str>)> = now
            .iter()
            .zip(wanted)
            .filter(|((_, now), wanted)| now != wanted)
            .map(|((name, _), wanted)| (*name, wanted))
            .collect();
        if !change.is_empty() {
            frames.push(commands::set_user_vars(place.window.id, &change));
        }
    }
    if !frames.is_empty() {
        // Marks help a later rewrite only: a kitty that does not take them is no reason not to save.
        let _ = kitty.connection.ask_all(&frames, Duration::from_secs(2));
    }
}

/// Whether any window, or what is in front in it, differs.
fn changed(before: &[OsWindow], now: &[OsWindow]) -> bool {
    let facts = |tree: &[OsWindow]| -> BTreeSet<(u64, Option<i32>, Vec<Option<i32>>)> {
        tree::windows(tree)
            .map(|p| {
                (
                    p.window.id,
                    p.window.pid,
                    p.window
                        .foreground_processes
                        .iter()
                        .map(|f| f.pid)
                        .collect(),
                )
            })
            .collect()
    };
    facts(before) != facts(now)
}

/// A text ready to be published.
#[derive(Debug)]
pub struct Made {
    /// The text, without its first line.
    pub text: String,
    /// Records that go to files of their own.
    pub long: LongRecords,
    /// The plans of its windows.
    pub plans: BTreeMap<u64, WindowPlan>,
    /// How many windows it holds.
    pub windows: usize,
    /// What to say.
    pub said: Vec<String>,
}

/// Makes the text of a save out of a capture: read, repaired, rewritten, and proven to load.
///
/// # Errors
/// When the result would not load, or holds no window.
#[allow(clippy::too_many_arguments)]
pub fn make(
    capture: &Capture,
    choice: &Choice,
    desk: &Desk,
    kitty: ProcId,
    direct: bool,
    header: &Header,
    km: &str,
    state: &str,
) -> Outcome<Made> {
    let mut file = SessionFile::read(&capture.text, Origin::Kitty, &several_lines(&capture.tree));
    if !file.has_windows() {
        return Err(Fault::refused(
            "kitty's save holds no window; nothing was saved",
        ));
    }
    let mut said = Vec::new();
    said.extend(file.repair());
    let kept: BTreeSet<u64> = file
        .launches()
        .filter_map(crate::kitty::launch_line::LaunchLine::id)
        .collect();
    file.refocus(&kept_tabs(&capture.tree, choice, &kept));
    let kitty_shell = kitty_shell(kitty);
    let own_shell = from_os(dirs::shell().as_os_str());
    let common = Common {
        kitty_shell: &kitty_shell,
        own_shell: &own_shell,
        at: &header.captured,
        direct,
    };
    let mut plans = BTreeMap::new();
    for launch in file.launches() {
        let Some(id) = launch.id() else { continue };
        let Some(place) = tree::windows(&capture.tree).find(|p| p.window.id == id) else {
            continue;
        };
        let Some(seen) = desk.windows.get(&WindowKey { kitty, window: id }) else {
            continue;
        };
        let tab = place
            .tab
            .title
            .as_deref()
            .filter(|_| place.tab.title_overridden)
            .unwrap_or("");
        plans.insert(id, plan(launch, place.window, tab, seen, common));
    }
    let long = rewrite(
        &mut file,
        &plans,
        Setting {
            kittymux: km,
            state,
            save: &header.save,
            fish: assets::fish_line(),
        },
    );
    let text = file.text();
    let proof = SessionFile::read(&text, Origin::Person, &[]);
    if let Some((line, why)) = proof.refusal() {
        return Err(Fault::refused(format!(
            "the save would not load (line {line}: {why}); the old one was kept"
        )));
    }
    for (id, plan) in &plans {
        if let crate::resume::rewrite::Content::Ask { record, .. } = &plan.content
            && !record.lost.is_empty()
        {
            said.push(format!(
                "window {id}: left out for secrecy: {}",
                out::visible(&record.lost.join(" "))
            ));
        }
    }
    Ok(Made {
        windows: proof.launches().count(),
        text,
        long,
        plans,
        said,
    })
}

/// Values that hold line separators, which kitty's saver writes raw.
fn several_lines(tree: &[OsWindow]) -> Vec<String> {
    let windows = tree::windows(tree).flat_map(|p| {
        [
            p.window.cwd.clone(),
            p.tab.title.clone(),
            p.os_window.wm_class.clone(),
            p.os_window.wm_name.clone(),
        ]
    });
    let found: BTreeSet<String> = windows
        .flatten()
        .filter(|v| v.chars().any(is_separator))
        .collect();
    found.into_iter().collect()
}

/// For each saved OS window, in the saver's order, which of its tabs have a window in the file.
fn kept_tabs(tree: &[OsWindow], choice: &Choice, kept: &BTreeSet<u64>) -> Vec<Vec<bool>> {
    let mut order: Vec<&OsWindow> = tree
        .iter()
        .filter(|o| {
            choice
                .os_windows
                .as_ref()
                .is_none_or(|ids| ids.contains(&o.id))
        })
        .collect();
    // kitty saves by focus: the focused one last, the last focused one before it.
    order.sort_by_key(|o| {
        if o.is_focused {
            2
        } else {
            i32::from(o.last_focused)
        }
    });
    order
        .iter()
        .map(|o| {
            o.tabs
                .iter()
                .map(|t| t.windows.iter().any(|w| kept.contains(&w.id)))
                .collect::<Vec<bool>>()
        })
        .filter(|tabs| tabs.contains(&true))
        .collect()
}

/// The shell kitty starts by itself: `shell` of kitty.conf, else `$SHELL` of kitty's environment.
fn kitty_shell(kitty: ProcId) -> String {
    let configured = crate::kitty::conf::read()
        .shell
        .filter(|s| s != "." && !s.is_empty());
    if let Some(shell) = configured {
        let program = shell.split_whitespace().next().unwrap_or("").to_owned();
        return dirs::find_program(std::path::Path::new(&program))
            .map_or(program, |p| from_os(p.as_os_str()));
    }
    proc::environ(kitty.pid, &["SHELL"])
        .found()
        .and_then(|set| set.into_iter().next())
        .map_or_else(|| from_os(dirs::shell().as_os_str()), |(_, shell)| shell)
}
