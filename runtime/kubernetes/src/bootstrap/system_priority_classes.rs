//! The priority classes of pods that the cluster itself needs.

use http::{Method, StatusCode};
use planesmith_control_plane::loopback::Loopback;
use planesmith_server::hooks::{Hook, HookError};
use planesmith_server::stores::Stores;
use serde_json::json;

const PATH: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// Name, value and description.
const CLASSES: [(&str, i32, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];

/// Creates missing classes; `None` for a server without priority classes.
pub(super) fn hook(stores: &Stores, loopback: &Loopback) -> Option<Hook> {
    let facts = stores.scheme().resource("scheduling.k8s.io", "v1", "priorityclasses")?;
    let classes = stores.resource(facts);
    let loopback = loopback.clone();
    Some(Hook::new(
        "scheduling/bootstrap-system-priority-classes",
        move |_| async move {
            for (name, value, description) in CLASSES {
                let key = classes.key("", name).map_err(|error| HookError(error.to_string()))?;
                if classes.collection().get(&key).is_some() {
                    continue;
                }
                let class = json!({
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": value,
                    "description": description,
                });
                match loopback.send(Method::POST, PATH, Some(&class)).await {
                    Err(error) if error.status() == Some(StatusCode::CONFLICT) => {}
                    // A server that does not serve the version has no pods that need the classes.
                    Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => break,
                    other => drop(other.map_err(|error| HookError(error.to_string()))?),
                }
            }
            Ok(())
        },
    ))
}
