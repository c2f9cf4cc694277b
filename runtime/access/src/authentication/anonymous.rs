//! Requests without credentials.

/// The requests without credentials that are served as the anonymous user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Anonymous {
    /// None of them.
    #[default]
    Refused,
    /// All of them.
    Served,
    /// Those for exactly one of these paths.
    ServedAt(Vec<String>),
}

impl Anonymous {
    /// True if a request without credentials for `path` is served.
    #[must_use]
    pub fn serves(&self, path: &str) -> bool {
        match self {
            Self::Refused => false,
            Self::Served => true,
            Self::ServedAt(paths) => paths.iter().any(|served| served == path),
        }
    }
}

impl From<bool> for Anonymous {
    fn from(served: bool) -> Self {
        if served { Self::Served } else { Self::Refused }
    }
}
