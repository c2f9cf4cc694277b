//! Claims inside of other objects.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use super::PENDING;
use crate::core::v1::{PersistentVolumeClaimSpec, PersistentVolumeClaimStatus};

/// A claim that another object holds. It says of itself what it is, as objects do that stand alone.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "PersistentVolumeClaim")]
pub struct EmbeddedPersistentVolumeClaim {
    /// Always PersistentVolumeClaim; may be left out.
    #[field(optional)]
    pub kind: String,
    /// Always v1; may be left out.
    #[field(optional)]
    pub api_version: String,
    /// Name, labels and annotations of the claim.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The storage that is asked for: how much, of which class, with which way of access.
    #[field(proto = 2)]
    pub spec: PersistentVolumeClaimSpec,
    /// The bound volume's properties and the progress of a resize.
    #[field(proto = 3)]
    pub status: PersistentVolumeClaimStatus,
}

impl EmbeddedPersistentVolumeClaim {
    /// Fills in what the claim is, and what a claim that stands alone would get.
    pub(crate) fn default_values(&mut self) {
        "PersistentVolumeClaim".clone_into(&mut self.kind);
        "v1".clone_into(&mut self.api_version);
        if self.status.phase.is_empty() {
            PENDING.clone_into(&mut self.status.phase);
        }
        self.spec.set_defaults();
    }
}
