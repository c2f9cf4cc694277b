//! From credentials to a user.
//!
//! Each authenticator knows one kind of credential. [`Chain`] asks them in order and decides what happens to requests
//! that none of them knows.

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

/// What a request brought along to prove who sent it.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    /// Headers of the request.
    pub headers: &'a HeaderMap,
    /// The certificate that the connection was opened with.
    pub certificate: Option<&'a ClientCertificate>,
    /// The same, when it is that of a proxy.
    pub proxy: Option<&'a ProxyCertificate>,
}

/// What one authenticator says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The credentials are valid and belong to this user.
    User(Arc<UserInfo>),
    /// There are no credentials of the kind that this authenticator knows.
    NoOpinion,
    /// There are, and they are not valid; the reason is for the log only.
    Invalid(String),
}

/// Knows one kind of credential.
pub trait Authenticator: Send + Sync + std::fmt::Debug {
    /// Looks at the credentials; cheap, because it runs for each request.
    fn authenticate(&self, credentials: &Credentials<'_>) -> Verdict;

    /// Takes out of the headers of a request what this authenticator alone knows to be the word of somebody in front, so
    /// that nobody behind takes it for the word of this server. By default there is nothing of that kind.
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

/// Asks several authenticators in order; the first one that finds a user wins.
#[derive(Debug)]
pub struct Chain {
    authenticators: Vec<Box<dyn Authenticator>>,
    anonymous: Option<Arc<UserInfo>>,
}

impl Chain {
    /// Asks `authenticators` in order.
    ///
    /// A request without any credentials is the anonymous user when `anonymous` is set, and refused otherwise. Invalid
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
        // Only a word after the scheme makes a credential that someone should have known.
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

/// The user with the group that all authenticated users share.
pub(crate) fn authenticated(mut user: UserInfo) -> Arc<UserInfo> {
    if !user.is_in(AUTHENTICATED_GROUP) {
        user.groups.push(AUTHENTICATED_GROUP.to_owned());
    }
    Arc::new(user)
}

#[cfg(test)]
mod tests;
