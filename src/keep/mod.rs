//! What we remember: saves and how one becomes current, claims on conversations, our own files.

pub mod assets;
pub mod autosave;
pub mod autosaves;
pub mod beside;
pub mod checks;
pub mod claims;
pub mod hook_records;
pub mod journal;
pub mod names;
pub mod publish;
pub mod records;
pub mod saves;
pub mod settings_file;
pub mod state;
pub mod taken;
pub mod tick_state;
pub mod units;
