//! Delegation of authentication and authorization to a server in front of this one.
//!
//! Reading order: [`host`] (the client for that server), [`token_reviews`], [`access_reviews`], [`trusted_proxies`],
//! [`host_namespaces`].

mod access_reviews;
mod host;
mod host_namespaces;
mod remembered;
mod token_reviews;
mod trusted_proxies;

pub(crate) use access_reviews::AccessReviews;
pub use host::Host;
pub(crate) use host_namespaces::HostNamespaces;
pub(crate) use token_reviews::TokenReviews;
pub(crate) use trusted_proxies::{Lookup, TrustedProxies};
