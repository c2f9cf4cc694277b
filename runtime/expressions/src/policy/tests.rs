//! Tests of policies.

mod mutating;
mod validating;

use serde_json::{Value as Json, json};

use super::*;
use crate::authorization::{AuthorizerDecision, Check, Decisions, Query, ResourceCheck, ServiceAccount};

/// The documents of a request to create a config map.
struct Request {
    object: Json,
    old_object: Json,
    request: Json,
    namespace: Json,
    params: Json,
    resource: ResourceCheck,
    decisions: Decisions,
}

impl Request {
    fn new() -> Self {
        Self {
            object: json!({"kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": {"k": "v", "n": "x"}}),
            old_object: Json::Null,
            request: json!({"operation": "CREATE", "userInfo": {"username": "alice"}, "options": null}),
            namespace: json!({
                "metadata": {"name": "n", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"a": "b"}},
                "status": {"phase": "Active"},
            }),
            params: Json::Null,
            resource: ResourceCheck {
                resource: "configmaps".to_owned(),
                namespace: "n".to_owned(),
                name: "a".to_owned(),
                ..ResourceCheck::default()
            },
            decisions: Decisions::default(),
        }
    }

    fn inputs(&self) -> Inputs<'_> {
        Inputs {
            object: &self.object,
            old_object: &self.old_object,
            request: &self.request,
            namespace: &self.namespace,
            params: &self.params,
            resource: &self.resource,
            authorizer: &self.decisions,
        }
    }
}
