//! Issues certificates: any subject, any key, in the form of RFC 5280.

use std::net::IpAddr;
use std::time::SystemTime;

use ring::digest::{SHA256, digest};
use x509_cert::der::asn1::{Any, BitString, Ia5String, OctetString, SetOfVec, UtcTime};
use x509_cert::der::flagset::FlagSet;
use x509_cert::der::oid::{AssociatedOid as _, ObjectIdentifier, db};
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{Decode as _, Encode as _, EncodePem as _, Tag};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages, SubjectAltName,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{AsExtension, Extension};
use x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::SubjectPublicKeyInfoOwned;
use x509_cert::time::{Time, Validity};
use x509_cert::{Certificate, TbsCertificate, Version};

use super::Authority;
use super::key::CertificateKey;

/// The contents of a certificate, except for its issuer.
#[derive(Debug)]
pub struct Contents {
    /// The owner of the certificate.
    pub subject: Name,
    /// The owner's public key.
    pub public_key: SubjectPublicKeyInfoOwned,
    /// Further names of the owner.
    pub names: Vec<GeneralName>,
    /// The purposes for which the key may be used.
    pub usages: Usages,
    /// The beginning of its validity.
    pub not_before: SystemTime,
    /// The end of its validity; at most that of the authority.
    pub not_after: SystemTime,
}

/// The purposes for which a key may be used.
#[derive(Clone, Debug, Default)]
pub struct Usages {
    /// The operations of the key.
    pub key: FlagSet<KeyUsages>,
    /// The extended purposes.
    pub extended: Vec<ObjectIdentifier>,
}

/// A reason why a certificate cannot be issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// A part of it cannot be encoded.
    #[error("a part of the certificate cannot be encoded")]
    Encoding(#[from] x509_cert::der::Error),
    /// The system's random number generator failed, which keys and signatures need.
    #[error("the system has no random numbers")]
    Random,
}

/// Returns a subject with a common name, and with organizations, which stand for groups.
///
/// # Errors
///
/// A name that a certificate cannot hold.
pub fn subject<'o>(common_name: &str, organizations: impl IntoIterator<Item = &'o str>) -> Result<Name, IssueError> {
    let attribute = |oid, text: &str| {
        let value = Any::new(Tag::Utf8String, text.as_bytes())?;
        let values = SetOfVec::try_from(vec![x509_cert::attr::AttributeTypeAndValue { oid, value }])?;
        Ok(RelativeDistinguishedName(values))
    };
    let organizations = organizations
        .into_iter()
        .map(|organization| attribute(db::rfc4519::O, organization));
    let parts = organizations.chain([attribute(db::rfc4519::CN, common_name)]);
    Ok(RdnSequence(parts.collect::<Result<_, IssueError>>()?))
}

/// Returns DNS names and addresses in the form of certificates.
///
/// # Errors
///
/// A name that a certificate cannot hold.
pub fn server_names(names: &[String], addresses: &[IpAddr]) -> Result<Vec<GeneralName>, IssueError> {
    let names = names.iter().map(|name| Ok(GeneralName::DnsName(Ia5String::new(name)?)));
    let addresses = addresses.iter().map(|address| Ok(GeneralName::from(*address)));
    names.chain(addresses).collect()
}

impl Authority {
    /// Signs a certificate with these contents. Returns it as PEM.
    ///
    /// # Errors
    ///
    /// If a part cannot be encoded, or the key cannot sign.
    pub fn issue(&self, contents: Contents) -> Result<String, IssueError> {
        let own = &self.certificate.tbs_certificate;
        let end = contents.not_after.min(own.validity.not_after.to_system_time());
        let extensions = self.extensions(&contents)?;
        let unsigned = Unsigned {
            issuer: own.subject.clone(),
            subject: contents.subject,
            public_key: contents.public_key,
            not_before: contents.not_before,
            not_after: end,
            extensions,
        };
        unsigned.sign(&self.key)
    }

    fn extensions(&self, contents: &Contents) -> Result<Vec<Extension>, IssueError> {
        let mut extensions = Vec::new();
        let mut add = |extension: &dyn ToExtension| -> Result<(), IssueError> {
            extensions.push(extension.to_extension(&contents.subject)?);
            Ok(())
        };
        let usages = &contents.usages;
        if !usages.key.is_empty() {
            add(&KeyUsage(usages.key))?;
        }
        if !usages.extended.is_empty() {
            add(&ExtendedKeyUsage(usages.extended.clone()))?;
        }
        add(&BasicConstraints {
            ca: false,
            path_len_constraint: None,
        })?;
        if let Some(id) = self.key_id() {
            add(&AuthorityKeyIdentifier {
                key_identifier: Some(id),
                ..AuthorityKeyIdentifier::default()
            })?;
        }
        if !contents.names.is_empty() {
            add(&SubjectAltName(contents.names.clone()))?;
        }
        for extension in &mut extensions {
            // Critical, as Go marks them; names are not if there is a subject.
            let is_only_name = extension.extn_id == SubjectAltName::OID && contents.subject.is_empty();
            let is_use = [KeyUsage::OID, BasicConstraints::OID].contains(&extension.extn_id);
            extension.critical = is_use || is_only_name;
        }
        Ok(extensions)
    }

