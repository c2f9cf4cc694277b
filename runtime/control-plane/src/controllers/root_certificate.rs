//! Publishes in every namespace whom pods trust to be the server.

use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use super::{MANAGER, is_active};
use crate::loopback::{Loopback, LoopbackError};
use crate::objects::Objects;
use crate::reconciler::Reconcile;

const NAME: &str = "kube-root-ca.crt";

/// The annotation that tells people what the ConfigMap is for, and what it says.
const DESCRIPTION: (&str, &str) = (
    "kubernetes.io/description",
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the \
     internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes \
     clusters.",
);

/// Keeps the ConfigMap with the authority of the serving certificate in each namespace.
pub(super) struct RootCertificatePublisher {
    namespaces: Objects,
    config_maps: Objects,
    authority: String,
}

impl RootCertificatePublisher {
    /// Publishes `authority`, PEM; `None` for a server without ConfigMaps.
    pub(super) fn new(stores: &Stores, loopback: &Loopback, authority: &str) -> Option<Self> {
        Some(Self {
            namespaces: Objects::of(stores, loopback, "", "v1", "namespaces")?,
            config_maps: Objects::of(stores, loopback, "", "v1", "configmaps")?.managed_by(MANAGER),
            authority: authority.to_owned(),
        })
    }
}

impl Reconcile for RootCertificatePublisher {
    const NAME: &'static str = "root certificate of a namespace";

    fn watched(&self) -> Vec<&Objects> {
        vec![&self.namespaces, &self.config_maps]
    }

    fn all(&self) -> Vec<String> {
        self.namespaces.names()
    }

    fn touched(&self, kind: usize, namespace: &str, name: &str) -> Vec<String> {
        match kind {
            0 => vec![name.to_owned()],
            _ if name == NAME => vec![namespace.to_owned()],
            _ => Vec::new(),
        }
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        if !is_active(&self.namespaces, key) {
            return Ok(());
        }
        let data = json!({"ca.crt": self.authority});
        let (annotation, description) = DESCRIPTION;
        let Some(mut stored) = self.config_maps.get(key, NAME) else {
            let made = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": NAME, "namespace": key, "annotations": {annotation: description}},
                "data": data,
            });
            return self.config_maps.create(&made).await;
        };
        if stored["data"] == data && stored["metadata"]["annotations"][annotation] == description {
            return Ok(());
        }
        stored["data"] = data;
        if let Some(metadata) = stored["metadata"].as_object_mut() {
            metadata
                .entry("annotations")
                .or_insert_with(|| Value::Object(serde_json::Map::new()))[annotation] = description.into();
        }
        self.config_maps.replace(&stored).await
    }
}
