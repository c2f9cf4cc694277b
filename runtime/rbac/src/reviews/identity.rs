//! Reviews of identity: the user that a request or a token belongs to.

use std::sync::Arc;

use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_access::authentication::BearerTokens;
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
pub(super) struct TokenReviews(pub(super) Arc<BearerTokens>);

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
                [] => self.0.audiences(),
                wanted => wanted,
            };
            // Clients send a token after the word Bearer, where it ends at the first space.
            let token = review.spec.token.split(' ').find(|word| !word.is_empty());
            let result = self.0.review(token.unwrap_or_default(), audiences).wait().await;
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
