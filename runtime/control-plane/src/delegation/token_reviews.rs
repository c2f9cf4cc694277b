//! Authentication of tokens by another server: the one in front, or a webhook.

use std::sync::Arc;
use std::time::Duration;

use planesmith_access::authentication::{
    TokenAuthenticator, TokenCache, TokenKey, TokenUser, TokenVerdict, authenticated,
};
use planesmith_access::outcome::Outcome;
use planesmith_access::user::UserInfo;
use planesmith_machinery::clock::Clock;
use serde_json::{Value, json};

use super::Host;
use crate::options::TokenReviewVersion;
use crate::resource_client::text;

/// The path of TokenReviews in a Kubernetes server.
const PATH: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

/// The time for which answers of the server in front are cached; kube-apiserver's value for servers behind it.
const TTL: Duration = Duration::from_secs(10);

/// Authenticates by TokenReviews.
#[derive(Debug)]
pub(crate) struct TokenReviews(Arc<Reviewer>);

#[derive(Debug)]
struct Reviewer {
    host: Host,
    /// Behind the URL of the host.
    path: &'static str,
    version: TokenReviewVersion,
    /// The audiences of this server, which tokens without an audience have; `None` if audiences are left to the host.
    audiences: Option<Vec<String>>,
    ttl: Duration,
    known: TokenCache<TokenVerdict>,
    clock: Arc<dyn Clock>,
}

impl TokenReviews {
    /// Asks the server in front, which knows the audiences of its tokens.
    pub(crate) fn of_front(host: Host, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Reviewer {
            host,
            path: PATH,
            version: TokenReviewVersion::V1,
            audiences: None,
            ttl: TTL,
            known: TokenCache::new(Arc::clone(&clock)),
            clock,
        }))
    }

    /// Asks a webhook at the URL of `host`, and caches its answers for the time `ttl`.
    pub(crate) fn of_webhook(
        host: Host,
        version: TokenReviewVersion,
        audiences: Vec<String>,
        ttl: Duration,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self(Arc::new(Reviewer {
            host,
            path: "",
            version,
            audiences: Some(audiences),
            ttl,
            known: TokenCache::new(Arc::clone(&clock)),
            clock,
        }))
    }
}

impl Reviewer {
    async fn review(&self, key: TokenKey, token: &str, audiences: &[String]) -> TokenVerdict {
        let mut spec = json!({"token": token});
        if !audiences.is_empty() {
            spec["audiences"] = json!(audiences);
        }
        let review = json!({
            "apiVersion": self.version.api_version(),
            "kind": "TokenReview",
            "metadata": {},
            "spec": spec,
            "status": {"user": {}},
        });
        let document = review.to_string().into_bytes();
        let answer = match self.host.post_repeatedly(self.path, document).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(error, "a token cannot be reviewed");
                return TokenVerdict::Invalid(error);
            }
        };
        let mut verdict = self.verdict(&answer, audiences);
        if let TokenVerdict::Valid(found) = &mut verdict {
            // Limits other caches of this verdict, too.
            found.until = self.clock.now().checked_add(self.ttl);
        }
        self.known.put(key, verdict.clone(), self.ttl, None);
        verdict
    }

    fn verdict(&self, answer: &Value, wanted: &[String]) -> TokenVerdict {
        let texts = |list: Option<&Value>| -> Vec<String> {
            let list = list.and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut audiences = None;
        if let Some(own) = &self.audiences
            && !wanted.is_empty()
        {
            let named = texts(answer.pointer("/status/audiences"));
            let found = if named.is_empty() { own } else { &named };
            let common: Vec<String> = wanted.iter().filter(|wanted| found.contains(wanted)).cloned().collect();
            if common.is_empty() {
                return TokenVerdict::NoOpinion;
            }
            audiences = Some(common);
        }
        if answer.pointer("/status/authenticated") != Some(&Value::Bool(true)) {
            return match text(answer, "/status/error") {
                "" => TokenVerdict::NoOpinion,
                error => TokenVerdict::Invalid(error.to_owned()),
            };
        }
        let extra = answer.pointer("/status/user/extra").and_then(Value::as_object);
        let extra = extra.into_iter().flatten();
        let user = UserInfo {
            name: text(answer, "/status/user/username").to_owned(),
            uid: text(answer, "/status/user/uid").to_owned(),
            groups: texts(answer.pointer("/status/user/groups")),
            extra: extra.map(|(key, values)| (key.clone(), texts(Some(values)))).collect(),
        };
        let user = match self.audiences {
            Some(_) => authenticated(user),
            None => Arc::new(user),
        };
        TokenVerdict::Valid(TokenUser {
            audiences,
            ..TokenUser::of(user)
        })
    }
}

impl TokenAuthenticator for TokenReviews {
    fn authenticate_token(&self, token: &str, audiences: &[String]) -> Outcome<'static, TokenVerdict> {
        let Self(reviewer) = self;
        let audiences = if reviewer.audiences.is_some() { audiences } else { &[] };
        let key = reviewer.known.key(token, audiences);
        if let Some(verdict) = reviewer.known.get(&key) {
            return Outcome::Ready(verdict);
        }
        let (reviewer, token, audiences) = (Arc::clone(reviewer), token.to_owned(), audiences.to_vec());
        Outcome::pending(async move { reviewer.review(key, &token, &audiences).await })
    }
}

#[cfg(test)]
mod tests;
