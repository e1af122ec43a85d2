//! The integration tests, one program. Those of `scenarios` run against `fake-kitty`, and the same
//! ones inside the chroot of `tests/real` against a real kitty.

mod desks;
mod generations;
mod properties;
mod rig;
mod scenarios;
mod shapes;
mod shells;
mod strings;
