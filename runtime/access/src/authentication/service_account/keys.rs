//! Signing and verification keys, and their publication.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use pkcs8::der::pem::{LineEnding, encode_string};
use planesmith_machinery::pem;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::EcdsaKeyPair;
use serde::Serialize;
use thiserror::Error;

use super::key_der::{self, Curve, EcKey, RsaKey, RsaPublic};
use crate::authentication::CertificateParts;
use crate::authentication::curve::{P521_COMPLAINT, is_p521};

/// The error of an unusable key. The messages contain no key material.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// The input contains no key.
    #[error("no RSA or ECDSA key in PEM form was found")]
    NoKey,
    /// The key is malformed or of an unknown type.
    #[error(
        "the {0} cannot be read; expected RSA (for signing: 2048 to 4096 bits, and an exponent of at least 65537), or ECDSA with the curve P-256 or P-384 and \
         with its public half"
    )]
    Unreadable(String),
    /// The key is on an unsupported elliptic curve.
    #[error("the {0} {P521_COMPLAINT}")]
    Curve(String),
    /// The key could not be generated.
    #[error("a signing key cannot be generated")]
    NotMade,
}

impl KeyError {
    /// Returns the error for a PEM block `label` without a usable key.
    fn of(label: &str, der: &[u8]) -> Self {
        let label = label.to_lowercase();
        match is_p521(der) {
            true => KeyError::Curve(label),
            false => KeyError::Unreadable(label),
        }
    }
}

/// Generates a signing key as PEM.
pub type KeyGenerator = fn() -> Result<String, KeyError>;

/// A signing key.
pub struct SigningKey {
    encoding: EncodingKey,
    public: PublicKey,
}

/// A verification key.
#[derive(Clone)]
pub struct PublicKey {
    id: String,
    algorithm: Algorithm,
    decoding: DecodingKey,
    published: Published,
    /// True if clients learn of the key.
    is_published: bool,
}

/// A published key (RFC 7517), with its members in kube-apiserver's order.
#[derive(Clone, Debug, Serialize)]
struct Published {
    r#use: &'static str,
    kty: &'static str,
    kid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<&'static str>,
    alg: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
}

impl SigningKey {
    /// Reads the private key in a PEM text: RSA (PKCS #1 or #8) or ECDSA (SEC 1 or PKCS #8).
    ///
    /// # Errors
    ///
    /// The text contains no usable key.
    pub fn from_pem(text: &[u8]) -> Result<Self, KeyError> {
        let mut problem = KeyError::NoKey;
        for pem::Block {
            label, contents: der, ..
        } in pem::blocks(text)
        {
            match Self::from_der(&label, &der) {
                Some(Ok(key)) => return Ok(key),
                Some(Err(error)) => problem = error,
                None => {}
            }
        }
        Err(problem)
    }

    /// Generates an ECDSA key on the curve P-256 as PEM (PKCS #8).
    ///
    /// # Errors
    ///
    /// The system's random number generator failed.
    pub fn make_pem() -> Result<String, KeyError> {
        let key = EcdsaKeyPair::generate_pkcs8(Curve::P256.signing(), &SystemRandom::new());
        let key = key.map_err(|_| KeyError::NotMade)?;
        encode_string("PRIVATE KEY", LineEnding::LF, key.as_ref()).map_err(|_| KeyError::NotMade)
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(super) fn encoding(&self) -> &EncodingKey {
        &self.encoding
    }

    /// Reads a DER block; `None` if it is not a private key.
    fn from_der(label: &str, der: &[u8]) -> Option<Result<Self, KeyError>> {
        let key = match label {
            "RSA PRIVATE KEY" => key_der::rsa_private(der).map(|key| Self::rsa(&key)),
            "EC PRIVATE KEY" => key_der::ec_private(der, None).and_then(|key| Self::ec(&key)),
            "PRIVATE KEY" => key_der::pkcs8(der).and_then(|key| match key {
                key_der::Private::Rsa(key) => Some(Self::rsa(&key)),
                key_der::Private::Ec(key) => Self::ec(&key),
            }),
            _ => return None,
        };
        Some(key.ok_or_else(|| KeyError::of(label, der)))
    }

    fn rsa(key: &RsaKey) -> Self {
        Self {
            encoding: EncodingKey::from_rsa_der(&key.private),
            public: PublicKey::rsa(&key.public),
        }
    }

    fn ec(key: &EcKey) -> Option<Self> {
        Some(Self {
            encoding: EncodingKey::from_ec_der(&key.pkcs8),
            public: PublicKey::ec(key.curve, &key.point)?,
        })
    }
}

impl PublicKey {
    /// Reads all keys in a PEM text: public keys, those of certificates, and the public halves of private keys.
    ///
    /// # Errors
    ///
    /// The text contains no key, or one is unusable.
    pub fn all_from_pem(text: &[u8]) -> Result<Vec<Self>, KeyError> {
        let mut keys = Vec::new();
        for pem::Block {
            label, contents: der, ..
        } in pem::blocks(text)
        {
            let key = match label.as_str() {
                "RSA PUBLIC KEY" => key_der::rsa_public(&der).map(|key| Self::rsa(&key)),
                "PUBLIC KEY" => Self::from_info(&der),
                pem::CERTIFICATE => CertificateParts::read(&der).and_then(|parts| Self::from_info(parts.key_info)),
                // The limits of keys that sign do not apply.
                _ => match key_der::public_half(&label, &der) {
                    Some(key) => key.and_then(Self::from_public),
                    None => continue,
                },
            };
            keys.push(key.ok_or_else(|| KeyError::of(&label, &der))?);
        }
        if keys.is_empty() {
            Err(KeyError::NoKey)
        } else {
            Ok(keys)
        }
    }

