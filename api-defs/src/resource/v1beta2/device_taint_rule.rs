//! Marks for devices from outside.

use planesmith_machinery::meta::Condition;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use super::DeviceTaint;

/// Marks devices from outside of their slices, so that administrators can take them out of use.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1beta2",
    cluster,
    status,
    generation,
    returns_deleted,
    rules
)]
#[resource(storage_version = crate::resource::v1alpha3::DeviceTaintRule)]
pub struct DeviceTaintRule {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The selected devices and their taint.
    #[field(proto = 2, keep)]
    pub spec: DeviceTaintRuleSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: DeviceTaintRuleStatus,
}

/// The devices that a rule selects and the taint they receive.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceTaintRuleSpec {
    /// The devices; none when absent, all when empty.
    #[field(proto = 1)]
    pub device_selector: Option<DeviceTaintSelector>,
    /// The mark.
    #[field(proto = 2, expected)]
    pub taint: DeviceTaint,
}

/// Observed state of a rule.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceTaintRuleStatus {
    /// Conditions, for example about the progress of the eviction; at most 8.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

/// Devices; all fields that are set must agree.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceTaintSelector {
    /// The driver of the devices.
    #[field(proto = 2)]
    pub driver: Option<String>,
    /// The pool of the devices.
    #[field(proto = 3)]
    pub pool: Option<String>,
    /// The name of a device.
    #[field(proto = 4)]
    pub device: Option<String>,
}

impl Rules for DeviceTaintRule {
    fn default_values(&mut self) {
        self.spec.taint.time_added.get_or_insert_with(Time::now);
    }
}
