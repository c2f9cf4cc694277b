//! The API-extensions server, which serves custom resources: the last server of the chain that has resources.
//!
//! Reading order: [`definition`] (a view of a definition), `facts` (the kind derived from it), [`SchemaChecks`] (validation of
//! its objects), [`Definitions`] (the served kinds), then the parts of a server: `definition_controller` (follows the stored
//! definitions), `remover` and `relocation` (objects of definitions that go or move), `webhook` (conversion by other servers), and
//! [`COMPONENT`], which a program lists to have this server.

mod checks;
mod component;
mod custom;
pub mod definition;
mod definition_controller;
mod definitions;
mod facts;
pub mod names;
mod openapi;
mod relocation;
mod remover;
mod status;
mod webhook;

pub use checks::SchemaChecks;
pub use component::COMPONENT;
pub use custom::CustomResources;
pub use definitions::Definitions;
pub use facts::KnownFacts;
pub use openapi::Templates;

/// The group of definitions.
pub const GROUP: &str = "apiextensions.k8s.io";
