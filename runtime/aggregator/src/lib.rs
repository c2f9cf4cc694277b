//! The aggregation server: the outermost one of the chain, in front of every group that another server answers for.
//!
//! Reading order: [`Registration`] (a group version and its server), [`Aggregator`] (all registrations), [`Backend`] (another
//! server: requests, availability, documents), [`Claims`] (routes), then `api_services` (registrations that are stored as
//! APIServices) and [`COMPONENT`], which a program lists to have this server. This crate must not know what the other servers
//! serve. Unclaimed group versions go to the next server of the chain.

mod aggregator;
mod api_services;
mod backend;
mod claims;
mod component;
mod config;
mod identity;
mod openapi;
mod registration;

pub use aggregator::Aggregator;
pub use backend::Backend;
pub use claims::Claims;
pub use component::COMPONENT;
pub use config::AggregatorConfig;
pub use registration::{Registration, Remote, RemoteTrust};

/// The group of APIServices.
pub const GROUP: &str = "apiregistration.k8s.io";
