//! The server's own certificate authority, and the certificates it signs.
//!
//! Without certificate flags a server creates an authority once, and issues a serving certificate and an
//! administrator's client certificate from it. File names are kubeadm's, so that existing scripts find them. A
//! certificate is renewed at start when it is about to expire or no longer covers the server's addresses, and the
//! serving certificate also while the server runs (`renewal`).

pub mod issue;
mod key;
pub(crate) mod renewal;

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use planesmith_machinery::clock::Clock;
use planesmith_machinery::der::decode;
use planesmith_machinery::pem::{self, CERTIFICATE};
use x509_cert::Certificate;
use x509_cert::der::Encode as _;
use x509_cert::der::oid::{ObjectIdentifier, db};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{KeyUsages, SubjectAltName};
use x509_cert::name::Name;

use self::issue::{Contents, IssueError, Usages};
pub use self::key::{CertificateKey, NotAKey};
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
    key: CertificateKey,
    certificate: Certificate,
    certificate_pem: String,
    clock: Arc<dyn Clock>,
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
    /// Opens the authority in `dir`; creates one if there is none. Its certificates are valid from the time of `clock` on.
    ///
    /// # Errors
    ///
    /// When the folder or its files cannot be read or written.
    pub fn open(dir: &Path, clock: Arc<dyn Clock>) -> Result<Self, CertificateError> {
        Self::open_as(dir, AUTHORITY_FILE, clock)
    }

    /// As [`Authority::open`], with another file name than `ca`.
    ///
    /// # Errors
    ///
    /// As [`Authority::open`].
    pub fn open_as(dir: &Path, file: &str, clock: Arc<dyn Clock>) -> Result<Self, CertificateError> {
        make_private_dir(dir).map_err(|source| file_error(dir, "written", source))?;
        let pair = pair_in(dir, file);
        if !pair.key.exists() {
            let name = if file == AUTHORITY_FILE { AUTHORITY } else { file };
            let key = CertificateKey::generate().map_err(|source| make_error(name, source))?;
            make_authority(name, &pair, &key, clock.now())?;
        }
        keep_private(&pair.key)?;
        let certificate_pem = read(&pair.certificate)?;
        let key = CertificateKey::from_pem(read(&pair.key)?.as_bytes());
        let key = key.map_err(|source| pem_error(&pair.key, source))?;
        let certificate = pem::contents(certificate_pem.as_bytes(), CERTIFICATE).next();
        let certificate = certificate.ok_or_else(|| pem_error(&pair.certificate, "it contains no certificate"))?;
        let certificate = decode::<Certificate>(&certificate);
        let certificate = certificate.map_err(|source| pem_error(&pair.certificate, source))?;
        Ok(Self {
            dir: dir.to_owned(),
            key,
            certificate,
            certificate_pem,
            clock,
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
        self.renew_serving(names, addresses)?;
        keep_private(&pair.key)?;
        Ok(pair)
    }

    /// Renews the serving certificate for `names` and `addresses` if it expires soon, or does not cover
    /// them. Returns true if it did.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub(crate) fn renew_serving(&self, names: &[String], addresses: &[IpAddr]) -> Result<bool, CertificateError> {
        let pair = pair_in(&self.dir, "apiserver");
        if self.is_current(&pair, names, addresses) {
            return Ok(false);
        }
        let make = |source| make_error("kube-apiserver", source);
        let subject = issue::subject("kube-apiserver", []).map_err(make)?;
        let names = issue::server_names(names, addresses).map_err(make)?;
        let (certificate, key) = self
            .sign(subject, names, db::rfc5280::ID_KP_SERVER_AUTH)
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
        if self.is_current(&pair, &[], &[]) {
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
    pub fn client_pair(&self, user: &str, groups: &[&str]) -> Result<(String, CertificateKey), CertificateError> {
        let subject = issue::subject(user, groups.iter().copied());
        subject
            .and_then(|subject| {
                let usage = db::rfc5280::ID_KP_CLIENT_AUTH;
                self.sign(subject, Vec::new(), usage)
            })
            .map_err(|source| make_error(user, source))
    }

    fn sign(
        &self,
        subject: Name,
        names: Vec<GeneralName>,
        usage: ObjectIdentifier,
    ) -> Result<(String, CertificateKey), IssueError> {
        let key = CertificateKey::generate()?;
        let (not_before, not_after) = life(CERTIFICATE_LIFE, self.clock.now());
        let certificate = self.issue(Contents {
            subject,
            public_key: key.public()?,
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

    /// True if this authority signed the certificate at `pair`, its key matches, it is valid long enough,
    /// and it covers all `names` and `addresses`.
    fn is_current(&self, pair: &CertificatePair, names: &[String], addresses: &[IpAddr]) -> bool {
        let read = |path| fs::read(path).unwrap_or_default();
        let certificate = pem::first(&read(&pair.certificate), CERTIFICATE);
        let certificate = certificate.and_then(|der| decode::<Certificate>(&der).ok());
        let key = CertificateKey::from_pem(&read(&pair.key)).ok();
        let (Some(certificate), Some(key)) = (certificate, key.and_then(|key| key.public().ok())) else {
            return false;
        };
        // A crash may have left a new certificate with an old key.
        certificate.tbs_certificate.subject_public_key_info == key
            && self.has_signed(&certificate)
            && lives_on(&certificate, self.clock.now())
            && covers(&certificate, names, addresses)
    }

    /// True if a certificate was signed by this authority, not by an earlier one.
    fn has_signed(&self, certificate: &Certificate) -> bool {
        let (signed, signature) = (&certificate.tbs_certificate, certificate.signature.as_bytes());
        signed.issuer == self.certificate.tbs_certificate.subject
            && certificate.signature_algorithm == self.key.signature_algorithm()
            && signature
                .zip(signed.to_der().ok())
                .is_some_and(|(signature, signed)| self.key.has_signed(&signed, signature))
    }
}

fn make_authority(
    name: &str,
    pair: &CertificatePair,
    key: &CertificateKey,
    now: SystemTime,
) -> Result<(), CertificateError> {
    let certificate = issue::authority(name, key, life(AUTHORITY_LIFE, now));
    write_pair(pair, &certificate.map_err(|source| make_error(name, source))?, key)
}

/// Writes a certificate and its key. The key is written last: its presence means that the pair is complete.
fn write_pair(pair: &CertificatePair, certificate: &str, key: &CertificateKey) -> Result<(), CertificateError> {
    let key = key
        .to_pem()
        .map_err(|source| make_error(&pair.key.display().to_string(), source))?;
    write_public(&pair.certificate, certificate.as_bytes())
        .map_err(|source| file_error(&pair.certificate, "written", source))?;
    write_private(&pair.key, key.as_bytes()).map_err(|source| file_error(&pair.key, "written", source))
}

/// Returns the beginning and the end of a validity of `life` from `now` on.
fn life(life: Duration, now: SystemTime) -> (SystemTime, SystemTime) {
    // Clocks of clients may be slow. Certificates have no times before 1970.
    let begin = now.checked_sub(Duration::from_secs(300)).unwrap_or(now);
    (begin.max(SystemTime::UNIX_EPOCH), now + life)
}

/// True if a certificate needs no renewal soon after `now`.
fn lives_on(certificate: &Certificate, now: SystemTime) -> bool {
    certificate.tbs_certificate.validity.not_after.to_system_time() >= now + RENEW_BEFORE
}

/// True if a certificate covers all these names and addresses.
fn covers(certificate: &Certificate, names: &[String], addresses: &[IpAddr]) -> bool {
    let covered = certificate.tbs_certificate.get::<SubjectAltName>().ok().flatten();
    let covered = covered.map(|(_, names)| names.0).unwrap_or_default();
    let wanted = issue::server_names(names, addresses);
    wanted.is_ok_and(|wanted| wanted.iter().all(|name| covered.contains(name)))
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
    use planesmith_access::authentication::ClientCertificate;
    use planesmith_machinery::clock::{ManualClock, SystemClock};
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P384_SHA384_ASN1_SIGNING, Ed25519KeyPair};
    use rustls::RootCertStore;
    use rustls::pki_types::UnixTime;
    use rustls::server::WebPkiClientVerifier;
    use x509_cert::ext::pkix::{BasicConstraints, KeyUsage, SubjectKeyIdentifier};

    use super::*;

    #[test]
    fn certificates_are_kept_while_they_cover_what_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let local = IpAddr::from([127, 0, 0, 1]);
        let names = vec!["localhost".to_owned()];
        let first = Authority::open(dir.path(), Arc::new(SystemClock))
            .unwrap()
            .serving(&names, &[local])
            .unwrap();
        let before = fs::read(&first.certificate).unwrap();

        let again = Authority::open(dir.path(), Arc::new(SystemClock)).unwrap();
        again.serving(&names, &[local]).unwrap();
        assert_eq!(fs::read(&first.certificate).unwrap(), before);

        again.serving(&names, &[local, IpAddr::from([10, 0, 0, 1])]).unwrap();
        assert_ne!(fs::read(&first.certificate).unwrap(), before);
    }

    #[test]
    fn a_certificate_that_does_not_fit_its_key_is_made_anew() {
        let clock = Arc::new(ManualClock::new(SystemClock.unix_millis()));
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::open(dir.path(), Arc::<ManualClock>::clone(&clock)).unwrap();
        let pair = authority.serving(&[], &[]).unwrap();
        let old = fs::read(&pair.key).unwrap();
        clock.advance(CERTIFICATE_LIFE);
        assert!(authority.renew_serving(&[], &[]).unwrap());
        fs::write(&pair.key, old).unwrap();
        assert!(authority.renew_serving(&[], &[]).unwrap());
        assert!(!authority.renew_serving(&[], &[]).unwrap());
    }

    #[test]
    fn certificates_of_another_authority_are_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let names = vec!["localhost".to_owned()];
        let make = || {
            let authority = Authority::open(dir.path(), Arc::new(SystemClock)).unwrap();
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
        assert_eq!(
            name(Authority::open(dir.path(), Arc::new(SystemClock)).unwrap()),
            "CN=planesmith"
        );
        let other = Authority::open_as(dir.path(), "front-proxy-ca", Arc::new(SystemClock)).unwrap();
        assert_eq!(name(other), "CN=front-proxy-ca");
    }

    #[test]
    fn a_damaged_or_readable_key_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::open(dir.path(), Arc::new(SystemClock)).unwrap();
        let admin = authority.client("admin", "admin", "system:masters").unwrap();
        fs::set_permissions(&admin.key, fs::Permissions::from_mode(0o644)).unwrap();
        authority.client("admin", "admin", "system:masters").unwrap();
        assert_eq!(fs::metadata(&admin.key).unwrap().permissions().mode() & 0o777, 0o600);

        fs::write(&admin.key, "nonsense").unwrap();
        authority.client("admin", "admin", "system:masters").unwrap();
        assert!(CertificateKey::from_pem(&fs::read(&admin.key).unwrap()).is_ok());
    }

    /// The key of no server.
    const RSA_KEY: &str = "-----BEGIN PRIVATE KEY-----
MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDZn8kKfHpd1xwr
AUjF4edeOW4YHXmjyFTtcc2v9xmst+Dt70584liFhmyuM5whV0H3cXskMJNs1Qd7
G1r0cIZpraRAMIlzLa/qKkz2u4GQrVlIu8SMYnYivqrAdoc6WdvkCTzK6grDkZKm
3eCgmMzXDrZxVqNfXLuKf1tuk4JNTe60LMr/rrMva7RTzcReoCliwNez2wfMlTbu
wcnYMjuymTwTGcO/jO4OLSANeE8NBRZgEyN85qX0fLUx2Vx9TZGWwrXp6DxnaIGc
vFoqpwsswHvejO0gWdtx0cWSuwgvLrLJ90QPAh52A/iA6q2ig64rNPGz4pnx6XL1
5lfZasiNAgMBAAECggEAHiim4YllIt6V9H7B0UyQdg4i6/wfuJsha+OG1AE8QWOd
LBQrLiLnDiAWLSERXMx9I5fKLzZ9I8q09fJRTUlP01LhTZT8Y2YcOCkjD9ll6AEh
+7Kr1yGpCgEe5Du421ULJGPEVUGQetBQgMgEYnUyhAYxsezGCMfu5I9oQh92ohQu
hHl9MJfKqb7o7hydhRVpxQBbBmPsX2tEE3Lne3TeApcnj7G8dteCBMWT0UBoG6Od
71R3DgKZUKO4rVhe5cT0Qd9D4gutwas0NlW4WVkdGR1H4EIIfG5hYSdHexPJ6hOd
YHTsZSXq5CgBCJ3YUvxE9ExTdCOjbxNi1S65Z56XaQKBgQD4SNOCNWErPaMsGlw3
AzZIqxjmibMIj+ldMA8I89P2FcuaPXNyORLgjBHGlm/cMYBXfCmH6EJCrtT7fMNy
IGQbfMBhLNVVgHehxFlGj1EuKuPauW/KNcqAdP4OovBuyPn5k+7huH+3RpJknhgp
mgK5gpCGPiSIv7h7kKI+4Jd2qQKBgQDgYwwssVRvx72XNk52f73EGJgX31QjIywh
CZkrN37ZjWiZY8tsBpnSwkrpijGZLurF3jbtcWd87CWVuZgai145f2ruqH7l/YbY
izTPS0WPCTjWAiEjm5r3eRWRwySUM9s7RvqKoQbPRvuN0ow/Y5DVaWd60NGQOJoQ
Sifb4aKFRQKBgGD/8sI4IJJILmuYkNZdRuP1FHFc8rkxoDZsBDO3LuRBd532zBef
/KQFlRxEwccA/+ct9vvF3b03mLX39FOuG+4xOue8IEybOCHXGBnc/BZRY1ucfvQ9
N7QgAPGu7sgZdK/w/67n6d2skJ0GtuHp7Y6UV+padOOII4cC5qAyFnqhAoGAdam6
spzyiAMXmflyP5VQr0muR6Zmel5xP4nG9fCN5grO9NBt1WHIu8oCemBrDcaaedPC
vdQfzlQOiWrfJdw7Nq9oJWnZ0USWt2qX8LOp8A2H7kEDm6Z3JpoqA1tvDP/8UCMy
MguqhHrWYlIsFPli82XoS3DA03263Bvmttik3nkCgYAaQJuk98G7C+6+tg+iTc4W
WJ7MFDZK8ULriL74gxCPulTG9+wM27cUzfT5nzxRmogqw+tTkbUZRo8kCJBE9vpv
OKz2ETbF6U3Ue0t6r16w9ridyAzZ9kzg0bhnOBFnnUgQIY17PUAhwFQVY9wgnTwp
EtKDQizdK00BH+gbDdRX2g==
-----END PRIVATE KEY-----";

    /// Returns a key of each kind.
    fn keys() -> Vec<CertificateKey> {
        let random = SystemRandom::new();
        let edwards = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        vec![
            CertificateKey::generate().unwrap(),
            CertificateKey::generate_on(&ECDSA_P384_SHA384_ASN1_SIGNING).unwrap(),
            CertificateKey::from_pkcs8(edwards.as_ref().to_vec()).unwrap(),
            CertificateKey::from_pem(RSA_KEY.as_bytes()).unwrap(),
        ]
    }

    #[test]
    fn a_client_certificate_names_all_groups_whatever_key_signs_it() {
        for key in keys() {
            let dir = tempfile::tempdir().unwrap();
            make_authority(AUTHORITY, &pair_in(dir.path(), "ca"), &key, SystemClock.now()).unwrap();
            let authority = Authority::open(dir.path(), Arc::new(SystemClock)).unwrap();
            let (client, _) = authority.client_pair("ann", &["people", "testers"]).unwrap();
            let der = |text: &str| pem::first(text.as_bytes(), CERTIFICATE).unwrap();
            // What servers verify clients with.
            let mut roots = RootCertStore::empty();
            roots.add(der(authority.certificate_pem()).into()).unwrap();
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let now = SystemClock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            let now = UnixTime::since_unix_epoch(now);
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            let verified = verifier.unwrap().verify_client_cert(&der(&client).into(), &[], now);
            verified.unwrap();
            let ClientCertificate::Trusted { user, .. } = ClientCertificate::trusted(&der(&client)).unwrap() else {
                panic!("the certificate names a user");
            };
            assert_eq!(
                (&*user.name, &user.groups[..2]),
                ("ann", &["people".to_owned(), "testers".to_owned()][..])
            );
        }
    }

    #[test]
    fn an_authority_is_marked_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::open(dir.path(), Arc::new(SystemClock)).unwrap();
        let own = &authority.certificate.tbs_certificate;
        let (critical, constraints) = own.get::<BasicConstraints>().unwrap().unwrap();
        assert!(critical && constraints.ca && constraints.path_len_constraint.is_none());
        let (critical, usage) = own.get::<KeyUsage>().unwrap().unwrap();
        assert!(critical && usage.key_cert_sign() && usage.digital_signature() && usage.crl_sign());
        let (critical, id) = own.get::<SubjectKeyIdentifier>().unwrap().unwrap();
        assert!(!critical && id.0.as_bytes().len() == 20);
        assert!(authority.has_signed(&authority.certificate));
    }

    #[test]
    fn a_broken_authority_is_named_in_the_error() {
        let dir = tempfile::tempdir().unwrap();
        Authority::open(dir.path(), Arc::new(SystemClock)).unwrap();
        fs::write(dir.path().join("ca.crt"), "nonsense").unwrap();
        let error = Authority::open(dir.path(), Arc::new(SystemClock)).unwrap_err();
        assert!(error.to_string().contains("ca.crt is not a usable PEM file"), "{error}");
    }
}
