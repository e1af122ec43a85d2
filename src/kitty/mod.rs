//! What we know of kitty: its socket, what it shows of its windows, and its session files.
//!
//! Numbers like "fact 5.6" are those of `docs/kitty-facts.md`, which says what shows each.

pub mod address;
pub mod client;
pub mod commands;
pub mod conf;
pub mod discover;
pub mod launch_line;
pub mod listening;
pub mod repair;
pub mod session_file;
pub mod tree;
pub mod wire;
pub mod words;
