//! The objects of the benchmark load.

use serde_json::{Value, json};

/// The namespace of read objects.
pub(crate) const READ_NAMESPACE: &str = "bench-read";
/// The namespace of written objects.
pub(crate) const WRITTEN_NAMESPACE: &str = "bench-written";
/// The namespace of watched objects.
pub(crate) const WATCHED_NAMESPACE: &str = "bench-watched";

/// A kind of objects in the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// About 1.4 KB with the server's metadata; every sixteenth has the label `tier: gold`.
    ConfigMap,
    /// About 600 bytes with the server's metadata.
    SmallConfigMap,
    /// About 3.2 KB with defaults and metadata: two containers, probes, volumes, environment.
    Pod,
    /// A custom resource with a schema that has defaults, bounds and a list by keys; [`definition`] declares it.
    Gadget,
}

impl Sample {
    /// Returns the collection path in `namespace`.
    pub(crate) fn collection(self, namespace: &str) -> String {
        match self {
            Self::ConfigMap | Self::SmallConfigMap => format!("/api/v1/namespaces/{namespace}/configmaps"),
            Self::Pod => format!("/api/v1/namespaces/{namespace}/pods"),
            Self::Gadget => format!("/apis/{GADGETS}/v1/namespaces/{namespace}/gadgets"),
        }
    }

    /// Returns the path of an object.
    pub(crate) fn object(self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.collection(namespace))
    }

    /// Returns the body to write an object. `turn` makes it differ from earlier versions.
    pub(crate) fn body(self, name: &str, number: usize, turn: usize) -> Vec<u8> {
        let body = match self {
            Self::ConfigMap => config_map(name, number, turn),
            Self::SmallConfigMap => small_config_map(name, turn),
            Self::Pod => pod(name, turn),
            Self::Gadget => gadget(name, number, turn),
        };
        body.to_string().into_bytes()
    }
}

/// The common part of all object names, after a prefix.
pub(crate) const NAME: &str = "settings-";

/// Returns the name of object number `number`.
pub(crate) fn name(number: usize) -> String {
    format!("{NAME}{number:05}")
}

/// Returns the body to create a namespace.
pub(crate) fn namespace(name: &str) -> Vec<u8> {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        .to_string()
        .into_bytes()
}

/// Returns the default service account, which pods use unless they name another.
pub(crate) fn service_account() -> Vec<u8> {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
        .to_string()
        .into_bytes()
}

fn config_map(name: &str, number: usize, turn: usize) -> Value {
    let tier = if number % 16 == 15 { "gold" } else { "silver" };
    let mut data = serde_json::Map::new();
    data.insert("turn".to_owned(), turn.to_string().into());
    for line in 0..9 {
        let value = format!("line {line} of {name}: {}", "abcdefghijklmnopqrstuvwxyz".repeat(2));
        data.insert(format!("line-{line:02}"), value.into());
    }
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": "bench", "tier": tier}},
        "data": data,
    })
}

fn small_config_map(name: &str, turn: usize) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"turn": turn.to_string(), "line": format!("one line of {name}: {}", "abcdefghijklmnopqrstuvwxyz")},
    })
}

fn pod(name: &str, turn: usize) -> Value {
    let container = |role: &str, port: u16| {
        json!({
            "name": role,
            "image": format!("registry.example.com/bench/{role}:1.4.2"),
            "args": ["--listen", format!("0.0.0.0:{port}"), "--verbose"],
            "ports": [{"name": "http", "containerPort": port}],
            "env": [
                {"name": "TURN", "value": turn.to_string()},
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            ],
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
            "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings", "readOnly": true}],
        })
    };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "bench", "role": "worker"}},
        "spec": {
            "containers": [container("worker", 8080), container("proxy", 15001)],
            "volumes": [
                {"name": "settings", "configMap": {"name": "settings"}},
                {"name": "scratch", "emptyDir": {}},
            ],
        },
    })
}

/// The group of the custom resource.
const GADGETS: &str = "bench.example.com";

/// Returns the definition of [`Sample::Gadget`].
pub(crate) fn definition() -> Vec<u8> {
    let part = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "maxLength": 63, "pattern": "^[a-z][a-z0-9-]*$"},
            "amount": {"type": "integer", "minimum": 0, "default": 1},
            "note": {"type": "string"},
        },
    });
    let parts = json!({
        "type": "array",
        "maxItems": 64,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": part,
    });
    let spec = json!({
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
            "mode": {"type": "string", "enum": ["Fast", "Careful"], "default": "Careful"},
            "limit": {"x-kubernetes-int-or-string": true, "default": "25%"},
            "settings": {"type": "object", "additionalProperties": {"type": "string"}},
            "parts": parts,
        },
    });
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("gadgets.{GADGETS}")},
        "spec": {
            "group": GADGETS,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    })
    .to_string()
    .into_bytes()
}

fn gadget(name: &str, number: usize, turn: usize) -> Value {
    let parts: Vec<_> = (0..8)
        .map(|part| json!({"name": format!("part-{part}"), "note": format!("part {part} of {name} fits anywhere")}))
        .collect();
    json!({
        "apiVersion": format!("{GADGETS}/v1"),
        "kind": "Gadget",
        "metadata": {"name": name, "labels": {"app": "bench"}},
        "spec": {
            "size": number + 1,
            "settings": {"turn": turn.to_string(), "colour": "green"},
            "parts": parts,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of server-generated metadata, in bytes: namespace, uid, resourceVersion, creationTimestamp and managedFields.
    const ADDED: usize = 505;

    #[test]
    fn a_config_map_has_the_size_of_the_table() {
        let size = Sample::ConfigMap.body(&name(1), 1, 1).len() + ADDED;
        assert!((1300..1500).contains(&size), "{size}");
    }

    #[test]
    fn the_selector_takes_312_of_5000() {
        let gold = (0..5000).filter(|&number| {
            let body = Sample::ConfigMap.body(&name(number), number, 0);
            String::from_utf8(body).unwrap().contains("gold")
        });
        assert_eq!(gold.count(), 312);
    }
}
