//! Authentication: maps credentials to a user.
//!
//! Each authenticator handles one kind of credential. [`Chain`] calls them in order and decides about requests without a match.

mod bearer;
mod certificate;
pub mod curve;
mod request_header;
pub mod service_account;
mod subject;
mod token;
mod token_cache;
mod token_file;
mod web_socket;

use std::sync::Arc;

use http::HeaderMap;

pub use bearer::bearer_token;
pub use certificate::{CertificateAuthenticator, CertificateError, ClientCertificate};
pub use request_header::{ProxyCertificate, RequestHeaderAuthenticator, RequestHeaders, forget_all};
pub use subject::Subject;
pub use token::{BearerTokens, TokenAuthenticator, TokenUser, TokenVerdict};
pub use token_cache::TokenCacheObserver;
pub use token_file::{TokenFile, TokenFileError};
pub use web_socket::WebSocketTokens;

use crate::user::{AUTHENTICATED_GROUP, UserInfo};

/// The credentials of a request.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    /// The request headers.
    pub headers: &'a HeaderMap,
    /// The client certificate of the connection.
    pub certificate: Option<&'a ClientCertificate>,
    /// The same certificate, if it identifies an authenticating proxy.
    pub proxy: Option<&'a ProxyCertificate>,
}

/// The result of one authenticator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The credentials are valid and belong to this user.
    User(Arc<UserInfo>),
    /// The request has no credentials that this authenticator handles.
    NoOpinion,
    /// The request has such credentials, but they are invalid; the reason is for the log only.
    Invalid(String),
}

/// Authenticates one kind of credential.
pub trait Authenticator: Send + Sync + std::fmt::Debug {
    /// Verifies the credentials. Must be cheap: it runs for each request.
    fn authenticate(&self, credentials: &Credentials<'_>) -> Verdict;

    /// Removes request headers that carry this authenticator's credentials, so that they are not forwarded to other servers.
    /// The default removes none.
    fn forget(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }
}

impl<A: Authenticator + ?Sized> Authenticator for Arc<A> {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Verdict {
        (**self).authenticate(credentials)
    }

    fn forget(&self, headers: &mut HeaderMap) {
        (**self).forget(headers);
    }
}

/// Calls several authenticators in order; the first one that finds a user wins.
#[derive(Debug)]
pub struct Chain {
    authenticators: Vec<Box<dyn Authenticator>>,
    anonymous: Option<Arc<UserInfo>>,
}

impl Chain {
    /// Creates a chain that calls `authenticators` in order.
    ///
    /// A request without any credentials becomes the anonymous user if `anonymous` is set, and is refused otherwise. Invalid
    /// credentials are refused in both cases, unless other credentials of the same request are valid.
    #[must_use]
    pub fn new(authenticators: Vec<Box<dyn Authenticator>>, anonymous: bool) -> Self {
        Self {
            authenticators,
            anonymous: anonymous.then(|| Arc::new(UserInfo::anonymous())),
        }
    }
}

impl Authenticator for Chain {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Verdict {
        let mut invalid = None;
        for authenticator in &self.authenticators {
            match authenticator.authenticate(credentials) {
                Verdict::User(user) => return Verdict::User(user),
                Verdict::NoOpinion => {}
                Verdict::Invalid(reason) => invalid = invalid.or(Some(reason)),
            }
        }
        if let Some(reason) = invalid {
            return Verdict::Invalid(reason);
        }
        // Only a scheme followed by a token is a credential that an authenticator would have to recognize.
        if bearer_token(credentials.headers).is_some() {
            return Verdict::Invalid("invalid bearer token".to_owned());
        }
        match &self.anonymous {
            Some(anonymous) => Verdict::User(Arc::clone(anonymous)),
            None => Verdict::NoOpinion,
        }
    }

    fn forget(&self, headers: &mut HeaderMap) {
        for authenticator in &self.authenticators {
            authenticator.forget(headers);
        }
    }
}

/// Adds the group of all authenticated users.
pub(crate) fn authenticated(mut user: UserInfo) -> Arc<UserInfo> {
    if !user.is_in(AUTHENTICATED_GROUP) {
        user.groups.push(AUTHENTICATED_GROUP.to_owned());
    }
    Arc::new(user)
}

#[cfg(test)]
mod tests;
