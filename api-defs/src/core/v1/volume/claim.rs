//! Volumes behind claims.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use crate::core::v1::PersistentVolumeClaimSpec;

/// A volume that a claim of the namespace was bound to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimVolumeSource {
    /// Name of the claim.
    #[field(proto = 1, keep)]
    pub claim_name: String,
    /// Mounts the volume read-only.
    #[field(proto = 2)]
    pub read_only: bool,
}

/// A volume that lives as long as the pod, from a claim that is made for it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralVolumeSource {
    /// What the claim looks like; it is called after the pod and the volume, with a dash between.
    #[field(proto = 1)]
    pub volume_claim_template: Option<PersistentVolumeClaimTemplate>,
}

/// What a claim looks like that is made for a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimTemplate {
    /// Labels and annotations of the claim; nothing else may be set.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// What storage the claim asks for. Copied as it is.
    #[field(proto = 2, keep)]
    pub spec: PersistentVolumeClaimSpec,
}
