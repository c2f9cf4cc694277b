//! Requests for devices.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::field_error::Json;
use planesmith_machinery::names;
use planesmith_machinery::quantity::Quantity;

use super::list::{check_each, check_named};
use super::names::{check_label, check_label_name, check_required_subdomain};

use super::DeviceSelector;

/// A request for devices: either an exact request, or a list of alternatives of which the first available one is used.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceRequest {
    /// Name of the request, which constraints, configurations and containers refer to.
    #[field(proto = 1, keep)]
    pub name: String,
    /// An exact request.
    #[field(proto = 2)]
    pub exactly: Option<ExactDeviceRequest>,
    /// Alternative requests in order of preference.
    #[field(proto = 3, list_type = atomic)]
    pub first_available: Vec<DeviceSubRequest>,
}

/// A request for devices of one class.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExactDeviceRequest {
    /// Class of the devices.
    #[field(proto = 1, keep)]
    pub device_class_name: String,
    /// Selectors that a device must match in addition to those of its class.
    #[field(proto = 2, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// Allocation mode: ExactCount for the number of devices in count, All for all matching devices.
    #[field(proto = 3, known("ExactCount", "All"), go_type = "DeviceAllocationMode")]
    pub allocation_mode: String,
    /// Number of devices for ExactCount. 1 when absent.
    #[field(proto = 4)]
    pub count: i64,
    /// True if the devices are accessed for administration, even while others use them. Only in namespaces with the
    /// label resource.kubernetes.io/admin-access.
    #[field(proto = 5)]
    pub admin_access: Option<bool>,
    /// Device taints that the request tolerates.
    #[field(proto = 6, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 7)]
    pub capacity: Option<CapacityRequirements>,
}

/// An alternative request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceSubRequest {
    /// Name of the alternative.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Class of the devices.
    #[field(proto = 2, keep)]
    pub device_class_name: String,
    /// Selectors that a device must match in addition to those of its class.
    #[field(proto = 3, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// Allocation mode: ExactCount for the number of devices in count, All for all matching devices.
    #[field(proto = 4, known("ExactCount", "All"), go_type = "DeviceAllocationMode")]
    pub allocation_mode: String,
    /// Number of devices for ExactCount. 1 when absent.
    #[field(proto = 5)]
    pub count: i64,
    /// Device taints that the request tolerates.
    #[field(proto = 6, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 7)]
    pub capacity: Option<CapacityRequirements>,
}

/// Requested capacities of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequirements {
    /// Requested amounts by capacity name.
    #[field(proto = 1, go_type = "map[v1.QualifiedName]resource.Quantity")]
    pub requests: BTreeMap<String, Quantity>,
}

/// A device taint that a claim tolerates.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceToleration {
    /// Key of the taint. Any key when empty, with the operator Exists.
    #[field(proto = 1)]
    pub key: String,
    /// Operator: Equal (the default) matches the value, Exists matches any value.
    #[field(
        proto = 2,
        default = "Equal",
        known("Exists", "Equal"),
        go_type = "DeviceTolerationOperator"
    )]
    pub operator: String,
    /// Value of the taint.
    #[field(proto = 3)]
    pub value: String,
    /// Effect of the taint. Any effect when empty.
    #[field(proto = 4, known("None", "NoSchedule", "NoExecute"), go_type = "DeviceTaintEffect")]
    pub effect: String,
    /// Duration in seconds for which the effect NoExecute is tolerated. Unlimited when absent.
    #[field(proto = 5)]
    pub toleration_seconds: Option<i64>,
}

/// Legal allocation modes of a request.
const MODES: [&str; 2] = ["All", "ExactCount"];

/// Legal operators of a toleration.
const OPERATORS: [&str; 2] = ["Equal", "Exists"];

/// Legal effects of a taint.
pub(super) const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// Maximum number of alternatives of a request.
const MAX_ALTERNATIVES: usize = 8;

