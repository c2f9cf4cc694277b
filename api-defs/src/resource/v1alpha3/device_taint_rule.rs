//! Taints of devices that administrators set.

use planesmith_machinery::age;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::Condition;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::time::Time;
use planesmith_machinery::validation::check_conditions;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::check_driver_name;
use crate::resource::v1::{check_label, check_mark, check_pool};

/// Adds a taint to devices independently of their slices, so that administrators can take them out of service.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1alpha3",
    cluster,
    status,
    status_resets("metadata"),
    generation,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Key", type = "string", doc = "Key of the taint.", path = "spec.taint.key"),
    column(name = "Value", type = "string", doc = "Value of the taint.", path = "spec.taint.value"),
    column(name = "Effect", type = "string", doc = "Effect of the taint.", path = "spec.taint.effect"),
    column(name = "TimeAdded", type = "string", doc = "Time since it was set.", with = time_added_cell),
    column(age)
)]
#[resource(deprecated = "resource.k8s.io/v1alpha3 DeviceTaintRule is deprecated in v1.36+, unavailable in v1.39+")]
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

/// A taint of a device, which repels claims.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceTaint {
    /// Key of the taint.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Value of the taint.
    #[field(proto = 2)]
    pub value: String,
    /// Effect of the taint: NoSchedule prevents new allocations, NoExecute also evicts pods that use the device, None
    /// has no effect.
    #[field(
        proto = 3,
        keep,
        known("None", "NoSchedule", "NoExecute"),
        go_type = "DeviceTaintEffect"
    )]
    pub effect: String,
    /// Time when the taint was added, set by the server.
    #[field(proto = 4)]
    pub time_added: Option<Time>,
}

fn time_added_cell(rule: &DeviceTaintRule) -> Cell {
    match &rule.spec.taint.time_added {
        None => Cell::Text(String::new()),
        Some(time) => age::cell(time.timestamp()),
    }
}

/// Maximum number of conditions of a rule.
const MAX_CONDITIONS: usize = 8;

impl Strategy for DeviceTaintRule {
    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        let (new, old) = (&mut self.spec.taint, &old.spec.taint);
        // The time belongs to the effect; tolerationSeconds are counted from it.
        if new.effect != old.effect && new.time_added == old.time_added {
            new.time_added = Some(context.now);
        }
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("status");
        let conditions = &self.status.conditions;
        check_conditions(errors, "conditions", conditions);
        if conditions.len() > MAX_CONDITIONS {
            errors.too_many("conditions", conditions.len(), MAX_CONDITIONS as u64);
        }
    }
}

impl StrategyExtensions for DeviceTaintRule {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn set_server_defaults(&mut self, environment: &Environment) {
        let time = &mut self.spec.taint.time_added;
        time.get_or_insert_with(|| environment.clock.now().into());
    }
}

impl DeviceTaintRuleSpec {
    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        if let Some(selector) = &self.device_selector {
            let errors = &mut *errors.at("deviceSelector");
            if let Some(driver) = &selector.driver {
                check_driver_name("driver", driver, errors);
            }
            if let Some(pool) = &selector.pool {
                check_pool("pool", pool, errors);
            }
            if let Some(device) = &selector.device {
                check_label("device", device, errors);
            }
        }
        let old_effect = old.map(|old| old.taint.effect.as_str());
        let taint = &self.taint;
        check_mark(
            &taint.key,
            &taint.value,
            &taint.effect,
            old_effect,
            &mut errors.at("taint"),
        );
    }
}
