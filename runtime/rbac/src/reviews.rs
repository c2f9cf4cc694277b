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

/// Registers the handlers of reviews. To be called before the kinds are installed.
pub(crate) fn handle(
    stores: &Stores,
    (tokens, anonymous): (&Arc<BearerTokens>, &Anonymous),
    authorizer: &Arc<dyn Authorizer>,
) {
    const AUTHENTICATION: &str = "authentication.k8s.io";
    const AUTHORIZATION: &str = "authorization.k8s.io";
    stores.answer(AUTHENTICATION, "selfsubjectreviews", Arc::new(SelfSubjectReviews));
    stores.answer(
        AUTHENTICATION,
        "tokenreviews",
        Arc::new(TokenReviews {
            tokens: Arc::clone(tokens),
            serves_anonymous: *anonymous == Anonymous::Served,
        }),
    );
    let authorizer = || Arc::clone(authorizer);
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
