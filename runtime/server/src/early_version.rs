//! Chains of client certificates of X.509 versions 1 and 2, which `openssl x509 -req` writes by default.
//!
//! Go, and so kube-apiserver, accepts such certificates for clients; the library that verifies all others refuses to
//! read them. Only the client's own certificate and trusted authorities may be of such a version: every certificate
//! between the two is of version 3 and is marked as an authority.

use rustls::CertificateError;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, UnixTime};
use x509_parser::asn1_rs::{Any, FromDer as _};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::{GeneralName, GeneralSubtree, ParsedExtension};
use x509_parser::prelude::ASN1Time;
use x509_parser::x509::X509Version;

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;

/// Maximum number of certificates between the client's and the trusted authority.
const MAX_INTERMEDIATES: usize = 5;

/// Maximum number of signatures that are verified for one chain: names may lead to many authorities that signed
/// nothing.
const MAX_SIGNATURES: usize = 50;

/// True if a certificate has no version 3, so that the usual verification does not read it.
pub(crate) fn is_early(der: &[u8]) -> bool {
    let parsed = X509Certificate::from_der(der);
    parsed.is_ok_and(|(_, certificate)| is_early_version(&certificate))
}

fn is_early_version(certificate: &X509Certificate<'_>) -> bool {
    matches!(certificate.version(), X509Version::V1 | X509Version::V2)
}

/// Algorithm identifier and bits of the key in a certificate.
pub(crate) fn public_key(der: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let key = certificate.public_key();
    let algorithm = parts(key.raw).next()?;
    Some((algorithm.to_vec(), key.subject_public_key.data.to_vec()))
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
    let now = i64::try_from(now.as_secs()).ok();
    let now = now.and_then(|now| ASN1Time::from_timestamp(now).ok());
    let now = now.ok_or(CertificateError::Expired)?;
    let leaf = Link::parse(own).ok_or(CertificateError::BadEncoding)?;
    // Extensions exist since version 3.
    if !is_early_version(&leaf.certificate) || !leaf.certificate.extensions().is_empty() {
        return Err(CertificateError::BadEncoding);
    }
    leaf.check_validity(now)?;
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
    certificate: X509Certificate<'a>,
    /// Content of the identifier of its signature algorithm.
    signed_with: &'a [u8],
}

struct Search<'a> {
    intermediates: Vec<Link<'a>>,
    authorities: Vec<Link<'a>>,
    algorithms: WebPkiSupportedAlgorithms,
    now: ASN1Time,
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
        if child.certificate.issuer().as_raw() != issuer.certificate.subject().as_raw() {
            return None;
        }
        if !self.has_signed(child, issuer) {
            return Some(Err(CertificateError::BadSignature));
        }
        let checked = issuer.check_validity(self.now);
        Some(checked.and_then(|()| issuer.check_authority(below, is_intermediate)))
    }

    fn has_signed(&mut self, child: &Link<'_>, issuer: &Link<'_>) -> bool {
        let key = issuer.certificate.public_key();
        let Some(key_algorithm) = parts(key.raw).next() else {
            return false;
        };
        let (message, signature) = (
            child.certificate.tbs_certificate.as_ref(),
            &child.certificate.signature_value,
        );
        let mut fitting = self.algorithms.all.iter().filter(|algorithm| {
            algorithm.signature_alg_id().as_ref() == child.signed_with
                && algorithm.public_key_alg_id().as_ref() == key_algorithm
        });
        fitting.any(|algorithm| {
            self.signatures += 1;
            self.signatures <= MAX_SIGNATURES
                && algorithm
                    .verify_signature(&key.subject_public_key.data, message, &signature.data)
                    .is_ok()
        })
    }
}

