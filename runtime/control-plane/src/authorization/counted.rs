//! An authorizer whose decisions are counted.

use std::sync::Arc;

use planesmith_access::authorization::{Attributes, AuthorizationOutcome, Authorizer, Decision, Rules};
use planesmith_access::user::UserInfo;
use planesmith_server::metrics::{AuthorizerMetrics, DecisionMetrics};

use crate::options::AuthorizationMode;

/// An authorizer whose decisions are counted.
#[derive(Debug)]
pub struct CountedAuthorizer {
    authorizer: Arc<dyn Authorizer>,
    decisions: DecisionMetrics,
}

impl CountedAuthorizer {
    /// Counts the decisions of `authorizer`, which has this mode and name.
    #[must_use]
    pub fn new(
        authorizer: Arc<dyn Authorizer>,
        mode: AuthorizationMode,
        name: &str,
        metrics: &AuthorizerMetrics,
    ) -> Self {
        let decisions = metrics.decisions(mode.as_str(), name);
        Self { authorizer, decisions }
    }
}

impl Authorizer for CountedAuthorizer {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        match self.authorizer.authorize(attributes) {
            AuthorizationOutcome::Ready(decision) => {
                count(&self.decisions, &decision);
                decision.into()
            }
            AuthorizationOutcome::Pending(question) => {
                let decisions = self.decisions.clone();
                AuthorizationOutcome::pending(async move {
                    let decision = question.await;
                    count(&decisions, &decision);
                    decision
                })
            }
        }
    }

    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        self.authorizer.rules(user, namespace)
    }

    fn explanation(&self, attributes: &Attributes<'_>) -> Option<String> {
        self.authorizer.explanation(attributes)
    }
}

/// Counts a final decision. An authorizer without an opinion has made none.
fn count(decisions: &DecisionMetrics, decision: &Decision) {
    match decision {
        Decision::Allow(_) => decisions.allowed(),
        Decision::Deny(_) | Decision::FailedClosed(_) => decisions.denied(),
        Decision::NoOpinion(_) | Decision::Failed(_) => {}
    }
}
