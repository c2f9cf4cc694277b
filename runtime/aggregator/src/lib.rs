//! The aggregation server: the outermost one of the chain, in front of every group that another server answers for.
//!
//! Reading order: [`Registration`] (a group version and its server), [`Aggregator`] (all registrations), [`Backend`] (another
//! server: requests, availability, documents), [`Claims`] (routes). This crate must not know what the other servers serve, nor
//! the source of registrations. Unclaimed group versions go to the next server of the chain.

mod aggregator;
mod backend;
mod claims;
mod config;
mod identity;
mod openapi;
mod registration;

pub use aggregator::Aggregator;
pub use backend::Backend;
pub use claims::Claims;
pub use config::{AggregatorConfig, Resolver};
pub use registration::{Registration, Remote, RemoteTrust, ServicePort};

use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

/// The group of APIServices.
pub const GROUP: &str = "apiregistration.k8s.io";

/// Returns the server of `routes`, the declared kinds of [`GROUP`], without claimed group versions.
#[must_use]
pub fn server(routes: Routes) -> ApiServer {
    ApiServer::new("aggregator", routes)
}
