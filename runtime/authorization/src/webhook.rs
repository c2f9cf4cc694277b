//! A webhook that decides, and the conditions under which it is called.

use planesmith_access::authorization::{Attributes, AuthorizationOutcome, Authorizer, Rules};
use planesmith_access::user::UserInfo;
use planesmith_control_plane::access_reviews::{AccessReviews, FailurePolicy, review_spec};
use planesmith_expressions::access_review::{Condition, ConditionBudget};
use planesmith_machinery::go_format;
use planesmith_server::metrics::MatchConditionMetrics;
use serde_json::Value;

/// Authorizes by a webhook.
#[derive(Debug)]
pub(crate) struct Webhook {
    pub(crate) reviews: AccessReviews,
    /// The conditions that must all be true for an action that the webhook reviews.
    pub(crate) conditions: Vec<Condition>,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) metrics: MatchConditionMetrics,
}

impl Webhook {
    /// True if the webhook reviews the action.
    ///
    /// # Errors
    ///
    /// The conditions that failed, if none is false.
    fn reviews(&self, spec: &Value) -> Result<bool, String> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let outcome = self.metrics.time(|| evaluate(&self.conditions, spec));
        match &outcome {
            Ok(true) => {}
            Ok(false) => self.metrics.excluded(),
            Err(_) => self.metrics.failed(),
        }
        outcome.map_err(|failures| go_format::aggregate(&failures))
    }
}

/// True if all conditions are true. One that is false counts more than one that fails.
///
/// # Errors
///
/// The conditions that failed, if none is false.
fn evaluate(conditions: &[Condition], spec: &Value) -> Result<bool, Vec<String>> {
    let mut failures = Vec::new();
    let mut budget = ConditionBudget::default();
    for condition in conditions {
        match condition.matches(spec, &mut budget) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(why) => failures.push(why),
        }
    }
    if failures.is_empty() { Ok(true) } else { Err(failures) }
}

impl Authorizer for Webhook {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let spec = review_spec(attributes);
        match self.reviews(&spec) {
            Ok(true) => self.reviews.review(attributes, spec),
            Ok(false) => AuthorizationOutcome::NO_OPINION,
            Err(why) => self.failure_policy.decision(why).into(),
        }
    }

    fn rules(&self, _: &UserInfo, _: &str) -> Rules {
        Rules {
            incomplete: true,
            errors: vec!["webhook authorizer does not support user rule resolution".to_owned()],
            ..Rules::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_false_condition_counts_more_than_one_that_fails() {
        let evaluate = |texts: &[&str]| {
            let conditions: Vec<Condition> = texts.iter().map(|text| Condition::new(text).unwrap()).collect();
            super::evaluate(
                &conditions,
                &json!({"user": "carol", "resourceAttributes": {"verb": "get"}}),
            )
        };
        let fails = "request.nonResourceAttributes.path == '/x'";
        assert_eq!(
            evaluate(&["request.user == 'carol'", "has(request.resourceAttributes)"]),
            Ok(true)
        );
        assert_eq!(evaluate(&[fails, "request.user == 'dave'"]), Ok(false));
        let failures = evaluate(&[fails, "request.user == 'carol'"]).unwrap_err();
        assert_eq!(failures.len(), 1, "{failures:?}");
    }
}
