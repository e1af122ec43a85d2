//! An emulator of kitty 0.48.2's side of the remote-control socket, with session loading and saving.
//!
//! Windows are real programs on terminals of their own, so `/proc` tells the truth about them; what kitty
//! does wrong, the emulator does wrong in the same way. It shares no code with the product it is used to
//! test.
//!
//! ```no_run
//! use fake_kitty::{Config, FakeKitty};
//! let kitty = FakeKitty::start(Config::new().listen_on("unix:/tmp/test.sock")).unwrap();
//! assert_eq!(kitty.socket(), Some("unix:/tmp/test.sock"));
//! ```

mod actions;
mod capture;
mod capture_kitten;
mod commands;
pub mod conf;
mod config;
mod engine;
mod environment;
pub mod frame;
mod goto;
mod inspect;
pub mod json;
mod kitty;
mod launch;
mod layout;
mod ls;
mod matching;
mod misbehave;
mod model;
pub mod options;
mod pairs;
mod procfs;
pub mod program;
pub mod query;
mod save;
mod server;
pub mod session_file;
mod sessions;
mod shells;
mod spawn;
mod state;
mod term;
pub mod text;
mod window_commands;
pub mod words;

pub use config::{Config, Misbehave, RemoteControl};
pub use kitty::{FakeKitty, WindowSnapshot};

/// What `kitty --version` prints.
pub const VERSION_LINE: &str = "kitty 0.48.2 created by Kovid Goyal";
