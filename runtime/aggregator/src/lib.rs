//! The aggregation server: the outermost one of the chain, in front of every group that another server answers for.
//!
//! Reading order: [`Registration`] (what is told about a group version), [`Aggregator`] (all of them), [`Backend`] (another
//! server: requests to it, its health, its documents), [`Claims`] (the routes). It must not know what is behind the
//! servers that it passes requests on to, nor where registrations come from. A group version that nobody claims goes to the
//! next server of the chain.

mod aggregator;
mod backend;
mod claims;
mod documents;
mod identity;
mod openapi;
mod registration;

pub use aggregator::{Aggregator, Ways};
pub use backend::{Backend, Resolver};
pub use claims::Claims;
pub use registration::{Registration, Remote, RemoteTrust, ServicePort};

use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

/// The server, without any claimed group version yet.
#[must_use]
pub fn server() -> ApiServer {
    ApiServer::new("aggregator", Routes::new())
}
