//! `sessions switch`: save the session one leaves, then go to another; parked sessions stay alive.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};

use super::desk::Ground;
use super::exit::Exit;
use super::look::{Kitties, SeenKitty, look};
use super::report;
use super::restore;
use super::save::take::{Which, take};
use super::setting;
use super::table::{Args, Opt, Verb};
use crate::keep::autosaves;
use crate::keep::claims::Claims;
use crate::keep::names::{self, ENDING};
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::kitty::tree::{self, OsWindow};
use crate::resume::window::is_desk_name;
use crate::sys::bytes::from_os;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;

/// The verb, for the table.
pub const VERB: Verb = Verb {
    words: &["sessions", "switch"],
    args: "[NAME]",
    most: 1,
    about: "go to another session; the one you leave is saved and stays alive",
    more: "A session that is open is only brought to the front, any other is opened from its save. The \
           one you leave is saved anew if it is a save of yours already; a workspace without a name gets \
           none by this. Without NAME you choose on the terminal.",
    examples: &[(
        "kittymux sessions switch work",
        "go to the session \"work\"",
    )],
    options: &[
        Opt {
            name: "next",
            value: "",
            about: "the next one that is open",
        },
        Opt {
            name: "previous",
            value: "",
            about: "the one before among those that are open",
        },
    ],
    listed: true,
    run,
};

/// Goes there.
///
/// # Errors
/// What stands in the way; then everything is as it was.
pub fn run(args: &Args) -> Outcome<Exit> {
    let (next, previous) = (args.has("next"), args.has("previous"));
    if usize::from(next) + usize::from(previous) + args.words.len() > 1 {
        out::message("give one of NAME, --next and --previous");
        return Ok(Exit::UsedWrongly);
    }
    let state = State::open()?;
    let mut kitties = look(Some(&state))?;
    let went = switch(&state, &mut kitties, args);
    let shown = match &went {
        Ok(None) => return Ok(Exit::Done),
        Ok(Some(line)) => Ok(line.clone()),
        Err(fault) => Err(fault.to_string()),
    };
    report::show(&mut kitties, shown);
    if let Some(line) = went? {
        out::data(&(line + "\n"));
    }
    Ok(Exit::Done)
}

/// `None`: nothing was chosen.
fn switch(state: &State, kitties: &mut Kitties, args: &Args) -> Outcome<Option<String>> {
    kitties.meant()?;
    if !kitties.first_is_ours {
        return Err(Fault::refused(
            "sessions are switched in the kitty you are in: run this inside kitty",
        ));
    }
    let own = kitties.surroundings.window;
    let here = visible(&kitties.seen[0].tree, own);
    let open = open_sessions(&kitties.seen[0].tree);
    let wanted = if args.has("next") || args.has("previous") {
        match beside(&open, &here, args.has("next")) {
            Some(name) => name,
            None => return Ok(Some("no other session is open".to_owned())),
        }
    } else if let Some(name) = args.words.first() {
        name.clone()
    } else {
        match pick(state, &open, &here)? {
            Some(name) => name,
            None => return Ok(None),
        }
    };
    if wanted == here {
        return Ok(Some(format!("{} is here already", shown(&wanted))));
    }
    let known = saves(state)?;
    let is_open = open.contains(&wanted);
    if !is_open && known.iter().all(|s| s.name != wanted) {
        return Err(Fault::refused(format!(
            "no session is called \"{}\": it is neither open nor saved",
            out::clip(&out::visible(&wanted), 40)
        )));
    }
    let mut said = String::new();
    let is_own = !here.is_empty() && !is_desk_name(&here) && names::check(&here).is_ok();
    if is_own && known.iter().any(|s| s.name == here) {
        checkpoint(state, &mut kitties.seen, &here)?;
        said = format!("saved {here}; ");
    }
    if is_open {
        let path = state.sessions()?.join(format!("{wanted}{ENDING}"));
        let path = from_os(path.as_os_str());
        let kitty = &mut kitties.seen[0];
        restore::goto(kitty, &path)?;
        return Ok(Some(format!("{said}went to {}", shown(&wanted))));
    }
    let line = restore::by_name(state, kitties, &wanted)?;
    Ok(Some(format!("{said}opened {wanted}: {line}")))
}

