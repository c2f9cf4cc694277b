//! Private keys of certificates.

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1, ECDSA_P384_SHA384_ASN1_SIGNING,
    ED25519, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey, VerificationAlgorithm,
};
use x509_cert::der::asn1::{Any, BitString};
use x509_cert::der::oid::{ObjectIdentifier, db};
use x509_cert::der::pem::{LineEnding, encode_string};
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

use super::issue::IssueError;

/// The label of a key in PEM (PKCS #8).
const LABEL: &str = "PRIVATE KEY";

/// A private key, with which certificates are signed.
pub struct CertificateKey {
    pair: Pair,
    /// The key in its encoding (PKCS #8).
    pkcs8: Vec<u8>,
}

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

/// The text is not a private key.
#[derive(Debug, thiserror::Error)]
#[error("expected a private key in PEM (PKCS #8): RSA, ECDSA on the curve P-256 or P-384, or Ed25519")]
pub struct NotAKey;

impl CertificateKey {
    /// Generates an ECDSA key on the curve P-256.
    ///
    /// # Errors
    ///
    /// The system's random number generator failed.
    pub fn generate() -> Result<Self, IssueError> {
        Self::generate_on(&ECDSA_P256_SHA256_ASN1_SIGNING)
    }

    pub(super) fn generate_on(curve: &'static EcdsaSigningAlgorithm) -> Result<Self, IssueError> {
        let key = EcdsaKeyPair::generate_pkcs8(curve, &SystemRandom::new()).map_err(|_| IssueError::Random)?;
        Self::from_pkcs8(key.as_ref().to_vec()).ok_or(IssueError::Random)
    }

    /// Reads a key in PEM.
    ///
    /// # Errors
    ///
    /// The first block is not a private key that can sign.
    pub fn from_pem(text: &[u8]) -> Result<Self, NotAKey> {
        let der = planesmith_machinery::pem::first(text, LABEL).ok_or(NotAKey)?;
        Self::from_pkcs8(der).ok_or(NotAKey)
    }

    pub(super) fn from_pkcs8(der: Vec<u8>) -> Option<Self> {
        let random = SystemRandom::new();
        let on = |curve| EcdsaKeyPair::from_pkcs8(curve, &der, &random).ok();
        let pair = on(&ECDSA_P256_SHA256_ASN1_SIGNING).map(Pair::P256);
        let pair = pair.or_else(|| on(&ECDSA_P384_SHA384_ASN1_SIGNING).map(Pair::P384));
        let pair = pair.or_else(|| {
            let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der);
            key.ok().map(Pair::Ed25519)
        });
        let pair = pair.or_else(|| RsaKeyPair::from_pkcs8(&der).ok().map(Box::new).map(Pair::Rsa))?;
        Some(Self { pair, pkcs8: der })
    }

    /// Returns the key in PEM.
    ///
    /// # Errors
    ///
    /// The key cannot be encoded.
    pub fn to_pem(&self) -> Result<String, IssueError> {
        let encoded = encode_string(LABEL, LineEnding::LF, &self.pkcs8);
        encoded.map_err(|error| IssueError::Encoding(error.into()))
    }

    /// Returns the public half.
    ///
    /// # Errors
    ///
    /// The key cannot be encoded.
    pub fn public(&self) -> Result<SubjectPublicKeyInfoOwned, IssueError> {
        use db::{rfc5912, rfc8410};

        let elliptic = |curve: ObjectIdentifier| (rfc5912::ID_EC_PUBLIC_KEY, Some(Any::from(&curve)));
        let (oid, parameters) = match &self.pair {
            Pair::P256(_) => elliptic(rfc5912::SECP_256_R_1),
            Pair::P384(_) => elliptic(rfc5912::SECP_384_R_1),
            Pair::Ed25519(_) => (rfc8410::ID_ED_25519, None),
            Pair::Rsa(_) => (rfc5912::RSA_ENCRYPTION, Some(Any::null())),
        };
        Ok(SubjectPublicKeyInfoOwned {
            algorithm: AlgorithmIdentifierOwned { oid, parameters },
            subject_public_key: BitString::from_bytes(self.public_bits())?,
        })
    }

    /// The algorithm of its signatures.
    pub(super) fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        let (oid, parameters) = match &self.pair {
            Pair::P256(_) => (db::rfc5912::ECDSA_WITH_SHA_256, None),
            Pair::P384(_) => (db::rfc5912::ECDSA_WITH_SHA_384, None),
            Pair::Ed25519(_) => (db::rfc8410::ID_ED_25519, None),
            Pair::Rsa(_) => (db::rfc5912::SHA_256_WITH_RSA_ENCRYPTION, Some(Any::null())),
        };
        AlgorithmIdentifierOwned { oid, parameters }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, IssueError> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::P256(key) | Pair::P384(key) => {
                let signature = key.sign(&random, message).map_err(|_| IssueError::Random)?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Ed25519(key) => Ok(key.sign(message).as_ref().to_vec()),
            Pair::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let signed = key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                signed.map_err(|_| IssueError::Random)?;
                Ok(signature)
            }
        }
    }

    /// True if `signature` is one of this key.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &'static dyn VerificationAlgorithm = match &self.pair {
            Pair::P256(_) => &ECDSA_P256_SHA256_ASN1,
            Pair::P384(_) => &ECDSA_P384_SHA384_ASN1,
            Pair::Ed25519(_) => &ED25519,
            Pair::Rsa(_) => &RSA_PKCS1_2048_8192_SHA256,
        };
        let key = UnparsedPublicKey::new(algorithm, self.public_bits());
        key.verify(message, signature).is_ok()
    }

    fn public_bits(&self) -> &[u8] {
        match &self.pair {
            Pair::P256(key) | Pair::P384(key) => key.public_key().as_ref(),
            Pair::Ed25519(key) => key.public_key().as_ref(),
            Pair::Rsa(key) => key.public_key().as_ref(),
        }
    }
}

impl std::fmt::Debug for CertificateKey {
    /// Writes nothing of the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CertificateKey").finish_non_exhaustive()
    }
}
