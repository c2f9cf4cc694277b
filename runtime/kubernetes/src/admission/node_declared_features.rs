//! Restricts changes of running pods to nodes that declare the features that they need.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Node, Pod};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::status::ApiResult;

/// Refuses changes of pods for which their node lacks a feature.
pub(super) struct NodeDeclaredFeatures {
    pub(super) objects: Arc<dyn Lister>,
}

impl NodeDeclaredFeatures {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        if !attributes.is_for("", "pods") || !matches!(attributes.subresource, "" | "resize") {
            return Ok(());
        }
        let (Some(new), Some(old)) = (objects.new_as::<Pod>(), objects.old_as::<Pod>()) else {
            return Ok(());
        };
        // Only a change of the spec increments the generation.
        if new.spec.node_name.is_empty() || new.metadata.generation == old.metadata.generation {
            return Ok(());
        }
        let needed = needed_features(old, new);
        if needed.is_empty() {
            return Ok(());
        }
        let refuse = |why: String| Err(attributes.forbidden(objects.new.as_deref(), why));
        let name = quote(&new.spec.node_name);
        let Some(node) = self.objects.find::<Node>("", &new.spec.node_name)? else {
            return refuse(format!("node {name} not found"));
        };
        let declared = &node.status.declared_features;
        let lacking: Vec<&str> = needed
            .into_iter()
            .filter(|feature| !declared.iter().any(|declared| declared == feature))
            .collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let lacking = lacking.join(", ");
        refuse(format!(
            "pod update requires features {lacking} which are not available on node {name}"
        ))
    }
}

/// Returns the features that a node must declare for a change.
fn needed_features(old: &Pod, new: &Pod) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if old.spec.resources != new.spec.resources {
        needed.push("InPlacePodLevelResourcesVerticalScaling");
    }
    let mut pairs = old.spec.init_containers.iter().zip(&new.spec.init_containers);
    if pairs.any(|(old, new)| !old.is_sidecar() && old.resources != new.resources) {
        needed.push("InPlacePodVerticalScalingInitContainers");
    }
    needed
}

impl Plugin for NodeDeclaredFeatures {
    fn name(&self) -> &'static str {
        "NodeDeclaredFeatureValidator"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    fn pod(generation: i64, of_pod: &str, of_init: &str, node: &str) -> Pod {
        let cpu = |amount: &str| json!({"requests": {"cpu": amount}});
        object(json!({
            "metadata": {"name": "p", "generation": generation},
            "spec": {
                "nodeName": node,
                "resources": cpu(of_pod),
                "containers": [{"name": "c"}],
                "initContainers": [{"name": "i", "resources": cpu(of_init)}],
            },
        }))
    }

    /// Returns the plugin's verdict on a resize on a node with these features.
    fn resized(features: &Value, new: Pod) -> Result<(), String> {
        let node = json!({"metadata": {"name": "n"}, "status": {"declaredFeatures": features}});
        let plugin = NodeDeclaredFeatures {
            objects: Few::default().with::<Node>(node).lister(),
        };
        let old = pod(1, "1", "1", &new.spec.node_name);
        Request::update::<Pod>()
            .below("resize")
            .updated(&plugin, &old, new)
            .map(drop)
    }

    #[test]
    fn a_node_says_what_it_can_resize() {
        let both = json!([
            "InPlacePodLevelResourcesVerticalScaling",
            "InPlacePodVerticalScalingInitContainers"
        ]);
        assert_eq!(resized(&both, pod(2, "2", "2", "n")), Ok(()));
        assert_eq!(resized(&json!([]), pod(2, "1", "1", "n")), Ok(()));
        assert_eq!(resized(&json!([]), pod(2, "2", "2", "")), Ok(()), "it runs nowhere yet");
        assert_eq!(
            resized(&json!([]), pod(2, "2", "2", "n")).unwrap_err(),
            "pods \"p\" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling, \
             InPlacePodVerticalScalingInitContainers which are not available on node \"n\""
        );
        assert_eq!(
            resized(&both, pod(2, "2", "1", "gone")).unwrap_err(),
            "pods \"p\" is forbidden: node \"gone\" not found"
        );
    }
}
