//! Addresses and credentials of servers.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The address of a server, its certificate authority, and the client's token.
#[derive(Clone, Debug)]
pub struct Endpoint {
    host: String,
    port: u16,
    token: String,
    tls: Arc<ClientConfig>,
}

impl Endpoint {
    /// Creates an endpoint whose certificate must be signed by the authority in the PEM file `ca`; without one, all
    /// certificates are accepted.
    ///
    /// # Errors
    ///
    /// `url` is not `https://HOST[:PORT]`, or the file contains no certificate.
    pub fn new(url: &str, token: &str, ca: Option<&Path>) -> Result<Self> {
        let uri: http::Uri = url.parse().with_context(|| format!("{url} is not a URL"))?;
        let (Some("https"), Some(host)) = (uri.scheme_str(), uri.host()) else {
            bail!("{url}: expected https://HOST:PORT");
        };
        let provider = Arc::new(ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let tls = match ca {
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in
                    CertificateDer::pem_file_iter(path).with_context(|| format!("reading {}", path.display()))?
                {
                    roots.add(certificate?)?;
                }
                builder.with_root_certificates(roots)
            }
            None => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        };
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: uri.port_u16().unwrap_or(443),
            token: token.to_owned(),
            tls: Arc::new(tls.with_no_client_auth()),
        })
    }

    /// Returns `HOST:PORT` as in requests.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address as a URL without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{}", self.authority())
    }

    /// Returns the bearer token of requests.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Opens a TLS stream for `protocol` (`h2` or `http/1.1`).
    ///
    /// # Errors
    ///
    /// The server is unreachable or does not support the protocol.
    pub async fn open(&self, protocol: &str) -> Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        let mut tls = ClientConfig::clone(&self.tls);
        tls.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let name = ServerName::try_from(self.host.clone())?;
        Ok(TlsConnector::from(Arc::new(tls)).connect(name, stream).await?)
    }
}

/// Accepts all certificates: for servers started by this process, or on explicit request.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
