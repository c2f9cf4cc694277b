//! Access to devices that are in use is for namespaces that an administrator has marked.

use std::sync::Arc;

use planesmith_access::admission::{Attributes, Lister, Objects, Operation, Phase, Plugin, Verdict, decided};
use planesmith_api_defs::core::v1::Namespace;
use planesmith_api_defs::resource::v1::{DeviceClaim, ResourceClaim, ResourceClaimTemplate};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::status::{ApiError, ApiResult};

/// The label of namespaces in which claims may ask for such access.
const LABEL: &str = "resource.kubernetes.io/admin-access";

/// The object as a whole, as messages call it.
const WHOLE: &str = "[]";

/// Refuses claims, templates and allocations that ask for such access elsewhere. It belongs to the rules of the kinds, so
/// no flag switches it off.
pub(super) struct DeviceAdminAccess {
    pub(super) objects: Arc<dyn Lister>,
}

impl DeviceAdminAccess {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(new) = objects.new.as_deref().filter(|_| asks(attributes, objects)) else {
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
                WHOLE,
                format!("admin access to devices requires the `{LABEL}: true` label on the containing namespace"),
            ),
            None => {
                let missing = format!("namespaces \"{}\" not found", attributes.namespace);
                errors.internal(
                    WHOLE,
                    format!("could not retrieve namespace to verify admin access: {missing}"),
                );
            }
        }
        let kind = new.resource().group_kind();
        Err(ApiError::invalid(&kind, &new.meta().name, &errors))
    }
}

/// Whether a write asks for access that the object did not have.
fn asks(attributes: &Attributes<'_>, objects: &Objects<'_>) -> bool {
    let in_claim = |claim: &DeviceClaim| {
        let mut requests = claim.requests.iter().filter_map(|request| request.exactly.as_ref());
        requests.any(|exactly| exactly.admin_access == Some(true))
    };
    match (attributes.operation, attributes.subresource) {
        (Operation::Create, "") => {
            let claim = objects.new_as::<ResourceClaim>().map(|claim| &claim.spec);
            let template = objects.new_as::<ResourceClaimTemplate>();
            let spec = claim.or(template.map(|template| &template.spec.spec));
            spec.is_some_and(|spec| in_claim(&spec.devices))
        }
        (Operation::Update, "status") => {
            let granted = |claim: Option<&ResourceClaim>| {
                let allocation = claim.and_then(|claim| claim.status.allocation.as_ref());
                let mut results = allocation
                    .into_iter()
                    .flat_map(|allocation| &allocation.devices.results);
                results.any(|result| result.admin_access == Some(true))
            };
            granted(objects.new_as()) && !granted(objects.old_as())
        }
        _ => false,
    }
}

impl Plugin for DeviceAdminAccess {
    fn name(&self) -> &'static str {
        "DeviceAdminAccess"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> Verdict<'a> {
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
                "[]: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label \
                 on the containing namespace"
            ),
            "{refused}"
        );
    }
}
