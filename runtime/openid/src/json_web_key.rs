//! The keys of an issuer (RFC 7517), and signatures by them (RFC 7518).

use std::fmt;

use base64::Engine as _;
use planesmith_machinery::go_base64::RAW_URL;
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA384, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
    VerificationAlgorithm,
};
use serde::Deserialize;

/// An algorithm of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Es256,
    Es384,
    /// Accepted in tokens, but not supported: ring has no curve P-521.
    Es512,
    Ps256,
    Ps384,
    Ps512,
}

/// All algorithms that an issuer may use, by name.
pub(crate) const ALGORITHMS: [(&str, Algorithm); 9] = [
    ("RS256", Algorithm::Rs256),
    ("RS384", Algorithm::Rs384),
    ("RS512", Algorithm::Rs512),
    ("ES256", Algorithm::Es256),
    ("ES384", Algorithm::Es384),
    ("ES512", Algorithm::Es512),
    ("PS256", Algorithm::Ps256),
    ("PS384", Algorithm::Ps384),
    ("PS512", Algorithm::Ps512),
];

impl Algorithm {
    /// Returns the algorithm with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = ALGORITHMS.iter().find(|(known, _)| *known == name);
        found.map(|(_, algorithm)| *algorithm)
    }
}

/// The keys of an issuer.
#[derive(Debug, Default)]
pub(crate) struct KeySet {
    keys: Vec<Key>,
    /// The digest of the document.
    digest: Vec<u8>,
}

struct Key {
    id: String,
    material: Material,
}

enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// An uncompressed point: a format byte and both coordinates.
    Ec {
        curve: Curve,
        point: Vec<u8>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    P256,
    P384,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    keys: Vec<Published>,
}

/// A key as published; keys of other types have none of the members after `kid`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Published {
    kty: String,
    kid: String,
    n: String,
    e: String,
    crv: String,
    x: String,
    y: String,
}

impl KeySet {
    /// Reads a JSON Web Key Set. Keys of unknown types are left out.
    ///
    /// # Errors
    ///
    /// The document is no key set.
    pub(crate) fn parse(document: &[u8]) -> Result<Self, String> {
        let parsed: Document =
            serde_json::from_slice(document).map_err(|error| format!("failed to decode keys: {error}"))?;
        Ok(Self {
            keys: parsed.keys.iter().filter_map(Key::from_published).collect(),
            digest: digest(&SHA256, document).as_ref().to_vec(),
        })
    }

    /// The SHA-256 digest of the document.
    pub(crate) fn digest(&self) -> &[u8] {
        &self.digest
    }

    /// True if one of the keys, with the ID `id` unless that is empty, signed `message`.
    pub(crate) fn verify(&self, id: &str, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let mut candidates = self.keys.iter().filter(|key| id.is_empty() || key.id == id);
        candidates.any(|key| key.verify(algorithm, message, signature))
    }
}

impl Key {
    fn from_published(published: &Published) -> Option<Self> {
        let bytes = |text: &str| RAW_URL.decode(text.trim_end_matches('=')).ok();
        let material = match published.kty.as_str() {
            "RSA" => Material::Rsa {
                modulus: without_zeros(&bytes(&published.n)?),
                exponent: without_zeros(&bytes(&published.e)?),
            },
            "EC" => {
                let (curve, size) = match published.crv.as_str() {
                    "P-256" => (Curve::P256, 32),
                    "P-384" => (Curve::P384, 48),
                    _ => return None,
                };
                let (x, y) = (bytes(&published.x)?, bytes(&published.y)?);
                if x.len() != size || y.len() != size {
                    return None;
                }
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                Material::Ec { curve, point }
            }
            _ => return None,
        };
        Some(Self {
            id: published.kid.clone(),
            material,
        })
    }

    fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Rsa { modulus, exponent } => rsa(algorithm).is_some_and(|parameters| {
                let key = RsaPublicKeyComponents {
                    n: modulus,
                    e: exponent,
                };
                key.verify(parameters, message, signature).is_ok()
            }),
            Material::Ec { curve, point } => ec(algorithm).is_some_and(|(wanted, by)| {
                wanted == *curve && UnparsedPublicKey::new(by, point).verify(message, signature).is_ok()
            }),
        }
    }
}

fn without_zeros(bytes: &[u8]) -> Vec<u8> {
    let begin = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    bytes[begin..].to_vec()
}

/// kube-apiserver accepts keys of 1024 bits, too; ring does where it has the algorithm.
fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::Rs256 => &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        Algorithm::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
        Algorithm::Rs512 => &RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
        Algorithm::Ps384 => &RSA_PSS_2048_8192_SHA384,
        Algorithm::Ps512 => &RSA_PSS_2048_8192_SHA512,
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::Es512 => return None,
    })
}

fn ec(algorithm: Algorithm) -> Option<(Curve, &'static dyn VerificationAlgorithm)> {
    match algorithm {
        Algorithm::Es256 => Some((Curve::P256, &ECDSA_P256_SHA256_FIXED)),
        Algorithm::Es384 => Some((Curve::P384, &ECDSA_P384_SHA384_FIXED)),
        _ => None,
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.id).finish()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Keys that sign tokens in tests.

    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::{Value, json};

    /// A key that signs tokens with ES256.
    pub(crate) struct SigningKey {
        id: String,
        pair: EcdsaKeyPair,
    }

    impl SigningKey {
        pub(crate) fn new(id: &str) -> Self {
            let random = SystemRandom::new();
            let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
            let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
            let id = id.to_owned();
            Self { id, pair }
        }

        /// The public half, as published.
        pub(crate) fn published(&self) -> Value {
            let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
            let encoded = |bytes| URL_SAFE_NO_PAD.encode(bytes);
            json!({"kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig", "x": encoded(x), "y": encoded(y)})
        }

        pub(crate) fn sign(&self, claims: &Value) -> String {
            let header = json!({"alg": "ES256", "kid": self.id});
            let [header, claims] = [&header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
            let message = format!("{header}.{claims}");
            let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
            format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::testing::SigningKey;
    use super::*;

    fn set(keys: &[&SigningKey]) -> KeySet {
        let keys: Vec<_> = keys.iter().map(|key| key.published()).collect();
        KeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_signature_is_by_the_key_that_is_named() {
        let (one, two) = (SigningKey::new("1"), SigningKey::new("2"));
        let token = one.sign(&json!({}));
        let (message, signature) = token.rsplit_once('.').unwrap();
        let signature = RAW_URL.decode(signature).unwrap();
        let verify =
            |keys: &[&SigningKey], id: &str, algorithm| set(keys).verify(id, algorithm, message.as_bytes(), &signature);
        assert!(verify(&[&two, &one], "1", Algorithm::Es256));
        assert!(verify(&[&two, &one], "", Algorithm::Es256));
        assert!(!verify(&[&two, &one], "2", Algorithm::Es256));
        assert!(!verify(&[&two], "", Algorithm::Es256));
        for other in [Algorithm::Rs256, Algorithm::Es384, Algorithm::Es512, Algorithm::Ps512] {
            assert!(!verify(&[&one], "", other), "{other:?}");
        }
    }

    #[test]
    fn keys_of_other_types_are_left_out() {
        let document = json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
            {"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"},
            {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
            {"kty": "RSA", "n": "!", "e": "AQAB"},
            {"kty": "RSA", "kid": "good", "n": "AQ", "e": "AQAB", "x5c": ["..."]},
        ]});
        let set = KeySet::parse(document.to_string().as_bytes()).unwrap();
        let ids: Vec<&str> = set.keys.iter().map(|key| key.id.as_str()).collect();
        assert_eq!(ids, ["good"]);
        assert!(KeySet::parse(b"<html>").is_err());
    }
}
