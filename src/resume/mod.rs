//! The decisions, without any I/O: which window, which conversation, why, and what its line becomes.

pub mod keys;
pub mod last_plan;
pub mod offline;
pub mod parts;
pub mod plan;
pub mod prompt;
pub mod record;
pub mod rewrite;
pub mod same;
pub mod template;
pub mod window;
