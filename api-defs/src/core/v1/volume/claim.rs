//! Volumes that refer to claims.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use crate::core::v1::PersistentVolumeClaimSpec;

/// A volume that refers to a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimVolumeSource {
    /// Name of the PersistentVolumeClaim in the pod's namespace.
    #[field(proto = 1, keep)]
    pub claim_name: String,
    /// True if all mounts are read-only.
    #[field(proto = 2)]
    pub read_only: bool,
}

/// A claim that is created for a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralVolumeSource {
    /// Template of the claim, which is named POD-VOLUME and owned by the pod. Required. Immutable.
    #[field(proto = 1)]
    pub volume_claim_template: Option<PersistentVolumeClaimTemplate>,
}

/// Template of claims that are created for pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimTemplate {
    /// Labels and annotations of the claim. Other metadata is not allowed.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired storage of the claim.
    #[field(proto = 2, keep)]
    pub spec: PersistentVolumeClaimSpec,
}
