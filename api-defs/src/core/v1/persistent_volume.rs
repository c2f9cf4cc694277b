//! Persistent volumes.

mod check;
mod columns;
mod driver_source;
mod source;
mod source_check;
mod warnings;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::{GoValue, diff};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::NodeSelector;
use crate::core::v1::ObjectReference;
use crate::core::v1::ResourceList;
use crate::core::v1::new_node_label;

pub use driver_source::{
    AzureFilePersistentVolumeSource, CSIPersistentVolumeSource, CephFSPersistentVolumeSource,
    CinderPersistentVolumeSource, FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource,
    ISCSIPersistentVolumeSource, LocalVolumeSource, RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource,
    StorageOSPersistentVolumeSource,
};
pub use source::PersistentVolumeSource;

pub(super) use check::{VOLUME_MODES, class_problems};
pub(super) use columns::text_or_unset;

use super::resource_list::round_up_to_milli;

/// A piece of storage of the cluster that claims can be bound to. Created by an administrator, or dynamically for a
/// storage class.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    short("pv"),
    cluster,
    status,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Capacity", type = "string", doc = "Capacity.", with = columns::capacity),
    column(name = "Access Modes", type = "string", doc = "Access modes.", with = columns::access_modes),
    column(name = "Reclaim Policy", type = "string", doc = "Reclaim policy.", path = "spec.persistentVolumeReclaimPolicy"),
    column(name = "Status", type = "string", doc = "Phase of the volume.", with = columns::status),
    column(name = "Claim", type = "string", doc = "The claim it is bound to.", with = columns::claim),
    column(name = "StorageClass", type = "string", doc = "Its storage class.", with = columns::storage_class),
    column(name = "VolumeAttributesClass", type = "string", doc = "VolumeAttributesClass of the volume.", with = columns::attributes_class),
    column(name = "Reason", type = "string", doc = "Reason of the failure.", path = "status.reason"),
    column(age),
    column(name = "VolumeMode", type = "string", doc = "Mode of the volume: Filesystem or Block.", priority = 1, with = columns::volume_mode)
)]
pub struct PersistentVolume {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Capacity, source and access modes of the storage.
    #[field(proto = 2)]
    pub spec: PersistentVolumeSpec,
    /// Phase of the volume.
    #[field(proto = 3)]
    pub status: PersistentVolumeStatus,
}

/// Capacity, source and access modes of a piece of storage.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeSpec {
    /// Capacity of the volume, under the key storage.
    #[field(proto = 1, go_type = "ResourceList")]
    pub capacity: ResourceList,
    /// Storage backend of the volume.
    #[field(inline, proto = 2)]
    pub persistent_volume_source: PersistentVolumeSource,
    /// Access modes of the volume: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
    #[field(proto = 3, list_type = atomic, known("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"), go_type = "[]PersistentVolumeAccessMode")]
    pub access_modes: Vec<String>,
    /// Claim that the volume is bound to or, if set beforehand, reserved for. The binding is complete after the claim
    /// names the volume, too.
    #[field(proto = 4, granular)]
    pub claim_ref: Option<ObjectReference>,
    /// Treatment of the volume after its claim is deleted: Retain, the default of manually created volumes; Delete, the
    /// default of dynamically provisioned volumes; or Recycle, which is deprecated.
    #[field(
        proto = 5,
        known("Recycle", "Delete", "Retain"),
        go_type = "PersistentVolumeReclaimPolicy"
    )]
    pub persistent_volume_reclaim_policy: String,
    /// Storage class of the volume. Empty for none.
    #[field(proto = 6)]
    pub storage_class_name: String,
    /// Mount options. Not validated: the mount fails if an option is invalid.
    #[field(proto = 7, list_type = atomic)]
    pub mount_options: Vec<String>,
    /// Mode of the volume: Filesystem (the default), or Block for a raw block device.
    #[field(proto = 8, known("Block", "Filesystem"), go_type = "PersistentVolumeMode")]
    pub volume_mode: Option<String>,
    /// Nodes that can access the volume. All nodes when absent.
    #[field(proto = 9)]
    pub node_affinity: Option<VolumeNodeAffinity>,
    /// VolumeAttributesClass of the volume.
    #[field(proto = 10)]
    pub volume_attributes_class_name: Option<String>,
}

/// Nodes that can access a volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeNodeAffinity {
    /// Requirements that a node must satisfy.
    #[field(proto = 1)]
    pub required: Option<NodeSelector>,
}

impl VolumeNodeAffinity {
    /// Replaces deprecated labels by the labels that `new` uses instead.
    fn with_new_labels(&self, new: Option<&Self>) -> Self {
        let mut renamed = self.clone();
        let (Some(own), Some(new)) = (&mut renamed.required, new.and_then(|new| new.required.as_ref())) else {
            return renamed;
        };
        for (own, new) in own.node_selector_terms.iter_mut().zip(&new.node_selector_terms) {
            let expressions = own.match_expressions.iter_mut().zip(&new.match_expressions);
            let fields = own.match_fields.iter_mut().zip(&new.match_fields);
            for (own, new) in expressions.chain(fields) {
                // As in kube-apiserver, a label that has no replacement may become empty, which another rule refuses.
                if new_node_label(&own.key).unwrap_or_default() == new.key {
                    own.key.clone_from(&new.key);
                }
            }
        }
        renamed
    }
}

