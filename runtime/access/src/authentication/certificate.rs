//! Client certificates.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use thiserror::Error;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use super::{Authenticator, Credentials, Subject, Verdict, authenticated};
use crate::user::UserInfo;

/// The certificate that a connection was opened with, judged once.
#[derive(Clone, Debug)]
pub enum ClientCertificate {
    /// Signed by a trusted authority.
    Trusted {
        /// Its common name as user name, its organizations as groups, its fingerprint as credential.
        user: Arc<UserInfo>,
        /// When it ends; connections may outlive it.
        not_after: SystemTime,
    },
    /// Not signed by a trusted authority, expired, or not readable; the reason is for the log only.
    Untrusted(String),
}

/// Why a certificate names no user.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CertificateError {
    /// Not a certificate.
    #[error("the client certificate is malformed")]
    Malformed,
    /// It names nobody.
    #[error("the client certificate has no common name")]
    NoCommonName,
}

impl ClientCertificate {
    /// Reads the user from a certificate whose signature has been checked.
    ///
    /// # Errors
    ///
    /// The certificate is malformed or names nobody.
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

/// The fingerprint by which audit logs name a certificate.
fn credential_id(der: &[u8]) -> String {
    let mut id = "X509SHA256=".to_owned();
    for byte in Sha256::digest(der) {
        // Writing to a string does not fail.
        let _ = write!(id, "{byte:02x}");
    }
    id
}

/// The fact about a user that names its credential, as audit logs do.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Takes the user from the connection's certificate.
#[derive(Clone, Copy, Debug)]
pub struct CertificateAuthenticator {
    /// The clock, which tests replace.
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
        let digest = Sha256::digest(certificate.der());
        let bytes = (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap());
        assert_eq!(bytes.collect::<Vec<_>>(), digest.to_vec());
        assert_eq!(digits, digits.to_lowercase());
    }
}
