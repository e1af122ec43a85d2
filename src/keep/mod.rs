//! keep