/// Observed state of a persistent volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeStatus {
    /// Phase: Pending, Available, Bound, Released after the claim was deleted, or Failed if reclaiming failed.
    #[field(
        proto = 1,
        known("Pending", "Available", "Bound", "Released", "Failed"),
        go_type = "PersistentVolumePhase"
    )]
    pub phase: String,
    /// Human-readable reason of the phase.
    #[field(proto = 2)]
    pub message: String,
    /// Short CamelCase reason of a failure.
    #[field(proto = 3)]
    pub reason: String,
    /// Time of the last change of the phase, set by the server.
    #[field(proto = 4)]
    pub last_phase_transition_time: Option<Time>,
}

/// Initial phase of a volume.
const PENDING: &str = "Pending";

impl Strategy for PersistentVolume {
    fn set_defaults(&mut self) {
        if self.status.phase.is_empty() {
            PENDING.clone_into(&mut self.status.phase);
        }
        let spec = &mut self.spec;
        round_up_to_milli(&mut spec.capacity);
        if spec.persistent_volume_reclaim_policy.is_empty() {
            "Retain".clone_into(&mut spec.persistent_volume_reclaim_policy);
        }
        spec.volume_mode.get_or_insert_with(|| "Filesystem".to_owned());
        spec.persistent_volume_source.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.status = PersistentVolumeStatus {
            phase: PENDING.to_owned(),
            last_phase_transition_time: Some(context.now),
            ..PersistentVolumeStatus::default()
        };
    }

    fn prepare_for_status_update(&mut self, context: &Context<'_>, old: &Self) {
        let (new, old) = (&mut self.status, &old.status);
        let reported = new.last_phase_transition_time;
        if new.phase == old.phase {
            new.last_phase_transition_time = reported.or(old.last_phase_transition_time);
        } else if reported.is_none() || reported == old.last_phase_transition_time {
            new.last_phase_transition_time = Some(context.now);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&self.metadata.name, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check_update(&old.spec, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        warnings::of(self)
    }
}

impl StrategyExtensions for PersistentVolume {
    // kube-apiserver validates an updated volume twice, so it reports each error twice.
    const UPDATE_ORDER: &'static [UpdateStep] = &[
        UpdateStep::Metadata,
        UpdateStep::Object,
        UpdateStep::Metadata,
        UpdateStep::Object,
        UpdateStep::Change,
    ];
}

impl PersistentVolumeSpec {
    fn check_update(&self, old: &Self, errors: &mut FieldErrors) {
        let new_source = self
            .persistent_volume_source
            .without_new_expand_secret(&old.persistent_volume_source);
        if new_source != old.persistent_volume_source {
            let detail = format!(
                "spec.persistentvolumesource is immutable after creation\n{}",
                diff(&old.persistent_volume_source, &new_source)
            );
            errors.forbidden("spec.persistentvolumesource", detail);
        }
        if self.volume_mode != old.volume_mode {
            errors.invalid("volumeMode", GoValue(&self.volume_mode), "field is immutable");
        }
        if let Some(affinity) = &old.node_affinity
            && self.node_affinity.as_ref() != Some(&affinity.with_new_labels(self.node_affinity.as_ref()))
        {
            let problem = "field is immutable, except for updating from beta label to GA";
            errors.invalid("nodeAffinity", GoValue(&self.node_affinity), problem);
        }
        if old.volume_attributes_class_name.is_some() && self.volume_attributes_class_name.is_none() {
            let detail = "update from non-nil value to nil is forbidden";
            errors.forbidden("spec.volumeAttributesClassName", detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_of_nodes_may_get_their_new_names() {
        let volume = |label: &str| -> PersistentVolume {
            let requirement = json!({"key": label, "operator": "In", "values": ["z"]});
            let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}});
            serde_json::from_value(json!({
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "v"},
                "spec": {"nodeAffinity": affinity},
            }))
            .unwrap()
        };
        let refused = |old: &str, new: &str| {
            let mut errors = FieldErrors::default();
            let old = volume(old);
            volume(new).spec.check_update(&old.spec, &mut errors);
            errors.causes().into_iter().map(|cause| cause.field).collect::<Vec<_>>()
        };
        let beta = "failure-domain.beta.kubernetes.io/zone";
        for (old, new, expected) in [
            (beta, "topology.kubernetes.io/zone", vec![]),
            (beta, "topology.kubernetes.io/region", vec!["nodeAffinity"]),
            (beta, "", vec!["nodeAffinity"]),
            ("disk", "", vec![]),
            ("disk", "size", vec!["nodeAffinity"]),
        ] {
            assert_eq!(refused(old, new), expected, "{old} {new}");
        }
    }
}