    /// Returns the identifier of the authority's key, which distinguishes it from others of its name.
    fn key_id(&self) -> Option<OctetString> {
        let mut extensions = self.certificate.tbs_certificate.extensions.iter().flatten();
        let found = extensions.find(|extension| extension.extn_id == SubjectKeyIdentifier::OID)?;
        let id = SubjectKeyIdentifier::from_der(found.extn_value.as_bytes()).ok()?;
        Some(id.0)
    }
}

/// [`AsExtension`] for values of several types.
trait ToExtension {
    fn to_extension(&self, subject: &Name) -> Result<Extension, IssueError>;
}

impl<E: AsExtension> ToExtension for E {
    fn to_extension(&self, subject: &Name) -> Result<Extension, IssueError> {
        Ok(AsExtension::to_extension(self, subject, &[])?)
    }
}

/// Returns the certificate of a new authority, signed by its own `key`, as PEM.
///
/// # Errors
///
/// If a part cannot be encoded, or the key cannot sign.
pub(super) fn authority(
    name: &str,
    key: &CertificateKey,
    (not_before, not_after): (SystemTime, SystemTime),
) -> Result<String, IssueError> {
    let subject = subject(name, [])?;
    let public_key = key.public()?;
    let usages = KeyUsages::DigitalSignature | KeyUsages::KeyCertSign | KeyUsages::CRLSign;
    let constraints = BasicConstraints {
        ca: true,
        path_len_constraint: None,
    };
    let id = digest(&SHA256, public_key.subject_public_key.raw_bytes());
    // RFC 7093, method 1.
    let id = SubjectKeyIdentifier(OctetString::new(&id.as_ref()[..20])?);
    let all: [&dyn ToExtension; 3] = [&KeyUsage(usages), &constraints, &id];
    let mut extensions = Vec::new();
    for extension in all {
        let mut extension = extension.to_extension(&subject)?;
        extension.critical = extension.extn_id != SubjectKeyIdentifier::OID;
        extensions.push(extension);
    }
    let unsigned = Unsigned {
        issuer: subject.clone(),
        subject,
        public_key,
        not_before,
        not_after,
        extensions,
    };
    unsigned.sign(key)
}

/// A certificate without a signature.
struct Unsigned {
    issuer: Name,
    subject: Name,
    public_key: SubjectPublicKeyInfoOwned,
    not_before: SystemTime,
    not_after: SystemTime,
    extensions: Vec<Extension>,
}

impl Unsigned {
    /// Signs the certificate with the issuer's key. Returns it as PEM.
    fn sign(self, key: &CertificateKey) -> Result<String, IssueError> {
        let algorithm = key.signature_algorithm();
        let tbs_certificate = TbsCertificate {
            version: Version::V3,
            serial_number: SerialNumber::new(&serial_bytes())?,
            signature: algorithm.clone(),
            issuer: self.issuer,
            validity: Validity {
                not_before: time(self.not_before)?,
                not_after: time(self.not_after)?,
            },
            subject: self.subject,
            subject_public_key_info: self.public_key,
            issuer_unique_id: None,
            subject_unique_id: None,
            extensions: Some(self.extensions),
        };
        let signature = key.sign(&tbs_certificate.to_der()?)?;
        let certificate = Certificate {
            tbs_certificate,
            signature_algorithm: algorithm,
            signature: BitString::from_bytes(&signature)?,
        };
        Ok(certificate.to_pem(LineEnding::LF)?)
    }
}

/// Encodes a time as RFC 5280 requires: with two digits of the year while these are enough.
fn time(time: SystemTime) -> Result<Time, IssueError> {
    Ok(match UtcTime::from_system_time(time) {
        Ok(short) => Time::UtcTime(short),
        Err(_) => Time::try_from(time)?,
    })
}

/// Returns 127 random bits: a positive serial number, as RFC 5280 requires, that is never used twice.
fn serial_bytes() -> [u8; 16] {
    let mut bytes = *uuid::Uuid::new_v4().as_bytes();
    bytes[0] &= 0x7f;
    bytes
}
