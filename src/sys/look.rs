//! The three answers of a look: found, looked and found nothing, could not look.

/// What a look gave. The second and the third answer are never the same thing: only after
/// *could not look* may a guess be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look<T> {
    /// Here it is.
    Found(T),
    /// We looked, and there is none.
    Nothing,
    /// We could not look; the text says why.
    Unknown(String),
}

impl<T> Look<T> {
    /// What was found, if anything.
    #[must_use]
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(t) => Some(t),
            _ => None,
        }
    }

    /// A borrowed view.
    #[must_use]
    pub fn as_ref(&self) -> Look<&T> {
        match self {
            Self::Found(t) => Look::Found(t),
            Self::Nothing => Look::Nothing,
            Self::Unknown(why) => Look::Unknown(why.clone()),
        }
    }

    /// Turns what was found into something else.
    #[must_use]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Look<U> {
        match self {
            Self::Found(t) => Look::Found(f(t)),
            Self::Nothing => Look::Nothing,
            Self::Unknown(why) => Look::Unknown(why),
        }
    }
}

impl<T> From<std::io::Result<T>> for Look<T> {
    /// Absence is *nothing*, every other failure *could not look*.
    fn from(result: std::io::Result<T>) -> Self {
        match result {
            Ok(t) => Self::Found(t),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Self::Nothing,
            Err(e) => Self::Unknown(super::fault::plain_cause(&e)),
        }
    }
}
