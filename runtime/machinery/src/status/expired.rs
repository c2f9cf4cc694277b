//! 410 and 504: revisions that are not available any more, or not yet.

use super::{ApiError, Cause, Reason};

/// The request for a revision older than the retained history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired<'a> {
    /// A list at an exact revision.
    List,
    /// A page of a list that can continue at the newest revision with this token.
    Page {
        /// Token that continues the list at the newest revision.
        continue_token: &'a str,
    },
    /// A page of a list that cannot continue.
    PageWithoutToken,
    /// A watch that the store rejects.
    Watch,
    /// A watch that the cache rejects.
    CachedWatch {
        /// The requested revision.
        requested: u64,
        /// The newest revision that was discarded.
        oldest: u64,
    },
}

impl ApiError {
    /// 410: the revision is older than the retained history; the client must list again.
    #[must_use]
    pub fn expired(what: Expired<'_>) -> Self {
        let message = match what {
            Expired::List => "The resourceVersion for the provided list is too old.".to_owned(),
            Expired::Watch => "The resourceVersion for the provided watch is too old.".to_owned(),
            Expired::CachedWatch { requested, oldest } => format!("too old resource version: {requested} ({oldest})"),
            Expired::PageWithoutToken => {
                "The provided continue parameter is too old to display a consistent list result. \
                 You can start a new list without the continue parameter."
                    .to_owned()
            }
            Expired::Page { .. } => {
                "The provided continue parameter is too old to display a consistent list result. \
                 You can start a new list without the continue parameter, or use the continue token in this response to \
                 retrieve the remainder of the results. Continuing with the provided token results in an inconsistent \
                 list - objects that were created, modified, or deleted between the time the first chunk was returned \
                 and now may show up in the list."
                    .to_owned()
            }
        };
        let mut error = Self::new(Reason::Expired, message);
        if let Expired::Page { continue_token } = what {
            continue_token.clone_into(&mut error.status_mut().continue_token);
        }
        error
    }

    /// 410 for something that is permanently unavailable, e.g. a moved address.
    #[must_use]
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(Reason::Gone, message)
    }

    /// 504: the revision is in the future; the client can retry after a second.
    #[must_use]
    pub fn too_large_resource_version(requested: u64, current: u64) -> Self {
        Self::timeout(
            format_args!("Too large resource version: {requested}, current: {current}"),
            1,
        )
        .with_cause(Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            ..Cause::default()
        })
    }
}
