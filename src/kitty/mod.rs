//! kitty
