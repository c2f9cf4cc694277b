//! The dependencies and options of an aggregator.

use std::fmt;
use std::sync::Arc;

use planesmith_server::discovery::GroupDirectory;
use planesmith_server::openapi::OpenApi;
use planesmith_server::proxy::{ClientIdentity, Destination};

use crate::registration::ServicePort;

/// The dependencies and options of an aggregator.
#[derive(Clone)]
pub struct AggregatorConfig {
    /// The groups published in discovery.
    pub directory: GroupDirectory,
    /// The published OpenAPI documents.
    pub openapi: OpenApi,
    /// Resolves services to addresses.
    pub resolver: Arc<dyn Resolver>,
    /// The client certificate of this server, which makes other servers trust the user headers it sends; `None` without one.
    pub identity: Option<ClientIdentity>,
    /// If true, a redirect by another server is answered with 502.
    pub rejects_redirects: bool,
}

/// Resolves a service to one of its addresses.
pub trait Resolver: Send + Sync {
    /// Returns a destination for a port of a service.
    ///
    /// # Errors
    ///
    /// The reason for a failure, worded as kube-apiserver words it.
    fn resolve(&self, service: &ServicePort) -> Result<Destination, String>;
}

impl fmt::Debug for AggregatorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AggregatorConfig")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}
