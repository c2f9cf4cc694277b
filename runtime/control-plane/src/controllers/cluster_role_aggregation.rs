//! Fills roles that are made of other roles.

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::selector::LabelQuery;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use crate::loopback::{Loopback, LoopbackError};
use crate::objects::{Objects, text};
use crate::reconciler::Reconcile;

/// Whose the rules are that were gathered.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Gives roles with an aggregation rule the rules of the roles that it selects.
pub(super) struct ClusterRoleAggregation {
    roles: Objects,
}

impl ClusterRoleAggregation {
    /// `None` for a server without cluster roles.
    pub(super) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let roles = Objects::of(stores, loopback, "rbac.authorization.k8s.io", "v1", "clusterroles")?;
        Some(Self {
            roles: roles.managed_by(MANAGER),
        })
    }
}

impl Reconcile for ClusterRoleAggregation {
    const NAME: &'static str = "aggregated cluster role";

    fn watched(&self) -> Vec<&Objects> {
        vec![&self.roles]
    }

    fn all(&self) -> Vec<String> {
        let roles = self.roles.all("");
        let aggregated = roles.iter().filter(|role| !role["aggregationRule"].is_null());
        aggregated.map(|role| text(role, "/metadata/name").to_owned()).collect()
    }

    fn touched(&self, _kind: usize, _namespace: &str, _name: &str) -> Vec<String> {
        // Any role may be selected, or was until now.
        self.all()
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        let Some(role) = self.roles.get("", key) else {
            return Ok(());
        };
        let Some(selectors) = role
            .pointer("/aggregationRule/clusterRoleSelectors")
            .and_then(Value::as_array)
        else {
            return Ok(());
        };
        let rules = gathered(key, selectors, &self.roles.all(""));
        if role["rules"].as_array().map(Vec::as_slice).unwrap_or_default() == rules {
            return Ok(());
        }
        let wanted = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": key},
            "rules": rules,
        });
        self.roles.apply(&wanted, "").await
    }
}

/// The rules of the roles that are selected, each once: by selector, then by name.
fn gathered(name: &str, selectors: &[Value], roles: &[Value]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors {
        let Some(query) = query(selector) else { continue };
        for role in roles {
            let label = |key: &str| role["metadata"]["labels"][key].as_str();
            if text(role, "/metadata/name") == name || !query.matches(label) {
                continue;
            }
            for rule in role["rules"].as_array().into_iter().flatten() {
                if !rules.contains(rule) {
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
}
