//! The server's own certificate authority, and the certificates it signs.
//!
//! Without certificate flags a server creates an authority once, and issues a serving certificate and an
//! administrator's client certificate from it. File names are kubeadm's, so that existing scripts find them. A
//! certificate is renewed at start when it is about to expire or no longer covers the server's addresses, and the
//! serving certificate also while the server runs (`renewal`).

pub mod issue;
pub(crate) mod renewal;

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, KeyPair, KeyUsagePurpose, PublicKeyData,
    SerialNumber,
};
use x509_cert::Certificate;
use x509_cert::der::oid::{ObjectIdentifier, db};
use x509_cert::ext::pkix::KeyUsages;
use x509_cert::name::Name;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;

use self::issue::{Contents, IssueError, Usages};

use crate::private_file::{make_private_dir, write_private, write_public};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The common name of the authority for clients and the server itself.
const AUTHORITY: &str = "planesmith";
/// The name of its files, without extension; other authorities have names of the same form.
const AUTHORITY_FILE: &str = "ca";
/// The lifetime of the authority; kubeadm's choice.
const AUTHORITY_LIFE: Duration = DAY.saturating_mul(3650);
/// The lifetime of a signed certificate; kubeadm's choice.
const CERTIFICATE_LIFE: Duration = DAY.saturating_mul(365);
/// A certificate is renewed when it expires sooner than this.
const RENEW_BEFORE: Duration = DAY.saturating_mul(30);

/// A certificate and its key in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificatePair {
    /// PEM file with the certificate.
    pub certificate: PathBuf,
    /// PEM file with the private key, readable by its owner only.
    pub key: PathBuf,
}

/// The authority of one server.
#[derive(Debug)]
pub struct Authority {
    dir: PathBuf,
    key: KeyPair,
    certificate: Certificate,
    certificate_pem: String,
}

