//! Verification of tokens of one issuer: issuer, audience, times and signature.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use planesmith_machinery::clock::Clock;
use planesmith_machinery::go_format;
use planesmith_machinery::time::Time;
use serde_json::Value;

use crate::compact_token::{Claims, CompactToken, issuer_of};
use crate::json_web_key::Algorithm;
use crate::provider::Provider;

/// The tolerated difference of clocks for tokens that are not valid yet, in seconds.
const LEEWAY: f64 = 300.0;

/// The error for a token that no key of the issuer has signed.
const UNSIGNED: &str = "failed to verify signature: failed to verify id token signature";

/// Verifies tokens of one issuer.
#[derive(Clone, Debug)]
pub(crate) struct Verifier {
    pub(crate) provider: Arc<Provider>,
    /// A token must be for one of these.
    pub(crate) audiences: Vec<String>,
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// The state of a token after it was compared with the known keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    /// A key of the issuer has signed it.
    Verified,
    /// None of the known keys has; the issuer may have others by now.
    Unknown(Algorithm),
}

impl Verifier {
    /// Verifies a token with the keys that are known.
    ///
    /// # Errors
    ///
    /// The token is invalid, whatever the keys are.
    pub(crate) fn verify_now(&self, token: &CompactToken) -> Result<Signature, String> {
        self.check_claims(token.claims())?;
        let algorithm = token.algorithm(&self.algorithms)?;
        match token.is_signed_by(&self.provider.known_keys(), algorithm) {
            true => Ok(Signature::Verified),
            false => Ok(Signature::Unknown(algorithm)),
        }
    }

    /// Verifies the signature with the keys that the issuer has now.
    ///
    /// # Errors
    ///
    /// The keys cannot be read, or none of them has signed the token.
    pub(crate) async fn verify_signature(&self, token: &CompactToken, algorithm: Algorithm) -> Result<(), String> {
        let keys = self.provider.refreshed_keys().await;
        let keys = keys.map_err(|error| format!("failed to verify signature: fetching keys {error}"))?;
        match token.is_signed_by(&keys, algorithm) {
            true => Ok(()),
            false => Err(UNSIGNED.to_owned()),
        }
    }

    /// Verifies a token, and reads keys again if that is needed.
    ///
    /// # Errors
    ///
    /// The token is invalid.
    pub(crate) async fn verify(&self, token: &CompactToken) -> Result<(), String> {
        match self.verify_now(token)? {
            Signature::Verified => Ok(()),
            Signature::Unknown(algorithm) => self.verify_signature(token, algorithm).await,
        }
    }

