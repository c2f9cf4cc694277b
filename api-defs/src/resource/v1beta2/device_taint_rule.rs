//! Taints of devices that administrators set.

use planesmith_machinery::environment::Environment;
use planesmith_machinery::meta::Condition;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::StrategyExtensions;
use planesmith_machinery::{Resource, Struct};

use super::DeviceTaint;

/// Adds a taint to devices independently of their slices, so that administrators can take them out of service.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1beta2",
    cluster,
    status,
    generation,
    returns_deleted,
    strategy_extensions
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
    /// Selector of the devices. No devices when absent, all when empty.
    #[field(proto = 1)]
    pub device_selector: Option<DeviceTaintSelector>,
    /// The taint to add.
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

/// A selector of devices. All fields that are set must match.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceTaintSelector {
    /// Driver of the devices.
    #[field(proto = 2)]
    pub driver: Option<String>,
    /// Pool of the devices.
    #[field(proto = 3)]
    pub pool: Option<String>,
    /// Name of the device.
    #[field(proto = 4)]
    pub device: Option<String>,
}

impl StrategyExtensions for DeviceTaintRule {
    fn set_server_defaults(&mut self, environment: &Environment) {
        self.spec
            .taint
            .time_added
            .get_or_insert_with(|| environment.clock.now().into());
    }
}
