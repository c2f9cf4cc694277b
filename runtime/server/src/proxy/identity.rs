//! The server's identity as a client of other servers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use planesmith_access::authentication::CertificateParts;
use planesmith_access::authentication::curve::{P521_COMPLAINT, is_p521};
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, SignatureScheme};
use thiserror::Error;

const NO_AUTHORITY: &str = "unable to load root certificates: unable to parse bytes as PEM block";

/// The server's identity as a client of other servers.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    /// The certificate, with its chain.
    pub certificate: Pem,
    /// Its key.
    pub key: Pem,
}

/// PEM from a text or a file.
#[derive(Clone)]
pub enum Pem {
    /// The path of a file.
    File(PathBuf),
    /// The text itself.
    Text(Vec<u8>),
}

/// The reason that TLS to other servers cannot be set up.
#[derive(Debug, Error)]
pub enum TrustError {
    /// A file that is missing or not valid.
    #[error("{path} cannot be read as PEM")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        source: pem::Error,
    },
    /// A text that is not valid.
    #[error("the certificate or key cannot be read as PEM")]
    Text(#[source] pem::Error),
    /// A text without a certificate, worded as kube-apiserver words it.
    #[error("{NO_AUTHORITY}")]
    NoAuthority,
    /// The key is on a curve that the TLS implementation does not support.
    #[error("the key of the client certificate {P521_COMPLAINT}")]
    Curve,
    /// A certificate or key that cannot be used.
    #[error("the certificates cannot be used")]
    Tls(#[from] rustls::Error),
}

impl TrustError {
    /// The message for clients, without file names.
    #[must_use]
    pub fn client_message(&self) -> &'static str {
        match self {
            TrustError::File { .. } | TrustError::Text(_) => "the certificate or key cannot be read as PEM",
            TrustError::NoAuthority => NO_AUTHORITY,
            TrustError::Tls(_) | TrustError::Curve => "the certificates cannot be used",
        }
    }
}

impl Pem {
    /// The certificates of the file or text.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TrustError> {
        let read = || -> Result<Vec<_>, pem::Error> {
            match self {
                Pem::File(path) => CertificateDer::pem_file_iter(path)?.collect(),
                Pem::Text(text) => CertificateDer::pem_slice_iter(text).collect(),
            }
        };
        read().map_err(|error| self.unreadable(error))
    }

    fn private_key(&self) -> Result<PrivateKeyDer<'static>, TrustError> {
        let key = match self {
            Pem::File(path) => PrivateKeyDer::from_pem_file(path),
            Pem::Text(text) => PrivateKeyDer::from_pem_slice(text),
        };
        let key = key.map_err(|error| self.unreadable(error))?;
        match is_p521(key.secret_der()) {
            true => Err(TrustError::Curve),
            false => Ok(key),
        }
    }

    fn unreadable(&self, source: pem::Error) -> TrustError {
        match self {
            Pem::File(path) => TrustError::File {
                path: path.clone(),
                source,
            },
            Pem::Text(_) => TrustError::Text(source),
        }
    }

    /// Modification time of the file; `None` for a text.
    fn changed(&self) -> Option<SystemTime> {
        match self {
            Pem::File(path) => path.metadata().and_then(|file| file.modified()).ok(),
            Pem::Text(_) => None,
        }
    }
}

impl From<PathBuf> for Pem {
    fn from(path: PathBuf) -> Self {
        Pem::File(path)
    }
}

impl std::fmt::Debug for Pem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The text may be a key.
        match self {
            Pem::File(path) => path.fmt(f),
            Pem::Text(text) => write!(f, "{} bytes", text.len()),
        }
    }
}

/// An identity that is presented when a connection is opened, with the content of its files at that time.
#[derive(Debug)]
pub(super) struct PresentedIdentity {
    identity: ClientIdentity,
    provider: Arc<CryptoProvider>,
    loaded: Mutex<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    key: Arc<CertifiedKey>,
    /// Modification times of the files.
    changed: [Option<SystemTime>; 2],
}

impl PresentedIdentity {
    /// Reads the files of `identity`.
    ///
    /// # Errors
    ///
    /// The files cannot be read, or the key does not belong to the certificate.
    pub(super) fn open(identity: &ClientIdentity, provider: &Arc<CryptoProvider>) -> Result<Self, TrustError> {
        Ok(Self {
            identity: identity.clone(),
            provider: Arc::clone(provider),
            loaded: Mutex::new(Loaded::read(identity, provider)?),
        })
    }

