//! Reports for every schema if its priority level exists.

use planesmith_control_plane::loopback::LoopbackError;
use planesmith_control_plane::reconciler::{self, Reconcile};
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_machinery::time::Time;
use planesmith_server::hooks::Hook;
use serde_json::{Value, json};

use super::API_VERSION;

const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";

pub(super) fn hook(schemas: ResourceClient, levels: ResourceClient) -> Hook {
    let schemas = schemas.managed_by(CONSUMER);
    Hook::new("priority-and-fairness-config-consumer", move |shutdown| async move {
        reconciler::start(Dangling { schemas, levels }, shutdown).await;
        Ok(())
    })
}

struct Dangling {
    schemas: ResourceClient,
    levels: ResourceClient,
}

impl Reconcile for Dangling {
    const NAME: &'static str = "status of a flow schema";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.schemas, &self.levels]
    }

    fn all(&self) -> Vec<String> {
        self.schemas.names()
    }

    fn touched(&self, kind: usize, _namespace: &str, name: &str) -> Vec<String> {
        // There are few schemas, and levels hardly ever come or go.
        if kind == 0 { vec![name.to_owned()] } else { self.all() }
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        let Some(schema) = self.schemas.get("", key) else {
            return Ok(());
        };
        let level = text(&schema, "/spec/priorityLevelConfiguration/name");
        let exists = self.levels.has("", level);
        let (status, reason, end) = if exists {
            ("False", "Found", "it exists")
        } else {
            ("True", "NotFound", "there is no such object")
        };
        let between = if exists { "and" } else { "but" };
        let message =
            format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?} {between} {end}");
        let conditions = schema["status"]["conditions"].as_array();
        let said = |condition: &Value| {
            condition["type"] == "Dangling"
                && condition["status"] == status
                && condition["reason"] == reason
                && condition["message"] == message.as_str()
        };
        if conditions.is_some_and(|conditions| conditions.iter().any(said)) {
            return Ok(());
        }
        let wanted = json!({
            "apiVersion": API_VERSION,
            "kind": "FlowSchema",
            "metadata": {"name": key},
            "status": {"conditions": [{
                "type": "Dangling",
                "status": status,
                "lastTransitionTime": Time::from(self.schemas.clock().now()).to_string(),
                "reason": reason,
                "message": message,
            }]},
        });
        self.schemas.apply(&wanted, "/status").await
    }
}