/// A session's name for a person.
fn shown(name: &str) -> String {
    if name.is_empty() || is_desk_name(name) {
        "the workspace without a name".to_owned()
    } else {
        out::clip(&out::visible(name), 40)
    }
}

/// The session that is visible in the OS window one is in; empty: none.
fn visible(tree: &[OsWindow], own: Option<u64>) -> String {
    tree::meant(tree, own)
        .and_then(|o| o.tabs.iter().find(|t| t.is_active))
        // An overlay of ours stands in the tab of the session it was started from.
        .and_then(|t| t.windows.iter().find(|w| !w.is_utility()))
        .and_then(|w| w.session_name.clone())
        .unwrap_or_default()
}

/// The sessions that are open, in kitty's order.
fn open_sessions(tree: &[OsWindow]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    tree::windows(tree)
        .filter(|p| !p.window.is_utility())
        .filter_map(|p| p.window.session_name.clone().filter(|n| !n.is_empty()))
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

/// The session after or before `here`, around the end.
fn beside(open: &[String], here: &str, next: bool) -> Option<String> {
    let others = open.iter().any(|n| n != here);
    let at = open.iter().position(|n| n == here);
    let len = open.len();
    let to = match (at, next) {
        (Some(at), true) => (at + 1) % len,
        (Some(at), false) => (at + len - 1) % len,
        (None, true) => 0,
        (None, false) => len.checked_sub(1)?,
    };
    others.then(|| open[to].clone())
}

/// Lets a person choose on the terminal.
fn pick(state: &State, open: &[String], here: &str) -> Outcome<Option<String>> {
    if !rustix::termios::isatty(rustix::stdio::stdin()) {
        return Err(Fault::refused(
            "which session? name one, or run this on a terminal to choose",
        ));
    }
    let desks = autosaves::all(state)?;
    let saved = saves(state)?;
    let saved = saved
        .iter()
        .map(|s| s.name.clone())
        .filter(|n| !open.contains(n) && desks.iter().all(|d| d.name != *n));
    let all: Vec<String> = open.iter().cloned().chain(saved).collect();
    if all.is_empty() {
        out::data("no session is open or saved yet: kittymux sessions save NAME\n");
        return Ok(None);
    }
    for (n, name) in all.iter().enumerate() {
        let what = match (name == here, open.contains(name)) {
            (true, _) => "here",
            (_, true) => "open",
            _ => "saved",
        };
        out::data(&format!(
            "{:>3}  {}  {what}\n",
            n + 1,
            out::pad(&shown(name), 30)
        ));
    }
    out::data("number or beginning of the name, Enter alone stays: ");
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    if let Some(name) = line
        .parse::<usize>()
        .ok()
        .and_then(|n| all.get(n.wrapping_sub(1)))
    {
        return Ok(Some(name.clone()));
    }
    let fitting: Vec<&String> = all.iter().filter(|n| n.starts_with(line)).collect();
    match fitting.as_slice() {
        [one] => Ok(Some((*one).clone())),
        [] => Err(Fault::refused(format!(
            "nothing begins with \"{}\"",
            out::visible(line)
        ))),
        _ => Err(Fault::refused(format!(
            "several begin with \"{}\"",
            out::visible(line)
        ))),
    }
}

/// Saves the session one leaves, and nothing else of this kitty.
fn checkpoint(state: &State, seen: &mut [SeenKitty], name: &str) -> Outcome<()> {
    let defs = setting::checked_definitions(Some(state));
    let claims = Claims::new(state.claims()?);
    let ground = Ground {
        defs: &defs,
        home: setting::home()?,
        claims: Some(&claims),
        state: Some(state),
    };
    let taken = take(seen, 0, &ground, state, Which::Session(name), false)?;
    taken.publish(state, &state.sessions()?, name)
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn next_and_previous_go_around() {
        let open: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let to = |here, next| beside(&open, here, next).unwrap_or_default();
        assert_eq!(
            [to("a", true), to("c", true), to("", true)],
            ["b", "a", "a"]
        );
        assert_eq!(
            [to("a", false), to("b", false), to("", false)],
            ["c", "a", "c"]
        );
        assert_eq!(beside(&open[..1], "a", true), None);
        assert_eq!(beside(&[], "", false), None);
    }
}
