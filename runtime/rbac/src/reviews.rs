//! Reviews: kinds that are questions to the server about itself.

mod access;
mod identity;
mod selectors;

use std::sync::Arc;

use planesmith_access::authentication::{Anonymous, BearerTokens};
use planesmith_access::authorization::Authorizer;
use planesmith_server::stores::Stores;

use self::access::{LocalAccess, OwnAccess, OwnRules, SubjectAccess};
use self::identity::{SelfSubjectReviews, TokenReviews};

/// The authenticators and authorizers of the server, which answer reviews.
#[derive(Clone, Copy)]
pub(crate) struct Reviewers<'a> {
    pub(crate) tokens: &'a Arc<BearerTokens>,
    pub(crate) anonymous: &'a Anonymous,
    pub(crate) authorizer: &'a Arc<dyn Authorizer>,
}

impl Reviewers<'_> {
    /// Registers the handlers of reviews. To be called before the kinds are installed.
    pub(crate) fn handle_reviews(self, stores: &Stores) {
        const AUTHENTICATION: &str = "authentication.k8s.io";
        const AUTHORIZATION: &str = "authorization.k8s.io";
        stores.answer(AUTHENTICATION, "selfsubjectreviews", Arc::new(SelfSubjectReviews));
        stores.answer(
            AUTHENTICATION,
            "tokenreviews",
            Arc::new(TokenReviews {
                tokens: Arc::clone(self.tokens),
                serves_anonymous: *self.anonymous == Anonymous::Served,
            }),
        );
        let authorizer = || Arc::clone(self.authorizer);
        stores.answer(
            AUTHORIZATION,
            "subjectaccessreviews",
            Arc::new(SubjectAccess(authorizer())),
        );
        stores.answer(
            AUTHORIZATION,
            "localsubjectaccessreviews",
            Arc::new(LocalAccess(authorizer())),
        );
        stores.answer(
            AUTHORIZATION,
            "selfsubjectaccessreviews",
            Arc::new(OwnAccess(authorizer())),
        );
        stores.answer(
            AUTHORIZATION,
            "selfsubjectrulesreviews",
            Arc::new(OwnRules(authorizer())),
        );
    }
}
