//! The kind Namespace and its store, in a server that has them.

use std::sync::Arc;

use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_server::verbs::Finalize;

/// The kind Namespace; `None` in a server without it.
#[must_use]
pub fn facts(scheme: &Scheme) -> Option<&ResourceFacts> {
    scheme.resource("", "v1", "namespaces")
}

/// Registers the handler by which controllers remove their finalizer from a namespace. To be called before namespaces
/// are installed.
pub fn handle_subresources(stores: &Stores) {
    stores.handle("", "namespaces", "finalize", Arc::new(Finalize));
}

/// Returns the store of namespaces; `None` if the server has none.
#[must_use]
pub fn store(stores: &Stores) -> Option<Arc<ResourceStore>> {
    facts(stores.scheme()).map(|facts| stores.resource(facts))
}
