//! Verification of servers' certificates.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};

use crate::listed::Listed;
use crate::signatures::Signatures;

/// Verifies the certificates of servers.
#[derive(Debug)]
pub(super) struct Believed {
    whom: Whom,
    signatures: Signatures,
}

#[derive(Debug)]
enum Whom {
    /// Trusts any certificate whose owner has its key.
    Anyone,
    /// Trusts certificates that an authority has signed, and the authorities themselves.
    Listed {
        authorities: Listed,
        /// `None` if there are no authorities.
        judge: Option<Arc<WebPkiServerVerifier>>,
    },
}

impl Believed {
    /// Returns a verifier that trusts any certificate.
    pub(super) fn anyone(provider: &Arc<CryptoProvider>) -> Self {
        Self {
            whom: Whom::Anyone,
            signatures: Signatures::new(provider),
        }
    }

    /// Returns a verifier that trusts a list of authorities.
    pub(super) fn listed(authorities: Listed, provider: &Arc<CryptoProvider>) -> Self {
        let roots = Arc::new(authorities.roots().clone());
        let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
        // Without authorities no verifier can be built.
        let judge = builder.build().ok();
        Self {
            whom: Whom::Listed { authorities, judge },
            signatures: Signatures::new(provider),
        }
    }
}

impl ServerCertVerifier for Believed {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Whom::Listed { authorities, judge } = &self.whom else {
            return Ok(ServerCertVerified::assertion());
        };
        match (authorities.check(certificate, now, |usage| usage.server_auth), judge) {
            (Some(listed), _) => {
                listed?;
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            (None, Some(judge)) => judge.verify_server_cert(certificate, intermediates, name, ocsp_response, now),
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
