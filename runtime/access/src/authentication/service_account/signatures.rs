//! Signatures of tokens: the algorithms of `jsonwebtoken`, computed by ring.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, EcdsaKeyPair, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey, VerificationAlgorithm,
};
use signature::{Signer, Verifier};

use super::key_der::Curve;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory,
    verifier_factory,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes `jsonwebtoken` use ring. If the program has chosen another implementation, that one stays: the encodings of keys are
/// the same for all.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

struct TokenSigner {
    algorithm: Algorithm,
    key: Key,
}

enum Key {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
}

struct TokenVerifier {
    algorithm: Algorithm,
    key: UnparsedPublicKey<Vec<u8>>,
}

fn signer_factory(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    let ec = |curve: Curve| {
        let key = EcdsaKeyPair::from_pkcs8(curve.signing(), key.as_bytes(), &SystemRandom::new());
        key.map(Key::Ec).map_err(|_| Error::from(ErrorKind::InvalidEcdsaKey))
    };
    let key = match algorithm {
        Algorithm::RS256 => {
            let key = RsaKeyPair::from_der(key.as_bytes());
            Key::Rsa(key.map_err(|error| ErrorKind::InvalidRsaKey(error.to_string()))?)
        }
        Algorithm::ES256 => ec(Curve::P256)?,
        Algorithm::ES384 => ec(Curve::P384)?,
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    };
    let algorithm = *algorithm;
    Ok(Box::new(TokenSigner { algorithm, key }))
}

fn verifier_factory(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let by: &'static dyn VerificationAlgorithm = match algorithm {
        // kube-apiserver accepts keys of 1024 bits, too.
        Algorithm::RS256 => &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED,
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    };
    let key = UnparsedPublicKey::new(by, key.try_get_as_bytes()?.to_vec());
    let algorithm = *algorithm;
    Ok(Box::new(TokenVerifier { algorithm, key }))
}

impl Signer<Vec<u8>> for TokenSigner {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(|_| signature::Error::new())?;
                Ok(signature)
            }
            Key::Ec(key) => {
                let signature = key.sign(&random, message).map_err(|_| signature::Error::new())?;
                Ok(signature.as_ref().to_vec())
            }
        }
    }
}

impl JwtSigner for TokenSigner {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for TokenVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = self.key.verify(message, signature);
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for TokenVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
