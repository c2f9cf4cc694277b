//! Tokens: from the text that a client sends to a user, and for whom the token is meant.

use std::sync::Arc;
use std::time::SystemTime;

use super::token_cache::{Found, TokenCache, TokenCacheObserver};
use super::{Authenticator, Credentials, Verdict, bearer_token};
use crate::user::UserInfo;

/// What is said of a token that nobody knows.
const UNKNOWN: &str = "invalid bearer token";

/// A token that is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenUser {
    /// Whose it is.
    pub user: Arc<UserInfo>,
    /// For whom it is meant, among those who were asked about; `None` when the token says nothing of that, and is meant
    /// for the API server.
    pub audiences: Option<Vec<String>>,
    /// When the token has to be looked at again at the latest, such as when it ends; `None` for a token without end.
    pub until: Option<SystemTime>,
}

/// What one authenticator says of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenVerdict {
    /// The token is valid.
    Valid(TokenUser),
    /// The token is of another kind.
    NoOpinion,
    /// The token is of this kind and not valid; the reason is shown to those who may review tokens.
    Invalid(String),
}

/// Knows one kind of token.
pub trait TokenAuthenticator: Send + Sync + std::fmt::Debug {
    /// Looks at a token that must be meant for one of `audiences`; for anybody when there are none.
    fn authenticate_token(&self, token: &str, audiences: &[String]) -> TokenVerdict;
}

/// Tokens in the `Authorization` header, of all kinds.
#[derive(Debug)]
pub struct BearerTokens {
    authenticators: Vec<Box<dyn TokenAuthenticator>>,
    audiences: Vec<String>,
    valid: TokenCache,
}

impl BearerTokens {
    /// Asks `authenticators` in order. A server that is called by the names in `audiences` takes tokens that are meant for
    /// one of them.
    ///
    /// A token that was valid counts as valid for ten seconds, even if what it ends with goes meanwhile, as in
    /// kube-apiserver; but never past its own end.
    #[must_use]
    pub fn new(authenticators: Vec<Box<dyn TokenAuthenticator>>, audiences: Vec<String>) -> Self {
        Self {
            authenticators,
            audiences,
            valid: TokenCache::new(SystemTime::now, None),
        }
    }

    /// Tells `observer` how often tokens have to be looked at.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn TokenCacheObserver>) -> Self {
        self.valid = TokenCache::new(SystemTime::now, Some(observer));
        self
    }

    /// The names of the server.
    #[must_use]
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Whose token it is, and for which of `audiences` it is good.
    ///
    /// # Errors
    ///
    /// Why the token is not valid, in the words of kube-apiserver.
    pub fn review(&self, token: &str, audiences: &[String]) -> Result<(Arc<UserInfo>, Vec<String>), String> {
        self.valid.get_or(token, audiences, || self.look_at(token, audiences))
    }

    /// Who brings `token` along.
    pub(super) fn verdict(&self, token: &str) -> Verdict {
        match self.review(token, &self.audiences) {
            Ok((user, _)) => Verdict::User(user),
            Err(reason) => Verdict::Invalid(reason),
        }
    }

    fn look_at(&self, token: &str, audiences: &[String]) -> Result<(Found, Option<SystemTime>), String> {
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

/// Those of `left` that are in `right` too, in the order of `left`.
pub(super) fn common(left: &[String], right: &[String]) -> Vec<String> {
    left.iter()
        .filter(|audience| right.contains(audience))
        .cloned()
        .collect()
}
