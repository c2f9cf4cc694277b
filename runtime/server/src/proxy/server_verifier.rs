//! Verification of servers' certificates.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use x509_cert::der::oid::db::rfc5280::ID_KP_SERVER_AUTH;

use crate::signatures::Signatures;
use crate::trust_anchors::TrustAnchors;

/// Verifies the certificates of servers.
#[derive(Debug)]
pub(super) struct ServerVerifier {
    mode: TrustMode,
    signatures: Signatures,
}

#[derive(Debug)]
enum TrustMode {
    /// Trusts any certificate whose owner has its key.
    Anything,
    /// Trusts certificates that an authority has signed, and the authorities themselves.
    Authorities {
        anchors: TrustAnchors,
        /// `None` if there are no authorities.
        verifier: Option<Arc<WebPkiServerVerifier>>,
    },
}

impl ServerVerifier {
    /// Returns a verifier that trusts any certificate.
    pub(super) fn trust_anything(provider: &Arc<CryptoProvider>) -> Self {
        Self {
            mode: TrustMode::Anything,
            signatures: Signatures::new(provider),
        }
    }

    /// Returns a verifier that trusts a list of authorities.
    pub(super) fn trust_anchors(anchors: TrustAnchors, provider: &Arc<CryptoProvider>) -> Self {
        let roots = Arc::new(anchors.roots().clone());
        let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
        // Without authorities no verifier can be built.
        let verifier = builder.build().ok();
        Self {
            mode: TrustMode::Authorities { anchors, verifier },
            signatures: Signatures::new(provider),
        }
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let TrustMode::Authorities { anchors, verifier } = &self.mode else {
            return Ok(ServerCertVerified::assertion());
        };
        match (anchors.check(certificate, now, ID_KP_SERVER_AUTH), verifier) {
            (Some(listed), _) => {
                listed?;
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            (None, Some(verifier)) => verifier.verify_server_cert(certificate, intermediates, name, ocsp_response, now),
            (None, None) => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signatures.check_tls12(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signatures.check_tls13(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signatures.schemes()
    }
}
