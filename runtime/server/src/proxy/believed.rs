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

/// Believes what an authority has signed, and what stands among the authorities itself: as Go does, a certificate of its
/// own making that says of itself that it is an authority.
#[derive(Debug)]
pub(super) struct Believed {
    listed: Vec<CertificateDer<'static>>,
    authorities: Arc<WebPkiServerVerifier>,
}

impl Believed {
    /// Believes by a list of authorities; `None` when it is empty.
    pub(super) fn new(
        listed: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Option<Self>, rustls::Error> {
        let mut roots = RootCertStore::empty();
        for certificate in &listed {
            roots.add(certificate.clone())?;
        }
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        // Without authorities there is nothing that can be built.
        let authorities = builder.build().ok();
        Ok(authorities.map(|authorities| Self { listed, authorities }))
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
        if self.listed.contains(certificate) {
            return Self::check_listed(certificate, name, now);
        }
        self.authorities
            .verify_server_cert(certificate, intermediates, name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}
