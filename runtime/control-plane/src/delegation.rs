//! Delegation of authentication to a server in front of this one. Authorization is delegated by `access_reviews`.
//!
//! Reading order: [`host`] (the client for that server), [`token_reviews`], [`trusted_proxies`],
//! [`host_namespaces`].

mod host;
mod host_namespaces;
mod token_reviews;
mod trusted_proxies;

pub use host::Host;
pub(crate) use host_namespaces::HostNamespaces;
pub(crate) use token_reviews::TokenReviews;
pub(crate) use trusted_proxies::{Lookup, TrustedProxies};
