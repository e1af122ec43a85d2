//! Telling the person how a run from a key went: nobody reads a background program's stderr.

use std::time::Duration;

use super::look::Kitties;
use crate::kitty::address::Address;
use crate::kitty::commands;
use crate::kitty::tree;
use crate::sys::dirs;

/// Shows the result in the kitty that asked, when we were started by one of its keys: a title that
/// the next one of the program replaces when it went well, an overlay that stays when not.
pub fn show(kitties: &mut Kitties, result: Result<String, String>) {
    if !kitties.first_is_ours || rustix::termios::isatty(rustix::stdio::stderr()) {
        return;
    }
    let Some(kitty) = kitties.seen.first_mut() else {
        return;
    };
    if !matches!(kitty.connection.address(), Address::Inherited(_)) {
        return;
    }
    let active = tree::meant(&kitty.tree, kitties.surroundings.window)
        .and_then(|o| o.tabs.iter().find(|t| t.is_active))
        .and_then(|t| t.windows.iter().find(|w| w.is_active));
    let frame = match (&result, active) {
        (Ok(line), Some(window)) => commands::show_title(window.id, line),
        (Ok(_), None) => return,
        (Err(why), _) => {
            let Some(own) = crate::keep::state::stable_path() else {
                return;
            };
            let own = crate::sys::bytes::from_os(own.as_os_str());
            commands::overlay(&[&own, "notice", why])
        }
    };
    let _ = kitty.connection.ask(&frame, Duration::from_secs(2));
}

/// The home directory for showing paths; empty where there is none.
#[must_use]
pub fn home_text() -> String {
    dirs::home()
        .map(|h| crate::sys::bytes::from_os(h.as_os_str()))
        .unwrap_or_default()
}
