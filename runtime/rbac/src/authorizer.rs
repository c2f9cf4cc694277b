//! The authorization mode RBAC.

use std::sync::Arc;

use planesmith_access::authorization::rbac::{Action, Rule};
use planesmith_access::authorization::{
    Attributes, AuthorizationOutcome, Authorizer, Decision, PathRule, Reason, ResourceRule, Rules,
};
use planesmith_access::user::UserInfo;
use planesmith_machinery::go_format;

use crate::stored_policy::StoredPolicy;

/// Permits what the roles of a user permit; has no opinion about everything else.
#[derive(Debug)]
pub(crate) struct RoleAuthorizer {
    policy: Arc<StoredPolicy>,
}

impl RoleAuthorizer {
    pub(crate) fn new(policy: Arc<StoredPolicy>) -> Self {
        Self { policy }
    }
}

impl Authorizer for RoleAuthorizer {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let current = self.policy.current();
        let action = Action::from_attributes(attributes);
        if let Some(grant) = current.policy().find(attributes.user, &action) {
            return Decision::Allow(Reason::new("RBAC: allowed by ", grant)).into();
        }
        let problems = current.policy().problems(attributes.user, action.namespace());
        match problems.is_empty() {
            true => AuthorizationOutcome::NO_OPINION,
            false => Decision::NoOpinion(format!("RBAC: {}", go_format::aggregate(&problems))).into(),
        }
    }

    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let current = self.policy.current();
        let mut rules = Rules::default();
        for rule in current.policy().rules(user, namespace) {
            add(&mut rules, rule);
        }
        let problems = current.policy().problems(user, namespace);
        if !problems.is_empty() {
            rules.errors.push(go_format::aggregate(&problems));
        }
        rules
    }

    fn explanation(&self, attributes: &Attributes<'_>) -> Option<String> {
        let current = self.policy.current();
        let explanation = current
            .policy()
            .explain(attributes.user, &Action::from_attributes(attributes));
        Some(format!("RBAC: {explanation}"))
    }
}

fn add(rules: &mut Rules, rule: Rule) {
    if !rule.paths.is_empty() {
        rules.paths.push(PathRule {
            verbs: rule.verbs.clone(),
            paths: rule.paths,
        });
    }
    if !rule.groups.is_empty() {
        rules.resources.push(ResourceRule {
            verbs: rule.verbs,
            groups: rule.groups,
            resources: rule.resources,
            names: rule.names,
        });
    }
}
