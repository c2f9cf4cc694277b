//! The parts of a server that webhooks and policies need.

use std::fmt;
use std::sync::Arc;

use planesmith_access::admission::Lister;
use planesmith_access::authorization::Authorizer;
use planesmith_control_plane::admission::PluginInitializer;
use planesmith_machinery::object::Resource;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::metrics::SharedMetrics;
use planesmith_server::stores::ResourceStore;

use crate::equivalents::Equivalents;

/// The parts of a server that webhooks and policies need.
#[derive(Clone)]
pub struct Sources {
    /// The kinds of the server.
    pub scheme: Arc<Scheme>,
    /// Reads objects, such as namespaces.
    pub objects: Arc<dyn Lister>,
    /// Decides about requests, for expressions.
    pub authorizer: Arc<dyn Authorizer>,
    /// The versions of resources.
    pub equivalents: Arc<Equivalents>,
    /// The metrics of the server.
    pub metrics: SharedMetrics,
}

impl Sources {
    /// Takes the parts from `initializer`.
    #[must_use]
    pub fn new(initializer: &PluginInitializer<'_>) -> Self {
        Self {
            scheme: Arc::clone(initializer.scheme),
            objects: Arc::clone(&initializer.objects),
            authorizer: Arc::clone(&initializer.authorizer),
            equivalents: Arc::new(Equivalents::new(initializer.scheme, initializer.kinds)),
            metrics: Arc::clone(&initializer.metrics),
        }
    }
}

/// Returns the stored objects of the kind `R`; `None` if the server does not have it.
#[must_use]
pub fn store_of<R: Resource>(initializer: &PluginInitializer<'_>) -> Option<ResourceStore> {
    let mut kinds = initializer.scheme.iter();
    let hub = kinds.find(|kind| *kind == R::RESOURCE)?.hub();
    Some(ResourceStore::with_versions(
        initializer.storage,
        &hub,
        initializer.scheme,
    ))
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").finish_non_exhaustive()
    }
}
