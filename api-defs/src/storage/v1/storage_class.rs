//! Storage classes.

mod columns;
mod topology;

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::value::Value;

use super::parameters::{check_parameters, check_provisioner};
use crate::core::v1::TopologySelectorTerm;

/// A class of storage that claims can request by name, and the parameters of dynamic provisioning.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1",
    short("sc"),
    cluster,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(column(name = "Name", type = "string", format = "name", doc = "Name of the class; the default class is marked.", with = columns::name), column(name = "Provisioner", type = "string", doc = "The provisioner.", path = "provisioner"), column(name = "ReclaimPolicy", type = "string", doc = "Reclaim policy of the volumes.", with = columns::reclaim_policy), column(name = "VolumeBindingMode", type = "string", doc = "Volume binding mode.", with = columns::binding_mode), column(name = "AllowVolumeExpansion", type = "string", doc = "True if claims can be resized.", with = columns::expansion), column(age))]
pub struct StorageClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Name of the storage driver that provisions the volumes. Immutable.
    #[field(proto = 2, keep)]
    pub provisioner: String,
    /// Parameters for the provisioner, which documents them. Immutable.
    #[field(proto = 3)]
    pub parameters: BTreeMap<String, String>,
    /// Treatment of dynamically provisioned volumes after their claim is deleted: Delete (the default) or Retain.
    /// Immutable.
    #[field(
        proto = 4,
        known("Recycle", "Delete", "Retain"),
        go_type = "v1.PersistentVolumeReclaimPolicy"
    )]
    pub reclaim_policy: Option<String>,
    /// Mount options of the volumes. Not validated: the mount fails if an option is invalid.
    #[field(proto = 5, list_type = atomic)]
    pub mount_options: Vec<String>,
    /// True if claims of the class can be resized.
    #[field(proto = 6)]
    pub allow_volume_expansion: Option<bool>,
    /// Time of binding claims and provisioning volumes: Immediate (the default), or WaitForFirstConsumer, after the
    /// first pod that uses the claim has been assigned a node. Immutable.
    #[field(proto = 7, known("Immediate", "WaitForFirstConsumer"), go_type = "VolumeBindingMode")]
    pub volume_binding_mode: Option<String>,
    /// Topologies in which volumes can be provisioned, by node labels. All when empty.
    #[field(proto = 8, list_type = atomic)]
    pub allowed_topologies: Vec<TopologySelectorTerm>,
}

/// Annotations that mark the default class.
const DEFAULT_MARKS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

impl StorageClass {
    /// True if the class is the default for claims that name no class.
    #[must_use]
    pub fn is_default(&self) -> bool {
        let annotations = &self.metadata.annotations;
        let mut marks = DEFAULT_MARKS.iter();
        marks.any(|mark| annotations.get(*mark).is_some_and(|value| value == "true"))
    }
}

/// Legal reclaim policies.
const RECLAIM_POLICIES: [&str; 2] = ["Delete", "Retain"];

/// Legal volume binding modes.
const BINDING_MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];

/// Sets the default reclaim policy and binding mode.
pub(crate) fn default_policies(reclaim_policy: &mut Option<String>, binding_mode: &mut Option<String>) {
    reclaim_policy.get_or_insert_with(|| RECLAIM_POLICIES[0].to_owned());
    binding_mode.get_or_insert_with(|| BINDING_MODES[0].to_owned());
}

impl Strategy for StorageClass {
    fn set_defaults(&mut self) {
        default_policies(&mut self.reclaim_policy, &mut self.volume_binding_mode);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        topology::warnings(&self.allowed_topologies)
    }

    fn validate(&self, errors: &mut FieldErrors) {
        check_provisioner("provisioner", &self.provisioner, errors);
        check_parameters(&self.parameters, errors);
        match self.reclaim_policy.as_deref() {
            None | Some("") => {}
            Some(policy) if RECLAIM_POLICIES.contains(&policy) => {}
            Some(policy) => errors.not_supported("reclaimPolicy", policy, &RECLAIM_POLICIES),
        }
        match self.volume_binding_mode.as_deref() {
            None => errors.required("volumeBindingMode", ""),
            Some(mode) if BINDING_MODES.contains(&mode) => {}
            Some(mode) => errors.not_supported("volumeBindingMode", mode, &BINDING_MODES),
        }
        topology::check(&self.allowed_topologies, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        const IMMUTABLE: &str = "field is immutable";
        if self.parameters != old.parameters {
            errors.invalid("parameters", GoValue(&self.parameters), IMMUTABLE);
        }
        let fields: [(&str, &dyn Value, bool); 3] = [
            ("provisioner", &self.provisioner, self.provisioner == old.provisioner),
            (
                "reclaimPolicy",
                &self.reclaim_policy,
                self.reclaim_policy == old.reclaim_policy,
            ),
            (
                "volumeBindingMode",
                &self.volume_binding_mode,
                self.volume_binding_mode == old.volume_binding_mode,
            ),
        ];
        for (field, value, same) in fields {
            if !same {
                errors.invalid(field, value, IMMUTABLE);
            }
        }
    }
}

impl StrategyExtensions for StorageClass {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}
