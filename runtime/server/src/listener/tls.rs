//! The server's certificate and the authorities of its clients.

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use planesmith_access::authentication::curve::{P521_COMPLAINT, is_p521};
use planesmith_machinery::clock::Clock;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::client_certificate::AnyCertificate;
use super::named_certificates::{CertificatesByName, NamedCertificate};
use super::peer::Peer;
use super::tls_parameters::TlsParameters;
use super::write_coalescing::BUFFER;
use crate::connection::Connection;
use crate::trust_anchors::TrustAnchors;

/// Interval between checks of the files for changes. Certificates are replaced days before they expire.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Paths of the certificates and keys; all files are PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, followed by its chain.
    pub certificate: PathBuf,
    /// The key of the server's certificate.
    pub key: PathBuf,
    /// Authorities whose client certificates are accepted; if there are neither these nor authorities of proxies,
    /// no client certificates are requested.
    pub client_authorities: Vec<PathBuf>,
    /// Authorities that sign the certificates of proxies, which name the user in headers.
    pub proxy_authorities: Vec<PathBuf>,
    /// Certificates for clients that request one of their names.
    pub named: Vec<NamedCertificate>,
    /// Versions, cipher suites and curves.
    pub parameters: TlsParameters,
    /// The clock, which decides about the validity of certificates of clients.
    pub clock: Arc<dyn Clock>,
}

/// Authorities that are found while serving, PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorities {
    /// Authorities whose client certificates are accepted.
    pub clients: Vec<u8>,
    /// Authorities that sign the certificates of proxies.
    pub proxies: Vec<u8>,
}

/// The reason that TLS cannot be set up.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not contain the expected PEM items.
    #[error("{path} holds no {wanted} in PEM form")]
    Pem {
        /// The file.
        path: PathBuf,
        /// The expected item.
        wanted: &'static str,
        /// The error of the parser.
        source: pem::Error,
    },
    /// A certificate or key is not valid.
    #[error("the certificate {path} cannot be used with its key")]
    Certificate {
        /// The certificate.
        path: PathBuf,
        /// The reason.
        source: rustls::Error,
    },
    /// A key is on a curve that the TLS implementation does not support.
    #[error("the key of {path} {P521_COMPLAINT}")]
    Curve {
        /// The file of the key, or of the authority with it.
        path: PathBuf,
    },
    /// The authorities cannot be used.
    #[error("the client authorities cannot be used")]
    Authorities(#[source] VerifierBuilderError),
}

/// TLS with certificates from files, which are read again when they change.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    more: ArcSwap<Authorities>,
    pub(super) current: ArcSwap<Loaded>,
}

pub(super) struct Loaded {
    acceptor: TlsAcceptor,
    clients: Option<Arc<AnyCertificate>>,
    /// The server's certificate.
    certificate: Option<CertificateDer<'static>>,
    /// Modification time of each file.
    changed: Vec<Option<SystemTime>>,
}

impl Tls {
    /// Reads the certificates from `files`.
    ///
    /// # Errors
    ///
    /// One of them cannot be used; the message names it.
    pub fn open(files: TlsFiles) -> Result<Self, TlsError> {
        let more = Authorities::default();
        let current = ArcSwap::from_pointee(Loaded::open(&files, &more)?);
        let more = ArcSwap::from_pointee(more);
        Ok(Self { files, more, current })
    }

    /// Trusts `more` from the next connection on, besides the authorities in the files.
    ///
    /// # Errors
    ///
    /// The authorities cannot be used; the previous ones remain in use.
    pub fn trust(&self, more: Authorities) -> Result<(), TlsError> {
        if **self.more.load() == more {
            return Ok(());
        }
        let loaded = Loaded::open(&self.files, &more)?;
        self.more.store(Arc::new(more));
        self.current.store(Arc::new(loaded));
        Ok(())
    }

    /// The certificate that the server presents from the next connection on, in DER.
    #[must_use]
    pub fn serving_certificate(&self) -> Vec<u8> {
        let loaded = self.current.load();
        loaded
            .certificate
            .as_ref()
            .map(|found| found.to_vec())
            .unwrap_or_default()
    }

    /// Accepts a TLS connection, and identifies the client.
    pub(super) async fn accept(
        self: &Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
    ) -> io::Result<(TlsStream<TcpStream>, Peer)> {
        let loaded = self.current.load_full();
        // A write of one piece is sent in one piece, as far as the socket accepts it.
        let whole = |tls: &mut rustls::ServerConnection| tls.set_buffer_limit(Some(BUFFER));
        let stream = loaded.acceptor.accept_with(stream, whole).await?;
        let sent = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let peer = Peer::presenting(address, sent.to_vec(), self, loaded);
        Ok((stream, peer))
    }

