//! One API server: requests, routes, filters, discovery, health and lifecycle.
//!
//! Reading order: [`request`] (what is asked), [`routes`] (who answers), [`chain`] (servers that pass on what they do not
//! know).

pub mod chain;
mod failure;
pub mod request;
pub mod routes;
pub mod shutdown;
