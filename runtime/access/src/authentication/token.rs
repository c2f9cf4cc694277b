//! Bearer tokens: verification and audiences.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::future::BoxFuture;
use planesmith_machinery::clock::Clock;

use super::single_flight::SingleFlight;
use super::token_cache::{TokenCache, TokenCacheObserver, TokenKey};
use super::{AuthenticationResult, Authenticator, Credentials, Identity, Remarks, bearer_token};
use crate::outcome::Outcome;
use crate::user::UserInfo;

/// The error for a token that no authenticator recognizes.
const UNKNOWN: &str = "invalid bearer token";

/// The time to live of a valid token in the cache; kube-apiserver's value. Failures are not cached, so that a token is accepted
/// as soon as it becomes valid.
const VALID_FOR: Duration = Duration::from_secs(10);

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
    /// Remarks about the token.
    pub remarks: Option<Arc<Remarks>>,
}

impl TokenUser {
    /// Returns the result for a token of `user` that is for the API server and has no limits.
    #[must_use]
    pub fn of(user: Arc<UserInfo>) -> Self {
        Self {
            user,
            audiences: None,
            until: None,
            remarks: None,
        }
    }
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
    /// Verifies a token for one of `audiences`; an empty list accepts all audiences. The outcome is pending only if another
    /// server has to be consulted; then it has everything that the question needs.
    fn authenticate_token(&self, token: &str, audiences: &[String]) -> Outcome<'static, TokenVerdict>;
}

impl<A: TokenAuthenticator + ?Sized> TokenAuthenticator for Arc<A> {
    fn authenticate_token(&self, token: &str, audiences: &[String]) -> Outcome<'static, TokenVerdict> {
        (**self).authenticate_token(token, audiences)
    }
}

/// A valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedToken {
    /// The user, and remarks about the token.
    pub identity: Identity,
    /// Those of the requested audiences for which the token is valid.
    pub audiences: Vec<String>,
}

/// The same, and the time until which it can be cached; or the reason why the token is invalid.
type Verified = Result<(ReviewedToken, Option<SystemTime>), String>;

/// The result of a review: a valid token, or the reason why it is invalid.
pub type TokenReview = Result<ReviewedToken, String>;

/// Authenticates tokens of all kinds in the `Authorization` header.
#[derive(Debug)]
pub struct BearerTokens {
    verifier: Arc<Verifier>,
    verified: Arc<VerifiedTokens>,
    pending: SingleFlight<TokenKey, Verified>,
}

#[derive(Debug)]
struct Verifier {
    authenticators: Vec<Box<dyn TokenAuthenticator>>,
    audiences: Vec<String>,
}

/// The cache of valid tokens, and its observer.
#[derive(Debug)]
struct VerifiedTokens {
    cache: TokenCache<ReviewedToken>,
    observer: Option<Arc<dyn TokenCacheObserver>>,
}

impl BearerTokens {
    /// Creates a chain of `authenticators`, called in order. Tokens must be valid for one of `audiences`, the names of this
    /// server.
    ///
    /// As in kube-apiserver, a valid token stays valid for ten seconds even if the object to which it is bound is deleted in
    /// the meantime, but never past its own expiry, by `clock`.
    #[must_use]
    pub fn new(
        authenticators: Vec<Box<dyn TokenAuthenticator>>,
        audiences: Vec<String>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            verifier: Arc::new(Verifier {
                authenticators,
                audiences,
            }),
            verified: Arc::new(VerifiedTokens {
                cache: TokenCache::new(clock),
                observer: None,
            }),
            pending: SingleFlight::default(),
        }
    }

    /// Adds an observer of the token cache.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn TokenCacheObserver>) -> Self {
        self.verified = Arc::new(VerifiedTokens {
            cache: TokenCache::new(Arc::clone(self.verified.cache.clock())),
            observer: Some(observer),
        });
        self
    }

    /// Returns the audiences of the server.
    #[must_use]
    pub fn audiences(&self) -> &[String] {
        &self.verifier.audiences
    }

    /// Returns the user of a token, and those of `audiences` for which it is valid; or the reason why it is invalid, worded as
    /// kube-apiserver words it.
    pub fn review(&self, token: &str, audiences: &[String]) -> Outcome<'static, TokenReview> {
        let begin = Instant::now();
        let verified = &self.verified;
        let key = verified.cache.key(token, audiences);
        if let Some(found) = verified.cache.get(&key) {
            if let Some(observer) = &verified.observer {
                observer.requested(true, begin.elapsed());
            }
            return Outcome::Ready(Ok(found));
        }
        let asked = match self.verifier.verify(token, audiences) {
            Outcome::Ready(result) => return Outcome::Ready(verified.finish(key, result, begin)),
            Outcome::Pending(asked) => asked,
        };
        // Requests with the same token share the answer of the other server.
        let (flight, leads) = self.pending.join(&key, || asked);
        let verified = Arc::clone(verified);
        Outcome::pending(async move {
            let waiting = verified.observer.clone();
            let _waiting = waiting.map(|observer| WaitingRequest::new(observer, leads));
            let result = flight.await;
            verified.finish(key, result, begin)
        })
    }

    /// Authenticates `token` for this server.
    pub(super) fn verdict(&self, token: &str) -> Outcome<'static, AuthenticationResult> {
        match self.review(token, self.audiences()) {
            Outcome::Ready(review) => Outcome::Ready(AuthenticationResult::from_review(review)),
            Outcome::Pending(review) => Outcome::pending(async { AuthenticationResult::from_review(review.await) }),
        }
    }
}

