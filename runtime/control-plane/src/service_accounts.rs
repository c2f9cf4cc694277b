//! Tokens of service accounts: what signs them, what they end with, and how they are asked for.

mod bound_objects;
mod keys;
mod openid;
mod token_request;
pub(crate) mod token_secrets;

use std::sync::Arc;

use planesmith_server::stores::Stores;

use crate::options::ServiceAccountOptions;

pub(crate) use bound_objects::StoredObjects;
pub use keys::ServiceAccountKeys;
pub(crate) use openid::with_openid;
pub(crate) use token_secrets::StoredTokenSecrets;

/// Answers requests for tokens. To be called before service accounts are installed.
pub(crate) fn handle_subresources(stores: &Stores, keys: &ServiceAccountKeys, flags: &ServiceAccountOptions) {
    let requests = token_request::TokenRequests::new(keys, StoredObjects::new(stores), flags);
    stores.handle("", "serviceaccounts", "token", Arc::new(requests));
}
