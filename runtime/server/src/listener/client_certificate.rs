//! Client certificates: asked for, not demanded, and judged after the handshake.

use std::sync::Arc;

use planesmith_access::authentication::ClientCertificate;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme};

use super::TlsError;

/// Takes any client certificate whose key the client has.
///
/// Whether an authority has signed it is found out when the connection stands: a stranger's certificate is an
/// authentication that failed (401), which the client can read, not a handshake that broke.
#[derive(Debug)]
pub(super) struct AnyCertificate {
    judge: Arc<dyn ClientCertVerifier>,
    provider: Arc<CryptoProvider>,
}

impl AnyCertificate {
    pub(super) fn new(authorities: RootCertStore, provider: &Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let judge = WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), Arc::clone(provider))
            .allow_unauthenticated()
            .build()
            .map_err(TlsError::Authorities)?;
        Ok(Self {
            judge,
            provider: Arc::clone(provider),
        })
    }

    /// Who a client is by the certificates that it sent, its own first.
    pub(super) fn judge(&self, sent: &[CertificateDer<'_>]) -> Option<ClientCertificate> {
        let (own, intermediates) = sent.split_first()?;
        let verdict = match self.judge.verify_client_cert(own, intermediates, UnixTime::now()) {
            Ok(_) => ClientCertificate::trusted(own).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        Some(verdict.unwrap_or_else(ClientCertificate::Untrusted))
    }
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.judge.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
