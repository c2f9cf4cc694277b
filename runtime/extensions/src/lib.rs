//! The API-extensions server: resources that are defined while serving.

use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

/// The server, without any definition yet.
#[must_use]
pub fn server() -> ApiServer {
    ApiServer::new("extensions", Routes::new())
}
