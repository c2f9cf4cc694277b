//! Aggregates the rules of cluster roles.

use std::collections::HashSet;

use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::reconciler::Reconcile;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::selector::LabelQuery;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use crate::GROUP;

/// The only key: all roles are reconciled at once, since any role may be selected by any other, or may have been.
const ALL: &str = "all";

/// The field manager of aggregated rules.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Gives roles with an aggregation rule the rules of the roles that it selects.
pub(crate) struct ClusterRoleAggregation {
    roles: ResourceClient,
}

impl ClusterRoleAggregation {
    /// `None` for a server without cluster roles.
    pub(crate) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let roles = ResourceClient::of(stores, loopback, GROUP, "v1", "clusterroles")?;
        Some(Self {
            roles: roles.managed_by(MANAGER),
        })
    }
}

impl Reconcile for ClusterRoleAggregation {
    const NAME: &'static str = "aggregated cluster role";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.roles]
    }

    fn all(&self) -> Vec<String> {
        vec![ALL.to_owned()]
    }

    fn touched(&self, _kind: usize, _namespace: &str, _name: &str) -> Vec<String> {
        self.all()
    }

    async fn reconcile(&self, _key: &str) -> Result<(), LoopbackError> {
        let roles = self.roles.all("");
        let mut outcome = Ok(());
        for wanted in changed(&roles) {
            // A role that cannot be written does not prevent writes of the others.
            outcome = outcome.and(self.roles.apply(&wanted, "").await);
        }
        outcome
    }
}

/// Returns the roles whose rules differ from the aggregated ones, with those.
fn changed(roles: &[Value]) -> Vec<Value> {
    let changed = roles.iter().filter_map(|role| {
        let selectors = role.pointer("/aggregationRule/clusterRoleSelectors")?.as_array()?;
        let name = text(role, "/metadata/name");
        let rules = gathered(name, selectors, roles);
        let has = role["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
        (has != rules).then(|| {
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": name},
                "rules": rules,
            })
        })
    });
    changed.collect()
}

/// Returns the rules of the selected roles, each once: by selector, then by name.
fn gathered(name: &str, selectors: &[Value], roles: &[Value]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for selector in selectors {
        let Some(query) = query(selector) else { continue };
        for role in roles {
            let label = |key: &str| role["metadata"]["labels"][key].as_str();
            if text(role, "/metadata/name") == name || !query.matches(label) {
                continue;
            }
            for rule in role["rules"].as_array().into_iter().flatten() {
                if known.insert(rule.to_string()) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    rules
}

fn query(selector: &Value) -> Option<LabelQuery> {
    let mut typed = LabelSelector::default();
    json::decode(&serde_json::to_vec(selector).ok()?, &mut typed, Strictness::Lenient).ok()?;
    LabelQuery::of_selector(&typed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_come_once_from_every_role_that_is_selected() {
        let role = |name: &str, to: &str, rules: &[&str]| {
            let rules: Vec<Value> = rules.iter().map(|rule| json!({"verbs": [rule]})).collect();
            json!({"metadata": {"name": name, "labels": {"to": to}}, "rules": rules})
        };
        let roles = [
            role("all", "view", &["own"]),
            role("first", "view", &["get", "list"]),
            role("other", "edit", &["delete"]),
            role("second", "view", &["list", "watch"]),
        ];
        let selectors = [
            json!({"matchLabels": {"to": "view"}}),
            json!({"matchExpressions": [{"key": "no", "operator": "Exists"}]}),
        ];
        let rules = gathered("all", &selectors, &roles);
        let verbs: Vec<&str> = rules.iter().filter_map(|rule| rule["verbs"][0].as_str()).collect();
        assert_eq!(verbs, ["get", "list", "watch"]);
    }

    #[test]
    fn roles_that_have_what_they_select_are_left_alone() {
        let part = json!({"metadata": {"name": "part", "labels": {"to": "view"}}, "rules": [{"verbs": ["get"]}]});
        let whole = |rules: Value| {
            let selectors = json!([{"matchLabels": {"to": "view"}}]);
            json!({"metadata": {"name": "whole"}, "aggregationRule": {"clusterRoleSelectors": selectors}, "rules": rules})
        };
        let stale = changed(&[part.clone(), whole(Value::Null)]);
        assert_eq!(stale.len(), 1);
        assert_eq!(
            (text(&stale[0], "/metadata/name"), &stale[0]["rules"]),
            ("whole", &part["rules"])
        );
        assert!(changed(&[part.clone(), whole(part["rules"].clone())]).is_empty());
    }
}
