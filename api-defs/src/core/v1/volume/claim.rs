//! Volumes behind claims.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use crate::core::v1::PersistentVolumeClaimSpec;

/// Persistent volume claim volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimVolumeSource {
    /// The claim name.
    #[field(proto = 1, keep)]
    pub claim_name: String,
    /// The read only.
    #[field(proto = 2)]
    pub read_only: bool,
}

/// Ephemeral volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralVolumeSource {
    /// The volume claim template.
    #[field(proto = 1)]
    pub volume_claim_template: Option<PersistentVolumeClaimTemplate>,
}

/// Persistent volume claim template.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimTemplate {
    /// The metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The spec.
    #[field(proto = 2, keep)]
    pub spec: PersistentVolumeClaimSpec,
}