/// A reason why certificates could not be read or created.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file could not be read or written.
    #[error("{path} cannot be {what}")]
    File {
        /// The file.
        path: String,
        /// `read`, `written` or `restricted to its owner`.
        what: &'static str,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file does not have the content that its name promises.
    #[error("{path} is not a usable PEM file; remove it together with its .key file to have both created again")]
    Pem {
        /// The file.
        path: String,
        /// The parser's reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A certificate could not be created.
    #[error("a certificate for {subject} cannot be created")]
    Make {
        /// The common name.
        subject: String,
        /// The cause.
        source: IssueError,
    },
}

impl Authority {
    /// Opens the authority in `dir`; creates one if there is none.
    ///
    /// # Errors
    ///
    /// When the folder or its files cannot be read or written.
    pub fn open(dir: &Path) -> Result<Self, CertificateError> {
        Self::open_as(dir, AUTHORITY_FILE)
    }

    /// As [`Authority::open`], with another file name than `ca`.
    ///
    /// # Errors
    ///
    /// As [`Authority::open`].
    pub fn open_as(dir: &Path, file: &str) -> Result<Self, CertificateError> {
        make_private_dir(dir).map_err(|source| file_error(dir, "written", source))?;
        let pair = pair_in(dir, file);
        if !pair.key.exists() {
            let name = if file == AUTHORITY_FILE { AUTHORITY } else { file };
            let key = KeyPair::generate().map_err(|source| make_error(name, source.into()))?;
            make_authority(name, &pair, &key)?;
        }
        keep_private(&pair.key)?;
        let key_pem = read(&pair.key)?;
        let certificate_pem = read(&pair.certificate)?;
        let key = KeyPair::from_pem(&key_pem).map_err(|source| pem_error(&pair.key, source))?;
        let certificates = Certificate::load_pem_chain(certificate_pem.as_bytes());
        let mut certificates = certificates.map_err(|source| pem_error(&pair.certificate, source))?;
        if certificates.is_empty() {
            return Err(pem_error(&pair.certificate, "it contains no certificate"));
        }
        Ok(Self {
            dir: dir.to_owned(),
            key,
            certificate: certificates.swap_remove(0),
            certificate_pem,
        })
    }

    /// True if there is an authority in `dir`.
    #[must_use]
    pub fn is_in(dir: &Path) -> bool {
        pair_in(dir, AUTHORITY_FILE).key.exists()
    }

    /// The authority's certificate, PEM.
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Returns the serving certificate for `names` and `addresses`; creates it if there is none that covers them.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub fn serving(&self, names: &[String], addresses: &[IpAddr]) -> Result<CertificatePair, CertificateError> {
        let pair = pair_in(&self.dir, "apiserver");
        self.renew_serving(names, addresses, SystemTime::now())?;
        keep_private(&pair.key)?;
        Ok(pair)
    }

    /// Renews the serving certificate for `names` and `addresses` if it expires soon after `now`, or does not cover
    /// them. Returns true if it did.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub(crate) fn renew_serving(
        &self,
        names: &[String],
        addresses: &[IpAddr],
        now: SystemTime,
    ) -> Result<bool, CertificateError> {
        let pair = pair_in(&self.dir, "apiserver");
        if self.is_current(&pair, names, addresses, now) {
            return Ok(false);
        }
        let make = |source| make_error("kube-apiserver", source);
        let subject = issue::subject("kube-apiserver", []).map_err(make)?;
        let names = issue::server_names(names, addresses).map_err(make)?;
        let (certificate, key) = self
            .sign(subject, names, db::rfc5280::ID_KP_SERVER_AUTH, now)
            .map_err(make)?;
        write_pair(&pair, &certificate, &key)?;
        Ok(true)
    }

    /// Returns the client certificate of a user in a group; creates it if there is none, or it expires soon.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub fn client(&self, file: &str, user: &str, group: &str) -> Result<CertificatePair, CertificateError> {
        self.client_of(file, user, &[group])
    }

    /// Returns the client certificate of a proxy, which is in no group.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub fn proxy(&self, file: &str, name: &str) -> Result<CertificatePair, CertificateError> {
        self.client_of(file, name, &[])
    }

    fn client_of(&self, file: &str, name: &str, groups: &[&str]) -> Result<CertificatePair, CertificateError> {
        let pair = pair_in(&self.dir, file);
        if self.is_current(&pair, &[], &[], SystemTime::now()) {
            keep_private(&pair.key)?;
            return Ok(pair);
        }
        let (certificate, key) = self.client_pair(name, groups)?;
        write_pair(&pair, &certificate, &key)?;
        Ok(pair)
    }

    /// Creates a client certificate for a user in groups. Returns it and its key, PEM.
    ///
    /// # Errors
    ///
    /// If a name cannot be encoded in a certificate, or the key cannot sign.
    pub fn client_pair(&self, user: &str, groups: &[&str]) -> Result<(String, KeyPair), CertificateError> {
        let subject = issue::subject(user, groups.iter().copied());
        subject
            .and_then(|subject| {
                let usage = db::rfc5280::ID_KP_CLIENT_AUTH;
                self.sign(subject, Vec::new(), usage, SystemTime::now())
            })
            .map_err(|source| make_error(user, source))
    }

    fn sign(
        &self,
        subject: Name,
        names: Vec<x509_cert::ext::pkix::name::GeneralName>,
        usage: ObjectIdentifier,
        now: SystemTime,
    ) -> Result<(String, KeyPair), IssueError> {
        let key = KeyPair::generate()?;
        let (not_before, not_after) = life(CERTIFICATE_LIFE, now);
        let certificate = self.issue(Contents {
            subject,
            public_key: issue::public_key(&key)?,
            names,
            usages: Usages {
                key: KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment,
                extended: vec![usage],
            },
            not_before,
            not_after,
        })?;
        Ok((certificate, key))
    }

    /// True if this authority signed the certificate at `pair`, its key matches, it is valid long enough after `now`,
    /// and it covers all `names` and `addresses`.
    fn is_current(&self, pair: &CertificatePair, names: &[String], addresses: &[IpAddr], now: SystemTime) -> bool {
        let Ok(pem) = fs::read(&pair.certificate) else {
            return false;
        };
        let key = fs::read_to_string(&pair.key).ok();
        let Some(key) = key.and_then(|key| KeyPair::from_pem(&key).ok()) else {
            return false;
        };
        let Ok((_, pem)) = x509_parser::pem::parse_x509_pem(&pem) else {
            return false;
        };
        let certificate = pem.parse_x509();
        certificate.is_ok_and(|certificate| {
            // A crash may have left a new certificate with an old key.
            certificate.public_key().raw == key.subject_public_key_info()
                && self.has_signed(&certificate)
                && lives_on(&certificate, now)
                && covers(&certificate, names, addresses)
        })
    }

    /// True if a certificate was signed by this authority, not by an earlier one.
    fn has_signed(&self, certificate: &X509Certificate<'_>) -> bool {
        let own = x509_parser::pem::parse_x509_pem(self.certificate_pem.as_bytes());
        let Ok((_, own)) = own else { return false };
        own.parse_x509().is_ok_and(|own| {
            certificate.issuer() == own.subject() && certificate.verify_signature(Some(own.public_key())).is_ok()
        })
    }
}

