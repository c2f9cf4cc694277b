//! The API-extensions server: the last one of the chain that knows resources, those that are defined while serving.
//!
//! It must not know how a definition is stored or validated; it is told which resources there are, and serves them.

mod custom;

pub use custom::CustomResources;

use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

/// The server, without any custom resource yet.
#[must_use]
pub fn server() -> ApiServer {
    ApiServer::new("extensions", Routes::new())
}
