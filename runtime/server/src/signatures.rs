//! Whether the other end of a connection has the key of the certificate that it showed.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::CertificateDer;
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

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
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    /// The same of TLS 1.3.
    pub(crate) fn check_tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    /// How may be signed.
    pub(crate) fn schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