    fn check_claims(&self, claims: &Claims) -> Result<(), String> {
        let (wanted, found) = (self.provider.issuer(), issuer_of(claims));
        if found != wanted {
            return Err(format!(
                "oidc: id token issued by a different provider, expected {wanted:?} got {found:?}"
            ));
        }
        let audiences = texts(claims.get("aud"));
        if !audiences.iter().any(|audience| self.audiences.contains(audience)) {
            return Err(format!(
                "oidc: expected audience in {} got {}",
                quoted(&self.audiences),
                quoted(&audiences)
            ));
        }
        let now = self
            .clock
            .now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64();
        let expiry = seconds(claims.get("exp")).unwrap_or(0.0);
        if expiry < now {
            return Err(format!("oidc: token is expired (Token Expiry: {})", rendered(expiry)));
        }
        match seconds(claims.get("nbf")) {
            Some(begin) if now + LEEWAY < begin => Err(format!(
                "oidc: current time {} before the nbf (not before) time: {}",
                rendered(now),
                rendered(begin)
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the time at which a token with these claims expires.
pub(crate) fn expiry(claims: &Claims) -> Option<SystemTime> {
    let seconds = seconds(claims.get("exp")).filter(|seconds| *seconds >= 0.0)?;
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// Returns a string, or the strings of a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Returns a number of seconds, which some issuers write as a fraction.
fn seconds(value: Option<&Value>) -> Option<f64> {
    value?.as_f64()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "fractions are not shown, and the rest saturates"
)]
fn rendered(seconds: f64) -> String {
    Time::from_second(seconds as i64).to_string()
}

fn quoted(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| go_format::quote(text)).collect();
    format!("[{}]", quoted.join(" "))
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::clock::ManualClock;
    use planesmith_server::proxy::{Dialer, Link, Trust, client_tls_to};
    use serde_json::json;

    use super::*;
    use crate::compact_token::unverified_claims;
    use crate::https_url::TIMEOUT;
    use crate::json_web_key::KeySet;
    use crate::json_web_key::testing::SigningKey;

    const ISSUER: &str = "https://issuer.example.com";

    fn verifier(keys: &[&SigningKey]) -> Verifier {
        let keys: Vec<_> = keys.iter().map(|key| key.published()).collect();
        let keys = KeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap();
        let link = Link::new(client_tls_to(Trust::Anyone, None).unwrap(), TIMEOUT, &Dialer::default());
        let provider = Provider::new(ISSUER, "", link, None).unwrap().with_keys(keys);
        Verifier {
            provider: Arc::new(provider),
            audiences: vec!["kubernetes".to_owned(), "other".to_owned()],
            algorithms: vec![Algorithm::Es256],
            clock: Arc::new(ManualClock::new(1_000_000)),
        }
    }

    fn verify(verifier: &Verifier, key: &SigningKey, changes: &Value) -> Result<Signature, String> {
        let mut claims = json!({"iss": ISSUER, "aud": "kubernetes", "exp": 1000});
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let token = key.sign(&claims);
        let claims = unverified_claims(&token).unwrap();
        verifier.verify_now(&CompactToken::parse(&token, claims).unwrap())
    }

    #[test]
    fn claims_decide_before_the_signature() {
        let key = SigningKey::new("1");
        let verifier = verifier(&[&key]);
        for valid in [
            json!({}),
            json!({"aud": ["x", "other"]}),
            json!({"exp": 1000.5}),
            json!({"nbf": 1300}),
        ] {
            assert_eq!(verify(&verifier, &key, &valid), Ok(Signature::Verified), "{valid}");
        }
        for (claims, problem) in [
            (
                json!({"aud": ["x"]}),
                "oidc: expected audience in [\"kubernetes\" \"other\"] got [\"x\"]",
            ),
            (
                json!({"aud": null}),
                "oidc: expected audience in [\"kubernetes\" \"other\"] got []",
            ),
            (
                json!({"exp": 999}),
                "oidc: token is expired (Token Expiry: 1970-01-01T00:16:39Z)",
            ),
            (
                json!({"exp": null}),
                "oidc: token is expired (Token Expiry: 1970-01-01T00:00:00Z)",
            ),
            (
                json!({"nbf": 1301}),
                "oidc: current time 1970-01-01T00:16:40Z before the nbf (not before) time: 1970-01-01T00:21:41Z",
            ),
            (
                json!({"iss": "https://other"}),
                "oidc: id token issued by a different provider, expected \"https://issuer.example.com\" got \"https://other\"",
            ),
        ] {
            assert_eq!(verify(&verifier, &key, &claims), Err(problem.to_owned()));
        }
    }

    #[test]
    fn a_key_that_is_not_known_may_be_new() {
        let (known, new) = (SigningKey::new("1"), SigningKey::new("2"));
        let verifier = verifier(&[&known]);
        assert_eq!(
            verify(&verifier, &new, &json!({})),
            Ok(Signature::Unknown(Algorithm::Es256))
        );
    }

    #[test]
    fn only_chosen_algorithms_are_accepted() {
        let key = SigningKey::new("1");
        let verifier = Verifier {
            algorithms: vec![Algorithm::Rs256],
            ..verifier(&[&key])
        };
        let refused = verify(&verifier, &key, &json!({}));
        let problem = "oidc: id token signed with unsupported algorithm: \"ES256\"";
        assert_eq!(refused, Err(problem.to_owned()));
    }
}
