//! The authentication that the flags select.

mod bootstrap_secrets;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use planesmith_access::authentication::service_account::{
    BoundObjects, LegacyTokens, ServiceAccountTokens, TokenSecrets,
};
use planesmith_access::authentication::{
    Anonymous, Authenticator, BearerTokens, BootstrapTokens, CertificateAuthenticator, Chain,
    RequestHeaderAuthenticator, TokenAuthenticator, TokenFile, WebSocketTokens,
};
use planesmith_machinery::clock::Clock;
use planesmith_server::metrics::SharedMetrics;
use planesmith_server::stores::Stores;

use self::bootstrap_secrets::StoredBootstrapSecrets;
use crate::delegation::{Host, TokenReviews};
use crate::feature_gates::FeatureGates;
use crate::loopback::Loopback;
use crate::options::Options;
use crate::outbound::{Network, Outbound};
use crate::service_accounts::{ServiceAccountKeys, StoredObjects, StoredTokenSecrets};

/// The longest time that a webhook may take to review a token; kube-apiserver's.
const REVIEW_TIMEOUT: Duration = Duration::from_secs(30);

/// The parts of a server that authenticators of components work with.
#[derive(Clone, Copy, Debug)]
pub struct AuthenticationContext<'a> {
    /// The flags.
    pub options: &'a Options,
    /// The features that are on.
    pub gates: &'a FeatureGates,
    /// The metrics of the server.
    pub metrics: &'a SharedMetrics,
    /// The name that identifies the server among several.
    pub server_name: &'a str,
    /// The parts that requests to other servers share.
    pub outbound: &'a Outbound,
}

/// The part of authentication that a component adds.
#[derive(Debug, Default)]
pub struct AddedAuthentication {
    /// Authenticators of tokens, which are consulted after the local ones and before the webhook.
    pub tokens: Vec<Box<dyn TokenAuthenticator>>,
    /// The requests without credentials that are served; `None` to leave this to `--anonymous-auth`.
    pub anonymous: Option<Anonymous>,
}

impl AddedAuthentication {
    /// Adds what a further component brings, whose decision about requests without credentials counts.
    pub(crate) fn and(mut self, later: Self) -> Self {
        self.tokens.extend(later.tokens);
        self.anonymous = later.anonymous.or(self.anonymous);
        self
    }
}

/// The authenticator of bearer tokens, in kube-apiserver's order: those of the token file and the server's own, those of
/// service accounts, bootstrap tokens, those of components, and those that another server knows.
///
/// # Errors
///
/// When the token file, or a kubeconfig, cannot be read or is malformed.
pub(crate) fn bearer_tokens(
    context: &AuthenticationContext<'_>,
    loopback: &Loopback,
    keys: &ServiceAccountKeys,
    stores: &Stores,
    added: Vec<Box<dyn TokenAuthenticator>>,
) -> Result<Arc<BearerTokens>> {
    let AuthenticationContext { options, outbound, .. } = *context;
    let flags = &options.authentication;
    let mut tokens = match &flags.token_auth_file {
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
        let secrets: Arc<dyn TokenSecrets> = Arc::new(secrets);
        authenticators.push(Box::new(LegacyTokens {
            keys: keys.keys.clone(),
            audiences: keys.audiences.clone(),
            objects: Arc::clone(&objects),
            secrets: options.service_accounts.service_account_lookup.then_some(secrets),
            uses: stores.options().metrics.count_token_uses(),
        }));
    }
    authenticators.push(Box::new(ServiceAccountTokens {
        issuers: keys.issuers.clone(),
        keys: keys.keys.clone(),
        audiences: keys.audiences.clone(),
        objects,
        uses: stores.options().metrics.count_token_uses(),
        clock: Arc::clone(&options.clock),
    }));
    if flags.enable_bootstrap_token_auth
        && let Some(secrets) = StoredBootstrapSecrets::new(stores, loopback)
    {
        authenticators.push(Box::new(BootstrapTokens {
            secrets: Arc::new(secrets),
            clock: Arc::clone(&options.clock),
        }));
    }
    authenticators.extend(added);
    if let Some(kubeconfig) = &flags.authentication_token_webhook_config_file {
        let host = Host::open_in(Network::ControlPlane, kubeconfig, outbound)
            .context("--authentication-token-webhook-config-file")?
            .with_timeout(REVIEW_TIMEOUT);
        authenticators.push(Box::new(TokenReviews::of_webhook(
            host,
            flags.authentication_token_webhook_version,
            keys.audiences.clone(),
            flags.authentication_token_webhook_cache_ttl,
            Arc::clone(&options.clock),
        )));
    }
    if let Some(kubeconfig) = &options.aggregation.authentication_kubeconfig {
        authenticators.push(Box::new(TokenReviews::of_front(
            Host::open(kubeconfig, outbound)?,
            Arc::clone(&options.clock),
        )));
    }
    let tokens = BearerTokens::new(authenticators, keys.audiences.clone(), Arc::clone(&options.clock));
    Ok(Arc::new(tokens.observed_by(stores.options().metrics.observe_tokens())))
}

/// The authenticators in their order: proxies, client certificates, bearer tokens.
#[must_use]
pub(crate) fn authenticator(
    proxies: &RequestHeaderAuthenticator,
    tokens: &Arc<BearerTokens>,
    anonymous: Anonymous,
    clock: &Arc<dyn Clock>,
) -> Arc<dyn Authenticator> {
    let certificates = CertificateAuthenticator {
        clock: Arc::clone(clock),
    };
    let chain = Chain::new(
        vec![
            Box::new(proxies.clone()),
            Box::new(certificates),
            Box::new(Arc::clone(tokens)),
            Box::new(WebSocketTokens::new(Arc::clone(tokens))),
        ],
        anonymous,
    );
    Arc::new(chain)
}

/// The requests without credentials that are served: as `configured` in a file, or as the flag says. None are while every
/// request is allowed, as in kube-apiserver.
pub(crate) fn anonymous(options: &Options, configured: Option<Anonymous>, allows_everything: bool) -> Anonymous {
    match configured {
        _ if !allows_everything => configured.unwrap_or_else(|| options.authentication.anonymous_auth.into()),
        Some(Anonymous::Served | Anonymous::ServedAt(_)) => {
            tracing::warn!(
                "requests without credentials are refused, although --authentication-config enables them, because the \
                 authorizer AlwaysAllow would allow them everything"
            );
            Anonymous::Refused
        }
        Some(Anonymous::Refused) | None => Anonymous::Refused,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn requests_without_credentials_are_refused_while_everything_is_allowed() {
        let options = Options::parse_from(["server"]);
        assert_eq!(anonymous(&options, None, false), Anonymous::Served);
        assert_eq!(anonymous(&options, Some(Anonymous::Refused), false), Anonymous::Refused);
        assert_eq!(anonymous(&options, None, true), Anonymous::Refused);
        assert_eq!(anonymous(&options, Some(Anonymous::Served), true), Anonymous::Refused);
    }
}
