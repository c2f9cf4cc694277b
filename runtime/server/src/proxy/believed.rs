//! Which certificates of servers are believed.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};
use x509_parser::prelude::{ASN1Time, FromDer as _, X509Certificate};

use crate::signatures::Signatures;

/// Whom a connection believes.
#[derive(Debug)]
pub(super) struct Believed {
    whom: Whom,
    signatures: Signatures,
}

#[derive(Debug)]
enum Whom {
    /// Any certificate whose owner has its key.
    Anyone,
    /// What an authority has signed, and what stands among the authorities itself: as Go does, a certificate of its own making
    /// that says of itself that it is an authority.
    Listed {
        authorities: Vec<CertificateDer<'static>>,
        /// `None` when there are no authorities.
        judge: Option<Arc<WebPkiServerVerifier>>,
    },
}

impl Believed {
    /// Believes anyone.
    pub(super) fn anyone(provider: &Arc<CryptoProvider>) -> Self {
        Self {
            whom: Whom::Anyone,
            signatures: Signatures::new(provider),
        }
    }

    /// Believes by a list of authorities.
    ///
    /// # Errors
    ///
    /// When one of them cannot be used.
    pub(super) fn listed(
        authorities: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        for certificate in &authorities {
            roots.add(certificate.clone())?;
        }
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        // Without authorities there is nothing that can be built.
        let judge = builder.build().ok();
        Ok(Self {
            whom: Whom::Listed { authorities, judge },
            signatures: Signatures::new(provider),
        })
    }

    /// Checks what is left to check of a certificate that is believed by itself.
    fn check_listed(
        certificate: &CertificateDer<'_>,
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let parsed = X509Certificate::from_der(certificate);
        let (_, parsed) = parsed.map_err(|_| rustls::Error::from(CertificateError::BadEncoding))?;
        let time = i64::try_from(now.as_secs())
            .ok()
            .and_then(|now| ASN1Time::from_timestamp(now).ok());
        let validity = parsed.validity();
        if time.is_none_or(|time| time > validity.not_after) {
            return Err(CertificateError::Expired.into());
        }
        if time.is_none_or(|time| time < validity.not_before) {
            return Err(CertificateError::NotValidYet.into());
        }
        let usage = parsed.extended_key_usage().ok().flatten();
        if usage.is_some_and(|usage| !usage.value.any && !usage.value.server_auth) {
            return Err(CertificateError::InvalidPurpose.into());
        }
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        Ok(ServerCertVerified::assertion())
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
        match &self.whom {
            Whom::Anyone => Ok(ServerCertVerified::assertion()),
            Whom::Listed { authorities, .. } if authorities.contains(certificate) => {
                Self::check_listed(certificate, name, now)
            }
            Whom::Listed { judge: Some(judge), .. } => {
                judge.verify_server_cert(certificate, intermediates, name, ocsp_response, now)
            }
            Whom::Listed { judge: None, .. } => Err(CertificateError::UnknownIssuer.into()),
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
