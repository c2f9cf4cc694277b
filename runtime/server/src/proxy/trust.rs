//! Trust in the servers of outgoing connections.

use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::identity::{ClientIdentity, Pem, PresentedIdentity, TrustError};
use super::server_verifier::ServerVerifier;
use crate::trust_anchors::TrustAnchors;

/// The servers that a connection trusts.
#[derive(Clone, Copy, Debug)]
pub enum Trust<'a> {
    /// Trusts any certificate whose owner has its key: the server is identified by its address alone.
    Anyone,
    /// Certificates that the authorities in a PEM file have signed.
    File(&'a Path),
    /// Certificates that the authorities in a PEM text have signed.
    Bundle(&'a [u8]),
    /// Certificates that the authorities of the operating system have signed.
    System,
}

/// Paths of the operating systems' trusted authorities, as in Go; the first that exists counts.
const SYSTEM_AUTHORITIES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// TLS settings for outgoing connections. Without an authority any certificate is trusted, as kube-apiserver does for
/// kubelets and pods.
///
/// # Errors
///
/// A file cannot be read, or a key does not belong to its certificate.
pub fn client_tls(
    authority: Option<&Path>,
    identity: Option<&ClientIdentity>,
) -> Result<Arc<ClientConfig>, TrustError> {
    client_tls_to(authority.map_or(Trust::Anyone, Trust::File), identity)
}

/// TLS settings for servers whose certificate is signed by one of the authorities in `pem`.
///
/// # Errors
///
/// There is no authority that can be read.
pub fn client_tls_by(pem: &[u8]) -> Result<Arc<ClientConfig>, TrustError> {
    client_tls_to(Trust::Bundle(pem), None)
}

/// TLS settings for servers that `trust` accepts, to which the certificate of `identity` is presented.
///
/// # Errors
///
/// A file cannot be read, an authority cannot be used, or a key does not belong to its certificate.
pub fn client_tls_to(trust: Trust<'_>, identity: Option<&ClientIdentity>) -> Result<Arc<ClientConfig>, TrustError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let mut anchors = TrustAnchors::default();
    match trust {
        Trust::Anyone => {}
        Trust::File(path) => anchors.add_all(Pem::File(path.to_owned()).certificates()?)?,
        Trust::Bundle(pem) => {
            anchors.add_all(CertificateDer::pem_slice_iter(pem).flatten())?;
            if !pem.is_empty() && anchors.certificates().is_empty() {
                return Err(TrustError::NoAuthority);
            }
        }
        Trust::System => {
            let bundle = SYSTEM_AUTHORITIES.iter().find_map(|path| std::fs::read(path).ok());
            let bundle = bundle.unwrap_or_default();
            // Some authorities of an operating system may use algorithms that are too old to be accepted here.
            anchors.add_usable(CertificateDer::pem_slice_iter(&bundle).flatten());
        }
    }
    let verifier = match trust {
        Trust::Anyone => ServerVerifier::trust_anything(&provider),
        Trust::File(_) | Trust::Bundle(_) | Trust::System => ServerVerifier::trust_anchors(anchors, &provider),
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder.with_client_cert_resolver(Arc::new(PresentedIdentity::open(identity, &provider)?)),
    };
    Ok(Arc::new(config))
}
