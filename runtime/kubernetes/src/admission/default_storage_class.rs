//! Sets the default class on claims that name none.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::PersistentVolumeClaim;
use planesmith_api_defs::storage::v1::StorageClass;
use planesmith_machinery::status::ApiResult;

use super::newest_class::newest_default;

/// Gives new claims the default class.
pub(super) struct DefaultStorageClass {
    pub(super) objects: Arc<dyn Lister>,
}

impl DefaultStorageClass {
    fn fill(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        let claim = objects.new_as_mut::<PersistentVolumeClaim>();
        // An empty name is a choice, too: no class.
        let Some(claim) = claim.filter(|claim| attributes.subresource.is_empty() && claim.storage_class().is_none())
        else {
            return Ok(());
        };
        claim.spec.storage_class_name = newest_default(&*self.objects, StorageClass::is_default)?;
        Ok(())
    }
}

impl Plugin for DefaultStorageClass {
    fn name(&self) -> &'static str {
        "DefaultStorageClass"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.fill(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    #[test]
    fn claims_without_a_class_get_the_default() {
        let annotations = json!({"storageclass.kubernetes.io/is-default-class": "true"});
        let class = json!({"metadata": {"name": "fast", "annotations": annotations}});
        let other = json!({"metadata": {"name": "slow"}});
        let few = Few::default().with::<StorageClass>(class).with::<StorageClass>(other);
        let plugin = DefaultStorageClass { objects: few.lister() };
        let create = |claim: Value| {
            let claim: PersistentVolumeClaim = object(claim);
            Request::create::<PersistentVolumeClaim>()
                .created(&plugin, claim)
                .unwrap()
                .spec
                .storage_class_name
        };
        assert_eq!(create(json!({})).as_deref(), Some("fast"));
        assert_eq!(create(json!({"spec": {"storageClassName": ""}})).as_deref(), Some(""));
        let beta = json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}});
        assert_eq!(create(beta), None);
    }
}
