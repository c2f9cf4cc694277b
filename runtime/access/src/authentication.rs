//! Authentication: maps credentials to a user.
//!
//! Each authenticator handles one kind of credential. [`Chain`] calls them in order and decides about requests without a match.

mod anonymous;
mod bearer;
mod bootstrap_token;
mod certificate;
mod certificate_parts;
pub mod curve;
mod identity;
mod request_header;
pub mod service_account;
mod single_flight;
mod subject;
mod token;
mod token_cache;
mod token_file;
mod web_socket;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::HeaderMap;

pub use anonymous::Anonymous;
pub use bearer::{bearer_token, ignores_token};
pub use bootstrap_token::{BootstrapSecret, BootstrapSecrets, BootstrapTokens};
pub use certificate::{CertificateAuthenticator, CertificateError, ClientCertificate};
pub use certificate_parts::CertificateParts;
pub use identity::{Identity, Remarks};
pub use request_header::{ProxyCertificate, RequestHeaderAuthenticator, RequestHeaders, forget_all};
pub use single_flight::SingleFlight;
pub use subject::Subject;
pub use token::{BearerTokens, ReviewedToken, TokenAuthenticator, TokenReview, TokenUser, TokenVerdict};
pub use token_cache::{TokenCache, TokenCacheObserver, TokenKey};
pub use token_file::{TokenFile, TokenFileError};
pub use web_socket::WebSocketTokens;

use crate::outcome::Outcome;
use crate::user::{ANONYMOUS, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, UserInfo};

/// The credentials of a request.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    /// The request headers.
    pub headers: &'a HeaderMap,
    /// The path of the request, which may decide if none are needed.
    pub path: &'a str,
    /// The client certificate of the connection.
    pub certificate: Option<&'a ClientCertificate>,
    /// The same certificate, if it identifies an authenticating proxy.
    pub proxy: Option<&'a ProxyCertificate>,
}

/// The result of one authenticator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthenticationResult {
    /// The credentials are valid and belong to this user.
    User(Identity),
    /// The request has no credentials that this authenticator handles.
    NoOpinion,
    /// The request has such credentials, but they are invalid; the reason is for the log only.
    Invalid(String),
}

/// Authenticates one kind of credential.
pub trait Authenticator: Send + Sync + std::fmt::Debug {
    /// Verifies the credentials. Must be cheap: it runs for each request. The outcome is pending only if another server has to
    /// be consulted; then it has everything that the question needs.
    fn authenticate(&self, credentials: &Credentials<'_>) -> Outcome<'static, AuthenticationResult>;

    /// Removes request headers that carry this authenticator's credentials, so that they are not forwarded to other servers.
    /// The default removes none.
    fn forget(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }
}

impl<A: Authenticator + ?Sized> Authenticator for Arc<A> {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Outcome<'static, AuthenticationResult> {
        (**self).authenticate(credentials)
    }

    fn forget(&self, headers: &mut HeaderMap) {
        (**self).forget(headers);
    }
}

/// Calls several authenticators in order; the first one that finds a user wins.
#[derive(Debug)]
pub struct Chain(Arc<Links>);

#[derive(Debug)]
struct Links {
    authenticators: Vec<Box<dyn Authenticator>>,
    anonymous: Anonymous,
    anonymous_user: Arc<UserInfo>,
}

/// Credentials that outlive their request.
struct OwnedCredentials {
    headers: HeaderMap,
    path: String,
    certificate: Option<ClientCertificate>,
    proxy: Option<ProxyCertificate>,
}

impl OwnedCredentials {
    fn of(credentials: &Credentials<'_>) -> Self {
        Self {
            headers: credentials.headers.clone(),
            path: credentials.path.to_owned(),
            certificate: credentials.certificate.cloned(),
            proxy: credentials.proxy.cloned(),
        }
    }

    fn credentials(&self) -> Credentials<'_> {
        Credentials {
            headers: &self.headers,
            path: &self.path,
            certificate: self.certificate.as_ref(),
            proxy: self.proxy.as_ref(),
        }
    }
}

