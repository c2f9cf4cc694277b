//! A request for a certificate (PKCS #10).

use planesmith_access::authentication::Subject;
use planesmith_api_defs::certificates::request_signature;
use planesmith_machinery::{der, pem};
use x509_cert::der::oid::AssociatedOid as _;
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;
use x509_cert::request::{CertReq, ExtensionReq};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

const LABEL: &str = "CERTIFICATE REQUEST";

/// A request for a certificate.
#[derive(Debug)]
pub(crate) struct Request {
    parsed: CertReq,
    der: Vec<u8>,
    /// The user and the groups that the certificate would identify.
    pub(crate) user: Subject,
    /// Names other than the subject: DNS names, mail addresses, IP addresses and URIs, in this order.
    pub(crate) names: Vec<GeneralName>,
}

impl Request {
    /// Reads the first block of a PEM text.
    ///
    /// # Errors
    ///
    /// The part that cannot be parsed.
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        let encoded = pem::first(text, LABEL).ok_or_else(|| format!("PEM block type must be {LABEL}"))?;
        let parsed: CertReq = der::decode(&encoded).map_err(|error| error.to_string())?;
        let names = names_of(&parsed).map_err(|error| error.to_string())?;
        let user = Subject::of_request(&encoded);
        Ok(Self {
            user: user.ok_or("x509: invalid RDNSequence: invalid attribute value")?,
            parsed,
            der: encoded,
            names,
        })
    }

    /// The subject of the requested certificate.
    pub(crate) fn subject(&self) -> &Name {
        &self.parsed.info.subject
    }

    /// The key that the certificate is for.
    pub(crate) fn public_key(&self) -> &SubjectPublicKeyInfoOwned {
        &self.parsed.info.public_key
    }

    /// True if the request is signed with the private key of its public key.
    pub(crate) fn is_signed(&self) -> bool {
        request_signature::verify(&self.parsed, &self.der).is_ok()
    }
}

fn names_of(parsed: &CertReq) -> x509_cert::der::Result<Vec<GeneralName>> {
    let mut names = Vec::new();
    for attribute in parsed.info.attributes.iter() {
        if attribute.oid != ExtensionReq::OID {
            continue;
        }
        for value in attribute.values.iter() {
            let extensions = ExtensionReq::from_der(&value.to_der()?)?.0;
            for extension in extensions {
                if extension.extn_id == SubjectAltName::OID {
                    names.extend(SubjectAltName::from_der(extension.extn_value.as_bytes())?.0);
                }
            }
        }
    }
    names.retain(|name| rank(name).is_some());
    names.sort_by_key(rank);
    Ok(names)
}

/// Returns the position of a name's kind in an issued certificate; `None` for kinds that no certificate is issued
/// for.
fn rank(name: &GeneralName) -> Option<u8> {
    match name {
        GeneralName::DnsName(_) => Some(0),
        GeneralName::Rfc822Name(_) => Some(1),
        GeneralName::IpAddress(_) => Some(2),
        GeneralName::UniformResourceIdentifier(_) => Some(3),
        GeneralName::OtherName(_)
        | GeneralName::DirectoryName(_)
        | GeneralName::EdiPartyName(_)
        | GeneralName::RegisteredId(_) => None,
    }
}