impl VerifiedTokens {
    /// Caches a valid token.
    fn finish(&self, key: TokenKey, verified: Verified, begin: Instant) -> TokenReview {
        if let Some(observer) = &self.observer {
            observer.requested(false, begin.elapsed());
            observer.verified(verified.is_ok());
        }
        let (found, end) = verified?;
        self.cache.put(key, found.clone(), VALID_FOR, end);
        Ok(found)
    }
}

impl AuthenticationResult {
    fn from_review(review: TokenReview) -> Self {
        match review {
            Ok(found) => AuthenticationResult::User(found.identity),
            Err(reason) => AuthenticationResult::Invalid(reason),
        }
    }
}

impl Authenticator for BearerTokens {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Outcome<'static, AuthenticationResult> {
        match bearer_token(credentials.headers) {
            Some(token) => self.verdict(token),
            None => Outcome::Ready(AuthenticationResult::NoOpinion),
        }
    }
}

impl Verifier {
    fn verify(self: &Arc<Self>, token: &str, audiences: &[String]) -> Outcome<'static, Verified> {
        let mut reasons = Reasons::default();
        for (index, authenticator) in self.authenticators.iter().enumerate() {
            match authenticator.authenticate_token(token, audiences) {
                Outcome::Ready(verdict) => {
                    if let Some(valid) = self.accepted(verdict, audiences, &mut reasons) {
                        return Outcome::Ready(Ok(valid));
                    }
                }
                Outcome::Pending(verdict) => {
                    let (verifier, token, audiences) = (Arc::clone(self), token.to_owned(), audiences.to_vec());
                    return Outcome::pending(verifier.verify_later(verdict, index + 1, token, audiences, reasons));
                }
            }
        }
        Outcome::Ready(Err(reasons.joined()))
    }

    /// Continues with the verdict of the authenticator before `next`, which must be waited for, and then with the others.
    async fn verify_later(
        self: Arc<Self>,
        verdict: BoxFuture<'static, TokenVerdict>,
        next: usize,
        token: String,
        audiences: Vec<String>,
        mut reasons: Reasons,
    ) -> Verified {
        let mut verdict = verdict.await;
        let mut rest = self.authenticators[next..].iter();
        loop {
            if let Some(valid) = self.accepted(verdict, &audiences, &mut reasons) {
                return Ok(valid);
            }
            let Some(next) = rest.next() else {
                return Err(reasons.joined());
            };
            verdict = next.authenticate_token(&token, &audiences).wait().await;
        }
    }

    /// Returns the user if the verdict is valid for `audiences`; otherwise adds the reason to `reasons`.
    fn accepted(
        &self,
        verdict: TokenVerdict,
        audiences: &[String],
        reasons: &mut Reasons,
    ) -> Option<(ReviewedToken, Option<SystemTime>)> {
        match verdict {
            TokenVerdict::NoOpinion => None,
            TokenVerdict::Invalid(reason) => {
                reasons.add(reason);
                None
            }
            TokenVerdict::Valid(found) => {
                let own = found.audiences.unwrap_or_else(|| common(&self.audiences, audiences));
                let fits = !own.is_empty() || audiences.is_empty();
                let identity = Identity {
                    user: found.user,
                    remarks: found.remarks,
                };
                let reviewed = ReviewedToken {
                    identity,
                    audiences: own,
                };
                fits.then_some((reviewed, found.until))
            }
        }
    }
}

/// The reasons of all authenticators that refused a token.
#[derive(Debug, Default)]
struct Reasons(Vec<String>);

impl Reasons {
    fn add(&mut self, reason: String) {
        if reason != UNKNOWN && !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }

    /// Returns the reasons as Go's aggregate errors print them.
    fn joined(&self) -> String {
        match self.0.as_slice() {
            [] => UNKNOWN.to_owned(),
            reasons => format!("[{UNKNOWN}, {}]", reasons.join(", ")),
        }
    }
}

/// A request that waits for another server, until it is dropped.
struct WaitingRequest {
    observer: Arc<dyn TokenCacheObserver>,
    leads: bool,
}

impl WaitingRequest {
    fn new(observer: Arc<dyn TokenCacheObserver>, leads: bool) -> Self {
        observer.waiting(leads, 1);
        Self { observer, leads }
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        self.observer.waiting(self.leads, -1);
    }
}

/// Returns the elements of `left` that are also in `right`, in the order of `left`.
pub(super) fn common(left: &[String], right: &[String]) -> Vec<String> {
    left.iter()
        .filter(|audience| right.contains(audience))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests;
