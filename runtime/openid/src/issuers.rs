//! The authenticator of tokens of all issuers.

use std::sync::Arc;

use arc_swap::ArcSwap;
use planesmith_access::authentication::{TokenAuthenticator, TokenVerdict};
use planesmith_access::outcome::Outcome;
use planesmith_server::own_task::OwnTask;

use crate::compact_token::{issuer_of, unverified_claims};
use crate::issuer::Issuer;

/// The issuers in use. They are replaced as a whole when their configuration changes.
pub(crate) type Issuers = ArcSwap<Vec<Arc<Issuer>>>;

/// Authenticates tokens of OpenID providers.
#[derive(Debug)]
pub(crate) struct OpenIdTokens {
    pub(crate) issuers: Arc<Issuers>,
    /// Follows the configuration file; `None` for issuers of flags.
    pub(crate) _reload: Option<OwnTask<()>>,
}

impl TokenAuthenticator for OpenIdTokens {
    fn authenticate_token(&self, token: &str, _audiences: &[String]) -> Outcome<'static, TokenVerdict> {
        let issuers = self.issuers.load();
        if issuers.is_empty() {
            return Outcome::Ready(TokenVerdict::NoOpinion);
        }
        let Some(claims) = unverified_claims(token) else {
            return Outcome::Ready(TokenVerdict::NoOpinion);
        };
        let named = issuer_of(&claims);
        match issuers.iter().find(|issuer| issuer.url() == named) {
            Some(issuer) => Arc::clone(issuer).authenticate(token, claims),
            None => Outcome::Ready(TokenVerdict::NoOpinion),
        }
    }
}
