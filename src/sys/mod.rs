//! What we know of the machine: files, locks, processes, clocks, terminals, directories, JSON.

pub mod bytes;
pub mod clock;
pub mod detach;
pub mod dirs;
pub mod fault;
pub mod fault_point;
pub mod json;
pub mod lock;
pub mod look;
pub mod out;
pub mod private_file;
pub mod proc;
pub mod signals;
pub mod start;
pub mod token;
pub mod toml;
pub mod tty;
pub mod written;
