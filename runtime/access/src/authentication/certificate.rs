//! Client certificates.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use planesmith_machinery::hex;
use ring::digest::{SHA256, digest};
use thiserror::Error;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use super::{Authenticator, Credentials, Subject, Verdict, authenticated};
use crate::user::UserInfo;

/// The client certificate of a connection, verified once.
#[derive(Clone, Debug)]
pub enum ClientCertificate {
    /// Signed by a trusted authority.
    Trusted {
        /// The user: the common name is the user name, organizations are groups, and the fingerprint is the credential ID.
        user: Arc<UserInfo>,
        /// The expiry of the certificate; connections may outlive it.
        not_after: SystemTime,
    },
    /// Not signed by a trusted authority, expired, or malformed; the reason is for the log only.
    Untrusted(String),
}

/// The reason why a certificate identifies no user.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CertificateError {
    /// The data is not a certificate.
    #[error("the client certificate is malformed")]
    Malformed,
    /// The subject has no common name.
    #[error("the client certificate has no common name")]
    NoCommonName,
}

impl ClientCertificate {
    /// Reads the user from a certificate with a verified signature.
    ///
    /// # Errors
    ///
    /// The certificate is malformed or has no common name.
    pub fn trusted(der: &[u8]) -> Result<Self, CertificateError> {
        let (_, certificate) = X509Certificate::from_der(der).map_err(|_| CertificateError::Malformed)?;
        let subject = Subject::read(certificate.subject()).ok_or(CertificateError::Malformed)?;
        if subject.common_name.is_empty() {
            return Err(CertificateError::NoCommonName);
        }
        let user = UserInfo {
            name: subject.common_name,
            groups: subject.organizations,
            extra: [(CREDENTIAL_ID.to_owned(), vec![credential_id(der)])].into(),
            ..UserInfo::default()
        };
        let not_after = u64::try_from(certificate.validity().not_after.timestamp()).unwrap_or(0);
        Ok(Self::Trusted {
            user: authenticated(user),
            not_after: SystemTime::UNIX_EPOCH + Duration::from_secs(not_after),
        })
    }
}

/// Returns the fingerprint that identifies a certificate in audit logs.
fn credential_id(der: &[u8]) -> String {
    format!("X509SHA256={}", hex::encode(digest(&SHA256, der).as_ref()))
}

/// The key of a user's extra attribute that identifies the credential, as in audit logs.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Authenticates the user of the connection's certificate.
#[derive(Clone, Copy, Debug)]
pub struct CertificateAuthenticator {
    /// The clock, replaceable in tests.
    pub now: fn() -> SystemTime,
}

impl Default for CertificateAuthenticator {
    fn default() -> Self {
        Self { now: SystemTime::now }
    }
}

impl Authenticator for CertificateAuthenticator {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Verdict {
        match credentials.certificate {
            None => Verdict::NoOpinion,
            Some(ClientCertificate::Untrusted(reason)) => Verdict::Invalid(reason.clone()),
            Some(ClientCertificate::Trusted { not_after, .. }) if (self.now)() > *not_after => {
                Verdict::Invalid("the client certificate has expired".to_owned())
            }
            Some(ClientCertificate::Trusted { user, .. }) => Verdict::User(Arc::clone(user)),
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    #[test]
    fn a_user_is_known_by_the_fingerprint_of_the_certificate() {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "carol");
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let Ok(ClientCertificate::Trusted { user, .. }) = ClientCertificate::trusted(certificate.der()) else {
            panic!("the certificate names nobody");
        };
        let id = &user.extra["authentication.kubernetes.io/credential-id"];
        let digits = id[0].strip_prefix("X509SHA256=").expect("the kind of the fingerprint");
        assert_eq!((id.len(), digits.len(), user.extra.len()), (1, 64, 1));
        let digest = digest(&SHA256, certificate.der());
        let bytes = (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap());
        assert_eq!(bytes.collect::<Vec<_>>(), digest.as_ref());
        assert_eq!(digits, digits.to_lowercase());
    }
}
