//! Certificates of authorities, one by one.

use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{CertificateError, Error, RootCertStore};
use x509_parser::extensions::ExtendedKeyUsage;
use x509_parser::prelude::{ASN1Time, FromDer as _, X509Certificate};

/// A list of authorities. As in Go, what stands in it is believed itself, also when it says of itself that it is an authority.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    certificates: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
}

impl Default for Listed {
    fn default() -> Self {
        Self {
            certificates: Vec::new(),
            roots: RootCertStore::empty(),
        }
    }
}

impl Listed {
    /// Adds an authority.
    ///
    /// # Errors
    ///
    /// When it cannot be used.
    pub(crate) fn add(&mut self, certificate: CertificateDer<'static>) -> Result<(), Error> {
        self.roots.add(certificate.clone())?;
        self.certificates.push(certificate);
        Ok(())
    }

    /// Adds all of some authorities.
    ///
    /// # Errors
    ///
    /// When one of them cannot be used.
    pub(crate) fn add_all(
        &mut self,
        certificates: impl IntoIterator<Item = CertificateDer<'static>>,
    ) -> Result<(), Error> {
        certificates
            .into_iter()
            .try_for_each(|certificate| self.add(certificate))
    }

    /// Adds those that can be used.
    pub(crate) fn add_usable(&mut self, certificates: impl IntoIterator<Item = CertificateDer<'static>>) {
        for certificate in certificates {
            // Others are not what anybody is believed by.
            let _ = self.add(certificate);
        }
    }

    /// What certificates are signed by.
    pub(crate) fn roots(&self) -> &RootCertStore {
        &self.roots
    }

    /// The authorities as they were read.
    pub(crate) fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }

    /// Whether `certificate` is believed because it is listed, when it is for what `serves` wants; `None` when it is not listed.
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

/// Checks what is left to check of a certificate that is believed by itself.
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
