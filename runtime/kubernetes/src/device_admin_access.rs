//! Restricts access to devices in use to namespaces that an administrator has labelled.

use std::sync::Arc;

use planesmith_access::admission::Lister;
use planesmith_api_defs::core::v1::Namespace;
use planesmith_api_defs::resource::v1::{ResourceClaim, ResourceClaimTemplate};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::{Object, Resource as _};
use planesmith_machinery::status::ApiError;
use planesmith_server::endpoint::WriteCheck;
use planesmith_server::stores::Stores;

/// The label of namespaces in which claims may request admin access.
const LABEL: &str = "resource.kubernetes.io/admin-access";

/// Refuses claims, templates and allocations with admin access in other namespaces.
struct DeviceAdminAccess {
    objects: Arc<dyn Lister>,
}

/// Checks the claims and templates of a server whose objects are `objects`.
pub(crate) fn install(stores: &Stores, objects: &Arc<dyn Lister>) {
    let check: Arc<dyn WriteCheck> = Arc::new(DeviceAdminAccess {
        objects: Arc::clone(objects),
    });
    for kind in [ResourceClaim::RESOURCE, ResourceClaimTemplate::RESOURCE] {
        stores.check_writes(&kind.group, &kind.plural, Arc::clone(&check));
    }
}

impl DeviceAdminAccess {
    fn errors(&self, new: &dyn Object, old: Option<&dyn Object>) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let Some(field) = requesting_field(new, old) else {
            return errors;
        };
        let name = &new.meta().namespace;
        let missing = || ApiError::not_found(&Namespace::RESOURCE.group_resource(), name);
        let namespace = self.objects.find::<Namespace>("", name);
        match namespace.and_then(|namespace| namespace.ok_or_else(missing)) {
            Ok(namespace)
                if namespace
                    .metadata
                    .labels
                    .get(LABEL)
                    .is_some_and(|value| value == "true") => {}
            Ok(_) => errors.forbidden(
                &field,
                format!("admin access to devices requires the `{LABEL}: true` label on the containing namespace"),
            ),
            Err(error) => {
                let why = error.message();
                errors.internal(
                    &field,
                    format!("could not retrieve namespace to verify admin access: {why}"),
                );
            }
        }
        errors
    }
}

/// Returns the path of the first request for admin access that a write adds; `None` if it adds none. The specs of claims and
/// templates are immutable.
fn requesting_field(new: &dyn Object, old: Option<&dyn Object>) -> Option<String> {
    let Some(old) = old else {
        let claim = new.downcast_ref::<ResourceClaim>().map(|claim| &claim.spec);
        let template = new.downcast_ref::<ResourceClaimTemplate>();
        let spec = claim.or(template.map(|template| &template.spec.spec))?;
        let mut requests = spec.devices.requests.iter();
        let index = requests.position(|request| {
            let exactly = request.exactly.as_ref();
            exactly.is_some_and(|exactly| exactly.admin_access == Some(true))
        })?;
        // The field of a template has the same name.
        return Some(format!("spec.devices.requests[{index}].adminAccess"));
    };
    let granted = |claim: &dyn Object| {
        let claim: &ResourceClaim = claim.downcast_ref()?;
        let results = &claim.status.allocation.as_ref()?.devices.results;
        results.iter().position(|result| result.admin_access == Some(true))
    };
    let index = granted(new)?;
    let had = granted(old).is_some();
    (!had).then(|| format!("status.allocation.devices.results[{index}].adminAccess"))
}

impl WriteCheck for DeviceAdminAccess {
    fn field_errors(&self, new: &dyn Object, old: Option<&dyn Object>) -> FieldErrors {
        self.errors(new, old)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Few, object};

    #[test]
    fn claims_ask_for_it_in_marked_namespaces_only() {
        let claim = |admin: bool| -> ResourceClaim {
            let exactly = json!({"deviceClassName": "gpu", "adminAccess": admin});
            let spec = json!({"devices": {"requests": [{"name": "r", "exactly": exactly}]}});
            object(json!({"metadata": {"name": "c", "namespace": "ns"}, "spec": spec}))
        };
        let errors = |namespace: &str, labels: serde_json::Value, admin: bool| {
            let namespace = json!({"metadata": {"name": namespace, "labels": labels}});
            let check = DeviceAdminAccess {
                objects: Few::default().with::<Namespace>(namespace).lister(),
            };
            check.errors(&claim(admin), None).joined()
        };
        assert_eq!(errors("ns", json!({}), false), None);
        assert_eq!(errors("ns", json!({LABEL: "true"}), true), None);
        assert_eq!(
            errors("ns", json!({LABEL: "false"}), true).unwrap(),
            "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the \
             `resource.kubernetes.io/admin-access: true` label on the containing namespace"
        );
        assert_eq!(
            errors("other", json!({}), true).unwrap(),
            "spec.devices.requests[0].adminAccess: Internal error: could not retrieve namespace to verify admin access: \
             namespaces \"ns\" not found"
        );
    }
}
