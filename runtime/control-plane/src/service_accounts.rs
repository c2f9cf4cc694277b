//! Tokens of service accounts: their keys, the objects they are bound to, and requests for them.

mod bound_objects;
mod keys;
mod openid;
mod token_request;
pub(crate) mod token_secrets;

use std::sync::Arc;

use planesmith_server::stores::Stores;

use crate::options::ServiceAccountOptions;

pub(crate) use bound_objects::StoredObjects;
pub use keys::{ServiceAccountKeys, TokenSigner};
pub(crate) use openid::with_openid;
pub(crate) use token_secrets::StoredTokenSecrets;

/// Registers the handler of token requests. To be called before service accounts are installed.
pub(crate) fn handle_subresources(stores: &Stores, keys: &ServiceAccountKeys, flags: &ServiceAccountOptions) {
    let requests = token_request::TokenRequests::new(keys, StoredObjects::new(stores), flags);
    stores.handle("", "serviceaccounts", "token", Arc::new(requests));
}
