//! Classes of volume attributes.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use super::parameters::{check_parameters, check_provisioner};

/// Attributes of volumes, such as performance, that can change while a volume is in use: the claim then names another
/// class.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1",
    short("vac"),
    cluster,
    returns_deleted,
    strategy
)]
#[resource(
    column(name),
    column(
        name = "DriverName",
        type = "string",
        doc = "The driver of the class.",
        path = "driverName"
    ),
    column(age)
)]
pub struct VolumeAttributesClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Name of the storage driver. Immutable.
    #[field(proto = 2, keep)]
    pub driver_name: String,
    /// Parameters for the driver, at most 512. Immutable.
    #[field(proto = 3)]
    pub parameters: BTreeMap<String, String>,
}

impl Strategy for VolumeAttributesClass {
    fn validate(&self, errors: &mut FieldErrors) {
        check_provisioner("driverName", &self.driver_name, errors);
        check_parameters(&self.parameters, errors);
        if self.parameters.is_empty() {
            errors.required("parameters", "must contain at least one key/value pair");
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.driver_name != old.driver_name {
            errors.forbidden("driverName", "updates to driverName are forbidden.");
        }
        if self.parameters != old.parameters {
            errors.forbidden("parameters", "updates to parameters are forbidden.");
        }
    }
}
