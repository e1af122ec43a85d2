//! The rewrite of a save, in this process: what kitty saved, read, repaired, planned and written.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kittymux::agents::definitions::Definitions;
use kittymux::cmd::desk::{Desk, Ground, gather};
use kittymux::cmd::look::{SeenKitty, look};
use kittymux::cmd::setting;
use kittymux::keep::assets;
use kittymux::keep::state::State;
use kittymux::kitty::commands;
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::kitty::tree;
use kittymux::resume::plan::WindowKey;
use kittymux::resume::rewrite::{Setting, rewrite};
use kittymux::resume::window::{Common, plan};

/// Looks at the kitty of our environment, lets it save, and rewrites that text `times` times; gives
/// the number of windows and the time of each rewrite.
///
/// # Errors
/// What did not work, for a person.
pub fn times(times: usize) -> Result<(usize, Vec<Duration>), String> {
    let state = State::open().map_err(|e| e.to_string())?;
    let mut kitties = look(Some(&state)).map_err(|e| e.to_string())?;
    let defs = setting::definitions();
    let ground = Ground {
        defs: &defs,
        home: setting::home().map_err(|e| e.to_string())?,
        claims: None,
        state: Some(&state),
    };
    let desk = gather(&kitties.seen, &ground);
    let kitty = kitties.seen.first_mut().ok_or("no kitty")?;
    let path = format!("{}/bench.kitty-session", state.text());
    let frame = commands::save_as_session(&path, None);
    kitty
        .connection
        .ask(&frame, Duration::from_secs(60))
        .map_err(|e| e.to_string())?
        .into_data()?;
    let saved = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
    let mut spans = Vec::new();
    let mut windows = 0;
    for _ in 0..times {
        let begin = Instant::now();
        let text = once(&saved, kitty, &desk, &defs, &state.text());
        spans.push(begin.elapsed());
        windows = text.matches("kittymux_save=").count();
    }
    Ok((windows, spans))
}

fn once(saved: &str, kitty: &SeenKitty, desk: &Desk, defs: &Definitions, state: &str) -> String {
    let mut file = SessionFile::read(saved, Origin::Kitty, &[]);
    file.repair(&|name| name == "HOME");
    let common = Common {
        kitty_shell: "/bin/bash",
        own_shell: "/bin/bash",
        at: "2026-01-01T00:00:00Z",
        direct: false,
        defs,
        record_of: &str::to_owned,
    };
    let mut plans = BTreeMap::new();
    for launch in file.launches() {
        let Some(window) = launch.id() else { continue };
        let place = tree::windows(&kitty.tree).find(|p| p.window.id == window);
        let seen = desk.windows.get(&WindowKey {
            kitty: kitty.process,
            window,
        });
        if let (Some(place), Some(seen)) = (place, seen) {
            plans.insert(window, plan(launch, place.window, "", seen, common));
        }
    }
    rewrite(
        &mut file,
        &plans,
        Setting {
            kittymux: "/usr/local/bin/kittymux",
            state,
            save: "bench",
            fish: assets::fish_line(),
        },
    );
    file.text()
}
