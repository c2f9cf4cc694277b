//! Publishes the authority of the serving certificate in every namespace.

use serde_json::{Value, json};

use super::in_each_namespace::EachNamespace;

/// The annotation that describes the ConfigMap, and its text.
const DESCRIPTION: (&str, &str) = (
    "kubernetes.io/description",
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the \
     internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes \
     clusters.",
);

/// The ConfigMap with the authority of the serving certificate, PEM.
pub(super) struct RootCertificate {
    pub(super) authority: String,
}

impl EachNamespace for RootCertificate {
    const NAME: &'static str = "kube-root-ca.crt";
    const PLURAL: &'static str = "configmaps";
    const WORK: &'static str = "root certificate of a namespace";

    fn object_for(&self, namespace: &str) -> Value {
        let (annotation, description) = DESCRIPTION;
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": Self::NAME, "namespace": namespace, "annotations": {annotation: description}},
            "data": {"ca.crt": self.authority},
        })
    }

    fn repaired(&self, mut stored: Value) -> Option<Value> {
        let data = json!({"ca.crt": self.authority});
        let (annotation, description) = DESCRIPTION;
        if stored["data"] == data && stored["metadata"]["annotations"][annotation] == description {
            return None;
        }
        stored["data"] = data;
        stored["metadata"]["annotations"][annotation] = description.into();
        Some(stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_root_certificate_is_repaired() {
        let root = RootCertificate {
            authority: "pem".to_owned(),
        };
        let created = root.object_for("a");
        assert_eq!(root.repaired(created.clone()), None);
        let mut bare =
            json!({"metadata": {"name": "kube-root-ca.crt", "uid": "1"}, "data": {"ca.crt": "other", "x": "y"}});
        bare = root.repaired(bare).unwrap();
        assert_eq!(bare["data"], created["data"]);
        assert_eq!(bare["metadata"]["annotations"], created["metadata"]["annotations"]);
        assert_eq!(bare["metadata"]["uid"], "1");
    }
}
