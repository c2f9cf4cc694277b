//! Kinds whose objects are computed for each request.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;

use crate::stores::Stores;

/// Computes the objects of a kind that is not stored, in its storage version; see `read_only` of `#[resource(...)]`.
pub trait Source: Send + Sync {
    /// The object `name`; `namespace` is empty for cluster-scoped kinds.
    fn one<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, ApiResult<Box<dyn Object>>>;

    /// All objects of a namespace, or of all namespaces.
    fn all<'a>(&'a self, namespace: &'a str) -> BoxFuture<'a, ApiResult<Vec<Box<dyn Object>>>>;
}

impl Stores {
    /// Serves the objects of `source` as `resource` of `group`, a kind that is declared `read_only`. Endpoints that
    /// were created before do not have it.
    pub fn show(&self, group: &str, resource: &str, source: Arc<dyn Source>) {
        self.attachments().change(group, resource, |_| source);
    }

    /// The source of the objects of a kind that is not stored.
    #[must_use]
    pub fn source(&self, facts: &ResourceFacts) -> Option<Arc<dyn Source>> {
        self.attachments().get(facts)
    }
}
