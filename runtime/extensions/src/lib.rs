//! The API-extensions server, which serves custom resources: the last server of the chain that has resources.
//!
//! Reading order: [`definition`] (a view of a definition), `facts` (the kind derived from it), [`SchemaChecks`] (validation of
//! its objects), [`Definitions`] (the served kinds). This crate does not know the storage of definitions or their watchers; its
//! caller passes in the definitions.

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

/// The group of definitions.
pub const GROUP: &str = "apiextensions.k8s.io";

/// Returns the server of `routes`, the declared kinds of [`GROUP`], without custom resources.
#[must_use]
pub fn server(routes: Routes) -> ApiServer {
    ApiServer::new("extensions", routes)
}
