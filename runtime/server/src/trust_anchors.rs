//! Trusted certificates of authorities.

use planesmith_machinery::der::decode;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{CertificateError, Error, RootCertStore};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::oid::db::rfc5280::ANY_EXTENDED_KEY_USAGE;
use x509_cert::ext::pkix::ExtendedKeyUsage;
use x509_cert::{Certificate, TbsCertificate};

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

    /// Checks a `certificate` that is trusted because it is listed, for its validity and for `usage`; `None` if it is not
    /// listed.
    pub(crate) fn check(
        &self,
        certificate: &CertificateDer<'_>,
        now: UnixTime,
        usage: ObjectIdentifier,
    ) -> Option<Result<(), CertificateError>> {
        let is_listed = self.certificates.contains(certificate);
        is_listed.then(|| check(certificate, now, usage))
    }
}

/// Checks the validity and the usage of a certificate that is trusted directly.
fn check(certificate: &CertificateDer<'_>, now: UnixTime, usage: ObjectIdentifier) -> Result<(), CertificateError> {
    let parsed: Certificate = decode(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let parsed = parsed.tbs_certificate;
    check_validity(&parsed, now)?;
    let usages = parsed.get::<ExtendedKeyUsage>();
    let usages = usages.map_err(|_| CertificateError::BadEncoding)?;
    match usages.is_none_or(|(_, usages)| {
        usages
            .0
            .iter()
            .any(|have| [ANY_EXTENDED_KEY_USAGE, usage].contains(have))
    }) {
        true => Ok(()),
        false => Err(CertificateError::InvalidPurpose),
    }
}

/// Checks that a certificate is valid at `now`, which includes both ends of its validity.
pub(crate) fn check_validity(certificate: &TbsCertificate, now: UnixTime) -> Result<(), CertificateError> {
    let validity = &certificate.validity;
    if now.as_secs() > validity.not_after.to_unix_duration().as_secs() {
        return Err(CertificateError::Expired);
    }
    match now.as_secs() < validity.not_before.to_unix_duration().as_secs() {
        true => Err(CertificateError::NotValidYet),
        false => Ok(()),
    }
}
