//! The parts of a certificate, as they are encoded.

use std::time::SystemTime;

use planesmith_machinery::der::{Element, SEQUENCE, content, elements};
use x509_cert::der::Decode as _;
use x509_cert::time::Time;

/// Tag of the version.
const VERSION: u8 = 0xa0;
/// Tag of a string of bits.
const BIT_STRING: u8 = 0x03;
/// The content of version 3.
const VERSION_3: &[u8] = &[2, 1, 2];

/// The parts of a certificate that identify its owner, its issuer, its key and its signature, as they are encoded: names keep their order and their
/// repetitions, and serial numbers have any size, as in Go. Reading them takes a time that is linear in their size, so that it
/// is safe for certificates that nobody has verified.
#[derive(Clone, Copy, Debug)]
pub struct CertificateParts<'a> {
    /// True if the certificate has no version 3.
    pub is_early: bool,
    /// The part that is signed.
    pub signed: &'a [u8],
    /// The content of the identifier of the signature's algorithm.
    pub signed_with: &'a [u8],
    /// The name of the issuer.
    pub issuer: &'a [u8],
    /// The name of the owner.
    pub subject: &'a [u8],
    /// The public key with its algorithm (SubjectPublicKeyInfo).
    pub key_info: &'a [u8],
    /// The content of the identifier of the key's algorithm.
    pub key_algorithm: &'a [u8],
    /// The bits of the public key.
    pub key: &'a [u8],
    /// The end of the validity.
    not_after: &'a [u8],
}

impl<'a> CertificateParts<'a> {
    /// Reads a certificate; `None` if it is malformed.
    #[must_use]
    pub fn read(der: &'a [u8]) -> Option<Self> {
        let parts = elements(content(der, SEQUENCE)?)?;
        let [signed, signed_with, signature] = *parts.as_slice() else {
            return None;
        };
        if [signed.tag, signed_with.tag, signature.tag] != [SEQUENCE, SEQUENCE, BIT_STRING] {
            return None;
        }
        let all = elements(signed.content)?;
        let (version, fields) = match all.split_first() {
            Some((version, fields)) if version.tag == VERSION => (Some(version.content), fields),
            _ => (None, all.as_slice()),
        };
        let [_serial, _algorithm, issuer, validity, subject, key_info, ..] = fields else {
            return None;
        };
        let [_, not_after] = *elements(validity.content)?.as_slice() else {
            return None;
        };
        let (key_algorithm, key) = public_key(key_info)?;
        Some(Self {
            is_early: version != Some(VERSION_3),
            signed: signed.whole,
            signed_with: signed_with.content,
            issuer: issuer.whole,
            subject: subject.whole,
            key_info: key_info.whole,
            key_algorithm,
            key,
            not_after: not_after.whole,
        })
    }

    /// Returns the end of the validity; `None` if it is malformed.
    #[must_use]
    pub fn not_after(&self) -> Option<SystemTime> {
        Some(Time::from_der(self.not_after).ok()?.to_system_time())
    }
}

/// Returns the content of the algorithm's identifier, and the bits of the key.
fn public_key<'a>(info: &Element<'a>) -> Option<(&'a [u8], &'a [u8])> {
    let [algorithm, bits] = *elements(info.content)?.as_slice() else {
        return None;
    };
    // The first byte is the number of bits that are not used.
    let key = bits.content.strip_prefix(&[0]).filter(|_| bits.tag == BIT_STRING)?;
    Some((algorithm.content, key))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, SerialNumber};

    use super::*;

    #[test]
    fn serial_numbers_have_any_size() {
        let mut params = CertificateParams::default();
        params.serial_number = Some(SerialNumber::from_slice(&[7; 30]));
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let parts = CertificateParts::read(certificate.der()).unwrap();
        assert!(!parts.is_early && parts.issuer == parts.subject && parts.not_after().is_some());
        assert!(CertificateParts::read(&certificate.der()[1..]).is_none());
        assert!(CertificateParts::read(&[certificate.der(), &[0][..]].concat()).is_none());
    }
}
