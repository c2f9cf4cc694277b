//! Protects storage that is in use: a controller removes the finalizer once it is unused.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};

/// Protected kinds, and their finalizers.
const PROTECTED: [(&str, &str, &str); 3] = [
    ("", "persistentvolumes", "kubernetes.io/pv-protection"),
    ("", "persistentvolumeclaims", "kubernetes.io/pvc-protection"),
    (
        "storage.k8s.io",
        "volumeattributesclasses",
        "kubernetes.io/vac-protection",
    ),
];

/// Adds finalizers to new volumes, claims and classes of attributes.
pub(super) struct StorageObjectInUseProtection;

impl Plugin for StorageObjectInUseProtection {
    fn name(&self) -> &'static str {
        "StorageObjectInUseProtection"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        let mut protected = PROTECTED.iter();
        let found = protected.find(|(group, resource, _)| attributes.is_for(group, resource));
        if let (Some((.., finalizer)), Some(object)) = (found, objects.new.as_deref_mut())
            && attributes.subresource.is_empty()
        {
            let finalizers = &mut object.meta_mut().finalizers;
            if !finalizers.iter().any(|own| own == finalizer) {
                finalizers.push((*finalizer).to_owned());
            }
        }
        decided(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::{ConfigMap, PersistentVolumeClaim};

    use super::*;
    use crate::admission::testing::Request;

    #[test]
    fn a_claim_is_held_once() {
        let plugin = StorageObjectInUseProtection;
        let create = |claim| {
            Request::create::<PersistentVolumeClaim>()
                .created(&plugin, claim)
                .unwrap()
        };
        let claim = create(PersistentVolumeClaim::default());
        assert_eq!(claim.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
        assert_eq!(create(claim.clone()), claim);
        let other = Request::create::<ConfigMap>()
            .created(&plugin, ConfigMap::default())
            .unwrap();
        assert!(other.metadata.finalizers.is_empty());
    }
}
