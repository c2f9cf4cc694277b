//! Trusted certificates of authorities.

use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{CertificateError, Error, RootCertStore};
use x509_parser::extensions::ExtendedKeyUsage;
use x509_parser::prelude::{ASN1Time, FromDer as _, X509Certificate};

/// A list of trusted authorities. As in Go, a certificate in the list is trusted directly, even if it is itself a CA.
#[derive(Clone, Debug)]
pub(crate) struct TrustAnchors {
    certificates: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
}

impl Default for TrustAnchors {
    fn default() -> Self {
        Self {
            certificates: Vec::new(),
            roots: RootCertStore::empty(),
        }
    }
}

impl TrustAnchors {
    /// Adds an authority.
    ///
    /// # Errors
    ///
    /// The certificate cannot be used.
    pub(crate) fn add(&mut self, certificate: CertificateDer<'static>) -> Result<(), Error> {
        self.roots.add(certificate.clone())?;
        self.certificates.push(certificate);
        Ok(())
    }

    /// Adds several authorities.
    ///
    /// # Errors
    ///
    /// One of them cannot be used.
    pub(crate) fn add_all(
        &mut self,
        certificates: impl IntoIterator<Item = CertificateDer<'static>>,
    ) -> Result<(), Error> {
        certificates
            .into_iter()
            .try_for_each(|certificate| self.add(certificate))
    }

    /// Adds the authorities that can be used and ignores the others.
    pub(crate) fn add_usable(&mut self, certificates: impl IntoIterator<Item = CertificateDer<'static>>) {
        for certificate in certificates {
            // A certificate that cannot be used verifies nothing.
            let _ = self.add(certificate);
        }
    }

    /// The trust anchors that verify signatures of certificates.
    pub(crate) fn roots(&self) -> &RootCertStore {
        &self.roots
    }

    /// The certificates of the authorities, as they were read.
    pub(crate) fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }

    /// Checks a `certificate` that is trusted because it is listed, for its validity and for a usage that `serves`
    /// accepts; `None` if it is not listed.
    pub(crate) fn check(
        &self,
        certificate: &CertificateDer<'_>,
        now: UnixTime,
        serves: fn(&ExtendedKeyUsage<'_>) -> bool,
    ) -> Option<Result<(), CertificateError>> {
        let is_listed = self.certificates.contains(certificate);
        is_listed.then(|| check(certificate, now, serves))
    }
}

/// Checks the validity and the usage of a certificate that is trusted directly.
fn check(
    certificate: &CertificateDer<'_>,
    now: UnixTime,
    serves: fn(&ExtendedKeyUsage<'_>) -> bool,
) -> Result<(), CertificateError> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let time = i64::try_from(now.as_secs()).ok();
    let time = time.and_then(|now| ASN1Time::from_timestamp(now).ok());
    let validity = parsed.validity();
    if time.is_none_or(|time| time > validity.not_after) {
        return Err(CertificateError::Expired);
    }
    if time.is_none_or(|time| time < validity.not_before) {
        return Err(CertificateError::NotValidYet);
    }
    let usage = parsed.extended_key_usage().ok().flatten();
    match usage.is_none_or(|usage| usage.value.any || serves(usage.value)) {
        true => Ok(()),
        false => Err(CertificateError::InvalidPurpose),
    }
}
