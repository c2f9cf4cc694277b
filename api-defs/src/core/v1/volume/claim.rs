//! Volumes behind claims.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use crate::core::v1::PersistentVolumeClaimSpec;

/// The volume behind a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimVolumeSource {
    /// Name of the PersistentVolumeClaim in the pod's namespace.
    #[field(proto = 1, keep)]
    pub claim_name: String,
    /// Whether all mounts can only read.
    #[field(proto = 2)]
    pub read_only: bool,
}

/// A claim that is made for a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralVolumeSource {
    /// What the claim looks like. It is called after the pod and the volume, with a dash between, and belongs to the
    /// pod. Required, and cannot change.
    #[field(proto = 1)]
    pub volume_claim_template: Option<PersistentVolumeClaimTemplate>,
}

/// What claims look like that are made for pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimTemplate {
    /// Labels and annotations of the claim; nothing else can be given.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// What the claim asks for.
    #[field(proto = 2, keep)]
    pub spec: PersistentVolumeClaimSpec,
}
