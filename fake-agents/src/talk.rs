//! The conversation itself: what every stand-in does between its start and its end.

use std::process::ExitCode;

use crate::terminal::{Event, Terminal, say};

/// An agent that holds a conversation.
pub trait Holder {
    /// The agent's name.
    fn name(&self) -> &'static str;
    /// The id of the conversation.
    fn id(&self) -> String;
    /// The directory it says it is in.
    fn cwd(&self) -> String;
    /// A message was sent.
    fn message(&mut self, text: &str);
    /// `/clear`: a new conversation begins.
    fn clear(&mut self);
    /// The end, by the person or by a signal: what must not stay is removed.
    fn end(&mut self, by_person: bool);
}

/// The line that tells which conversation is on the screen.
pub fn banner(holder: &impl Holder, how: &str) {
    say(&format!(
        "{}: conversation {} ({how}) in {}",
        holder.name(),
        holder.id(),
        holder.cwd()
    ));
}

/// Holds the conversation until the person leaves. `first` are messages that came with the command.
pub fn talk(holder: &mut impl Holder, how: &str, first: &[String]) -> ExitCode {
    let mut terminal = Terminal::open();
    banner(holder, how);
    for text in first {
        send(holder, text);
    }
    let mut by_person = true;
    let code = loop {
        match terminal.next() {
            Event::Line(text) => match text.trim() {
                "" => {}
                "/exit" => break 0,
                "/fail" => break 1,
                "/clear" | "/new" => {
                    holder.clear();
                    banner(holder, "new");
                }
                text => send(holder, text),
            },
            Event::End => {
                by_person = false;
                break 0;
            }
            Event::Signal(number) => {
                by_person = false;
                break 128 + u8::try_from(number).unwrap_or(0);
            }
        }
    };
    holder.end(by_person);
    ExitCode::from(code)
}

fn send(holder: &mut impl Holder, text: &str) {
    holder.message(text);
    say(&format!("{}: heard {text}", holder.name()));
}

/// A helper (a server on standard input): waits for its end.
pub fn serve(name: &str) -> ExitCode {
    say(&format!("{name}: serving"));
    let mut terminal = Terminal::open();
    loop {
        match terminal.next() {
            Event::Line(_) => {}
            Event::End => return ExitCode::SUCCESS,
            Event::Signal(number) => {
                return ExitCode::from(128 + u8::try_from(number).unwrap_or(0));
            }
        }
    }
}

/// Says an error in the agent's way and fails.
pub fn refuse(text: &str) -> ExitCode {
    eprintln!("{text}");
    ExitCode::FAILURE
}
