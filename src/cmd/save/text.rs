//! The text of a save: kitty's own, read, repaired, rewritten by window id, and proven to load.

use std::collections::{BTreeMap, BTreeSet};

use crate::cmd::capture::{Capture, Choice};
use crate::cmd::desk::{Desk, Ground};
use crate::keep::assets;
use crate::keep::publish::Header;
use crate::keep::records;
use crate::kitty::launch_line::LaunchLine;
use crate::kitty::session_file::{Origin, SessionFile};
use crate::kitty::tree::{self, OsWindow};
use crate::kitty::words::is_separator;
use crate::resume::plan::WindowKey;
use crate::resume::rewrite::{Content, LongRecords, Setting, WindowPlan, rewrite};
use crate::resume::window::{Common, Runs, open_each_once, plan, would_start_an_agent};
use crate::sys::bytes::from_os;
use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::proc::{self, ProcId};

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

/// What a text is made from and with, besides what was seen.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// What of the kitty it holds.
    pub choice: &'a Choice,
    /// The save's first line.
    pub header: &'a Header,
    /// Whether agents come back without a question.
    pub direct: bool,
    /// The stable path of kittymux.
    pub km: &'a str,
    /// The state directory.
    pub state: &'a str,
}

/// Makes the text of a save out of a capture: read, repaired, rewritten, and proven to load.
///
/// # Errors
/// When the result would not load, or holds no window.
pub fn make(
    capture: &Capture,
    desk: &Desk,
    ground: &Ground<'_>,
    source: Source<'_>,
) -> Outcome<Made> {
    let Source {
        choice,
        header,
        direct,
        km,
        state,
    } = source;
    let kitty = header.kitty;
    let mut file = SessionFile::read(&capture.text, Origin::Kitty, &several_lines(&capture.tree));
    if !file.has_windows() {
        return Err(Fault::refused(
            "kitty's save holds no window; nothing was saved",
        ));
    }
    let mut said = Vec::new();
    said.extend(file.repair(&|name| {
        proc::environ(kitty.pid, &[name])
            .found()
            .is_some_and(|set| !set.is_empty())
    }));
    let kept: BTreeSet<u64> = file.launches().filter_map(LaunchLine::id).collect();
    if capture.is_kittys {
        file.refocus(&kept_tabs(&capture.tree, choice, &kept));
    }
    let kitty_shell = kitty_shell(kitty);
    let own_shell = from_os(dirs::shell().as_os_str());
    let common = Common {
        kitty_shell: &kitty_shell,
        own_shell: &own_shell,
        at: &header.captured,
        direct,
        defs: ground.defs,
        record_of: &|text| records::resolve(text, ground.state).unwrap_or_else(|_| text.to_owned()),
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
    for launch in file.launches() {
        if let (Some(id), true) = (launch.id(), would_start_an_agent(launch, ground.defs))
            && plans
                .get(&id)
                .is_some_and(|p| matches!(p.content, Content::Plain { .. }))
        {
            said.push(format!(
                "window {id}: what runs there is not started again, only its shell"
            ));
        }
    }
    let runs = |id| {
        let seen = desk.windows.get(&WindowKey { kitty, window: id });
        seen.is_some_and(|s| matches!(s.runs, Runs::Agent(_)))
    };
    open_each_once(&mut plans, &runs);
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
        if let Content::Ask { record, .. } = &plan.content
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
