//! `setup --remove`: what setup put there goes again; saves, and what they need to open, stay.

use super::{completions, hooks, is_yes, kitty_conf, plain_saves, shown, timer};
use crate::cmd::exit::Exit;
use crate::cmd::table::Args;
use crate::keep::state::{State, is_name_of_ours};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::out;
use crate::sys::private_file::PrivateDir;

/// What stays at a removal: saves, and what they need to open.
const STAYS: [&str; 2] = ["sessions", "shell"];

/// Shows what goes, asks, and takes it away.
///
/// # Errors
/// What could not be taken away.
pub(super) fn run(args: &Args) -> Outcome<Exit> {
    let print = args.has("print");
    let state = State::existing()?;
    let went = match goes(state.as_ref())? {
        doomed if doomed.is_empty() => {
            out::data("nothing is set up\n");
            None
        }
        doomed => {
            out::data(&doomed.text(state.as_ref()));
            if print {
                None
            } else if args.has("yes") || is_yes("\nTake it away? [y/N] ") {
                Some(take_away(state.as_ref(), &doomed)?)
            } else {
                out::message(
                    "nothing was taken away; kittymux setup --remove --yes does it without asking",
                );
                return Ok(Exit::CouldNot);
            }
        }
    };
    let mut well = went.unwrap_or(true);
    if let Some(state) = &state {
        well &= saves(state, args)?;
    }
    if print {
        out::data("\nNothing was taken away: --print only shows.\n");
    }
    Ok(if well { Exit::Done } else { Exit::CouldNot })
}

/// What is to go.
struct Doomed {
    conf: bool,
    timer: Vec<std::path::PathBuf>,
    completions: Vec<std::path::PathBuf>,
    agents: Vec<hooks::There>,
    /// Of the state directory.
    names: Vec<String>,
    /// There as well, and nothing that we ever wrote.
    foreign: Vec<String>,
}

fn goes(state: Option<&State>) -> Outcome<Doomed> {
    let (mut names, mut foreign) = (Vec::new(), Vec::new());
    if let Some(state) = state {
        let mut all = state.dir.names()?;
        all.retain(|n| !STAYS.contains(&n.as_str()));
        all.sort();
        (names, foreign) = all.into_iter().partition(|n| is_name_of_ours(n));
    }
    Ok(Doomed {
        conf: kitty_conf::is_included(&crate::sys::dirs::state()?),
        timer: timer::present(),
        completions: completions::ours(),
        agents: hooks::there(),
        names,
        foreign,
    })
}

impl Doomed {
    fn is_empty(&self) -> bool {
        !self.conf
            && self.timer.is_empty()
            && self.completions.is_empty()
            && self.agents.is_empty()
            && self.names.is_empty()
    }

    fn text(&self, state: Option<&State>) -> String {
        let mut text = String::from("This is taken away:\n");
        if self.conf {
            text.push_str("  the line in kitty.conf that includes kittymux.conf\n");
        }
        for there in &self.agents {
            text.push_str(&format!(
                "  our hook in {} ({})\n",
                shown(&there.path),
                there.agent
            ));
        }
        for path in self.timer.iter().chain(&self.completions) {
            text.push_str(&format!("  {}\n", shown(path)));
        }
        let Some(state) = state else { return text };
        let dir = shown(state.dir.path());
        if !self.names.is_empty() {
            text.push_str(&format!("  in {dir}:\n"));
            let names = self.names.iter().map(|n| out::visible(n));
            text.push_str(&wrapped(names, "    "));
        }
        text.push_str(&format!(
            "These stay, your saves and what they need to open:\n  {dir}/sessions\n  {dir}/shell\n"
        ));
        if !self.foreign.is_empty() {
            text.push_str(&format!("These in {dir} are not ours and stay:\n"));
            let names = self.foreign.iter().map(|n| out::visible(n));
            text.push_str(&wrapped(names, "    "));
        }
        text
    }
}

/// Words on lines of 80 columns.
fn wrapped(words: impl Iterator<Item = String>, indent: &str) -> String {
    let mut text = String::new();
    let mut line = indent.to_owned();
    for word in words {
        if line.len() > indent.len() && out::width(&line) + out::width(&word) + 1 > 80 {
            text.push_str(&(line + "\n"));
            line = indent.to_owned();
        }
        if line.len() > indent.len() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    text + &line + "\n"
}

/// Whether all went.
fn take_away(state: Option<&State>, doomed: &Doomed) -> Outcome<bool> {
    let mut well = true;
    let mut tell = |done: Outcome<()>| {
        if let Err(fault) = done {
            well = false;
            out::message(&fault.to_string());
        }
    };
    // What one of them cannot do keeps none of the others.
    if doomed.conf {
        tell(crate::sys::dirs::state().and_then(|dir| kitty_conf::take_out(&dir)));
    }
    for there in &doomed.agents {
        match hooks::take_out(there) {
            Ok(said) => out::data(&format!("{said}\n")),
            Err(fault) => tell(Err(Fault::refused(format!("{}: {fault}", there.agent)))),
        }
    }
    for path in doomed.timer.iter().chain(&doomed.completions) {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                tell(Err(Fault::file("remove", path, e)));
            }
            _ => {}
        }
    }
    completions::sweep();
    if let Some(state) = state {
        for name in &doomed.names {
            tell(remove_all(&state.dir, name));
        }
    }
    out::data("done; kitty and the agents forget it at their next start\n");
    if !doomed.timer.is_empty() {
        out::data("The timer ends with\n");
        for line in timer::STOP {
            out::data(&format!("  {line}\n"));
        }
    }
    Ok(well)
}

/// Saves that ask by us: turned into plain ones where the person says so.
fn saves(state: &State, args: &Args) -> Outcome<bool> {
    let asking = plain_saves::asking(state)?;
    let n = asking.len();
    if n == 0 {
        return Ok(true);
    }
    let (s, their) = if n == 1 { ("", "its") } else { ("s", "their") };
    let asks = if n == 1 { "asks" } else { "ask" };
    let what = format!(
        "\n{n} save{s} of yours {asks} through kittymux. Once the program is gone, agents of\n\
         {their} shells do not come back, and windows without a shell show an error.\n"
    );
    out::data(&what);
    let question = format!(
        "Have {} start {their} agents by plain commands instead? [y/N] ",
        if n == 1 { "it" } else { "them" }
    );
    let plain = args.has("plain-saves");
    if args.has("print") {
        if plain {
            out::data("--plain-saves has them start their agents by plain commands.\n");
        }
        return Ok(true);
    }
    // A yes to the removal is none to changing saves.
    if plain || (!args.has("yes") && is_yes(&question)) {
        return plain_saves::make(state, &asking);
    }
    out::data(
        "Have them start their agents by plain commands instead, any time before:\n  kittymux setup --remove --plain-saves\n",
    );
    Ok(true)
}

/// Removes a file or a directory of ours with all in it.
fn remove_all(dir: &PrivateDir, name: &str) -> Outcome<()> {
    let path = dir.join(name);
    let is_dir = path.symlink_metadata().is_ok_and(|m| m.is_dir());
    if !is_dir {
        return dir.remove(name);
    }
    let inner = dir.sub(name)?;
    for name in inner.names()? {
        remove_all(&inner, &name)?;
    }
    dir.remove_dir(name)
}
