//! Claims that another server of the issuer holds (OpenID Connect Core 1.0, section 5.6.2).

use std::collections::HashMap;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use planesmith_server::proxy::Link;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::compact_token::{Claims, CompactToken, issuer_of, unverified_claims};
use crate::https_url::HttpsUrl;
use crate::provider::Provider;
use crate::verifier::Verifier;

/// The names of claims that are elsewhere, and their sources.
const NAMES: &str = "_claim_names";
/// The sources.
const SOURCES: &str = "_claim_sources";

/// Maximum number of issuers of such claims.
const ISSUERS: usize = 16;

/// Requests a claim from the server that has it.
#[derive(Debug)]
pub(crate) struct DistributedClaim {
    /// The claim.
    name: String,
    link: Link,
    /// Verifies the answers of each issuer with the settings of this one.
    verifier: Verifier,
    providers: Mutex<HashMap<String, Arc<Provider>>>,
}

/// The server that has a claim; its token is a secret.
#[derive(Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Endpoint {
    #[serde(rename = "endpoint")]
    url: String,
    access_token: String,
}

impl DistributedClaim {
    pub(crate) fn new(name: &str, link: Link, verifier: Verifier) -> Self {
        Self {
            name: name.to_owned(),
            link,
            verifier,
            providers: Mutex::default(),
        }
    }

    /// Returns the server that has the claim; `None` if the token has it itself or names no server.
    ///
    /// # Errors
    ///
    /// The names or the sources are malformed.
    pub(crate) fn endpoint(&self, claims: &Claims) -> Result<Option<Endpoint>, String> {
        let Some(names) = claims.get(NAMES).filter(|_| !claims.contains_key(&self.name)) else {
            return Ok(None);
        };
        let names: HashMap<String, String> = serde_json::from_value(names.clone())
            .map_err(|error| format!("oidc: error parsing distributed claim names: {error}"))?;
        let sources = claims.get(SOURCES).ok_or("oidc: no claim sources")?;
        let sources: HashMap<String, Endpoint> = serde_json::from_value(sources.clone())
            .map_err(|error| format!("oidc: could not parse claim sources: {error}"))?;
        let Some(source) = names.get(&self.name) else {
            return Ok(None);
        };
        match sources.get(source) {
            None => Err(format!(
                "id token _claim_names contained a source {source} missing in _claims_sources"
            )),
            // The claim may be part of the token, signed by another issuer, which is not supported.
            Some(endpoint) if endpoint.url.is_empty() => Ok(None),
            Some(endpoint) => Ok(Some(endpoint.clone())),
        }
    }

    /// Adds the claim of `endpoint` to `claims`.
    ///
    /// # Errors
    ///
    /// The server does not answer, or with a token that is invalid or without the claim.
    pub(crate) async fn resolve(&self, endpoint: &Endpoint, claims: &mut Claims) -> Result<(), String> {
        let name = &self.name;
        let failed = |why: String| format!("while getting distributed claim {name:?}: {why}");
        let token = self.request(endpoint).await.map_err(failed)?;
        let url = &endpoint.url;
        let found = unverified_claims(&token).ok_or_else(|| {
            format!("getting untrusted issuer from endpoint {url} failed for claim {name:?}: malformed token")
        })?;
        let issuer = issuer_of(&found).to_owned();
        let provider = self.provider(&issuer).await;
        let provider = provider.map_err(|why| format!("verifying untrusted issuer {issuer} failed: {why}"))?;
        let verifier = Verifier {
            provider,
            ..self.verifier.clone()
        };
        let invalid = |why: String| format!("verify distributed claim token: {why}");
        let token = CompactToken::parse(&token, found).map_err(invalid)?;
        verifier.verify(&token).await.map_err(invalid)?;
        let value: Value = token.into_claims().remove(name).ok_or_else(|| {
            format!("jwt returned by distributed claim endpoint {url:?} did not contain claim: {name}")
        })?;
        claims.insert(name.clone(), value);
        Ok(())
    }

    async fn request(&self, endpoint: &Endpoint) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        if !endpoint.access_token.is_empty() {
            let value = HeaderValue::try_from(format!("Bearer {}", endpoint.access_token));
            let value = value.map_err(|_| "the access token has characters that a header cannot have")?;
            headers.insert(AUTHORIZATION, value);
        }
        let answer = HttpsUrl::parse(&endpoint.url)?.get(&self.link, &headers).await?;
        let text = std::str::from_utf8(&answer).map_err(|_| "could not decode distributed claim response")?;
        Ok(text.trim().to_owned())
    }

    /// Returns the issuer with this URL; discovers it when it is seen for the first time.
    async fn provider(&self, issuer: &str) -> Result<Arc<Provider>, String> {
        if issuer == self.verifier.provider.issuer() {
            return Ok(Arc::clone(&self.verifier.provider));
        }
        if let Some(known) = self.providers.lock().await.get(issuer) {
            return Ok(Arc::clone(known));
        }
        // Not locked meanwhile: an issuer that answers slowly must not hold up the others.
        let provider = Arc::new(Provider::new(issuer, "", self.link.clone(), None)?);
        provider.discover().await?;
        let mut providers = self.providers.lock().await;
        if providers.len() >= ISSUERS {
            providers.clear();
        }
        providers.insert(issuer.to_owned(), Arc::clone(&provider));
        Ok(provider)
    }
}
