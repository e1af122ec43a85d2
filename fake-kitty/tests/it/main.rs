//! The emulator held against what the real kitty 0.48.2 did.

mod dead_fork;
mod listing;
mod misbehaviour;
mod odd_values;
mod parser;
mod program;
mod replies;
mod saves;
mod sessions;
mod shells;
mod support;
mod transport;
mod windows;
