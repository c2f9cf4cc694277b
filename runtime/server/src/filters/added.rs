//! Filters that a program adds to those of every server.

use std::sync::Arc;

use super::Filter;

/// A filter that a program adds, and its place.
#[derive(Clone, Debug)]
pub struct AddedFilter {
    /// The filter.
    pub filter: Arc<dyn Filter>,
    /// Its place among the filters of every server.
    pub place: FilterPlace,
}

/// A place among the filters of every server, named by what is known about a request there. Filters with the same place run in the
/// order in which they are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterPlace {
    /// Behind `panic-guard`: nothing of the request is parsed. Answers are complete there.
    Arrived,
    /// Behind `deadline`: the request is parsed and its user unknown.
    Parsed,
    /// Behind `impersonation`: the user is known, and the request does not count among those in flight yet.
    Authenticated,
    /// Behind all filters of the server: the user may do what it requests. Answers are not compressed yet.
    Authorized,
}
