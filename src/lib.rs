//! kittymux brings each coding agent's conversation back, in the right kitty window.
//!
//! Data runs one way; a floor imports only from floors below it:
//! `cmd` → `resume`, `keep` → `agents`, `kitty` → `sys`.

#![warn(missing_docs)]

pub mod agents;
pub mod cmd;
pub mod keep;
pub mod kitty;
pub mod resume;
pub mod sys;
