//! Public keys in certificate requests of pods, and their proofs of possession.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ED25519, RSA_PSS_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

/// Object identifiers of the supported curves.
const CURVES: [&str; 3] = ["1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35"];

/// Legal sizes of an RSA modulus, in bits.
const MODULI: [usize; 2] = [3072, 4096];

/// Errors in a public key or its proof of possession.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The key is unreadable.
    Unreadable,
    /// The curve is readable but not supported.
    Curve,
    /// The modulus has an unsupported size, in bits.
    Modulus(usize),
    /// The type of the key is not supported.
    Kind,
    /// The proof is not a signature of the key.
    Proof,
}

/// A public key in the encoding of certificates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key(Vec<u8>);

impl Key {
    /// Returns the key of a certificate or of a certificate request.
    pub(super) fn from_info(info: &SubjectPublicKeyInfo<'_>) -> Self {
        Self(info.raw.to_vec())
    }
}

/// Returns the key of a stub request if it contains nothing else and is signed with the key.
pub(super) fn of_request(der: &[u8]) -> Result<Key, Flaw> {
    let (rest, request) = X509CertificationRequest::from_der(der).map_err(|_| Flaw::Unreadable)?;
    if !rest.is_empty() {
        return Err(Flaw::Unreadable);
    }
    let info = &request.certification_request_info.subject_pki;
    check(info)?;
    request.verify_signature().map_err(|_| Flaw::Proof)?;
    Ok(Key::from_info(info))
}

/// Returns the key if `proof` is its signature of `text`.
pub(super) fn proven(der: &[u8], text: &str, proof: &[u8]) -> Result<Key, Flaw> {
    let (rest, info) = SubjectPublicKeyInfo::from_der(der).map_err(|_| Flaw::Unreadable)?;
    if !rest.is_empty() {
        return Err(Flaw::Unreadable);
    }
    let algorithm = check(&info)?.ok_or(Flaw::Proof)?;
    UnparsedPublicKey::new(algorithm, &info.subject_public_key.data)
        .verify(text.as_bytes(), proof)
        .map_err(|_| Flaw::Proof)?;
    Ok(Key::from_info(&info))
}

/// Returns the algorithm that verifies signatures of the key; `None` when the server cannot verify them.
fn check(info: &SubjectPublicKeyInfo<'_>) -> Result<Option<&'static dyn VerificationAlgorithm>, Flaw> {
    if info.algorithm.algorithm.to_id_string() == "1.3.101.112" {
        return Ok(Some(&ED25519));
    }
    match info.parsed().map_err(|_| Flaw::Unreadable)? {
        PublicKey::RSA(key) if MODULI.contains(&key.key_size()) => Ok(Some(&RSA_PSS_2048_8192_SHA256)),
        PublicKey::RSA(key) => Err(Flaw::Modulus(key.key_size())),
        PublicKey::EC(_) => {
            let parameters = info.algorithm.parameters.as_ref();
            let curve = parameters
                .and_then(|any| any.as_oid().ok())
                .map(|oid| oid.to_id_string());
            match curve.and_then(|curve| CURVES.iter().position(|known| *known == curve)) {
                Some(0) => Ok(Some(&ECDSA_P256_SHA256_ASN1)),
                Some(1) => Ok(Some(&ECDSA_P384_SHA256_ASN1)),
                Some(_) => Ok(None),
                None => Err(Flaw::Curve),
            }
        }
        _ => Err(Flaw::Kind),
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;

    #[test]
    fn proofs_are_made_with_the_key() {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap();
        let mut der = vec![0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
        der.extend(pair.public_key().as_ref());
        let proof = pair.sign(b"uid");
        assert!(proven(&der, "uid", proof.as_ref()).is_ok());
        assert_eq!(proven(&der, "other", proof.as_ref()), Err(Flaw::Proof));
        assert_eq!(proven(&der[1..], "uid", proof.as_ref()), Err(Flaw::Unreadable));
        assert_eq!(of_request(&der), Err(Flaw::Unreadable));
    }
}
