//! Resource slices: available devices.

mod node_choice;

use planesmith_machinery::environment::Environment;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::selector::{FieldLabels, FieldRefusal};
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::value::Value;
use planesmith_machinery::{Resource, Struct};

use super::list::check_named;
use super::names::check_pool;
use crate::core::v1::check_driver_name;

use super::CounterSet;
use super::Device;
use crate::core::v1::NodeSelector;

/// Devices that a driver provides. A pool of devices consists of one or several slices.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1",
    cluster,
    generation,
    returns_deleted,
    selectable("spec.driver", "spec.nodeName"),
    strategy,
    strategy_extensions
)]
#[resource(column(name), column(name = "Node", type = "string", doc = "The node of its devices.", with = node_cell), column(name = "Driver", type = "string", doc = "The driver of its devices.", path = "spec.driver"), column(name = "Pool", type = "string", doc = "The pool it belongs to.", path = "spec.pool.name"), column(age))]
pub struct ResourceSlice {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The driver, the pool and the devices.
    #[field(proto = 2, keep)]
    pub spec: ResourceSliceSpec,
}

/// Devices that a driver provides.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceSliceSpec {
    /// Driver of the devices. Immutable.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Pool that the devices belong to.
    #[field(proto = 2, keep)]
    pub pool: ResourcePool,
    /// Name of the node that the devices belong to. Immutable.
    #[field(proto = 3)]
    pub node_name: Option<String>,
    /// Nodes that can access the devices.
    #[field(proto = 4)]
    pub node_selector: Option<NodeSelector>,
    /// True if all nodes can access the devices.
    #[field(proto = 5)]
    pub all_nodes: Option<bool>,
    /// Devices, at most 128, or 64 if some of them have taints or consume counters.
    #[field(proto = 6, list_type = atomic)]
    pub devices: Vec<Device>,
    /// True if each device specifies the nodes that can access it.
    #[field(proto = 7)]
    pub per_device_node_selection: Option<bool>,
    /// Counters that several devices of the pool share.
    #[field(proto = 8, list_type = atomic)]
    pub shared_counters: Vec<CounterSet>,
}

/// A pool of devices.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourcePool {
    /// Name of the pool, often that of a node.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Generation of the pool, which increases with every change. Slices of older generations are ignored.
    #[field(proto = 2, keep)]
    pub generation: i64,
    /// Number of slices of the pool in this generation.
    #[field(proto = 3, keep)]
    pub resource_slice_count: i64,
}

/// Maximum number of devices of a slice.
const MAX_DEVICES: usize = 128;

/// Maximum number of devices of a slice in which some have taints or consume counters.
const MAX_ADVANCED_DEVICES: usize = 64;

/// Maximum number of counter sets of a slice.
const MAX_COUNTER_SETS: usize = 8;

fn node_cell(slice: &ResourceSlice) -> Cell {
    Cell::Text(slice.spec.node_name.clone().unwrap_or_default())
}

impl Strategy for ResourceSlice {
    fn prepare_for_create(&mut self, context: &Context<'_>) {
        for device in &mut self.spec.devices {
            device.drop_alpha(None, context.features);
        }
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        for device in &mut self.spec.devices {
            device.drop_alpha(old.spec.device(&device.name), context.features);
        }
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let driver = &self.spec.driver;
        if *driver == driver.to_lowercase() {
            return Vec::new();
        }
        vec![format!(
            "spec.driver: driver names should be lowercase; {} contains uppercase characters",
            quote(driver)
        )]
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
    }
}

impl StrategyExtensions for ResourceSlice {
    const FIELD_LABELS: FieldLabels = FieldLabels {
        aliases: &[],
        refusal: FieldRefusal::KindAndField,
        ..FieldLabels::NONE
    };

    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn set_server_defaults(&mut self, environment: &Environment) {
        for device in &mut self.spec.devices {
            for taint in &mut device.taints {
                taint.set_server_defaults(environment);
            }
        }
    }
}

impl ResourceSliceSpec {
    fn device(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// Reports errors in the spec. Some parts that `old` contains are not checked again.
    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        check_driver_name("driver", &self.driver, errors);
        self.pool.check(&mut errors.at("pool"));
        if let Some(old) = old {
            self.check_unchanged(old, errors);
        }
        self.check_nodes(errors);
        let has_counters = !self.shared_counters.is_empty() || errors.was_sent_empty("sharedCounters");
        if has_counters && (!self.devices.is_empty() || errors.was_sent_empty("devices")) {
            errors.invalid("", "", "only one of `sharedCounters` or `devices` is allowed");
        }
        let max = match self.devices.iter().any(Device::is_advanced) {
            true => MAX_ADVANCED_DEVICES,
            false => MAX_DEVICES,
        };
        let per_device = self.per_device_node_selection == Some(true);
        check_named(
            "devices",
            &self.devices,
            max,
            |device| &device.name,
            errors,
            |device, errors| {
                let old = old.and_then(|old| old.device(&device.name));
                device.check(old, per_device, errors);
            },
        );
        check_named(
            "sharedCounters",
            &self.shared_counters,
            MAX_COUNTER_SETS,
            |set| &set.name,
            errors,
            |set, errors| set.check(errors),
        );
    }

    fn check_unchanged(&self, old: &Self, errors: &mut FieldErrors) {
        let fields: [(&str, &dyn Value, bool); 3] = [
            ("pool.name", &self.pool.name, self.pool.name == old.pool.name),
            ("driver", &self.driver, self.driver == old.driver),
            ("nodeName", &self.node_name, self.node_name == old.node_name),
        ];
        for (field, value, same) in fields {
            if !same {
                errors.invalid(field, value, "field is immutable");
            }
        }
    }
}

impl ResourcePool {
    fn check(&self, errors: &mut FieldErrors) {
        check_pool("name", &self.name, errors);
        if self.resource_slice_count <= 0 {
            errors.invalid(
                "resourceSliceCount",
                self.resource_slice_count,
                "must be greater than zero",
            );
        }
        if self.generation < 0 {
            errors.invalid("generation", self.generation, "must be greater than or equal to zero");
        }
    }
}
