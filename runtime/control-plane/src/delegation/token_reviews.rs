//! Authentication of tokens by the server in front.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use http::Method;
use planesmith_access::authentication::{TokenAuthenticator, TokenUser, TokenVerdict};
use planesmith_access::user::UserInfo;
use planesmith_machinery::hex;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::Host;
use super::remembered::{HOLDS, Remembered};
use crate::resource_client::text;

const PATH: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

/// Authenticates by TokenReviews.
#[derive(Debug)]
pub(crate) struct TokenReviews {
    host: Host,
    known: Remembered<TokenVerdict>,
}

impl TokenReviews {
    /// Creates the authenticator, which asks `host`.
    pub(crate) fn new(host: Host) -> Self {
        Self {
            host,
            known: Remembered::new(),
        }
    }
}

impl TokenAuthenticator for TokenReviews {
    fn authenticate_token(&self, token: &str, _audiences: &[String]) -> TokenVerdict {
        let now = Instant::now();
        // Tokens themselves are not kept in memory.
        let digest = digest(&SHA256, token.as_bytes());
        let question = hex::encode(digest.as_ref());
        if let Some(verdict) = self.known.get(&question, now) {
            return verdict;
        }
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        });
        let answer = match self.host.send_now(Method::POST, PATH, Some(&review)) {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(error, "a token cannot be reviewed");
                return TokenVerdict::Invalid(error);
            }
        };
        let mut verdict = verdict(&answer);
        if let TokenVerdict::Valid(found) = &mut verdict {
            // Limits other caches of this verdict, too.
            found.until = Some(SystemTime::now() + HOLDS);
        }
        self.known.put(question, verdict.clone(), now);
        verdict
    }
}

fn verdict(answer: &Value) -> TokenVerdict {
    if answer.pointer("/status/authenticated") != Some(&Value::Bool(true)) {
        return match text(answer, "/status/error") {
            "" => TokenVerdict::NoOpinion,
            error => TokenVerdict::Invalid(error.to_owned()),
        };
    }
    let texts = |list: Option<&Value>| -> Vec<String> {
        let list = list.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let extra = answer.pointer("/status/user/extra").and_then(Value::as_object);
    let extra = extra.into_iter().flatten();
    TokenVerdict::Valid(TokenUser {
        user: Arc::new(UserInfo {
            name: text(answer, "/status/user/username").to_owned(),
            uid: text(answer, "/status/user/uid").to_owned(),
            groups: texts(answer.pointer("/status/user/groups")),
            extra: extra.map(|(key, values)| (key.clone(), texts(Some(values)))).collect(),
        }),
        audiences: None,
        until: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_whom_the_review_names() {
        let answer = json!({"status": {"authenticated": true, "user": {
            "username": "carol", "uid": "7", "groups": ["dev"], "extra": {"scope": ["a", "b"]},
        }}});
        let TokenVerdict::Valid(TokenUser { user, audiences, .. }) = verdict(&answer) else {
            panic!("the token is refused")
        };
        assert_eq!((user.name.as_str(), user.uid.as_str(), audiences), ("carol", "7", None));
        assert_eq!(
            (&user.groups[..], &user.extra["scope"][..]),
            (&["dev".to_owned()][..], &["a".to_owned(), "b".to_owned()][..])
        );
        assert_eq!(verdict(&json!({"status": {}})), TokenVerdict::NoOpinion);
        let refused = json!({"status": {"error": "expired"}});
        assert_eq!(verdict(&refused), TokenVerdict::Invalid("expired".to_owned()));
    }
}