    /// Reads a SubjectPublicKeyInfo in DER, of a key that others name `id`. It verifies tokens even if clients do not learn of it
    /// (`is_published`).
    ///
    /// # Errors
    ///
    /// The key is unusable.
    pub fn named(info: &[u8], id: &str, is_published: bool) -> Result<Self, KeyError> {
        let mut key = Self::from_info(info).ok_or_else(|| KeyError::of("PUBLIC KEY", info))?;
        id.clone_into(&mut key.id);
        id.clone_into(&mut key.published.kid);
        key.is_published = is_published;
        Ok(key)
    }

    /// True if clients learn of the key.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.is_published
    }

    /// Returns the key ID in the headers of its tokens. That of a key of this server is a hash that reveals nothing about the key.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the published algorithm name: `RS256`, `ES256` or `ES384`.
    #[must_use]
    pub fn algorithm_name(&self) -> &'static str {
        self.published.alg
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(super) fn decoding(&self) -> &DecodingKey {
        &self.decoding
    }

    /// Reads a SubjectPublicKeyInfo.
    fn from_info(der: &[u8]) -> Option<Self> {
        Self::from_public(key_der::public(der)?)
    }

    fn from_public(key: key_der::Public) -> Option<Self> {
        match key {
            key_der::Public::Rsa(key) => Some(Self::rsa(&key)),
            key_der::Public::Ec(curve, point) => Self::ec(curve, &point),
        }
    }

    fn rsa(key: &RsaPublic) -> Self {
        let id = id(&key.info);
        let published = Published {
            n: Some(URL_SAFE_NO_PAD.encode(&key.modulus)),
            e: Some(URL_SAFE_NO_PAD.encode(&key.exponent)),
            ..Published::new("RSA", "RS256", &id)
        };
        Self {
            id,
            algorithm: Algorithm::RS256,
            decoding: DecodingKey::from_rsa_der(&key.pkcs1),
            published,
            is_published: true,
        }
    }

    /// `point` is an uncompressed point: a format byte and both coordinates.
    fn ec(curve: Curve, point: &[u8]) -> Option<Self> {
        let id = id(&curve.info(point)?);
        let (x, y) = point.get(1..)?.split_at(curve.size());
        let (algorithm, alg) = match curve {
            Curve::P256 => (Algorithm::ES256, "ES256"),
            Curve::P384 => (Algorithm::ES384, "ES384"),
        };
        let published = Published {
            crv: Some(curve.name()),
            x: Some(URL_SAFE_NO_PAD.encode(x)),
            y: Some(URL_SAFE_NO_PAD.encode(y)),
            ..Published::new("EC", alg, &id)
        };
        Some(Self {
            id,
            algorithm,
            decoding: DecodingKey::from_ec_der(point),
            published,
            is_published: true,
        })
    }
}

impl Published {
    fn new(kty: &'static str, alg: &'static str, id: &str) -> Self {
        Self {
            r#use: "sig",
            kty,
            kid: id.to_owned(),
            crv: None,
            alg,
            x: None,
            y: None,
            n: None,
            e: None,
        }
    }
}

/// Returns the published ones of `keys` as a JSON Web Key Set.
#[must_use]
pub fn key_set(keys: &[PublicKey]) -> serde_json::Value {
    serde_json::json!(KeySet::of(keys))
}

/// Returns the published ones of `keys` as the document of a JSON Web Key Set, with the members in kube-apiserver's order.
#[must_use]
pub fn key_set_document(keys: &[PublicKey]) -> String {
    serde_json::to_string(&KeySet::of(keys)).expect("keys are texts")
}

/// Published keys.
#[derive(Serialize)]
struct KeySet<'k> {
    keys: Vec<&'k Published>,
}

impl<'k> KeySet<'k> {
    fn of(keys: &'k [PublicKey]) -> Self {
        let published = keys.iter().filter(|key| key.is_published);
        Self {
            keys: published.map(|key| &key.published).collect(),
        }
    }
}

fn id(info: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, info))
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.id).finish()
    }
}

#[cfg(test)]
mod tests;