    /// If the files cannot be used, for example because they are just being replaced, the previous identity remains in
    /// use.
    fn current(&self) -> Arc<CertifiedKey> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.changed != changed(&self.identity) {
            match Loaded::read(&self.identity, &self.provider) {
                Ok(fresh) => *loaded = fresh,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "a changed client certificate is not used");
                }
            }
        }
        Arc::clone(&loaded.key)
    }
}

impl Loaded {
    fn read(identity: &ClientIdentity, provider: &CryptoProvider) -> Result<Self, TrustError> {
        // Read first: a change in between is found at the next check.
        let changed = changed(identity);
        let (chain, key) = (identity.certificate.certificates()?, identity.key.private_key()?);
        let key = certified(chain, key, provider)?;
        Ok(Self {
            key: Arc::new(key),
            changed,
        })
    }
}

/// Checks that a key belongs to the first certificate of a chain, and returns both. As in Go, the certificate may be of an
/// early version of X.509, which the TLS implementation presents and does not read.
fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, rustls::Error> {
    let own = chain.first().and_then(|own| CertificateParts::read(own));
    let Some(own) = own.filter(|own| own.is_early) else {
        return CertifiedKey::from_der(chain, key, provider);
    };
    let key = provider.key_provider.load_private_key(key)?;
    match key.public_key() {
        Some(public) if public.as_ref() != own.key_info => Err(InconsistentKeys::KeyMismatch.into()),
        _ => Ok(CertifiedKey::new(chain, key)),
    }
}

fn changed(identity: &ClientIdentity) -> [Option<SystemTime>; 2] {
    [&identity.certificate, &identity.key].map(Pem::changed)
}

impl ResolvesClientCert for PresentedIdentity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use rcgen::{CertificateParams, KeyPair};
    use rustls::crypto::ring;

    use super::*;
    use crate::early_version::tests::as_version_one;

    #[test]
    fn exchanged_certificates_are_presented() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = (folder.path().join("c.crt"), folder.path().join("c.key"));
        let mut time = SystemTime::UNIX_EPOCH;
        let mut write = |certificate_text: &str, key_text: &str| {
            time += Duration::from_secs(1);
            for (path, text) in [(&certificate, certificate_text), (&key, key_text)] {
                fs::write(path, text).unwrap();
                fs::File::options()
                    .append(true)
                    .open(path)
                    .unwrap()
                    .set_modified(time)
                    .unwrap();
            }
        };
        let mut make = || {
            let key = KeyPair::generate().unwrap();
            let made = CertificateParams::default().self_signed(&key).unwrap();
            write(&made.pem(), &key.serialize_pem());
            made.der().clone()
        };
        let first = make();
        let identity = ClientIdentity {
            certificate: certificate.clone().into(),
            key: key.clone().into(),
        };
        let provider = Arc::new(ring::default_provider());
        let presented = PresentedIdentity::open(&identity, &provider).unwrap();
        let end = || presented.resolve(&[], &[]).unwrap().cert[0].clone();
        assert_eq!(end(), first);
        let second = make();
        assert_eq!(end(), second);
        write("half a", "file");
        assert_eq!(end(), second);
        assert!(PresentedIdentity::open(&identity, &provider).is_err());
    }

    #[test]
    fn certificates_of_version_one_are_presented_with_their_own_key_alone() {
        let pem = |label: &str, der: &[u8]| {
            let content = STANDARD.encode(der);
            Pem::Text(format!("-----BEGIN {label}-----\n{content}\n-----END {label}-----\n").into())
        };
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap();
        let certificate = as_version_one(certificate.der(), &key);
        let provider = Arc::new(ring::default_provider());
        let open = |key: &KeyPair| {
            let identity = ClientIdentity {
                certificate: pem("CERTIFICATE", &certificate),
                key: pem("PRIVATE KEY", key.serialized_der()),
            };
            PresentedIdentity::open(&identity, &provider)
        };
        let presented = open(&key).unwrap();
        assert_eq!(presented.resolve(&[], &[]).unwrap().cert[0], certificate);
        let error = open(&KeyPair::generate().unwrap()).unwrap_err();
        let mismatch = InconsistentKeys::KeyMismatch.into();
        assert!(matches!(error, TrustError::Tls(error) if error == mismatch));
    }
}
