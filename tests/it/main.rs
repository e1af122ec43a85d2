//! The integration tests, one program.

mod desks;
