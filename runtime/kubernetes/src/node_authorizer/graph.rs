//! The objects that the pods of each node refer to.

use std::collections::HashMap;
use std::sync::Arc;

use planesmith_api_defs::core::v1::Pod;

use crate::pods::references;

const MIRROR_POD: &str = "kubernetes.io/config.mirror";

/// A kind of objects that pods refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Referent {
    Secret,
    ConfigMap,
    VolumeClaim,
    ServiceAccount,
    ResourceClaim,
}

impl Referent {
    /// Returns the text that identifies an object of this kind. Names of objects contain no slash.
    pub(super) fn object(self, namespace: &str, name: &str) -> String {
        let kind = match self {
            Referent::Secret => "secret",
            Referent::ConfigMap => "configmap",
            Referent::VolumeClaim => "pvc",
            Referent::ServiceAccount => "serviceaccount",
            Referent::ResourceClaim => "resourceclaim",
        };
        format!("{kind}/{namespace}/{name}")
    }
}

/// The pods of all nodes, and the objects that they refer to. Its size is that of all references of the pods.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// By key in the store.
    pods: HashMap<Arc<str>, BoundPod>,
    /// The number of the node's pods that refer to each object, by node.
    nodes: HashMap<Box<str>, HashMap<Arc<str>, u32>>,
}

/// A pod with a node.
#[derive(Debug)]
struct BoundPod {
    node: Box<str>,
    fingerprint: u64,
    references: Box<[Arc<str>]>,
}

impl Graph {
    /// True if a pod of `node` refers to `object`.
    pub(super) fn has(&self, node: &str, object: &str) -> bool {
        self.nodes.get(node).is_some_and(|objects| objects.contains_key(object))
    }

    /// True if the pod is in the graph with the same references: they follow from the fields that `fingerprint` covers.
    pub(super) fn is_current(&self, key: &str, fingerprint: u64) -> bool {
        self.pods.get(key).is_some_and(|pod| pod.fingerprint == fingerprint)
    }

    /// Adds a pod that has a node, or replaces it.
    pub(super) fn put(&mut self, key: &str, fingerprint: u64, pod: &Pod) {
        self.remove(key);
        let node: Box<str> = pod.spec.node_name.as_str().into();
        let objects = self.nodes.entry(node.clone()).or_default();
        let mut references = Vec::new();
        for object in referents(pod) {
            // The text is shared by all pods of the node.
            let object = match objects.get_key_value(object.as_str()) {
                Some((known, _)) => Arc::clone(known),
                None => object.into(),
            };
            *objects.entry(Arc::clone(&object)).or_default() += 1;
            references.push(object);
        }
        if objects.is_empty() {
            self.nodes.remove(&node);
        }
        let references = references.into();
        let pod = BoundPod {
            node,
            fingerprint,
            references,
        };
        self.pods.insert(key.into(), pod);
    }

    /// Removes a pod, if it is there.
    pub(super) fn remove(&mut self, key: &str) {
        let Some(pod) = self.pods.remove(key) else {
            return;
        };
        let Some(objects) = self.nodes.get_mut(&pod.node) else {
            return;
        };
        for object in &pod.references {
            if let Some(count) = objects.get_mut(object) {
                *count -= 1;
                if *count == 0 {
                    objects.remove(object);
                }
            }
        }
        if objects.is_empty() {
            self.nodes.remove(&pod.node);
        }
    }
}

/// The objects that a pod gives its node access to, each once. A mirror pod gives none, because its node created it.
fn referents(pod: &Pod) -> Vec<String> {
    if pod.metadata.annotations.contains_key(MIRROR_POD) {
        return Vec::new();
    }
    let namespace = &pod.metadata.namespace;
    let object = |kind: Referent, name: &str| (!name.is_empty()).then(|| kind.object(namespace, name));
    let account = object(Referent::ServiceAccount, &pod.spec.service_account_name);
    let secrets = references::secrets(pod).filter_map(|name| object(Referent::Secret, name));
    let maps = references::config_maps(pod).filter_map(|name| object(Referent::ConfigMap, name));
    let claims = references::volume_claims(pod).filter_map(|name| object(Referent::VolumeClaim, &name));
    let devices = references::resource_claims(pod).filter_map(|name| object(Referent::ResourceClaim, name));
    let all = account
        .into_iter()
        .chain(secrets)
        .chain(maps)
        .chain(claims)
        .chain(devices);
    let mut all: Vec<String> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::json::{self, Strictness};
    use serde_json::{Value, json};

    use super::*;

    fn pod(node: &str, annotations: &Value, secret: &str) -> Pod {
        let value = json!({
            "metadata": {"name": "p", "namespace": "ns", "annotations": annotations},
            "spec": {
                "nodeName": node,
                "serviceAccountName": "default",
                "volumes": [{"name": "v", "secret": {"secretName": secret}}],
                "imagePullSecrets": [{"name": secret}],
            },
        });
        let mut pod = Pod::default();
        json::from_value(&value, &mut pod, Strictness::Lenient).unwrap();
        pod
    }

    #[test]
    fn an_object_is_related_while_a_pod_of_the_node_refers_to_it() {
        let secret = |name| Referent::Secret.object("ns", name);
        let (one, two) = ("ns/one", "ns/two");
        let mut graph = Graph::default();
        graph.put(one, 1, &pod("n1", &json!({}), "a"));
        graph.put(two, 2, &pod("n1", &json!({}), "a"));
        assert!(graph.has("n1", &secret("a")) && graph.has("n1", &Referent::ServiceAccount.object("ns", "default")));
        assert!(!graph.has("n2", &secret("a")) && !graph.has("n1", &secret("b")));
        assert!(!graph.has("n1", &Referent::ConfigMap.object("ns", "a")));
        assert!(graph.is_current(one, 1) && !graph.is_current(one, 2));
        graph.remove(one);
        assert!(graph.has("n1", &secret("a")));
        graph.put(two, 3, &pod("n2", &json!({}), "b"));
        assert!(!graph.has("n1", &secret("a")) && graph.has("n2", &secret("b")));
        graph.remove(two);
        assert!(graph.nodes.is_empty() && graph.pods.is_empty());
    }

    #[test]
    fn a_mirror_pod_gives_access_to_nothing() {
        let mut graph = Graph::default();
        graph.put("ns/p", 1, &pod("n1", &json!({MIRROR_POD: "x"}), "a"));
        assert!(!graph.has("n1", &Referent::Secret.object("ns", "a")));
    }
}
