//! Client certificates: requested, not required, and verified after the handshake.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use planesmith_access::authentication::{ClientCertificate, ProxyCertificate};
use planesmith_machinery::clock::Clock;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, SignatureScheme};
use x509_cert::der::oid::db::rfc5280::ID_KP_CLIENT_AUTH;

use super::TlsError;
use crate::connection::Connection;
use crate::early_version;
use crate::signatures::Signatures;
use crate::trust_anchors::TrustAnchors;

/// Accepts any client certificate whose key the client has.
///
/// The signature of an authority is verified once the connection is established: an untrusted certificate is an
/// authentication failure (401), which the client can read, and not a failed handshake.
#[derive(Debug)]
pub(super) struct AnyCertificate {
    clients: Option<AuthorityVerifier>,
    proxies: Option<AuthorityVerifier>,
    /// Names of the authorities that are sent to clients as hints.
    hints: Vec<DistinguishedName>,
    signatures: Signatures,
}

/// Verifies certificates with a set of trusted authorities.
#[derive(Debug)]
struct AuthorityVerifier {
    anchors: TrustAnchors,
    authorities: Arc<dyn ClientCertVerifier>,
    algorithms: WebPkiSupportedAlgorithms,
    clock: Arc<dyn Clock>,
}

impl AuthorityVerifier {
    /// Returns a verifier; `None` without authorities.
    fn new(
        anchors: TrustAnchors,
        provider: &Arc<CryptoProvider>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Self>, TlsError> {
        if anchors.roots().is_empty() {
            return Ok(None);
        }
        let roots = Arc::new(anchors.roots().clone());
        let builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
        let authorities = builder.allow_unauthenticated().build().map_err(TlsError::Authorities)?;
        Ok(Some(Self {
            anchors,
            authorities,
            algorithms: provider.signature_verification_algorithms,
            clock: Arc::clone(clock),
        }))
    }

    /// Checks that `own` is trusted; the error is the reason that it is not.
    fn check(&self, own: &CertificateDer<'_>, intermediates: &[CertificateDer<'_>]) -> Result<(), String> {
        // A clock before 1970 counts as 1970.
        let now = self.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(now);
        let verdict = match self.anchors.check(own, now, ID_KP_CLIENT_AUTH) {
            Some(listed) => listed.map_err(rustls::Error::from),
            None if early_version::is_early(own) => {
                let authorities = self.anchors.certificates();
                early_version::verify(own, intermediates, authorities, self.algorithms, now)
                    .map_err(rustls::Error::from)
            }
            None => self.authorities.verify_client_cert(own, intermediates, now).map(drop),
        };
        verdict.map_err(|error| error.to_string())
    }
}

impl AnyCertificate {
    /// Returns a verifier with the authorities of clients and of proxies; `None` if there are none of either.
    pub(super) fn new(
        clients: TrustAnchors,
        proxies: TrustAnchors,
        provider: &Arc<CryptoProvider>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Self>, TlsError> {
        let mut hints = clients.roots().subjects();
        hints.extend(proxies.roots().subjects());
        let (clients, proxies) = (
            AuthorityVerifier::new(clients, provider, clock)?,
            AuthorityVerifier::new(proxies, provider, clock)?,
        );
        let trusts_nobody = clients.is_none() && proxies.is_none();
        let any = Self {
            clients,
            proxies,
            hints,
            signatures: Signatures::new(provider),
        };
        Ok((!trusts_nobody).then_some(any))
    }

    /// The identities in the certificates that a client sent, its own first.
    pub(super) fn verify(&self, sent: &[CertificateDer<'_>]) -> Connection {
        let Some((own, intermediates)) = sent.split_first() else {
            return Connection::default();
        };
        let client = self.clients.as_ref().map(|verifier| {
            let checked = verifier.check(own, intermediates);
            let certificate = checked.and_then(|()| ClientCertificate::trusted(own).map_err(|e| e.to_string()));
            certificate.unwrap_or_else(ClientCertificate::Untrusted)
        });
        let proxy = self.proxies.as_ref().and_then(|verifier| {
            verifier.check(own, intermediates).ok()?;
            ProxyCertificate::trusted(own).ok()
        });
        Connection {
            peer: None,
            certificate: client,
            proxy,
        }
    }
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signatures.check_tls12(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signatures.check_tls13(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signatures.schemes()
    }
}