impl Chain {
    /// Creates a chain that calls `authenticators` in order.
    ///
    /// A request without any credentials becomes the anonymous user if `anonymous` says so, and is refused otherwise. Invalid
    /// credentials are refused in both cases, unless other credentials of the same request are valid.
    #[must_use]
    pub fn new(authenticators: Vec<Box<dyn Authenticator>>, anonymous: impl Into<Anonymous>) -> Self {
        Self(Arc::new(Links {
            authenticators,
            anonymous: anonymous.into(),
            anonymous_user: Arc::new(UserInfo::anonymous()),
        }))
    }
}

impl Links {
    /// Continues with the verdict of the authenticator before `next`, which must be waited for, and then with the others.
    async fn authenticate_later(
        self: Arc<Self>,
        verdict: BoxFuture<'static, AuthenticationResult>,
        next: usize,
        credentials: OwnedCredentials,
        mut refusal: Refusal,
    ) -> AuthenticationResult {
        let mut verdict = verdict.await;
        let mut rest = self.authenticators[next..].iter();
        loop {
            if let Some(user) = refusal.unless_user(verdict) {
                return AuthenticationResult::User(user);
            }
            let Some(next) = rest.next() else {
                return self.conclude(&credentials.credentials(), refusal);
            };
            let outcome = next.authenticate(&credentials.credentials());
            verdict = outcome.wait().await;
        }
    }

    /// Returns the verdict for a request without valid credentials.
    fn conclude(&self, credentials: &Credentials<'_>, Refusal(reason): Refusal) -> AuthenticationResult {
        if let Some(reason) = reason {
            return AuthenticationResult::Invalid(reason);
        }
        // Only a scheme followed by a token is a credential that an authenticator would have to recognize.
        if bearer_token(credentials.headers).is_some() {
            return AuthenticationResult::Invalid("invalid bearer token".to_owned());
        }
        match self.anonymous.serves(credentials.path) {
            true => AuthenticationResult::User(Arc::clone(&self.anonymous_user).into()),
            false => AuthenticationResult::NoOpinion,
        }
    }
}

impl Authenticator for Chain {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Outcome<'static, AuthenticationResult> {
        let mut refusal = Refusal::default();
        for (index, authenticator) in self.0.authenticators.iter().enumerate() {
            match authenticator.authenticate(credentials) {
                Outcome::Ready(verdict) => {
                    if let Some(user) = refusal.unless_user(verdict) {
                        return Outcome::Ready(AuthenticationResult::User(user));
                    }
                }
                Outcome::Pending(verdict) => {
                    let (links, credentials) = (Arc::clone(&self.0), OwnedCredentials::of(credentials));
                    return Outcome::pending(links.authenticate_later(verdict, index + 1, credentials, refusal));
                }
            }
        }
        Outcome::Ready(self.0.conclude(credentials, refusal))
    }

    fn forget(&self, headers: &mut HeaderMap) {
        for authenticator in &self.0.authenticators {
            authenticator.forget(headers);
        }
    }
}

/// The first reason to refuse the credentials of a request.
#[derive(Debug, Default)]
struct Refusal(Option<String>);

impl Refusal {
    /// Returns the user of a verdict; otherwise notes its reason.
    fn unless_user(&mut self, verdict: AuthenticationResult) -> Option<Identity> {
        match verdict {
            AuthenticationResult::User(user) => return Some(user),
            AuthenticationResult::NoOpinion => {}
            AuthenticationResult::Invalid(reason) => {
                self.0.get_or_insert(reason);
            }
        }
        None
    }
}

/// Adds the group of all authenticated users, unless the user is known as anonymous or already has a group of either kind.
#[must_use]
pub fn authenticated(mut user: UserInfo) -> Arc<UserInfo> {
    if user.name != ANONYMOUS && !user.is_in(AUTHENTICATED_GROUP) && !user.is_in(UNAUTHENTICATED_GROUP) {
        user.groups.push(AUTHENTICATED_GROUP.to_owned());
    }
    Arc::new(user)
}

#[cfg(test)]
mod tests;
