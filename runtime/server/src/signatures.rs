//! Whether the other end of a connection has the key of the certificate that it showed.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, DigitallySignedStruct, Error, PeerMisbehaved, SignatureScheme};

use crate::early_version;

/// Checks the signatures of handshakes, whoever is believed.
#[derive(Debug)]
pub(crate) struct Signatures(Arc<CryptoProvider>);

impl Signatures {
    pub(crate) fn new(provider: &Arc<CryptoProvider>) -> Self {
        Self(Arc::clone(provider))
    }

    /// Checks what was signed in a handshake of TLS 1.2.
    pub(crate) fn check_tls12(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match early_key(certificate) {
            Some(key) => self.check_by_key(message, &key, signed),
            None => verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms),
        }
    }

    /// The same of TLS 1.3.
    pub(crate) fn check_tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match early_key(certificate) {
            Some(key) if is_in_tls13(signed.scheme) => self.check_by_key(message, &key, signed),
            Some(_) => Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into()),
            None => verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms),
        }
    }

    /// Checks a signature by the key of a certificate that the library does not read, with the algorithms of its scheme.
    fn check_by_key(
        &self,
        message: &[u8],
        (key_algorithm, key): &(Vec<u8>, Vec<u8>),
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let mapping = self.0.signature_verification_algorithms.mapping.iter();
        let fitting = mapping
            .filter(|(scheme, _)| *scheme == signed.scheme)
            .flat_map(|(_, algorithms)| *algorithms)
            .filter(|algorithm| algorithm.public_key_alg_id().as_ref() == key_algorithm);
        for algorithm in fitting {
            if algorithm.verify_signature(key, message, signed.signature()).is_ok() {
                return Ok(HandshakeSignatureValid::assertion());
            }
        }
        Err(CertificateError::BadSignature.into())
    }

    /// How may be signed.
    pub(crate) fn schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The key of a certificate of X.509 version 1 or 2.
fn early_key(certificate: &CertificateDer<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
    let is_early = early_version::is_early(certificate);
    is_early.then(|| early_version::public_key(certificate)).flatten()
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
