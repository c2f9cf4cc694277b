//! Serving certificates by the names that clients request (SNI).

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use planesmith_access::authentication::{CertificateParts, Subject};
use planesmith_machinery::der::decode;
use rustls::pki_types::CertificateDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use x509_cert::Certificate;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// A certificate for clients that request one of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCertificate {
    /// The certificate, followed by its chain, PEM.
    pub certificate: PathBuf,
    /// Its key, PEM.
    pub key: PathBuf,
    /// Names, possibly with `*` for labels; those in the certificate if there are none.
    pub names: Vec<String>,
}

impl FromStr for NamedCertificate {
    type Err = String;

    /// Parses `CERTIFICATE,KEY` or `CERTIFICATE,KEY:NAME,NAME`.
    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected CERTIFICATE,KEY or CERTIFICATE,KEY:NAME,...";
        let (files, names) = match text.split_once(':') {
            Some((files, names)) => (files, Some(names)),
            None => (text, None),
        };
        let (certificate, key) = files.split_once(',').ok_or(EXPECTED)?;
        let names: Vec<String> = names.map_or(Vec::new(), |names| names.split(',').map(str::to_lowercase).collect());
        if certificate.is_empty() || key.is_empty() || names.iter().any(String::is_empty) {
            return Err(EXPECTED.to_owned());
        }
        Ok(Self {
            certificate: certificate.into(),
            key: key.into(),
            names,
        })
    }
}

/// Selects the certificate by the name that a client requests.
#[derive(Debug)]
pub(super) struct CertificatesByName {
    default: Arc<CertifiedKey>,
    named: HashMap<String, Arc<CertifiedKey>>,
}

impl CertificatesByName {
    pub(super) fn new(default: CertifiedKey) -> Self {
        Self {
            default: Arc::new(default),
            named: HashMap::new(),
        }
    }

    /// Adds a certificate for `names`; for those in it if there are none. A name that is taken keeps its certificate.
    pub(super) fn add(&mut self, names: &[String], key: CertifiedKey) {
        let own = match (names, key.cert.first()) {
            ([], Some(certificate)) => names_in(certificate),
            (names, _) => names.to_vec(),
        };
        let key = Arc::new(key);
        for name in own {
            self.named.entry(name).or_insert_with(|| Arc::clone(&key));
        }
    }

    fn find(&self, name: &str) -> Option<&Arc<CertifiedKey>> {
        let name = name.to_ascii_lowercase();
        if let Some(found) = self.named.get(&name) {
            return Some(found);
        }
        let mut labels: Vec<&str> = name.split('.').collect();
        for index in 0..labels.len() {
            labels[index] = "*";
            if let Some(found) = self.named.get(&labels.join(".")) {
                return Some(found);
            }
        }
        None
    }
}

impl ResolvesServerCert for CertificatesByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let named = hello.server_name().filter(|_| !self.named.is_empty());
        let found = named.and_then(|name| self.find(name)).unwrap_or(&self.default);
        Some(Arc::clone(found))
    }
}

/// Returns the names in a certificate, in lower case.
fn names_in(der: &CertificateDer<'_>) -> Vec<String> {
    let Ok(certificate) = decode::<Certificate>(der) else {
        return Vec::new();
    };
    let certificate = certificate.tbs_certificate;
    let alternatives = certificate.get::<SubjectAltName>().ok().flatten();
    let alternatives = alternatives.map(|(_, names)| names.0).unwrap_or_default();
    let dns = alternatives.into_iter().filter_map(|name| match name {
        GeneralName::DnsName(name) => Some(name.as_str().to_lowercase()),
        _ => None,
    });
    let subject = CertificateParts::read(der).and_then(|parts| Subject::read(parts.subject));
    let common = subject.map(|subject| subject.common_name.to_lowercase());
    common.into_iter().filter(|name| !name.is_empty()).chain(dns).collect()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};
    use rustls::crypto::ring;
    use rustls::pki_types::PrivatePkcs8KeyDer;

    use super::*;

    fn key(common: &str, names: &[&str]) -> CertifiedKey {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, common);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        CertifiedKey::from_der(vec![certificate], key.into(), &ring::default_provider()).unwrap()
    }

    #[test]
    fn a_flag_names_files_and_names() {
        let parsed: NamedCertificate = "a.crt,a.key:*.Example.com,b".parse().unwrap();
        assert_eq!(parsed.names, ["*.example.com", "b"]);
        assert_eq!((parsed.certificate, parsed.key), ("a.crt".into(), "a.key".into()));
        let plain: NamedCertificate = "a.crt,a.key".parse().unwrap();
        assert!(plain.names.is_empty());
        for wrong in [
            "",
            "a.crt",
            "a.crt:b",
            ",a.key",
            "a.crt,",
            "a.crt,a.key:",
            "a.crt,a.key:a,,b",
        ] {
            assert!(wrong.parse::<NamedCertificate>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_requested_name_selects_the_certificate() {
        let (default, first, second) = (
            key("default", &[]),
            key("first", &["a.example.com"]),
            key("second", &[]),
        );
        let ends = [&default, &first, &second].map(|key| key.cert[0].clone());
        let mut certificates = CertificatesByName::new(default);
        certificates.add(&[], first);
        certificates.add(&["a.example.com".to_owned(), "*.example.com".to_owned()], second);
        let found = |name: &str| certificates.find(name).map(|key| key.cert[0].clone());
        assert_eq!(found("A.example.com").as_ref(), Some(&ends[1]));
        assert_eq!(found("first").as_ref(), Some(&ends[1]));
        assert_eq!(found("b.example.com").as_ref(), Some(&ends[2]));
        assert_eq!(found("example.com"), None);
        assert_eq!(found("b.c.example.com"), None);
    }
}
