//! Signatures of TLS handshakes: they prove that the peer has the key of its certificate.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm};
use rustls::{CertificateError, DigitallySignedStruct, Error, PeerMisbehaved, SignatureScheme};

use crate::early_version;

/// Number of algorithms to try for a scheme of TLS 1.2, where ECDSA schemes do not determine the curve.
const IN_TLS12: usize = usize::MAX;
/// Number of algorithms to try for a scheme of TLS 1.3, which determines the curve: that of the first algorithm.
const IN_TLS13: usize = 1;

/// Verifies the signatures of handshakes, independently of trust in the certificate.
#[derive(Debug)]
pub(crate) struct Signatures(Arc<CryptoProvider>);

impl Signatures {
    pub(crate) fn new(provider: &Arc<CryptoProvider>) -> Self {
        Self(Arc::clone(provider))
    }

    /// Verifies a signature in a TLS 1.2 handshake.
    pub(crate) fn check_tls12(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match early_version::public_key(certificate) {
            Some(key) => self.check_by_key(message, key, signed, IN_TLS12),
            None => verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms),
        }
    }

    /// Verifies a signature in a TLS 1.3 handshake.
    pub(crate) fn check_tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match early_version::public_key(certificate) {
            Some(key) if is_in_tls13(signed.scheme) => self.check_by_key(message, key, signed, IN_TLS13),
            Some(_) => Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into()),
            None => verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms),
        }
    }

    /// Verifies a signature with the key of a certificate that the library does not read, with the first `most`
    /// algorithms of its scheme.
    fn check_by_key(
        &self,
        message: &[u8],
        (key_algorithm, key): (&[u8], &[u8]),
        signed: &DigitallySignedStruct,
        most: usize,
    ) -> Result<HandshakeSignatureValid, Error> {
        let fitting = self.algorithms(signed.scheme, most);
        let fitting = fitting.filter(|algorithm| algorithm.public_key_alg_id().as_ref() == key_algorithm);
        for algorithm in fitting {
            if algorithm.verify_signature(key, message, signed.signature()).is_ok() {
                return Ok(HandshakeSignatureValid::assertion());
            }
        }
        Err(CertificateError::BadSignature.into())
    }

    /// The first `most` algorithms of a scheme.
    fn algorithms(
        &self,
        scheme: SignatureScheme,
        most: usize,
    ) -> impl Iterator<Item = &'static dyn SignatureVerificationAlgorithm> {
        let mapping = self.0.signature_verification_algorithms.mapping.iter();
        let of_scheme = mapping.filter(move |(candidate, _)| *candidate == scheme);
        of_scheme.flat_map(move |(_, algorithms)| algorithms.iter().take(most).copied())
    }

    /// The supported signature schemes.
    pub(crate) fn schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// True for schemes that TLS 1.3 has: PKCS #1 padding and SHA-1 are left to older versions.
fn is_in_tls13(scheme: SignatureScheme) -> bool {
    matches!(
        scheme,
        SignatureScheme::ECDSA_NISTP256_SHA256
            | SignatureScheme::ECDSA_NISTP384_SHA384
            | SignatureScheme::ED25519
            | SignatureScheme::RSA_PSS_SHA256
            | SignatureScheme::RSA_PSS_SHA384
            | SignatureScheme::RSA_PSS_SHA512
    )
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::alg_id;

    use super::*;

    #[test]
    fn schemes_of_tls13_name_their_curve() {
        let signatures = Signatures::new(&Arc::new(rustls::crypto::ring::default_provider()));
        let has = |scheme, most, curve| {
            let mut algorithms = signatures.algorithms(scheme, most);
            algorithms.any(|algorithm| algorithm.public_key_alg_id() == curve)
        };
        for (scheme, own, other) in [
            (
                SignatureScheme::ECDSA_NISTP256_SHA256,
                alg_id::ECDSA_P256,
                alg_id::ECDSA_P384,
            ),
            (
                SignatureScheme::ECDSA_NISTP384_SHA384,
                alg_id::ECDSA_P384,
                alg_id::ECDSA_P256,
            ),
        ] {
            assert!(has(scheme, IN_TLS12, own) && has(scheme, IN_TLS12, other), "{scheme:?}");
            assert!(
                has(scheme, IN_TLS13, own) && !has(scheme, IN_TLS13, other),
                "{scheme:?}"
            );
        }
    }
}
