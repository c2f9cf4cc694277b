//! The API-extensions server: the last one of the chain that knows resources, those that are defined while serving.
//!
//! Reading order: [`definition`] (what a definition says), `facts` (a kind out of it), [`SchemaChecks`] (what is
//! checked of its objects), [`Definitions`] (kinds that are served). It must not know how a definition is stored or who
//! watches it; it is told which there are.

mod checks;
pub mod conditions;
mod custom;
pub mod definition;
mod definitions;
mod facts;
pub mod names;
mod openapi;
mod status;

pub use checks::SchemaChecks;
pub use custom::CustomResources;
pub use definitions::Definitions;
pub use facts::KnownFacts;
pub use openapi::Templates;
pub use status::settled;

use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

/// The server, without any custom resource yet.
#[must_use]
pub fn server() -> ApiServer {
    ApiServer::new("extensions", Routes::new())
}
