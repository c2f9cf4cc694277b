//! A server in front of this one that knows who somebody is, and what they may do.
//!
//! Reading order: [`host`] (how it is asked), [`token_reviews`], [`access_reviews`], [`trusted_proxies`], [`host_namespaces`].

mod access_reviews;
mod host;
mod host_namespaces;
mod remembered;
mod token_reviews;
mod trusted_proxies;

pub(crate) use access_reviews::AccessReviews;
pub(crate) use host::Host;
pub(crate) use host_namespaces::HostNamespaces;
pub(crate) use token_reviews::TokenReviews;
pub(crate) use trusted_proxies::{Lookup, TrustedProxies};
