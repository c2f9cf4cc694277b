//! Certificates and their private keys in PEM, as servers load them. Error messages are those of Go's TLS.

use pkcs1::{RsaPrivateKey, RsaPublicKey};
use pkcs8::PrivateKeyInfo;
use planesmith_machinery::der::decode;
use planesmith_machinery::pem::{CERTIFICATE, blocks};
use sec1::EcPrivateKey;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::oid::db::{rfc5912, rfc8410};

const PRIVATE_KEY: &str = "PRIVATE KEY";

/// Algorithm of a private key and, if the key contains it, its public key, which must match the certificate.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    algorithm: Algorithm,
    public: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Rsa,
    Elliptic,
    Edwards,
}

impl Algorithm {
    fn from_oid(id: ObjectIdentifier) -> Option<Self> {
        match id {
            rfc5912::RSA_ENCRYPTION => Some(Algorithm::Rsa),
            rfc5912::ID_EC_PUBLIC_KEY => Some(Algorithm::Elliptic),
            rfc8410::ID_ED_25519 => Some(Algorithm::Edwards),
            _ => None,
        }
    }
}

/// Returns the reason why a server cannot use a certificate with a key; `None` when the pair is usable.
pub(crate) fn key_pair_complaint(certificate: &[u8], key: &[u8]) -> Option<String> {
    pair(certificate, key).err()
}

fn pair(certificate: &[u8], key: &[u8]) -> Result<(), String> {
    let certificate = first_certificate(certificate)?;
    let key = first_key(key)?;
    let certificate = decode::<Certificate>(&certificate).map_err(|_| "x509: malformed certificate")?;
    let key = parse_key(&key).ok_or("tls: failed to parse private key")?;
    let public = certificate.tbs_certificate.subject_public_key_info;
    let algorithm = Algorithm::from_oid(public.algorithm.oid).ok_or("tls: unknown public key algorithm")?;
    if key.algorithm != algorithm {
        return Err("tls: private key type does not match public key type".to_owned());
    }
    let shown = match algorithm {
        Algorithm::Rsa => modulus(public.subject_public_key.raw_bytes()),
        Algorithm::Elliptic | Algorithm::Edwards => Some(public.subject_public_key.raw_bytes().to_vec()),
    };
    match (key.public, shown) {
        (Some(own), Some(shown)) if own != shown => Err("tls: private key does not match public key".to_owned()),
        _ => Ok(()),
    }
}

fn first_certificate(pem: &[u8]) -> Result<Vec<u8>, String> {
    let (certificates, others): (Vec<_>, Vec<_>) = blocks(pem).partition(|block| block.label == CERTIFICATE);
    if let Some(first) = certificates.into_iter().next() {
        return Ok(first.contents);
    }
    let labels: Vec<&str> = others.iter().map(|block| block.label.as_str()).collect();
    Err(match labels.as_slice() {
        [] => "tls: failed to find any PEM data in certificate input".to_owned(),
        [label] if label.ends_with(PRIVATE_KEY) => {
            "tls: failed to find certificate PEM data in certificate input, but \
                                                    did find a private key; PEM inputs may have been switched"
                .to_owned()
        }
        labels => format!(
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the \
             following types: [{}]",
            labels.join(" ")
        ),
    })
}

fn first_key(pem: &[u8]) -> Result<Vec<u8>, String> {
    let is_key = |label: &str| {
        let kind = label.strip_suffix(PRIVATE_KEY);
        kind.is_some_and(|kind| kind.is_empty() || kind.ends_with(' '))
    };
    let mut skipped = Vec::new();
    for block in blocks(pem) {
        if is_key(&block.label) {
            return Ok(block.contents);
        }
        skipped.push(block.label);
    }
    Err(match skipped.as_slice() {
        [] => "tls: failed to find any PEM data in key input".to_owned(),
        [label] if label == CERTIFICATE => {
            "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
        }
        labels => format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of \
             the following types: [{}]",
            labels.join(" ")
        ),
    })
}

/// Parses a private key in PKCS #1, PKCS #8 or SEC 1.
fn parse_key(der: &[u8]) -> Option<Key> {
    if let Ok(key) = PrivateKeyInfo::from_der(der) {
        let algorithm = Algorithm::from_oid(key.algorithm.oid)?;
        return match algorithm {
            Algorithm::Edwards => Some(Key {
                algorithm,
                public: None,
            }),
            Algorithm::Rsa => rsa(key.private_key),
            Algorithm::Elliptic => elliptic(key.private_key),
        };
    }
    rsa(der).or_else(|| elliptic(der))
}

fn rsa(der: &[u8]) -> Option<Key> {
    let key = RsaPrivateKey::from_der(der).ok()?;
    Some(Key {
        algorithm: Algorithm::Rsa,
        public: Some(key.modulus.as_bytes().to_vec()),
    })
}

/// Some keys contain their public point.
fn elliptic(der: &[u8]) -> Option<Key> {
    let key = EcPrivateKey::from_der(der).ok()?;
    Some(Key {
        algorithm: Algorithm::Elliptic,
        public: key.public_key.map(<[u8]>::to_vec),
    })
}

/// Returns the modulus of a public key.
fn modulus(der: &[u8]) -> Option<Vec<u8>> {
    Some(RsaPublicKey::from_der(der).ok()?.modulus.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(certificate: &str, key: &str) -> String {
        key_pair_complaint(certificate.as_bytes(), key.as_bytes()).unwrap_or_default()
    }

    fn block(label: &str) -> String {
        format!("-----BEGIN {label}-----\nMAA=\n-----END {label}-----\n")
    }

    #[test]
    fn a_missing_part_is_reported() {
        let (certificate, key) = (block("CERTIFICATE"), block("RSA PRIVATE KEY"));
        assert_eq!(
            complaint("x", "y"),
            "tls: failed to find any PEM data in certificate input"
        );
        assert_eq!(
            complaint(&key, &certificate),
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may \
             have been switched"
        );
        assert_eq!(
            complaint(&certificate, "y"),
            "tls: failed to find any PEM data in key input"
        );
        assert_eq!(
            complaint(&certificate, &certificate),
            "tls: found a certificate rather than a key in the PEM for the private key"
        );
        assert_eq!(complaint(&certificate, &key), "x509: malformed certificate");
    }
}
