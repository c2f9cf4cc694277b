//! The dependencies and options of an aggregator.

use std::fmt;
use std::sync::Arc;

use planesmith_control_plane::service_resolver::Resolver;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::openapi::OpenApi;
use planesmith_server::proxy::{ClientIdentity, Dialer};

/// The dependencies and options of an aggregator.
#[derive(Clone)]
pub struct AggregatorConfig {
    /// The groups published in discovery.
    pub directory: GroupDirectory,
    /// The published OpenAPI documents.
    pub openapi: OpenApi,
    /// Resolves services to addresses.
    pub resolver: Arc<dyn Resolver>,
    /// Opens the connections to other servers.
    pub dialer: Dialer,
    /// The client certificate of this server, which makes other servers trust the user headers it sends; `None` without one.
    pub identity: Option<ClientIdentity>,
    /// If true, a redirect by another server is answered with 502.
    pub rejects_redirects: bool,
}

impl fmt::Debug for AggregatorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AggregatorConfig")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}
