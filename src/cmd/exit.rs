//! The exit codes.

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    /// It could not be done.
    CouldNot,
    /// It was called wrongly.
    UsedWrongly,
}

impl Exit {
    /// The code.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::CouldNot => 1,
            Self::UsedWrongly => 2,
        }
    }
}
