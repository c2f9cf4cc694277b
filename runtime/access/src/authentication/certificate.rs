//! Client certificates.

use std::sync::Arc;
use std::time::SystemTime;

use planesmith_machinery::clock::Clock;
use planesmith_machinery::hex;
use ring::digest::{SHA256, digest};
use thiserror::Error;

use super::{AuthenticationResult, Authenticator, CertificateParts, Credentials, Subject, authenticated};
use crate::outcome::Outcome;
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
    /// Signed by a trusted authority, but without a common name: it identifies no user.
    Nameless,
    /// Not signed by a trusted authority, expired, or malformed; the reason is for the log only.
    Untrusted(String),
}

/// The reason why a certificate identifies no user.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CertificateError {
    /// The data is not a certificate.
    #[error("the client certificate is malformed")]
    Malformed,
    /// The subject has an empty UID.
    #[error("UID cannot be an empty string")]
    EmptyUid,
    /// The subject has several UIDs.
    #[error("expected 1 UID, but found multiple: {0}")]
    SeveralUids(String),
}

impl ClientCertificate {
    /// Reads the user from a certificate with a verified signature.
    ///
    /// # Errors
    ///
    /// The certificate is malformed, or its subject has an empty UID or several.
    pub fn trusted(der: &[u8]) -> Result<Self, CertificateError> {
        let parts = CertificateParts::read(der).ok_or(CertificateError::Malformed)?;
        let subject = Subject::read(parts.subject).ok_or(CertificateError::Malformed)?;
        if subject.common_name.is_empty() {
            return Ok(Self::Nameless);
        }
        let uid = match subject.uids.as_slice() {
            [] => String::new(),
            [uid] if uid.is_empty() => return Err(CertificateError::EmptyUid),
            [uid] => uid.clone(),
            several => return Err(CertificateError::SeveralUids(several.join(", "))),
        };
        let user = UserInfo {
            name: subject.common_name,
            uid,
            groups: subject.organizations,
            extra: [(CREDENTIAL_ID.to_owned(), vec![credential_id(der)])].into(),
        };
        Ok(Self::Trusted {
            user: authenticated(user),
            not_after: parts.not_after().ok_or(CertificateError::Malformed)?,
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
#[derive(Clone, Debug)]
pub struct CertificateAuthenticator {
    /// The clock, which decides if a certificate has expired.
    pub clock: Arc<dyn Clock>,
}

impl Authenticator for CertificateAuthenticator {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Outcome<'static, AuthenticationResult> {
        Outcome::Ready(match credentials.certificate {
            None | Some(ClientCertificate::Nameless) => AuthenticationResult::NoOpinion,
            Some(ClientCertificate::Untrusted(reason)) => AuthenticationResult::Invalid(reason.clone()),
            Some(ClientCertificate::Trusted { not_after, .. }) if self.clock.now() > *not_after => {
                AuthenticationResult::Invalid("the client certificate has expired".to_owned())
            }
            Some(ClientCertificate::Trusted { user, .. }) => AuthenticationResult::User(Arc::clone(user).into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    /// The certificate of carol with a UID in its subject.
    fn carol(uid: Option<&str>) -> Result<ClientCertificate, CertificateError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "carol");
        if let Some(uid) = uid {
            let oid = DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 57683, 2]);
            params.distinguished_name.push(oid, uid);
        }
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        ClientCertificate::trusted(certificate.der())
    }

    #[test]
    fn a_subject_may_have_one_uid() {
        let uid = |uid| match carol(uid) {
            Ok(ClientCertificate::Trusted { user, .. }) => user.uid.clone(),
            other => format!("{other:?}"),
        };
        assert_eq!(uid(None), "");
        assert_eq!(uid(Some("7-a")), "7-a");
        assert_eq!(uid(Some("")), "Err(EmptyUid)");
    }

    #[test]
    fn a_certificate_without_a_name_is_no_credential() {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let certificate = ClientCertificate::trusted(certificate.der()).unwrap();
        assert!(matches!(certificate, ClientCertificate::Nameless), "{certificate:?}");
    }

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