/// Maximum number of selectors of a request.
const MAX_SELECTORS: usize = 32;

/// Sets the default number of devices.
pub(crate) fn default_amount(mode: &mut String, count: &mut i64) {
    if mode.is_empty() {
        MODES[1].clone_into(mode);
    }
    if mode == MODES[1] && *count == 0 {
        *count = 1;
    }
}

impl DeviceRequest {
    /// Sets the default number of devices.
    pub(super) fn set_defaults(&mut self) {
        if let Some(exactly) = &mut self.exactly {
            default_amount(&mut exactly.allocation_mode, &mut exactly.count);
        }
        for alternative in &mut self.first_available {
            default_amount(&mut alternative.allocation_mode, &mut alternative.count);
        }
    }

    /// Reports errors in a new request.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        const ONE: &str = "exactly one of `exactly` or `firstAvailable` is required";
        check_label("name", &self.name, errors);
        match (&self.exactly, self.first_available.is_empty()) {
            (None, true) => errors.required("", ONE),
            (Some(_), false) => {
                errors.invalid("", Json("null"), format!("{ONE}, but multiple fields are set"));
            }
            (Some(exactly), true) => exactly.check(&mut errors.at("exactly")),
            (None, false) => check_named(
                "firstAvailable",
                &self.first_available,
                MAX_ALTERNATIVES,
                |alternative| &alternative.name,
                errors,
                DeviceSubRequest::check,
            ),
        }
    }
}

impl ExactDeviceRequest {
    fn check(&self, errors: &mut FieldErrors) {
        check_required_subdomain("deviceClassName", &self.device_class_name, errors);
        check_each(
            "selectors",
            &self.selectors,
            MAX_SELECTORS,
            errors,
            |selector, errors| {
                selector.check(false, errors);
            },
        );
        check_amount(&self.allocation_mode, self.count, errors);
        check_device_tolerations(&self.tolerations, errors);
    }
}

impl DeviceSubRequest {
    fn check(&self, errors: &mut FieldErrors) {
        check_label("name", &self.name, errors);
        check_required_subdomain("deviceClassName", &self.device_class_name, errors);
        check_each(
            "selectors",
            &self.selectors,
            MAX_SELECTORS,
            errors,
            |selector, errors| {
                selector.check(false, errors);
            },
        );
        check_amount(&self.allocation_mode, self.count, errors);
        check_device_tolerations(&self.tolerations, errors);
    }
}

fn check_amount(mode: &str, count: i64, errors: &mut FieldErrors) {
    match mode {
        "All" if count != 0 => {
            errors.invalid("count", count, "must not be specified when allocationMode is 'All'");
        }
        "ExactCount" if count <= 0 => errors.invalid("count", count, "must be greater than zero"),
        "All" | "ExactCount" => {}
        _ => errors.not_supported("allocationMode", mode, &MODES),
    }
}

/// Reports errors in the tolerations at `tolerations`.
pub(super) fn check_device_tolerations(tolerations: &[DeviceToleration], errors: &mut FieldErrors) {
    for (index, toleration) in tolerations.iter().enumerate() {
        toleration.check(&mut errors.at_index("tolerations", index));
    }
}

impl DeviceToleration {
    fn check(&self, errors: &mut FieldErrors) {
        if !self.key.is_empty() {
            check_label_name("key", &self.key, errors);
        }
        match self.operator.as_str() {
            "Exists" if !self.value.is_empty() => {
                errors.invalid("value", &self.value, "must be empty for operator `Exists`");
            }
            "Exists" => {}
            "Equal" => {
                for problem in names::label_value(&self.value) {
                    errors.invalid("value", &self.value, problem);
                }
            }
            "" => errors.required("operator", ""),
            other => errors.not_supported("operator", other, &OPERATORS),
        }
        if !self.effect.is_empty() && !EFFECTS.contains(&self.effect.as_str()) {
            errors.not_supported("effect", &self.effect, &EFFECTS);
        }
    }
}
