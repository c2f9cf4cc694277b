//! Settings of volumes.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;

use super::parameters::{check_parameters, check_provisioner};

/// Settings of volumes, such as speed, that can be changed while a volume is in use by letting its claim name another
/// class.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1",
    short("vac"),
    cluster,
    returns_deleted,
    rules
)]
#[resource(
    column(name),
    column(
        name = "DriverName",
        type = "string",
        doc = "The driver that understands it.",
        path = "driverName"
    ),
    column(age)
)]
pub struct VolumeAttributesClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The storage driver that understands the settings. Cannot change.
    #[field(proto = 2, keep)]
    pub driver_name: String,
    /// The settings, at most 512. Cannot change.
    #[field(proto = 3)]
    pub parameters: BTreeMap<String, String>,
}

impl Rules for VolumeAttributesClass {
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
