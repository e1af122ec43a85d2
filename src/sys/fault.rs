//! The one error type: an operation, what it was done to, and the cause.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What went wrong, ready to be shown as one line: `could not OP PATH: CAUSE`.
#[derive(Debug)]
pub enum Fault {
    /// A file operation failed.
    File {
        /// The operation, a verb: `read`.
        op: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// Why it failed.
        cause: io::Error,
    },
    /// Something was found that we do not act on; the text says what, where and what to do next.
    Refused(String),
}

/// Result with our error.
pub type Outcome<T> = Result<T, Fault>;

impl Fault {
    /// A failed operation on a file.
    pub fn file(op: &'static str, path: &Path, cause: impl Into<io::Error>) -> Self {
        Self::File {
            op,
            path: path.to_owned(),
            cause: cause.into(),
        }
    }

    /// A refusal in our own words.
    pub fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }

    /// The kind of the operating system's error, if there is one.
    #[must_use]
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::File { cause, .. } => Some(cause.kind()),
            Self::Refused(_) => None,
        }
    }

    /// Whether the file was simply not there.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.kind() == Some(io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { op, path, cause } => {
                write!(
                    f,
                    "could not {op} {}: {}",
                    shown_path(path),
                    plain_cause(cause)
                )
            }
            Self::Refused(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Fault {}

/// A path for a person: control characters and invalid bytes escaped.
#[must_use]
pub fn shown_path(path: &Path) -> String {
    super::out::visible(&super::bytes::from_os(path.as_os_str()))
}

/// The cause without Rust's `(os error N)`.
#[must_use]
pub fn plain_cause(cause: &io::Error) -> String {
    let text = cause.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
