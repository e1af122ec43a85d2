//! `sessions rename` and `sessions delete`.

use super::exit::Exit;
use super::table::{Args, Verb};
use crate::keep::names::{self, ENDING};
use crate::keep::saves::saves;
use crate::keep::state::State;
use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::out;

/// `sessions rename`, for the table.
pub const RENAME: Verb = Verb {
    words: &["sessions", "rename"],
    args: "OLD NEW",
    most: 2,
    about: "give a save another name",
    more: "A session that is open in kitty keeps the name it has there until it is opened anew.",
    examples: &[(
        "kittymux sessions rename api backend",
        "api is called backend",
    )],
    options: &[],
    listed: true,
    run: rename,
};

/// `sessions delete`, for the table.
pub const DELETE: Verb = Verb {
    words: &["sessions", "delete"],
    args: "NAME",
    most: 1,
    about: "put a save into the trash",
    more: "It lies in sessions/.trash of the state directory from then on; sessions restore opens it by \
           its path. What runs is not touched.",
    examples: &[("kittymux sessions delete backend", "away with it")],
    options: &[],
    listed: true,
    run: delete,
};

fn rename(args: &Args) -> Outcome<Exit> {
    let [old, new] = args.words.as_slice() else {
        out::message("sessions rename needs the old and the new name");
        return Ok(Exit::UsedWrongly);
    };
    if let Err(why) = names::check(new) {
        out::message(&why);
        return Ok(Exit::UsedWrongly);
    }
    let state = State::open()?;
    find(&state, old)?;
    let twin = saves(&state)?
        .into_iter()
        .find(|s| s.name.eq_ignore_ascii_case(new) && s.name != *old);
    if let Some(twin) = twin {
        return Err(Fault::refused(format!(
            "there is a save \"{}\" already: choose another name",
            out::visible(&twin.name)
        )));
    }
    let sessions = state.sessions()?;
    let file = |name: &str| format!("{name}{ENDING}");
    sessions.put_away(&file(old), &file(new))?;
    // What it was before it was saved last goes along.
    let previous = sessions.sub(".previous")?;
    if previous.written_ns(&file(old)).is_some() {
        previous.put_away(&file(old), &file(new))?;
    }
    out::data(&format!("{} is called {new} now\n", out::visible(old)));
    Ok(Exit::Done)
}

fn delete(args: &Args) -> Outcome<Exit> {
    let Some(name) = args.words.first() else {
        out::message("sessions delete needs a name: kittymux sessions restore lists them");
        return Ok(Exit::UsedWrongly);
    };
    let state = State::open()?;
    find(&state, name)?;
    let sessions = state.sessions()?;
    let trash = sessions.sub(".trash")?;
    let at = names::for_time(&clock::rfc3339(clock::wall_ns())).replace("saved-", "");
    let file = format!("{name}{ENDING}");
    let to = format!("{name}-{at}{ENDING}");
    sessions.link_into(&file, &trash, &to)?;
    sessions.remove(&file)?;
    out::data(&format!(
        "{} lies in the trash\n  back again: kittymux sessions restore {}\n",
        out::visible(name),
        shown_path(&trash.join(&to))
    ));
    Ok(Exit::Done)
}

/// Whether there is a save of this name.
fn find(state: &State, name: &str) -> Outcome<()> {
    if saves(state)?.iter().any(|s| s.name == name) {
        return Ok(());
    }
    Err(Fault::refused(format!(
        "no save is called \"{}\"; kittymux sessions restore lists them",
        out::clip(&out::visible(name), 40)
    )))
}
