//! Reviews of identity: the user that a request or a token belongs to.

use std::sync::Arc;

use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_access::authentication::{BearerTokens, ReviewedToken};
use planesmith_access::user::UserInfo;
use planesmith_api_defs::authentication::v1;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::endpoint::Call;
use planesmith_server::verbs::{Responder, Submission};

/// Answers SelfSubjectReview.
pub(super) struct SelfSubjectReviews;

impl Responder for SelfSubjectReviews {
    fn answer<'a>(&'a self, call: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            submission.admit().await?;
            let review = v1::SelfSubjectReview {
                metadata: ObjectMeta {
                    creation_timestamp: submission.now(),
                    ..ObjectMeta::default()
                },
                status: v1::SelfSubjectReviewStatus {
                    user_info: user_info(&call.ctx.user),
                },
            };
            submission.respond(&review)
        })
    }
}

/// Answers TokenReview.
pub(super) struct TokenReviews {
    pub(super) tokens: Arc<BearerTokens>,
    /// True if all requests without credentials are served.
    pub(super) serves_anonymous: bool,
}

impl TokenReviews {
    /// Reviews a token as that of a request with it. Clients send a token after the word Bearer and a space: one that starts with
    /// a space is none, and another one ends at its first space.
    async fn review(&self, text: &str, audiences: &[String]) -> Result<ReviewedToken, String> {
        let token = text.trim_end().split(' ').next().unwrap_or_default();
        if !token.is_empty() {
            return self.tokens.review(token, audiences).wait().await;
        }
        match self.serves_anonymous {
            true => Ok(ReviewedToken {
                identity: Arc::new(UserInfo::anonymous()).into(),
                audiences: audiences.to_vec(),
            }),
            false => Err(String::new()),
        }
    }
}

impl Responder for TokenReviews {
    fn answer<'a>(&'a self, _: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            if submission.as_kind::<v1::TokenReview>()?.spec.token.is_empty() {
                let why = "token is required for TokenReview in authentication";
                return Err(ApiError::bad_request(why));
            }
            submission.admit().await?;
            let review = submission.as_kind::<v1::TokenReview>()?;
            let audiences = match review.spec.audiences.as_slice() {
                [] => self.tokens.audiences(),
                wanted => wanted,
            };
            let result = self.review(&review.spec.token, audiences).await;
            let status = &mut review.status;
            match result {
                Ok(found) => {
                    status.authenticated = true;
                    status.user = user_info(&found.identity);
                    status.audiences = found.audiences;
                }
                Err(reason) => {
                    status.authenticated = false;
                    status.error = reason;
                }
            }
            submission.respond(&*submission.object)
        })
    }
}

fn user_info(user: &UserInfo) -> v1::UserInfo {
    v1::UserInfo {
        username: user.name.clone(),
        uid: user.uid.clone(),
        groups: user.groups.clone(),
        extra: user.extra.clone(),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use planesmith_machinery::clock::SystemClock;

    use super::*;

    #[test]
    fn a_token_that_starts_with_a_space_is_none() {
        let review = |serves_anonymous, token| {
            let reviews = TokenReviews {
                tokens: Arc::new(BearerTokens::new(Vec::new(), Vec::new(), Arc::new(SystemClock))),
                serves_anonymous,
            };
            let reviewed = reviews.review(token, &["x".to_owned()]).now_or_never();
            reviewed.expect("nobody is asked")
        };
        let anonymous = review(true, " token").expect("served");
        assert_eq!(anonymous.identity.name, "system:anonymous");
        assert_eq!(anonymous.audiences, ["x"]);
        assert_eq!(review(false, " token"), Err(String::new()));
        assert_eq!(review(true, "token x"), Err("invalid bearer token".to_owned()));
    }
}