    /// Checks the files periodically, for as long as it is polled.
    pub(super) async fn keep_fresh(&self) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            self.refresh();
        }
    }

    /// Reads the files again if one has changed. If they cannot be used, the previous certificates remain in use.
    pub fn refresh(&self) {
        if self.current.load().changed == times(&self.files) {
            return;
        }
        match Loaded::open(&self.files, &self.more.load()) {
            Ok(loaded) => {
                tracing::info!(certificate = %self.files.certificate.display(), "certificates read again");
                self.current.store(Arc::new(loaded));
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the changed certificates cannot be used; the previous ones remain in use"
                );
            }
        }
    }
}

impl Loaded {
    /// The identities in the certificates that a client at `address` sent, its own first.
    pub(super) fn verify(&self, sent: &[CertificateDer<'_>], address: Option<SocketAddr>) -> Connection {
        let verified = self.clients.as_ref().map(|clients| clients.verify(sent));
        Connection {
            peer: address,
            ..verified.unwrap_or_default()
        }
    }

    fn open(files: &TlsFiles, more: &Authorities) -> Result<Self, TlsError> {
        // Read first: a change in between is found at the next check.
        let changed = times(files);
        let provider = Arc::new(files.parameters.provider());
        let clients = authorities(&files.client_authorities, &more.clients)?;
        let proxies = authorities(&files.proxy_authorities, &more.proxies)?;
        let clients = AnyCertificate::new(clients, proxies, &provider, &files.clock)?.map(Arc::new);
        let unusable = |source| TlsError::Certificate {
            path: files.certificate.clone(),
            source,
        };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(files.parameters.versions())
            .map_err(unusable)?
            .with_client_cert_verifier(match &clients {
                Some(clients) => Arc::clone(clients) as _,
                None => WebPkiClientVerifier::no_client_auth(),
            });
        let default = certified_key(&files.certificate, &files.key, &provider)?;
        let certificate = default.cert.first().cloned();
        let mut by_name = CertificatesByName::new(default);
        for named in &files.named {
            by_name.add(&named.names, certified_key(&named.certificate, &named.key, &provider)?);
        }
        let mut config = builder.with_cert_resolver(Arc::new(by_name));
        config.alpn_protocols = files.parameters.protocols();
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            clients,
            certificate,
            changed,
        })
    }
}

/// Reads a certificate with its chain, and its key.
fn certified_key(certificate: &Path, key_file: &Path, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    let (chain, key) = (certificates(certificate)?, key(key_file)?);
    CertifiedKey::from_der(chain, key, provider).map_err(|source| TlsError::Certificate {
        path: certificate.to_owned(),
        source,
    })
}

fn times(files: &TlsFiles) -> Vec<Option<SystemTime>> {
    let named = files.named.iter().flat_map(|named| [&named.certificate, &named.key]);
    let paths = [&files.certificate, &files.key]
        .into_iter()
        .chain(named)
        .chain(&files.client_authorities)
        .chain(&files.proxy_authorities);
    paths
        .map(|path| path.metadata().and_then(|file| file.modified()).ok())
        .collect()
}

fn authorities(paths: &[PathBuf], more: &[u8]) -> Result<TrustAnchors, TlsError> {
    let mut anchors = TrustAnchors::default();
    for path in paths {
        let (refused, usable): (Vec<_>, Vec<_>) = certificates(path)?.into_iter().partition(|found| is_p521(found));
        if usable.is_empty() {
            return Err(TlsError::Curve { path: path.clone() });
        }
        // Clients with a certificate of another authority are not to be locked out.
        for _ in refused {
            tracing::warn!(path = %path.display(), "the key of an authority {P521_COMPLAINT}; client certificates that it signed are not accepted");
        }
        for certificate in usable {
            let unusable = |source| TlsError::Certificate {
                path: path.clone(),
                source,
            };
            anchors.add(certificate).map_err(unusable)?;
        }
    }
    anchors.add_usable(CertificateDer::pem_slice_iter(more).flatten());
    Ok(anchors)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let unreadable = |source| TlsError::Pem {
        path: path.to_owned(),
        wanted: "certificate",
        source,
    };
    let certificates = CertificateDer::pem_reader_iter(open(path)?).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(unreadable)?;
    if certificates.is_empty() {
        Err(unreadable(pem::Error::NoItemsFound))
    } else {
        Ok(certificates)
    }
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let unreadable = |source| TlsError::Pem {
        path: path.to_owned(),
        wanted: "private key",
        source,
    };
    let key = PrivateKeyDer::from_pem_reader(open(path)?).map_err(unreadable)?;
    match is_p521(key.secret_der()) {
        true => Err(TlsError::Curve { path: path.to_owned() }),
        false => Ok(key),
    }
}

fn open(path: &Path) -> Result<File, TlsError> {
    File::open(path).map_err(|source| TlsError::Read {
        path: path.to_owned(),
        source,
    })
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded")
            .field("clients", &self.clients.is_some())
            .finish_non_exhaustive()
    }
}
