//! Chains of client certificates of X.509 versions 1 and 2, which `openssl x509 -req` writes by default.
//!
//! Go, and so kube-apiserver, accepts such certificates for clients; the library that verifies all others refuses to
//! read them. Only the client's own certificate and trusted authorities may be of such a version: every certificate
//! between the two is of version 3 and is marked as an authority.

use planesmith_access::authentication::CertificateParts;
use planesmith_machinery::der::decode;
use rustls::CertificateError;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, UnixTime};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::der::oid::db::rfc5280::{ANY_EXTENDED_KEY_USAGE, ID_KP_CLIENT_AUTH};
use x509_cert::der::oid::{AssociatedOid as _, ObjectIdentifier};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints, SubjectAltName};

use crate::trust_anchors::check_validity;

/// Maximum number of certificates between the client's and the trusted authority.
const MAX_INTERMEDIATES: usize = 5;

/// Maximum number of signatures that are verified for one chain: names may lead to many authorities that signed
/// nothing.
const MAX_SIGNATURES: usize = 50;

/// True if a certificate has no version 3, so that the usual verification does not read it.
pub(crate) fn is_early(der: &[u8]) -> bool {
    CertificateParts::read(der).is_some_and(|parts| parts.is_early)
}

/// Algorithm identifier and bits of the key in a certificate of such a version; `None` for other certificates.
pub(crate) fn public_key(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let parts = CertificateParts::read(der).filter(|parts| parts.is_early)?;
    Some((parts.key_algorithm, parts.key))
}

/// Verifies that a chain of `intermediates` leads from a client's certificate to one of `authorities`.
///
/// # Errors
///
/// Such a chain does not exist, or a certificate in it may not be used now or not for clients.
pub(crate) fn verify(
    own: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    authorities: &[CertificateDer<'_>],
    algorithms: WebPkiSupportedAlgorithms,
    now: UnixTime,
) -> Result<(), CertificateError> {
    let leaf = Link::parse(own).ok_or(CertificateError::BadEncoding)?;
    // Extensions exist since version 3.
    let extensions = leaf.certificate.tbs_certificate.extensions.as_ref();
    if !leaf.parts.is_early || extensions.is_some_and(|extensions| !extensions.is_empty()) {
        return Err(CertificateError::BadEncoding);
    }
    check_validity(&leaf.certificate.tbs_certificate, now)?;
    let mut search = Search {
        intermediates: intermediates.iter().filter_map(|der| Link::parse(der)).collect(),
        authorities: authorities.iter().filter_map(|der| Link::parse(der)).collect(),
        algorithms,
        now,
        signatures: 0,
    };
    search.find(&leaf, &mut Vec::new())
}

/// One certificate of a chain.
#[derive(Clone)]
struct Link<'a> {
    certificate: Certificate,
    parts: CertificateParts<'a>,
}

struct Search<'a> {
    intermediates: Vec<Link<'a>>,
    authorities: Vec<Link<'a>>,
    algorithms: WebPkiSupportedAlgorithms,
    now: UnixTime,
    /// Number of signatures verified so far.
    signatures: usize,
}

impl Search<'_> {
    /// Finds the issuer of `child`, up to an authority; `path` has the intermediates in use.
    fn find(&mut self, child: &Link<'_>, path: &mut Vec<usize>) -> Result<(), CertificateError> {
        let mut problem = CertificateError::UnknownIssuer;
        for index in 0..self.authorities.len() {
            let issuer = self.authorities[index].clone();
            match self.check(child, &issuer, path.len(), false) {
                Some(Ok(())) => return Ok(()),
                Some(Err(found)) => problem = found,
                None => {}
            }
        }
        for index in 0..self.intermediates.len() {
            if path.len() >= MAX_INTERMEDIATES || path.contains(&index) {
                continue;
            }
            let issuer = self.intermediates[index].clone();
            match self.check(child, &issuer, path.len(), true) {
                Some(Ok(())) => {
                    path.push(index);
                    let found = self.find(&issuer, path);
                    path.pop();
                    match found {
                        Ok(()) => return Ok(()),
                        Err(found) => problem = found,
                    }
                }
                Some(Err(found)) => problem = found,
                None => {}
            }
        }
        Err(problem)
    }

    /// Checks that `issuer` signed `child` and may do so with `below` intermediates below it; `None` if its name is
    /// another.
    fn check(
        &mut self,
        child: &Link<'_>,
        issuer: &Link<'_>,
        below: usize,
        is_intermediate: bool,
    ) -> Option<Result<(), CertificateError>> {
        if child.parts.issuer != issuer.parts.subject {
            return None;
        }
        if !self.has_signed(child, issuer) {
            return Some(Err(CertificateError::BadSignature));
        }
        let checked = check_validity(&issuer.certificate.tbs_certificate, self.now);
        Some(checked.and_then(|()| issuer.check_authority(below, is_intermediate)))
    }

    fn has_signed(&mut self, child: &Link<'_>, issuer: &Link<'_>) -> bool {
        let signature = child.certificate.signature.as_bytes();
        let Some(signature) = signature else { return false };
        let CertificateParts { key_algorithm, key, .. } = issuer.parts;
        let mut fitting = self.algorithms.all.iter().filter(|algorithm| {
            algorithm.signature_alg_id().as_ref() == child.parts.signed_with
                && algorithm.public_key_alg_id().as_ref() == key_algorithm
        });
        fitting.any(|algorithm| {
            self.signatures += 1;
            self.signatures <= MAX_SIGNATURES && algorithm.verify_signature(key, child.parts.signed, signature).is_ok()
        })
    }
}

