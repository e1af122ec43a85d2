//! `completions`: what a shell needs to complete our command lines, and the candidates it asks for.
//!
//! The shells' files hold no list of their own: at each completion they ask `kittymux complete`, so
//! they fit whatever kittymux is installed.

mod candidates;
mod live;

use super::exit::Exit;
use super::table::{Args, VERBS};
use crate::sys::fault::Outcome;
use crate::sys::out;

/// A shell, and its file.
pub const SHELLS: [(&str, &str); 3] = [
    (
        "bash",
        include_str!("../../assets/completions/kittymux.bash"),
    ),
    ("zsh", include_str!("../../assets/completions/_kittymux")),
    (
        "fish",
        include_str!("../../assets/completions/kittymux.fish"),
    ),
];

/// `completions SHELL`: prints the file of that shell.
///
/// # Errors
/// None.
pub fn run(args: &Args) -> Outcome<Exit> {
    let wanted = args.words.first().map_or("", String::as_str);
    let Some((_, text)) = SHELLS.iter().find(|(shell, _)| *shell == wanted) else {
        let names: Vec<&str> = SHELLS.iter().map(|(shell, _)| *shell).collect();
        out::message(&format!(
            "name the shell that is to complete: kittymux completions {}",
            names.join("|")
        ));
        return Ok(Exit::UsedWrongly);
    };
    out::data(text);
    Ok(Exit::Done)
}

/// `complete -- WORD…`: prints what can stand for the last word, one `VALUE<tab>ABOUT` a line. A line
/// without a value says that file names can stand there too: `<tab>files` or `<tab>directories`.
///
/// # Errors
/// None: a shell that completes shows no errors, it offers less.
pub fn complete(args: &Args) -> Outcome<Exit> {
    let found = candidates::candidates(VERBS, &args.words, &live::live);
    out::data(&found.lines());
    Ok(Exit::Done)
}