fn make_authority(name: &str, pair: &CertificatePair, key: &KeyPair) -> Result<(), CertificateError> {
    let make = |source: rcgen::Error| make_error(name, source.into());
    let mut params = CertificateParams::new(Vec::new()).map_err(make)?;
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    params.distinguished_name = subject;
    params.serial_number = Some(SerialNumber::from_slice(&issue::serial_bytes()));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
    ];
    let (not_before, not_after) = life(AUTHORITY_LIFE, SystemTime::now());
    params.not_before = not_before.into();
    params.not_after = not_after.into();
    let certificate = params.self_signed(key).map_err(make)?;
    write_pair(pair, &certificate.pem(), key)
}

/// Writes a certificate and its key. The key is written last: its presence means that the pair is complete.
fn write_pair(pair: &CertificatePair, certificate: &str, key: &KeyPair) -> Result<(), CertificateError> {
    write_public(&pair.certificate, certificate.as_bytes())
        .map_err(|source| file_error(&pair.certificate, "written", source))?;
    write_private(&pair.key, key.serialize_pem().as_bytes()).map_err(|source| file_error(&pair.key, "written", source))
}

/// Returns the beginning and the end of a validity of `life` from `now` on.
fn life(life: Duration, now: SystemTime) -> (SystemTime, SystemTime) {
    // Clocks of clients may be slow.
    (now - Duration::from_secs(300), now + life)
}

/// True if a certificate needs no renewal soon after `now`.
fn lives_on(certificate: &X509Certificate<'_>, now: SystemTime) -> bool {
    let soon = now + RENEW_BEFORE;
    let soon = soon
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    certificate.validity().not_after.timestamp() >= i64::try_from(soon).unwrap_or(i64::MAX)
}

/// True if a certificate covers all these names and addresses.
fn covers(certificate: &X509Certificate<'_>, names: &[String], addresses: &[IpAddr]) -> bool {
    let covered = certificate.subject_alternative_name().ok().flatten();
    let covered = covered
        .as_ref()
        .map(|extension| extension.value.general_names.as_slice())
        .unwrap_or_default();
    names.iter().all(|name| {
        covered
            .iter()
            .any(|have| matches!(have, GeneralName::DNSName(have) if have == name))
    }) && addresses.iter().all(|address| {
        let octets = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        covered
            .iter()
            .any(|have| matches!(have, GeneralName::IPAddress(have) if *have == octets))
    })
}

/// Removes the permissions of others on an existing key, restored from a backup for example.
fn keep_private(key: &Path) -> Result<(), CertificateError> {
    fs::set_permissions(key, fs::Permissions::from_mode(0o600))
        .map_err(|source| file_error(key, "restricted to its owner", source))
}

fn pair_in(dir: &Path, name: &str) -> CertificatePair {
    CertificatePair {
        certificate: dir.join(format!("{name}.crt")),
        key: dir.join(format!("{name}.key")),
    }
}

fn read(path: &Path) -> Result<String, CertificateError> {
    fs::read_to_string(path).map_err(|source| file_error(path, "read", source))
}

fn file_error(path: &Path, what: &'static str, source: std::io::Error) -> CertificateError {
    CertificateError::File {
        path: path.display().to_string(),
        what,
        source,
    }
}

