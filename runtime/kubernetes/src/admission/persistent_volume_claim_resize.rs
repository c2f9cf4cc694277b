//! Refuses to grow claims whose storage class does not allow expansion.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::PersistentVolumeClaim;
use planesmith_api_defs::storage::v1::StorageClass;
use planesmith_machinery::status::ApiResult;

/// Refuses claims that grow although they cannot.
pub(super) struct PersistentVolumeClaimResize {
    pub(super) objects: Arc<dyn Lister>,
}

impl PersistentVolumeClaimResize {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let (new, old) = (
            objects.new_as::<PersistentVolumeClaim>(),
            objects.old_as::<PersistentVolumeClaim>(),
        );
        let (Some(new), Some(old)) = (new, old) else {
            return Ok(());
        };
        let size = |claim: &PersistentVolumeClaim| {
            claim
                .spec
                .resources
                .requests
                .get("storage")
                .cloned()
                .unwrap_or_default()
        };
        if !attributes.subresource.is_empty() || size(new) <= size(old) {
            return Ok(());
        }
        let refuse = |why: &str| Err(attributes.forbidden(objects.new.as_deref(), why));
        if old.status.phase != "Bound" {
            return refuse("Only bound persistent volume claims can be expanded");
        }
        let class = new.storage_class().filter(|class| !class.is_empty());
        let may_grow = match class.filter(|class| old.storage_class() == Some(class)) {
            None => false,
            Some(name) => {
                let class = self.objects.find::<StorageClass>("", name)?;
                class.is_some_and(|class| class.allow_volume_expansion == Some(true))
            }
        };
        if may_grow {
            return Ok(());
        }
        refuse(
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support \
             resize",
        )
    }
}

impl Plugin for PersistentVolumeClaimResize {
    fn name(&self) -> &'static str {
        "PersistentVolumeClaimResize"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == Phase::Validating
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
    fn claims_grow_with_a_class_that_allows_it() {
        let class = |name: &str, grows: bool| json!({"metadata": {"name": name}, "allowVolumeExpansion": grows});
        let few = Few::default()
            .with::<StorageClass>(class("elastic", true))
            .with::<StorageClass>(class("fixed", false));
        let plugin = PersistentVolumeClaimResize { objects: few.lister() };
        let claim = |class: &str, size: &str, phase: &str| -> PersistentVolumeClaim {
            let spec = json!({"storageClassName": class, "resources": {"requests": {"storage": size}}});
            object(json!({"metadata": {"name": "c"}, "spec": spec, "status": {"phase": phase}}))
        };
        let update = |class: &str, size: &str, phase: &str| {
            let request = Request::update::<PersistentVolumeClaim>();
            request
                .updated(&plugin, &claim(class, "1Gi", phase), claim(class, size, phase))
                .map(drop)
        };
        assert_eq!(update("elastic", "2Gi", "Bound"), Ok(()));
        assert_eq!(update("fixed", "1Gi", "Bound"), Ok(()));
        let refused = update("fixed", "2Gi", "Bound").unwrap_err();
        assert!(
            refused.contains("only dynamically provisioned pvc can be resized"),
            "{refused}"
        );
        assert!(update("", "2Gi", "Bound").is_err());
        let refused = update("elastic", "2Gi", "Pending").unwrap_err();
        assert!(
            refused.ends_with("Only bound persistent volume claims can be expanded"),
            "{refused}"
        );
    }
}
