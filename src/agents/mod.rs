//! What we know of coding agents: their command lines, their processes, their conversations.
//!
//! [`definitions`] is data; [`argv`], [`grammar`], [`program`], [`rewrite`] and [`window`] decide
//! over values; [`find`] and [`session`] look at the machine.

pub mod argv;
pub mod definitions;
pub mod find;
pub mod grammar;
pub mod hooks;
mod id_form;
pub mod probe;
pub mod program;
pub mod reading;
pub mod rewrite;
pub mod secrets;
pub mod session;
pub mod shell;
pub mod ways;
pub mod window;

#[cfg(test)]
mod argv_cases;
#[cfg(test)]
mod recognise_cases;
#[cfg(test)]
mod window_cases;
