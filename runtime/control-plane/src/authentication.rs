//! The authentication and authorization that the flags ask for.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use planesmith_access::authentication::service_account::{BoundObjects, LegacyTokens, ServiceAccountTokens};
use planesmith_access::authentication::{
    Authenticator, BearerTokens, CertificateAuthenticator, Chain, RequestHeaderAuthenticator, TokenAuthenticator,
    TokenFile, WebSocketTokens,
};
use planesmith_access::authorization::{AllowedPaths, AlwaysAllow, AlwaysDeny, Authorizer, PrivilegedGroup, Union};
use planesmith_server::stores::Stores;

use crate::delegation::{AccessReviews, Host, TokenReviews};
use crate::loopback::Loopback;
use crate::options::{AuthorizationMode, Options};
use crate::service_accounts::{ServiceAccountKeys, StoredObjects, StoredTokenSecrets};

/// The authenticator of bearer tokens: those of the token file, the server's own, and those of service accounts.
///
/// # Errors
///
/// When the token file, or a kubeconfig, cannot be read or is malformed.
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
    let objects: Arc<dyn BoundObjects> = Arc::new(StoredObjects::new(stores));
    let mut authenticators: Vec<Box<dyn TokenAuthenticator>> = vec![Box::new(tokens)];
    if let Some(secrets) = StoredTokenSecrets::new(stores, loopback) {
        authenticators.push(Box::new(LegacyTokens {
            keys: keys.keys.clone(),
            audiences: keys.audiences.clone(),
            objects: Arc::clone(&objects),
            secrets: Arc::new(secrets),
        }));
    }
    authenticators.push(Box::new(ServiceAccountTokens {
        issuers: keys.issuers.clone(),
        keys: keys.keys.clone(),
        audiences: keys.audiences.clone(),
        objects,
        now: SystemTime::now,
    }));
    if let Some(kubeconfig) = &options.aggregation.authentication_kubeconfig {
        authenticators.push(Box::new(TokenReviews::new(Host::open(kubeconfig)?)));
    }
    let tokens = BearerTokens::new(authenticators, keys.audiences.clone());
    Ok(Arc::new(tokens.observed_by(stores.options().metrics.observe_tokens())))
}

/// The authenticators in their order: proxies, client certificates, bearer tokens.
#[must_use]
pub fn authenticator(
    options: &Options,
    proxies: &RequestHeaderAuthenticator,
    tokens: &Arc<BearerTokens>,
) -> Arc<dyn Authenticator> {
    let certificates = CertificateAuthenticator { now: SystemTime::now };
    let chain = Chain::new(
        vec![
            Box::new(proxies.clone()),
            Box::new(certificates),
            Box::new(Arc::clone(tokens)),
            Box::new(WebSocketTokens::new(Arc::clone(tokens))),
        ],
        options.anonymous_allowed(),
    );
    Arc::new(chain)
}

/// The authorizer: members of `system:masters` may do everything; for others the modes are consulted in order, or the
/// server in front.
///
/// # Errors
///
/// When the kubeconfig of that server cannot be read.
pub fn authorizer(options: &Options) -> Result<Arc<dyn Authorizer>> {
    let mut authorizers: Vec<Box<dyn Authorizer>> = vec![Box::new(PrivilegedGroup)];
    if let Some(kubeconfig) = &options.aggregation.authorization_kubeconfig {
        let allowed = options.aggregation.authorization_always_allow_paths.iter();
        authorizers.push(Box::new(AllowedPaths::new(allowed.map(String::as_str))));
        authorizers.push(Box::new(AccessReviews::new(Host::open(kubeconfig)?)));
        return Ok(Arc::new(Union::new(authorizers)));
    }
    for mode in &options.authorization_mode {
        authorizers.push(match mode {
            AuthorizationMode::AlwaysAllow => Box::new(AlwaysAllow),
            AuthorizationMode::AlwaysDeny => Box::new(AlwaysDeny),
        });
    }
    Ok(Arc::new(Union::new(authorizers)))
}