fn pem_error(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CertificateError {
    CertificateError::Pem {
        path: path.display().to_string(),
        source: source.into(),
    }
}

fn make_error(subject: &str, source: IssueError) -> CertificateError {
    CertificateError::Make {
        subject: subject.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_kept_while_they_cover_what_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let local = IpAddr::from([127, 0, 0, 1]);
        let names = vec!["localhost".to_owned()];
        let first = Authority::open(dir.path()).unwrap().serving(&names, &[local]).unwrap();
        let before = fs::read(&first.certificate).unwrap();

        let again = Authority::open(dir.path()).unwrap();
        again.serving(&names, &[local]).unwrap();
        assert_eq!(fs::read(&first.certificate).unwrap(), before);

        again.serving(&names, &[local, IpAddr::from([10, 0, 0, 1])]).unwrap();
        assert_ne!(fs::read(&first.certificate).unwrap(), before);
    }

    #[test]
    fn a_certificate_that_does_not_fit_its_key_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::open(dir.path()).unwrap();
        let pair = authority.serving(&[], &[]).unwrap();
        let old = fs::read(&pair.key).unwrap();
        let later = SystemTime::now() + CERTIFICATE_LIFE;
        assert!(authority.renew_serving(&[], &[], later).unwrap());
        fs::write(&pair.key, old).unwrap();
        assert!(authority.renew_serving(&[], &[], later).unwrap());
        assert!(!authority.renew_serving(&[], &[], later).unwrap());
    }

    #[test]
    fn certificates_of_another_authority_are_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let names = vec!["localhost".to_owned()];
        let make = || {
            let authority = Authority::open(dir.path()).unwrap();
            let pairs = [
                authority.serving(&names, &[]).unwrap(),
                authority.client("admin", "admin", "system:masters").unwrap(),
            ];
            pairs.map(|pair| fs::read(pair.certificate).unwrap())
        };
        let before = make();
        assert_eq!(make(), before);
        for file in ["ca.crt", "ca.key"] {
            fs::remove_file(dir.path().join(file)).unwrap();
        }
        let after = make();
        assert!(after[0] != before[0] && after[1] != before[1]);
    }

    #[test]
    fn authorities_are_told_apart_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let name = |authority: Authority| authority.certificate.tbs_certificate.subject.to_string();
        assert_eq!(name(Authority::open(dir.path()).unwrap()), "CN=planesmith");
        let other = Authority::open_as(dir.path(), "front-proxy-ca").unwrap();
        assert_eq!(name(other), "CN=front-proxy-ca");
    }

    #[test]
    fn a_damaged_or_readable_key_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::open(dir.path()).unwrap();
        let admin = authority.client("admin", "admin", "system:masters").unwrap();
        fs::set_permissions(&admin.key, fs::Permissions::from_mode(0o644)).unwrap();
        authority.client("admin", "admin", "system:masters").unwrap();
        assert_eq!(fs::metadata(&admin.key).unwrap().permissions().mode() & 0o777, 0o600);

        fs::write(&admin.key, "nonsense").unwrap();
        authority.client("admin", "admin", "system:masters").unwrap();
        assert!(KeyPair::from_pem(&fs::read_to_string(&admin.key).unwrap()).is_ok());
    }

    #[test]
    fn a_client_certificate_names_all_groups_whatever_key_signs_it() {
        for algorithm in [
            &rcgen::PKCS_ECDSA_P256_SHA256,
            &rcgen::PKCS_ECDSA_P384_SHA384,
            &rcgen::PKCS_ED25519,
        ] {
            let dir = tempfile::tempdir().unwrap();
            make_authority(
                AUTHORITY,
                &pair_in(dir.path(), "ca"),
                &KeyPair::generate_for(algorithm).unwrap(),
            )
            .unwrap();
            let authority = Authority::open(dir.path()).unwrap();
            let (pem, _) = authority.client_pair("ann", &["people", "testers"]).unwrap();
            let parse = |pem: &str| x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap().1;
            let (client, own) = (parse(&pem), parse(authority.certificate_pem()));
            let (client, own) = (client.parse_x509().unwrap(), own.parse_x509().unwrap());
            let groups = client.subject().iter_organization();
            let groups: Vec<&str> = groups.map(|group| group.as_str().unwrap()).collect();
            assert_eq!(groups, ["people", "testers"]);
            client.verify_signature(Some(own.public_key())).unwrap();
            assert_eq!(client.issuer(), own.subject());
        }
    }

    #[test]
    fn a_broken_authority_is_named_in_the_error() {
        let dir = tempfile::tempdir().unwrap();
        Authority::open(dir.path()).unwrap();
        fs::write(dir.path().join("ca.crt"), "nonsense").unwrap();
        let error = Authority::open(dir.path()).unwrap_err();
        assert!(error.to_string().contains("ca.crt is not a usable PEM file"), "{error}");
    }
}
