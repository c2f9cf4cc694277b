//! Older ways to ensure that namespaces exist: create them, or refuse writes in missing ones.

use std::sync::Arc;

use http::{Method, StatusCode};
use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Namespace;
use planesmith_control_plane::loopback::Loopback;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::{ApiError, ApiResult};
use serde_json::json;

/// Creates the namespaces of new objects.
pub(super) struct NamespaceAutoProvision {
    pub(super) objects: Arc<dyn Lister>,
    pub(super) loopback: Loopback,
}

impl NamespaceAutoProvision {
    async fn provide(&self, attributes: &Attributes<'_>) -> ApiResult<()> {
        if attributes.dry_run || !is_missing(&*self.objects, attributes)? {
            return Ok(());
        }
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": attributes.namespace}});
        match self
            .loopback
            .send(Method::POST, "/api/v1/namespaces", Some(&body))
            .await
        {
            Ok(_) => Ok(()),
            // Another request was faster.
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => Ok(()),
            Err(error) => Err(attributes.forbidden(None, error)),
        }
    }
}

impl Plugin for NamespaceAutoProvision {
    fn name(&self) -> &'static str {
        "NamespaceAutoProvision"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, _: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        Box::pin(self.provide(attributes))
    }
}

/// Refuses writes in namespaces that do not exist.
pub(super) struct NamespaceExists {
    pub(super) objects: Arc<dyn Lister>,
}

impl NamespaceExists {
    fn check(&self, attributes: &Attributes<'_>) -> ApiResult<()> {
        if is_missing(&*self.objects, attributes)? {
            let namespaces = GroupResource::new("", "namespaces");
            return Err(ApiError::not_found(&namespaces, attributes.namespace));
        }
        Ok(())
    }
}

impl Plugin for NamespaceExists {
    fn name(&self) -> &'static str {
        "NamespaceExists"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation != Operation::Connect && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, _: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes))
    }
}

/// True if a write is in a namespace that does not exist. Namespaces themselves are in none.
fn is_missing(objects: &dyn Lister, attributes: &Attributes<'_>) -> ApiResult<bool> {
    if attributes.namespace.is_empty() || attributes.is_for("", "namespaces") {
        return Ok(false);
    }
    Ok(objects.find::<Namespace>("", attributes.namespace)?.is_none())
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::ConfigMap;

    use super::*;
    use crate::admission::testing::{Few, Request};

    #[test]
    fn nothing_is_written_without_a_namespace() {
        let plugin = NamespaceExists {
            objects: Few::default()
                .with::<Namespace>(json!({"metadata": {"name": "ns"}}))
                .lister(),
        };
        let create = |namespace| {
            let request = Request {
                namespace,
                ..Request::create::<ConfigMap>()
            };
            request.created(&plugin, ConfigMap::default())
        };
        assert!(create("ns").is_ok());
        assert_eq!(create("none").unwrap_err(), "namespaces \"none\" not found");
    }
}
