//! Restricts access to devices in use to namespaces that an administrator has labelled.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Namespace;
use planesmith_api_defs::resource::v1::{ResourceClaim, ResourceClaimTemplate};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::status::{ApiError, ApiResult};

/// The label of namespaces in which claims may request admin access.
const LABEL: &str = "resource.kubernetes.io/admin-access";

/// Refuses claims, templates and allocations with admin access in other namespaces. The check belongs to the
/// strategies of the kinds, so no flag disables it.
pub(super) struct DeviceAdminAccess {
    pub(super) objects: Arc<dyn Lister>,
}

impl DeviceAdminAccess {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let (Some(new), Some(field)) = (objects.new.as_deref(), requesting_field(attributes, objects)) else {
            return Ok(());
        };
        let namespace = self.objects.find::<Namespace>("", attributes.namespace)?;
        let marked = |namespace: &Namespace| {
            namespace
                .metadata
                .labels
                .get(LABEL)
                .is_some_and(|value| value == "true")
        };
        let mut errors = FieldErrors::default();
        match namespace.as_deref() {
            Some(namespace) if marked(namespace) => return Ok(()),
            Some(_) => errors.forbidden(
                &field,
                format!("admin access to devices requires the `{LABEL}: true` label on the containing namespace"),
            ),
            None => {
                let missing = format!("namespaces \"{}\" not found", attributes.namespace);
                errors.internal(
                    &field,
                    format!("could not retrieve namespace to verify admin access: {missing}"),
                );
            }
        }
        let kind = new.resource().group_kind();
        Err(ApiError::invalid(&kind, &new.meta().name, &errors))
    }
}

/// Returns the path of the first request for admin access that a write adds; `None` if it adds none.
fn requesting_field(attributes: &Attributes<'_>, objects: &Objects<'_>) -> Option<String> {
    match (attributes.operation, attributes.subresource) {
        (Operation::Create, "") => {
            let claim = objects.new_as::<ResourceClaim>().map(|claim| &claim.spec);
            let template = objects.new_as::<ResourceClaimTemplate>();
            let spec = claim.or(template.map(|template| &template.spec.spec))?;
            let mut requests = spec.devices.requests.iter();
            let index = requests.position(|request| {
                let exactly = request.exactly.as_ref();
                exactly.is_some_and(|exactly| exactly.admin_access == Some(true))
            })?;
            // The field of a template has the same name.
            Some(format!("spec.devices.requests[{index}].adminAccess"))
        }
        (Operation::Update, "status") => {
            let granted = |claim: Option<&ResourceClaim>| {
                let results = &claim?.status.allocation.as_ref()?.devices.results;
                results.iter().position(|result| result.admin_access == Some(true))
            };
            let index = granted(objects.new_as())?;
            let had = granted(objects.old_as()).is_some();
            (!had).then(|| format!("status.allocation.devices.results[{index}].adminAccess"))
        }
        _ => None,
    }
}

impl Plugin for DeviceAdminAccess {
    fn name(&self) -> &'static str {
        "DeviceAdminAccess"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    #[test]
    fn claims_ask_for_it_in_marked_namespaces_only() {
        let claim = |admin: bool| -> ResourceClaim {
            let exactly = json!({"deviceClassName": "gpu", "adminAccess": admin});
            let spec = json!({"devices": {"requests": [{"name": "r", "exactly": exactly}]}});
            object(json!({"metadata": {"name": "c"}, "spec": spec}))
        };
        let create = |labels: serde_json::Value, admin: bool| {
            let namespace = json!({"metadata": {"name": "ns", "labels": labels}});
            let plugin = DeviceAdminAccess {
                objects: Few::default().with::<Namespace>(namespace).lister(),
            };
            Request::create::<ResourceClaim>()
                .created(&plugin, claim(admin))
                .map(drop)
        };
        assert_eq!(create(json!({}), false), Ok(()));
        assert_eq!(create(json!({LABEL: "true"}), true), Ok(()));
        let refused = create(json!({LABEL: "false"}), true).unwrap_err();
        assert!(
            refused.ends_with(
                "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label \
                 on the containing namespace"
            ),
            "{refused}"
        );
    }
}
