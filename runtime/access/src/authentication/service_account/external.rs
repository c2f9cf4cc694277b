//! Tokens that a signer outside of the server signs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use serde::Serialize;

use super::SignError;
use super::keys::PublicKey;

/// Signs tokens outside of the server, and names the keys that verify them.
pub trait ExternalSigner: Send + Sync + fmt::Debug {
    /// Returns the token with `claims`, which are the second part of the token: JSON in base64url.
    ///
    /// The error is for the log.
    fn sign(&self, claims: String) -> BoxFuture<'static, Result<String, String>>;

    /// Returns the keys of tokens that are accepted, as they were read last.
    fn keys(&self) -> Arc<[PublicKey]>;

    /// Reads the keys again, for a key that an unverified token names: the signer may skip this if it was called a moment ago. Keys
    /// that were read last stay if this fails.
    fn refresh(&self) -> BoxFuture<'static, ()>;

    /// Returns the time until the keys are read again.
    fn max_age(&self) -> Duration;
}

/// Returns the token with `claims` that `signer` signs.
pub(super) fn sign(
    signer: &Arc<dyn ExternalSigner>,
    claims: &impl Serialize,
) -> Result<BoxFuture<'static, Result<String, SignError>>, SignError> {
    let claims = serde_json::to_vec(claims).map_err(jsonwebtoken::errors::Error::from)?;
    let signed = signer.sign(URL_SAFE_NO_PAD.encode(claims));
    Ok(Box::pin(async move { signed.await.map_err(SignError::External) }))
}

/// Returns the key ID in the header of a token; `None` if it names none.
pub(super) fn key_id_of(token: &str) -> Option<String> {
    let header = jsonwebtoken::decode_header(token).ok()?;
    header.kid.filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::FutureExt as _;

    use super::super::tests::{KEY, accounts, claims};
    use super::super::{KeyRing, LegacyClaims, SigningKey, TokenIssuer};
    use super::*;
    use crate::authentication::{TokenAuthenticator as _, TokenVerdict};

    /// A signer whose key has another name than the server would give it. The name is known once the keys are read again.
    #[derive(Clone, Debug, Default)]
    struct Rotated(Arc<Mutex<Arc<[PublicKey]>>>);

    /// The public half of [`KEY`].
    const INFO: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFab\
                        mdT9POxg==";

    impl ExternalSigner for Rotated {
        fn sign(&self, claims: String) -> BoxFuture<'static, Result<String, String>> {
            let key = SigningKey::from_pem(KEY.as_bytes()).unwrap();
            let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::ES256);
            header.kid = Some("of the signer".to_owned());
            let claims = URL_SAFE_NO_PAD.decode(claims).unwrap();
            let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
            assert_eq!(claims["iss"], "https://issuer");
            super::super::signatures::install();
            let token = jsonwebtoken::encode(&header, &claims, key.encoding());
            Box::pin(async move { token.map_err(|error| error.to_string()) })
        }

        fn keys(&self) -> Arc<[PublicKey]> {
            Arc::clone(&self.0.lock().unwrap())
        }

        fn refresh(&self) -> BoxFuture<'static, ()> {
            let this = self.clone();
            Box::pin(async move {
                let info = base64::engine::general_purpose::STANDARD.decode(INFO).unwrap();
                let key = PublicKey::named(&info, "of the signer", true).unwrap();
                *this.0.lock().unwrap() = Arc::new([key]);
            })
        }

        fn max_age(&self) -> Duration {
            Duration::from_secs(30)
        }
    }

    #[test]
    fn an_unknown_key_of_the_signer_is_read_before_its_token_is_refused() {
        let ring = KeyRing::external(Arc::new(Rotated::default()));
        assert_eq!(ring.max_age(), Duration::from_secs(30));
        let issuer = TokenIssuer::new("https://issuer", ring.clone());
        let token = issuer.sign(claims()).wait().now_or_never().unwrap().unwrap();
        let tokens = accounts(ring);
        let verdict = tokens.authenticate_token(&token, &[]).wait().now_or_never().unwrap();
        assert!(matches!(verdict, TokenVerdict::Valid(_)), "{verdict:?}");
        let again = tokens.authenticate_token(&token, &[]).ready();
        assert!(again.is_some(), "the key is known");
    }

    #[test]
    fn an_external_signer_signs_no_tokens_without_an_end() {
        let issuer = TokenIssuer::new("https://issuer", KeyRing::external(Arc::new(Rotated::default())));
        assert!(!issuer.signs_legacy());
        let signed = issuer.sign_legacy(LegacyClaims::default());
        assert!(matches!(signed, Err(SignError::Endless)), "{signed:?}");
    }
}
