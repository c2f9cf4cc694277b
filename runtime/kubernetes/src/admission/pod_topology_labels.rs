//! Copies the zone and the region of a node to its pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Node, Pod};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::value::{self, View};

const COPIED: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

/// Copies labels of the node to pods that are created on it, and to bindings, which pass them to the pod.
pub(super) struct PodTopologyLabels {
    pub(super) objects: Arc<dyn Lister>,
}

impl PodTopologyLabels {
    fn copy(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        let is_binding = attributes.is_for("", "bindings") || attributes.subresource == "binding";
        if !attributes.is_for("", "pods") && !is_binding {
            return Ok(());
        }
        let Some(object) = objects.new.as_deref_mut() else {
            return Ok(());
        };
        let node = match attributes.subresource {
            "binding" | "" if is_binding => match text_at(object, "target.kind") {
                "Node" => text_at(object, "target.name"),
                _ => "",
            },
            "" => object
                .downcast_ref::<Pod>()
                .map_or("", |pod| pod.spec.node_name.as_str()),
            _ => "",
        };
        if node.is_empty() {
            return Ok(());
        }
        let labels = self.labels_of(node)?;
        object.meta_mut().labels.extend(labels);
        Ok(())
    }

    /// Returns the topology labels of a node; a node that does not exist has none.
    fn labels_of(&self, node: &str) -> ApiResult<BTreeMap<String, String>> {
        let node = self.objects.find::<Node>("", node)?;
        let labels = node.iter().flat_map(|node| &node.metadata.labels);
        let copied = labels.filter(|(key, _)| COPIED.contains(&key.as_str()));
        Ok(copied.map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

fn text_at<'o>(object: &'o dyn Object, path: &str) -> &'o str {
    match value::get_at(object, path).map(|value| value.view()) {
        Some(View::Str(text)) => text,
        _ => "",
    }
}

impl Plugin for PodTopologyLabels {
    fn name(&self) -> &'static str {
        "PodTopologyLabels"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.copy(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    #[test]
    fn a_pod_made_on_a_node_gets_its_zone() {
        let labels = json!({"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/other": "o"});
        let few = Few::default().with::<Node>(json!({"metadata": {"name": "n", "labels": labels}}));
        let plugin = PodTopologyLabels { objects: few.lister() };
        let create = |node: &str| {
            let metadata = json!({"name": "p", "labels": {"topology.kubernetes.io/zone": "mine"}});
            let pod: Pod = object(json!({"metadata": metadata, "spec": {"nodeName": node}}));
            Request::create::<Pod>().created(&plugin, pod).unwrap().metadata.labels
        };
        assert_eq!(
            create("n").into_iter().collect::<Vec<_>>(),
            [(COPIED[1].to_owned(), "z1".to_owned())]
        );
        assert_eq!(create("none")[COPIED[1]], "mine");
        assert_eq!(create("")[COPIED[1]], "mine");
    }
}
