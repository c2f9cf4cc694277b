//! Persistent volume claims.

mod check;
mod columns;
mod data_source;
mod embedded;
mod spec;
mod status;
mod update_check;

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep};

pub use embedded::EmbeddedPersistentVolumeClaim;
pub use spec::{PersistentVolumeClaimSpec, VolumeResourceRequirements};
pub use status::{ModifyVolumeStatus, PersistentVolumeClaimCondition, PersistentVolumeClaimStatus};

use super::resource_list::round_up_to_milli;
use super::storage_class_name::BETA_CLASS;

/// A request for storage, which is bound to a persistent volume and which pods of the namespace can mount.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    short("pvc"),
    status,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Status", type = "string", doc = "Phase of the claim.", with = columns::status),
    column(name = "Volume", type = "string", doc = "The volume it is bound to.", path = "spec.volumeName"),
    column(name = "Capacity", type = "string", doc = "Capacity of the volume.", with = columns::capacity),
    column(name = "Access Modes", type = "string", doc = "Access modes of the volume.", with = columns::access_modes),
    column(name = "StorageClass", type = "string", doc = "The storage class.", with = columns::storage_class),
    column(name = "VolumeAttributesClass", type = "string", doc = "Desired VolumeAttributesClass.", with = columns::attributes_class),
    column(age),
    column(name = "VolumeMode", type = "string", doc = "Mode of the volume: Filesystem or Block.", priority = 1, with = columns::volume_mode)
)]
pub struct PersistentVolumeClaim {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired storage: its amount, class and access modes.
    #[field(proto = 2)]
    pub spec: PersistentVolumeClaimSpec,
    /// The bound volume's properties and the progress of a resize.
    #[field(proto = 3)]
    pub status: PersistentVolumeClaimStatus,
}

impl PersistentVolumeClaim {
    /// Returns the storage class that the claim names. An empty name counts as set and stands for no class.
    #[must_use]
    pub fn storage_class(&self) -> Option<&str> {
        let annotated = self.metadata.annotations.get(BETA_CLASS);
        annotated.or(self.spec.storage_class_name.as_ref()).map(String::as_str)
    }
}

/// Initial phase of a claim.
const PENDING: &str = "Pending";

impl Strategy for PersistentVolumeClaim {
    fn set_defaults(&mut self) {
        if self.status.phase.is_empty() {
            PENDING.clone_into(&mut self.status.phase);
        }
        round_up_to_milli(&mut self.status.capacity);
        round_up_to_milli(&mut self.status.allocated_resources);
        self.spec.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.status = PersistentVolumeClaimStatus {
            phase: PENDING.to_owned(),
            ..PersistentVolumeClaimStatus::default()
        };
        self.spec.prepare_data_source(None, context.features);
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        self.spec.prepare_data_source(Some(&old.spec), context.features);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        update_check::check(self, old, errors);
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.status.check(errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.metadata.annotations.contains_key(BETA_CLASS) {
            warnings.push(format!(
                "metadata.annotations[{BETA_CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
            ));
        }
        warnings.extend(self.spec.warnings("spec"));
        warnings
    }
}

impl StrategyExtensions for PersistentVolumeClaim {
    const UPDATE_ORDER: &'static [UpdateStep] = &[
        UpdateStep::MetadataChange,
        UpdateStep::Metadata,
        UpdateStep::Object,
        UpdateStep::Change,
    ];
}
