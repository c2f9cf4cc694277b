//! Signatures of certificate requests: they prove that the requester has the private key.

use pkcs1::RsaPssParams;
use planesmith_machinery::der::{SEQUENCE, content, elements};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519,
    RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    UnparsedPublicKey, VerificationAlgorithm,
};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::oid::db::{rfc5912, rfc8410};
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::request::CertReq;
use x509_cert::spki::AlgorithmIdentifierOwned;

/// A reason why a request does not prove anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFlaw {
    /// The server does not know the algorithm.
    Algorithm,
    /// The signature is not one of the key.
    Signature,
}

/// Checks that the request encoded in `der` is signed with the private key of its public key.
///
/// # Errors
///
/// The algorithm is unknown, or the signature is not one of the key.
pub fn verify(request: &CertReq, der: &[u8]) -> Result<(), SignatureFlaw> {
    let info = &request.info.public_key;
    let algorithm = algorithm(&request.algorithm, &info.algorithm).ok_or(SignatureFlaw::Algorithm)?;
    let (key, signature) = (info.subject_public_key.as_bytes(), request.signature.as_bytes());
    let (Some(key), Some(signature), Some(signed)) = (key, signature, signed_part(der)) else {
        return Err(SignatureFlaw::Signature);
    };
    let verified = UnparsedPublicKey::new(algorithm, key).verify(signed, signature);
    verified.map_err(|_| SignatureFlaw::Signature)
}

/// Returns the signed part of a request as it was encoded.
fn signed_part(der: &[u8]) -> Option<&[u8]> {
    Some(elements(content(der, SEQUENCE)?)?.first()?.whole)
}

/// Returns the algorithm that verifies the signatures of a key.
fn algorithm(
    signature: &AlgorithmIdentifierOwned,
    key: &AlgorithmIdentifierOwned,
) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match signature.oid {
        rfc5912::SHA_1_WITH_RSA_ENCRYPTION => &RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        rfc5912::SHA_256_WITH_RSA_ENCRYPTION => &RSA_PKCS1_2048_8192_SHA256,
        rfc5912::SHA_384_WITH_RSA_ENCRYPTION => &RSA_PKCS1_2048_8192_SHA384,
        rfc5912::SHA_512_WITH_RSA_ENCRYPTION => &RSA_PKCS1_2048_8192_SHA512,
        rfc5912::ID_RSASSA_PSS => {
            let parameters = signature.parameters.as_ref()?.to_der().ok()?;
            match RsaPssParams::from_der(&parameters).ok()?.hash.oid {
                rfc5912::ID_SHA_256 => &RSA_PSS_2048_8192_SHA256,
                rfc5912::ID_SHA_384 => &RSA_PSS_2048_8192_SHA384,
                rfc5912::ID_SHA_512 => &RSA_PSS_2048_8192_SHA512,
                _ => return None,
            }
        }
        rfc5912::ECDSA_WITH_SHA_256 => match curve(key)? {
            rfc5912::SECP_256_R_1 => &ECDSA_P256_SHA256_ASN1,
            rfc5912::SECP_384_R_1 => &ECDSA_P384_SHA256_ASN1,
            _ => return None,
        },
        rfc5912::ECDSA_WITH_SHA_384 => match curve(key)? {
            rfc5912::SECP_256_R_1 => &ECDSA_P256_SHA384_ASN1,
            rfc5912::SECP_384_R_1 => &ECDSA_P384_SHA384_ASN1,
            _ => return None,
        },
        rfc8410::ID_ED_25519 => &ED25519,
        _ => return None,
    })
}

/// Returns the named curve of an elliptic key.
pub(super) fn curve(key: &AlgorithmIdentifierOwned) -> Option<ObjectIdentifier> {
    key.parameters.as_ref()?.decode_as().ok()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, SignatureAlgorithm};

    use super::*;

    #[test]
    fn requests_are_verified_with_the_key_that_they_name() {
        let algorithms: [&SignatureAlgorithm; 3] = [
            &rcgen::PKCS_ECDSA_P256_SHA256,
            &rcgen::PKCS_ECDSA_P384_SHA384,
            &rcgen::PKCS_ED25519,
        ];
        for algorithm in algorithms {
            let key = KeyPair::generate_for(algorithm).unwrap();
            let made = CertificateParams::default().serialize_request(&key).unwrap();
            let request = CertReq::from_der(made.der()).unwrap();
            assert_eq!(verify(&request, made.der()), Ok(()));
            let mut other = made.der().to_vec();
            *other.last_mut().unwrap() ^= 1;
            let request = CertReq::from_der(&other).unwrap();
            assert_eq!(verify(&request, &other), Err(SignatureFlaw::Signature));
        }
    }
}
