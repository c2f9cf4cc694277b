//! Claims embedded in other objects.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use super::PENDING;
use crate::core::v1::{PersistentVolumeClaimSpec, PersistentVolumeClaimStatus};

/// A claim embedded in another object. It has kind and apiVersion like a standalone object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "PersistentVolumeClaim")]
pub struct EmbeddedPersistentVolumeClaim {
    /// Always PersistentVolumeClaim. Optional.
    #[field(optional)]
    pub kind: String,
    /// Always v1. Optional.
    #[field(optional)]
    pub api_version: String,
    /// Name, labels and annotations of the claim.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired storage: its amount, class and access modes.
    #[field(proto = 2)]
    pub spec: PersistentVolumeClaimSpec,
    /// The bound volume's properties and the progress of a resize.
    #[field(proto = 3)]
    pub status: PersistentVolumeClaimStatus,
}

impl EmbeddedPersistentVolumeClaim {
    /// Sets kind, apiVersion and the defaults of a standalone claim.
    pub(crate) fn set_defaults(&mut self) {
        "PersistentVolumeClaim".clone_into(&mut self.kind);
        "v1".clone_into(&mut self.api_version);
        if self.status.phase.is_empty() {
            PENDING.clone_into(&mut self.status.phase);
        }
        self.spec.set_defaults();
    }
}
