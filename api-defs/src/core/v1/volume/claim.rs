//! Volumes behind claims.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::validation::{check_annotations, check_labels};
use planesmith_machinery::value::Struct as _;

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

impl PersistentVolumeClaimTemplate {
    /// Reports what is wrong with the template: of its metadata only labels and annotations count.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        {
            let mut errors = errors.at("metadata");
            check_annotations("annotations", &self.metadata.annotations, &mut errors);
            check_labels("labels", &self.metadata.labels, &mut errors);
            for (index, field) in self.metadata.facts().fields.iter().enumerate() {
                let counts = matches!(field.name, "annotations" | "labels");
                if !counts && !self.metadata.field(index).view().is_zero() {
                    errors.forbidden(field.name, "cannot be set");
                }
            }
        }
    }
}