impl<'a> Link<'a> {
    /// Reads a certificate without trailing bytes, whose algorithm is the same inside and outside of the signed part.
    fn parse(der: &'a [u8]) -> Option<Self> {
        let (rest, certificate) = X509Certificate::from_der(der).ok()?;
        let signed_with = parts(der).nth(1)?;
        // The part outside of the signature is compared, too, so that a certificate has one encoding.
        let is_whole = rest.is_empty()
            && tags(der) == [SEQUENCE, SEQUENCE, BIT_STRING]
            && der.first() == Some(&SEQUENCE)
            && certificate.signature_value.unused_bits == 0
            && certificate.tbs_certificate.signature == certificate.signature_algorithm;
        is_whole.then_some(Self {
            certificate,
            signed_with,
        })
    }

    fn check_validity(&self, now: ASN1Time) -> Result<(), CertificateError> {
        let validity = self.certificate.validity();
        if now > validity.not_after {
            return Err(CertificateError::Expired);
        }
        match now < validity.not_before {
            true => Err(CertificateError::NotValidYet),
            false => Ok(()),
        }
    }

    /// Checks that the certificate is that of an authority which may sign those of clients.
    fn check_authority(&self, below: usize, is_intermediate: bool) -> Result<(), CertificateError> {
        let certificate = &self.certificate;
        let malformed = |_| CertificateError::BadEncoding;
        if certificate
            .extensions()
            .iter()
            .any(|extension| !is_understood(extension.critical, extension.parsed_extension()))
        {
            return Err(CertificateError::UnhandledCriticalExtension);
        }
        let constraints = certificate.basic_constraints().map_err(malformed)?;
        let is_authority = match &constraints {
            Some(constraints) => constraints.value.ca,
            None => is_early_version(certificate) && !is_intermediate,
        };
        let max_below = constraints.and_then(|constraints| constraints.value.path_len_constraint);
        let is_too_deep = max_below.is_some_and(|max| below > usize::try_from(max).unwrap_or(usize::MAX));
        let usage = certificate.key_usage().map_err(malformed)?;
        let signs = usage.is_none_or(|usage| usage.value.key_cert_sign());
        let purposes = certificate.extended_key_usage().map_err(malformed)?;
        let is_for_clients = purposes.is_none_or(|purposes| purposes.value.any || purposes.value.client_auth);
        match is_authority && signs && is_for_clients && !is_too_deep {
            true => Ok(()),
            false => Err(CertificateError::InvalidPurpose),
        }
    }
}

/// True if an authority has no extension that has to be obeyed and is not. Name constraints for hosts and people do not
/// concern a client without such names; other constraints do.
fn is_understood(is_critical: bool, extension: &ParsedExtension<'_>) -> bool {
    match extension {
        ParsedExtension::BasicConstraints(_)
        | ParsedExtension::KeyUsage(_)
        | ParsedExtension::ExtendedKeyUsage(_)
        | ParsedExtension::SubjectAlternativeName(_) => true,
        ParsedExtension::NameConstraints(limits) => {
            let all = [&limits.permitted_subtrees, &limits.excluded_subtrees];
            let concerns_client = |subtree: &GeneralSubtree<'_>| {
                !matches!(
                    subtree.base,
                    GeneralName::DNSName(_)
                        | GeneralName::RFC822Name(_)
                        | GeneralName::IPAddress(_)
                        | GeneralName::URI(_)
                )
            };
            !all.into_iter().flatten().flatten().any(concerns_client)
        }
        ParsedExtension::ParseError { .. } => false,
        _ => !is_critical,
    }
}

/// The contents of the parts of a DER sequence.
fn parts(der: &[u8]) -> impl Iterator<Item = &[u8]> {
    whole_parts(der).map(|(_, content)| content)
}

/// The first bytes of the parts of a DER sequence.
fn tags(der: &[u8]) -> Vec<u8> {
    whole_parts(der).filter_map(|(part, _)| part.first().copied()).collect()
}

/// The parts of a DER sequence with their headers, and their contents.
fn whole_parts(der: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = Any::from_der(der).map_or(&[][..], |(_, sequence)| sequence.data);
    std::iter::from_fn(move || {
        let (behind, part) = Any::from_der(rest).ok()?;
        let whole = &rest[..rest.len() - behind.len()];
        rest = behind;
        Some((whole, part.data))
    })
}

#[cfg(test)]
pub(crate) mod tests;