impl<'a> Link<'a> {
    /// Reads a certificate without trailing bytes, whose algorithm is the same inside and outside of the signed part.
    fn parse(der: &'a [u8]) -> Option<Self> {
        let parts = CertificateParts::read(der)?;
        let certificate: Certificate = decode(der).ok()?;
        // The part outside of the signature is compared, too, so that a certificate has one encoding.
        let is_whole = certificate.signature.as_bytes().is_some()
            && certificate.tbs_certificate.signature == certificate.signature_algorithm;
        is_whole.then_some(Self { certificate, parts })
    }

    /// Checks that the certificate is that of an authority which may sign those of clients.
    fn check_authority(&self, below: usize, is_intermediate: bool) -> Result<(), CertificateError> {
        let certificate = &self.certificate.tbs_certificate;
        let malformed = |_| CertificateError::BadEncoding;
        if !certificate.extensions.iter().flatten().all(is_understood) {
            return Err(CertificateError::UnhandledCriticalExtension);
        }
        let constraints = certificate.get::<BasicConstraints>().map_err(malformed)?;
        let is_authority = match &constraints {
            Some((_, constraints)) => constraints.ca,
            None => self.parts.is_early && !is_intermediate,
        };
        let max_below = constraints.and_then(|(_, constraints)| constraints.path_len_constraint);
        let is_too_deep = max_below.is_some_and(|max| below > usize::from(max));
        let usage = certificate.get::<KeyUsage>().map_err(malformed)?;
        let signs = usage.is_none_or(|(_, usage)| usage.key_cert_sign());
        let purposes = certificate.get::<ExtendedKeyUsage>().map_err(malformed)?;
        let is_for_clients = purposes.is_none_or(|(_, purposes)| {
            let mut purposes = purposes.0.iter();
            purposes.any(|purpose| [ANY_EXTENDED_KEY_USAGE, ID_KP_CLIENT_AUTH].contains(purpose))
        });
        match is_authority && signs && is_for_clients && !is_too_deep {
            true => Ok(()),
            false => Err(CertificateError::InvalidPurpose),
        }
    }
}

/// True if an extension of an authority is obeyed, or need not be. Name constraints for hosts and people do not concern a
/// client without such names; other constraints do.
fn is_understood(extension: &Extension) -> bool {
    const OBEYED: [ObjectIdentifier; 4] = [
        BasicConstraints::OID,
        KeyUsage::OID,
        ExtendedKeyUsage::OID,
        SubjectAltName::OID,
    ];
    if extension.extn_id != NameConstraints::OID {
        return OBEYED.contains(&extension.extn_id) || !extension.critical;
    }
    let concerns_client = |subtree: &GeneralSubtree| {
        !matches!(
            subtree.base,
            GeneralName::DnsName(_)
                | GeneralName::Rfc822Name(_)
                | GeneralName::IpAddress(_)
                | GeneralName::UniformResourceIdentifier(_)
        )
    };
    let limits = NameConstraints::from_der(extension.extn_value.as_bytes());
    limits.is_ok_and(|limits| {
        let all = [limits.permitted_subtrees, limits.excluded_subtrees];
        !all.iter().flatten().flatten().any(concerns_client)
    })
}

#[cfg(test)]
pub(crate) mod tests;
