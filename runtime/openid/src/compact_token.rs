//! JSON Web Tokens in their compact form: header, claims and signature.

use base64::Engine as _;
use planesmith_machinery::go_base64::RAW_URL;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::json_web_key::{Algorithm, KeySet};

/// The issuer that Google names in some tokens, and the one that they are from.
const GOOGLE: (&str, &str) = ("accounts.google.com", "https://accounts.google.com");

/// The claims of a token.
pub(crate) type Claims = Map<String, Value>;

/// A token whose signature is not verified yet.
#[derive(Clone)]
pub(crate) struct CompactToken {
    /// Header and claims, as signed.
    signed: String,
    signature: Vec<u8>,
    header: Header,
    claims: Claims,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Header {
    alg: String,
    kid: String,
    crit: Option<Vec<Value>>,
}

/// Returns the claims of an unverified token; `None` if the text is no token.
pub(crate) fn unverified_claims(token: &str) -> Option<Claims> {
    let mut parts = token.split('.');
    let (_, payload, _) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    serde_json::from_slice(&RAW_URL.decode(payload).ok()?).ok()
}

/// Returns the issuer that claims name; empty if they name none.
pub(crate) fn issuer_of(claims: &Claims) -> &str {
    match claims.get("iss").and_then(Value::as_str).unwrap_or_default() {
        issuer if issuer == GOOGLE.0 => GOOGLE.1,
        issuer => issuer,
    }
}

impl CompactToken {
    /// Parses a token, whose claims were decoded before.
    ///
    /// # Errors
    ///
    /// The header or the signature is malformed.
    pub(crate) fn parse(token: &str, claims: Claims) -> Result<Self, String> {
        let malformed = |why: &str| format!("oidc: malformed jwt: {why}");
        let (signed, signature) = token.rsplit_once('.').ok_or_else(|| malformed("expected 3 parts"))?;
        let header = signed.split('.').next().unwrap_or_default();
        let header = RAW_URL.decode(header).map_err(|error| malformed(&error.to_string()))?;
        let signature = RAW_URL
            .decode(signature)
            .map_err(|error| malformed(&error.to_string()))?;
        let header: Header = serde_json::from_slice(&header).map_err(|error| malformed(&error.to_string()))?;
        Ok(Self {
            signed: signed.to_owned(),
            signature,
            header,
            claims,
        })
    }

    /// The claims; only to be trusted after the signature is verified.
    pub(crate) fn claims(&self) -> &Claims {
        &self.claims
    }

    pub(crate) fn into_claims(self) -> Claims {
        self.claims
    }

    /// Returns the algorithm that the header names.
    ///
    /// # Errors
    ///
    /// It is none of `allowed`, or the header requests an extension.
    pub(crate) fn algorithm(&self, allowed: &[Algorithm]) -> Result<Algorithm, String> {
        if self.header.crit.as_ref().is_some_and(|names| !names.is_empty()) {
            return Err("oidc: malformed jwt: unsupported crit header".to_owned());
        }
        let found = Algorithm::named(&self.header.alg).filter(|algorithm| allowed.contains(algorithm));
        found.ok_or_else(|| {
            let name = &self.header.alg;
            format!("oidc: id token signed with unsupported algorithm: {name:?}")
        })
    }

    /// True if one of `keys` signed the token.
    pub(crate) fn is_signed_by(&self, keys: &KeySet, algorithm: Algorithm) -> bool {
        keys.verify(&self.header.kid, algorithm, self.signed.as_bytes(), &self.signature)
    }
}

/// Does not print the token, which is a secret.
impl std::fmt::Debug for CompactToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompactToken")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    use super::*;

    fn token(header: &Value, claims: &Value) -> String {
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        format!("{header}.{claims}.AAAA")
    }

    #[test]
    fn texts_with_three_parts_may_be_tokens() {
        let claims = unverified_claims(&token(&json!({}), &json!({"iss": "accounts.google.com"}))).unwrap();
        assert_eq!(issuer_of(&claims), "https://accounts.google.com");
        for text in ["", "a.b", "a.!.c", "a.e30.c.d", "a.W10.c"] {
            assert!(unverified_claims(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_header_names_an_allowed_algorithm() {
        let algorithm = |header: Value| {
            let token = token(&header, &json!({}));
            CompactToken::parse(&token, Claims::new())?.algorithm(&[Algorithm::Rs256])
        };
        assert_eq!(algorithm(json!({"alg": "RS256", "typ": "JWT"})), Ok(Algorithm::Rs256));
        for header in [
            json!({}),
            json!({"alg": "none"}),
            json!({"alg": "HS256"}),
            json!({"alg": "ES256"}),
            json!({"alg": "RS256", "crit": ["b64"]}),
            json!({"alg": 1}),
        ] {
            assert!(algorithm(header.clone()).is_err(), "{header}");
        }
    }
}
