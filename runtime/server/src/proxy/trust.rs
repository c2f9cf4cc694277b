//! Whom connections to others believe.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use thiserror::Error;

/// Who we are to others; PEM files.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    /// The certificate, with its chain.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why there is no TLS to others.
#[derive(Debug, Error)]
pub enum TrustError {
    /// A file that is not there, or holds something else.
    #[error("{path} cannot be read as PEM")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// A certificate or key that cannot be used.
    #[error("the certificates cannot be used")]
    Tls(#[from] rustls::Error),
}

/// TLS to others. Without an authority any certificate is believed, as kube-apiserver does with kubelets and pods: who is
/// reached is then known by the address alone.
///
/// # Errors
///
/// When a file cannot be read, or a key does not fit its certificate.
pub fn client_tls(
    authority: Option<&Path>,
    identity: Option<&ClientIdentity>,
) -> Result<Arc<ClientConfig>, TrustError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let builder = match authority {
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(path)? {
                roots.add(certificate)?;
            }
            builder.with_root_certificates(roots)
        }
        None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone { provider })),
    };
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = PrivateKeyDer::from_pem_file(&identity.key).map_err(|source| TrustError::File {
                path: identity.key.clone(),
                source,
            })?;
            builder.with_client_auth_cert(certificates(&identity.certificate)?, key)?
        }
    };
    Ok(Arc::new(config))
}

/// TLS to somebody whose certificate is signed by one of the authorities in `pem`.
///
/// # Errors
///
/// When there is no authority that can be read.
pub fn client_tls_by(pem: &[u8]) -> Result<Arc<ClientConfig>, TrustError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem).flatten() {
        roots.add(certificate)?;
    }
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    read().map_err(|source| TrustError::File {
        path: path.to_owned(),
        source,
    })
}

/// Believes any certificate whose owner has its key.
#[derive(Debug)]
struct Anyone {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
