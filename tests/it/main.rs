//! The integration tests, one program. Those of `scenarios` run against `fake-kitty`, and the same
//! ones inside the chroot of `tests/real` against a real kitty.

mod agents_doc;
mod agents_found;
mod autosave;
mod bad_input;
mod check;
mod check_lines;
mod desks;
mod docs;
mod elsewhere;
mod exit;
mod forkless;
mod generations;
mod gone;
mod hook;
mod identity;
mod journal;
mod offered;
mod prompt;
mod properties;
mod pty;
mod rewrite_files;
mod rig;
mod scenarios;
mod scene;
mod setup;
mod shapes;
mod shells;
mod stale;
mod strings;
mod tidy;
mod unforgiven;
mod units;
mod workspaces;
