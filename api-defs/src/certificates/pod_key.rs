//! Public keys in certificate requests of pods, and their proofs of possession.

use pkcs1::RsaPublicKey;
use planesmith_machinery::der::decode;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ED25519, RSA_PSS_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use x509_cert::der::oid::db::{rfc5912, rfc8410};
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::request::CertReq;
use x509_cert::spki::SubjectPublicKeyInfoOwned;

use super::request_signature;

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
    pub(super) fn from_info(info: &SubjectPublicKeyInfoOwned) -> Result<Self, Flaw> {
        info.to_der().map(Self).map_err(|_| Flaw::Unreadable)
    }
}

/// Returns the key of a stub request if it contains nothing else and is signed with the key.
pub(super) fn of_request(der: &[u8]) -> Result<Key, Flaw> {
    let request = decode::<CertReq>(der).map_err(|_| Flaw::Unreadable)?;
    let info = &request.info.public_key;
    check(info)?;
    request_signature::verify(&request, der).map_err(|_| Flaw::Proof)?;
    Key::from_info(info)
}

/// Returns the key if `proof` is its signature of `text`.
pub(super) fn proven(der: &[u8], text: &str, proof: &[u8]) -> Result<Key, Flaw> {
    let info = decode::<SubjectPublicKeyInfoOwned>(der).map_err(|_| Flaw::Unreadable)?;
    let algorithm = check(&info)?.ok_or(Flaw::Proof)?;
    UnparsedPublicKey::new(algorithm, info.subject_public_key.raw_bytes())
        .verify(text.as_bytes(), proof)
        .map_err(|_| Flaw::Proof)?;
    Key::from_info(&info)
}

/// Returns the algorithm that verifies signatures of the key; `None` when the server cannot verify them.
fn check(info: &SubjectPublicKeyInfoOwned) -> Result<Option<&'static dyn VerificationAlgorithm>, Flaw> {
    match info.algorithm.oid {
        rfc8410::ID_ED_25519 => Ok(Some(&ED25519)),
        rfc5912::RSA_ENCRYPTION => {
            let key = RsaPublicKey::from_der(info.subject_public_key.raw_bytes()).map_err(|_| Flaw::Unreadable)?;
            match bits(key.modulus.as_bytes()) {
                size if MODULI.contains(&size) => Ok(Some(&RSA_PSS_2048_8192_SHA256)),
                size => Err(Flaw::Modulus(size)),
            }
        }
        rfc5912::ID_EC_PUBLIC_KEY => match request_signature::curve(&info.algorithm) {
            Some(rfc5912::SECP_256_R_1) => Ok(Some(&ECDSA_P256_SHA256_ASN1)),
            Some(rfc5912::SECP_384_R_1) => Ok(Some(&ECDSA_P384_SHA256_ASN1)),
            Some(rfc5912::SECP_521_R_1) => Ok(None),
            Some(_) | None => Err(Flaw::Curve),
        },
        _ => Err(Flaw::Kind),
    }
}

/// Returns the number of bits of a number without leading zero bytes.
fn bits(number: &[u8]) -> usize {
    let unused = number.first().map_or(0, |first| first.leading_zeros() as usize);
    8 * number.len() - unused
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
