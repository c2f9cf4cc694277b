//! Bearer tokens: verification and audiences.

use std::sync::Arc;
use std::time::SystemTime;

use super::token_cache::{Found, TokenCache, TokenCacheObserver};
use super::{Authenticator, Credentials, Verdict, bearer_token};
use crate::user::UserInfo;

/// The error for a token that no authenticator recognizes.
const UNKNOWN: &str = "invalid bearer token";

/// The result for a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenUser {
    /// The user of the token.
    pub user: Arc<UserInfo>,
    /// The intersection of the token's audiences with the requested ones; `None` if the token has no audience and is for the
    /// API server.
    pub audiences: Option<Vec<String>>,
    /// The time until which the result can be cached, such as the token's expiry; `None` for no limit.
    pub until: Option<SystemTime>,
}

/// The result of one token authenticator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenVerdict {
    /// The token is valid.
    Valid(TokenUser),
    /// The token is not of the kind that this authenticator handles.
    NoOpinion,
    /// The token is of this kind but invalid; the reason is reported in token reviews.
    Invalid(String),
}

/// Authenticates one kind of token.
pub trait TokenAuthenticator: Send + Sync + std::fmt::Debug {
    /// Verifies a token for one of `audiences`; an empty list accepts all audiences.
    fn authenticate_token(&self, token: &str, audiences: &[String]) -> TokenVerdict;
}

/// Authenticates tokens of all kinds in the `Authorization` header.
#[derive(Debug)]
pub struct BearerTokens {
    authenticators: Vec<Box<dyn TokenAuthenticator>>,
    audiences: Vec<String>,
    valid: TokenCache,
}

impl BearerTokens {
    /// Creates a chain of `authenticators`, called in order. Tokens must be valid for one of `audiences`, the names of this
    /// server.
    ///
    /// As in kube-apiserver, a valid token stays valid for ten seconds even if the object to which it is bound is deleted in
    /// the meantime, but never past its own expiry.
    #[must_use]
    pub fn new(authenticators: Vec<Box<dyn TokenAuthenticator>>, audiences: Vec<String>) -> Self {
        Self {
            authenticators,
            audiences,
            valid: TokenCache::new(SystemTime::now, None),
        }
    }

    /// Adds an observer of the token cache.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn TokenCacheObserver>) -> Self {
        self.valid = TokenCache::new(SystemTime::now, Some(observer));
        self
    }

    /// Returns the audiences of the server.
    #[must_use]
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Returns the user of a token, and those of `audiences` for which it is valid.
    ///
    /// # Errors
    ///
    /// The reason why the token is invalid, worded as kube-apiserver words it.
    pub fn review(&self, token: &str, audiences: &[String]) -> Result<(Arc<UserInfo>, Vec<String>), String> {
        self.valid
            .get_or(token, audiences, || self.verify_now(token, audiences))
    }

    /// Authenticates `token` for this server.
    pub(super) fn verdict(&self, token: &str) -> Verdict {
        match self.review(token, &self.audiences) {
            Ok((user, _)) => Verdict::User(user),
            Err(reason) => Verdict::Invalid(reason),
        }
    }

    fn verify_now(&self, token: &str, audiences: &[String]) -> Result<(Found, Option<SystemTime>), String> {
        let mut reasons = vec![UNKNOWN.to_owned()];
        for authenticator in &self.authenticators {
            match authenticator.authenticate_token(token, audiences) {
                TokenVerdict::NoOpinion => {}
                TokenVerdict::Invalid(reason) if reasons.contains(&reason) => {}
                TokenVerdict::Invalid(reason) => reasons.push(reason),
                TokenVerdict::Valid(found) => {
                    let own = found.audiences.unwrap_or_else(|| common(&self.audiences, audiences));
                    if !own.is_empty() || audiences.is_empty() {
                        return Ok(((found.user, own), found.until));
                    }
                }
            }
        }
        Err(match reasons.as_slice() {
            [only] => only.clone(),
            several => format!("[{}]", several.join(", ")),
        })
    }
}

impl Authenticator for BearerTokens {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Verdict {
        match bearer_token(credentials.headers) {
            Some(token) => self.verdict(token),
            None => Verdict::NoOpinion,
        }
    }
}

/// Returns the elements of `left` that are also in `right`, in the order of `left`.
pub(super) fn common(left: &[String], right: &[String]) -> Vec<String> {
    left.iter()
        .filter(|audience| right.contains(audience))
        .cloned()
        .collect()
}
