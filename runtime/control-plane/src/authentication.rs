//! Who may enter and do what, as the flags say.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use planesmith_access::authentication::service_account::ServiceAccountTokens;
use planesmith_access::authentication::{Authenticator, BearerTokens, CertificateAuthenticator, Chain, TokenFile};
use planesmith_access::authorization::{AlwaysAllow, AlwaysDeny, Authorizer, PrivilegedGroup, Union};
use planesmith_server::stores::Stores;

use crate::loopback::Loopback;
use crate::options::{AuthorizationMode, Options};
use crate::service_accounts::{ServiceAccountKeys, StoredObjects};

/// Tokens of the file, the server's own, and those of service accounts.
///
/// # Errors
///
/// When the token file cannot be read or is malformed.
pub fn bearer_tokens(
    options: &Options,
    loopback: &Loopback,
    keys: &ServiceAccountKeys,
    stores: &Stores,
) -> Result<Arc<BearerTokens>> {
    let mut tokens = match &options.token_auth_file {
        None => TokenFile::default(),
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| format!("--token-auth-file {}", path.display()))?;
            TokenFile::parse(&text).with_context(|| format!("--token-auth-file {}", path.display()))?
        }
    };
    tokens.add(loopback.token(), Loopback::user());
    let service_accounts = ServiceAccountTokens {
        issuers: keys.issuers.clone(),
        keys: keys.keys.clone(),
        audiences: keys.audiences.clone(),
        objects: Arc::new(StoredObjects::new(stores)),
        now: SystemTime::now,
    };
    Ok(Arc::new(BearerTokens::new(
        vec![Box::new(tokens), Box::new(service_accounts)],
        keys.audiences.clone(),
    )))
}

/// Client certificates, then tokens.
#[must_use]
pub fn authenticator(options: &Options, tokens: &Arc<BearerTokens>) -> Arc<dyn Authenticator> {
    let certificates = CertificateAuthenticator { now: SystemTime::now };
    let chain = Chain::new(
        vec![Box::new(certificates), Box::new(Arc::clone(tokens))],
        options.anonymous_allowed(),
    );
    Arc::new(chain)
}

/// Members of `system:masters` may do everything; for others the modes are asked in order.
#[must_use]
pub fn authorizer(options: &Options) -> Arc<dyn Authorizer> {
    let mut authorizers: Vec<Box<dyn Authorizer>> = vec![Box::new(PrivilegedGroup)];
    for mode in &options.authorization_mode {
        authorizers.push(match mode {
            AuthorizationMode::AlwaysAllow => Box::new(AlwaysAllow),
            AuthorizationMode::AlwaysDeny => Box::new(AlwaysDeny),
        });
    }
    Arc::new(Union::new(authorizers))
}
