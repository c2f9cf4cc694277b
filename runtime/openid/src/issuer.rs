//! The tokens of one issuer.

use std::sync::Arc;
use std::time::Instant;

use planesmith_access::authentication::{TokenUser, TokenVerdict, authenticated};
use planesmith_access::outcome::Outcome;
use planesmith_machinery::clock::Clock;
use planesmith_server::metrics::IssuerMetrics;
use planesmith_server::own_task::OwnTask;
use planesmith_server::proxy::Link;

use crate::compact_token::{Claims, CompactToken};
use crate::distributed_claims::{DistributedClaim, Endpoint};
use crate::json_web_key::Algorithm;
use crate::mapping::{ClaimRules, Source};
use crate::provider::Provider;
use crate::verifier::{Signature, Verifier, expiry};

/// Authenticates tokens of one issuer.
#[derive(Debug)]
pub(crate) struct Issuer {
    rules: ClaimRules,
    verifier: Verifier,
    /// The groups, if another server may have them.
    distributed: Option<DistributedClaim>,
    metrics: Arc<IssuerMetrics>,
    _discovery: OwnTask<()>,
}

/// The settings of one issuer, checked.
#[derive(Debug)]
pub(crate) struct IssuerSettings {
    pub(crate) url: String,
    /// The URL of the discovery document; empty for the usual one.
    pub(crate) discovery_url: String,
    pub(crate) audiences: Vec<String>,
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) link: Link,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rules: ClaimRules,
}

impl Issuer {
    /// Creates the authenticator, and begins to discover the issuer in the background.
    ///
    /// # Errors
    ///
    /// A URL cannot be used.
    pub(crate) fn new(settings: IssuerSettings, metrics: Arc<IssuerMetrics>) -> Result<Arc<Self>, String> {
        let link = settings.link;
        let provider = Provider::new(
            &settings.url,
            &settings.discovery_url,
            link.clone(),
            Some(Arc::clone(&metrics)),
        )?;
        let provider = Arc::new(provider);
        let verifier = Verifier {
            provider: Arc::clone(&provider),
            audiences: settings.audiences,
            algorithms: settings.algorithms,
            clock: settings.clock,
        };
        let distributed = match &settings.rules.groups {
            Some(Source::Claim { name, .. }) => Some(DistributedClaim::new(name, link, verifier.clone())),
            _ => None,
        };
        Ok(Arc::new(Self {
            rules: settings.rules,
            verifier,
            distributed,
            metrics,
            _discovery: OwnTask::run(provider.discover_repeatedly()),
        }))
    }

    /// The URL of the issuer.
    pub(crate) fn url(&self) -> &str {
        self.verifier.provider.issuer()
    }

    /// True once tokens can be verified.
    pub(crate) fn is_ready(&self) -> bool {
        self.verifier.provider.is_discovered()
    }

    /// Authenticates a token that names this issuer.
    pub(crate) fn authenticate(self: Arc<Self>, token: &str, claims: Claims) -> Outcome<'static, TokenVerdict> {
        let begin = Instant::now();
        match self.begin(token, claims) {
            Ok(Progress::Done(verdict)) => {
                self.metrics.authenticated(true, begin.elapsed());
                Outcome::Ready(verdict)
            }
            Err(reason) => {
                self.metrics.authenticated(false, begin.elapsed());
                Outcome::Ready(TokenVerdict::Invalid(reason))
            }
            Ok(Progress::Waits(token, signature)) => Outcome::pending(async move {
                let verdict = self.finish(token, signature).await;
                self.metrics.authenticated(verdict.is_ok(), begin.elapsed());
                verdict.unwrap_or_else(TokenVerdict::Invalid)
            }),
        }
    }

    /// Authenticates as far as that needs no other server.
    fn begin(&self, token: &str, claims: Claims) -> Result<Progress, String> {
        if !self.is_ready() {
            return Err("oidc: authenticator not initialized".to_owned());
        }
        let token = CompactToken::parse(token, claims).map_err(|why| invalid(&why))?;
        let signature = self.verifier.verify_now(&token).map_err(|why| invalid(&why))?;
        if signature != Signature::Verified || self.endpoint(token.claims())?.is_some() {
            return Ok(Progress::Waits(token, signature));
        }
        self.user(&token.into_claims()).map(Progress::Done)
    }

    async fn finish(&self, token: CompactToken, signature: Signature) -> Result<TokenVerdict, String> {
        if let Signature::Unknown(algorithm) = signature {
            let verified = self.verifier.verify_signature(&token, algorithm).await;
            verified.map_err(|why| invalid(&why))?;
        }
        let endpoint = self.endpoint(token.claims())?;
        let mut claims = token.into_claims();
        if let (Some(distributed), Some(endpoint)) = (&self.distributed, endpoint) {
            let resolved = distributed.resolve(&endpoint, &mut claims).await;
            resolved.map_err(|why| unresolved(&why))?;
        }
        self.user(&claims)
    }

    /// Returns the server that has the groups; `None` if the token has them.
    fn endpoint(&self, claims: &Claims) -> Result<Option<Endpoint>, String> {
        match &self.distributed {
            None => Ok(None),
            Some(distributed) => distributed.endpoint(claims).map_err(|why| unresolved(&why)),
        }
    }

    fn user(&self, claims: &Claims) -> Result<TokenVerdict, String> {
        Ok(TokenVerdict::Valid(TokenUser {
            until: expiry(claims),
            // Such tokens are for the API server.
            ..TokenUser::of(authenticated(self.rules.user(claims)?))
        }))
    }
}

/// The authentication of a token, as far as it needs no other server.
enum Progress {
    Done(TokenVerdict),
    /// Keys, or groups, have to be requested.
    Waits(CompactToken, Signature),
}

fn invalid(why: &str) -> String {
    format!("oidc: verify token: {why}")
}

fn unresolved(why: &str) -> String {
    format!("oidc: could not expand distributed claims: {why}")
}
