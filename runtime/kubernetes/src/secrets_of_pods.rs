//! The secrets that pods use.

use std::collections::BTreeSet;

use planesmith_control_plane::loopback::Loopback;
use planesmith_control_plane::resource_client::ResourceClient;
use planesmith_control_plane::secret_users::SecretUsers;
use planesmith_server::stores::Stores;
use serde_json::Value;

/// The pods of a server, as users of secrets.
pub(crate) struct SecretsOfPods(ResourceClient);

impl SecretsOfPods {
    /// `None` for a server without pods.
    pub(crate) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        ResourceClient::of(stores, loopback, "", "v1", "pods").map(Self)
    }
}

impl SecretUsers for SecretsOfPods {
    fn used_secrets(&self, namespace: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for pod in self.0.all(namespace) {
            secret_names(&pod["spec"], &mut names);
        }
        names
    }
}

/// Adds the names of all secrets that a part of a pod refers to.
fn secret_names(part: &Value, names: &mut BTreeSet<String>) {
    let mut add = |name: &Value| names.extend(name.as_str().map(str::to_owned));
    match part {
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "secretName" => add(value),
                    "secretRef" | "secretKeyRef" | "nodePublishSecretRef" => add(&value["name"]),
                    // `secretName` in a volume, `name` in a projected source.
                    "secret" => ["secretName", "name"].iter().for_each(|key| add(&value[*key])),
                    "imagePullSecrets" => {
                        (value.as_array().into_iter().flatten()).for_each(|secret| add(&secret["name"]))
                    }
                    _ => {}
                }
            }
            members.values().for_each(|value| secret_names(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| secret_names(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_mention_secrets_in_many_places() {
        let spec = json!({
            "imagePullSecrets": [{"name": "a"}],
            "containers": [{
                "env": [{"valueFrom": {"secretKeyRef": {"name": "b", "key": "k"}}}],
                "envFrom": [{"secretRef": {"name": "c"}}],
            }],
            "volumes": [
                {"secret": {"secretName": "d"}},
                {"projected": {"sources": [{"secret": {"name": "e"}}]}},
                {"azureFile": {"secretName": "f"}},
                {"csi": {"nodePublishSecretRef": {"name": "g"}}},
                {"configMap": {"name": "no"}},
            ],
        });
        let mut names = BTreeSet::new();
        secret_names(&spec, &mut names);
        assert_eq!(names.into_iter().collect::<String>(), "abcdefg");
    }
}
