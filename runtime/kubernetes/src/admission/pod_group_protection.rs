//! Protects groups of pods that are in use: a controller removes the finalizer once no pod refers to them.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::scheduling::v1alpha2::PodGroup;

const FINALIZER: &str = "scheduling.k8s.io/podgroup-protection";

/// Adds the finalizer to new groups of pods.
pub(super) struct PodGroupProtection;

impl Plugin for PodGroupProtection {
    fn name(&self) -> &'static str {
        "PodGroupProtection"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        if attributes.subresource.is_empty()
            && let Some(group) = objects.new_as_mut::<PodGroup>()
        {
            let finalizers = &mut group.metadata.finalizers;
            if !finalizers.iter().any(|own| own == FINALIZER) {
                finalizers.push(FINALIZER.to_owned());
            }
        }
        decided(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::Request;

    #[test]
    fn a_group_is_protected_once() {
        let create = |group| {
            Request::create::<PodGroup>()
                .created(&PodGroupProtection, group)
                .unwrap()
        };
        let group = create(PodGroup::default());
        assert_eq!(group.metadata.finalizers, [FINALIZER]);
        assert_eq!(create(group.clone()), group);
    }
}
