//! Routing: the handlers of resources.
//!
//! [`Routes`] is filled while a server is assembled and then compiled into a [`RouteTable`], which never changes: a
//! server that adds a resource while serving swaps the whole table.

mod group_answers;
mod table;

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use planesmith_machinery::resource::ResourceFacts;

pub(crate) use table::Found;
pub use table::RouteTable;

use crate::discovery::ServedResource;
use crate::metrics::StoredCounts;
use crate::request::Context;
use crate::stores::ResourceStore;

/// Answers the requests for one resource in one version, subresources included.
pub trait ResourceHandler: Send + Sync {
    /// The resource's entry in discovery, with its paths and methods; requests for others never arrive.
    fn facts(&self) -> &ServedResource;

    /// Answers one request.
    fn serve(self: Arc<Self>, ctx: Context, request: Request<Body>) -> BoxFuture<'static, Response>;

    /// False if no document names the resource, although it answers requests.
    fn is_listed(&self) -> bool {
        true
    }

    /// The store of the objects; `None` for resources that are not stored here.
    fn objects(&self) -> Option<&Arc<ResourceStore>> {
        None
    }

    /// Counts of the stored objects; `None` for resources that are not stored here.
    fn stored(&self) -> Option<StoredCounts> {
        None
    }
}

/// Answers all requests below one version of a group: for any resources and for its discovery document.
pub trait VersionHandler: Send + Sync {
    /// Answers one request.
    fn serve(self: Arc<Self>, ctx: Context, request: Request<Body>) -> BoxFuture<'static, Response>;
}

/// The resources of one server, while it is assembled.
#[derive(Default)]
pub struct Routes {
    handlers: Vec<Arc<dyn ResourceHandler>>,
    claims: Vec<table::Claim>,
    open_groups: Vec<String>,
    filter: Option<KindFilter>,
}

/// A filter that returns true if a kind is enabled.
type KindFilter = Box<dyn Fn(&ResourceFacts) -> bool + Send + Sync>;

impl Routes {
    /// Returns a set without resources.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Restricts the kinds that are added from now on to those that `filter` accepts.
    #[must_use]
    pub fn only(mut self, filter: impl Fn(&ResourceFacts) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Box::new(filter));
        self
    }

    /// True if a kind in one version is served and enabled.
    pub(crate) fn admits(&self, facts: &ResourceFacts) -> bool {
        facts.served && self.filter.as_ref().is_none_or(|filter| filter(facts))
    }

    /// Adds a resource in one version. A later one of the same name replaces an earlier one.
    pub fn add(&mut self, handler: Arc<dyn ResourceHandler>) {
        self.handlers.push(handler);
    }

    /// Delegates a whole version of a group to `handler`, instead of resources that are added one by one.
    pub fn claim(&mut self, group: impl Into<String>, version: impl Into<String>, handler: Arc<dyn VersionHandler>) {
        self.claims.push((group.into(), version.into(), handler));
    }

    /// Declares that other servers may serve `group`, too: unknown versions and resources in it are passed on instead
    /// of being answered with a 404 Status. Groups of custom resources are open.
    pub fn open_group(&mut self, group: impl Into<String>) {
        self.open_groups.push(group.into());
    }

    /// True if a resource or handler of a group version was added.
    #[must_use]
    pub fn serves(&self, group: &str, version: &str) -> bool {
        let mut facts = self.handlers.iter().map(|handler| handler.facts());
        facts.any(|facts| facts.group == group && facts.version == version)
            || self
                .claims
                .iter()
                .any(|(of, claimed, _)| of == group && claimed == version)
    }

    /// Compiles the table.
    #[must_use]
    pub fn build(self) -> RouteTable {
        RouteTable::new(self.handlers, self.claims, &self.open_groups)
    }
}

impl std::fmt::Debug for Routes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.handlers.iter().map(|handler| handler.facts()))
            .finish()
    }
}

#[cfg(test)]
mod tests;
