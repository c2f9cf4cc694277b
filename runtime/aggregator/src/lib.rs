//! The aggregation server: the front of the chain, which may hand whole group versions to other servers.

use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

/// The server, with every group version served by its delegates.
#[must_use]
pub fn server() -> ApiServer {
    ApiServer::new("aggregator", Routes::new())
}
