//! One file per verb. `table` lists them all; `exit` is the only source of exit codes.

pub mod autosaved;
pub mod capture;
pub mod check;
pub mod desk;
pub mod exit;
pub mod exit_save;
pub mod list;
pub mod look;
pub mod notice;
pub mod overview;
pub mod plans;
pub mod report;
pub mod restore;
pub mod restored;
pub mod resume_prompt;
pub mod rewrite_files;
pub mod save;
pub mod setting;
pub mod table;
pub mod tick;
