//! The aggregation server: the outermost one of the chain, in front of every group that another server answers for.
//!
//! It must not know what is behind the servers that it passes requests on to. A group version that nobody claims goes to
//! the next server of the chain.

mod claims;

pub use claims::Claims;

use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

/// The server, without any claimed group version yet.
#[must_use]
pub fn server() -> ApiServer {
    ApiServer::new("aggregator", Routes::new())
}
