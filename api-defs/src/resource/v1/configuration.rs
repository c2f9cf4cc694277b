//! Configuration of devices.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::raw::RawExtension;

use crate::core::v1::check_driver_name;

/// Configuration of a device. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceConfiguration {
    /// Driver-specific configuration.
    #[field(proto = 1)]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Driver-specific configuration.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct OpaqueDeviceConfiguration {
    /// Driver that the configuration is for.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Parameters in the driver's own format: any object, at most 10 KiB.
    #[field(proto = 2, keep)]
    pub parameters: RawExtension,
}

/// Maximum size of the parameters in bytes.
const MAX_PARAMETERS: usize = 10 * 1024;

impl DeviceConfiguration {
    /// Reports errors in the configuration. The size limit does not apply to `stored` ones.
    pub(super) fn check(&self, stored: bool, errors: &mut FieldErrors) {
        let Some(opaque) = &self.opaque else {
            return errors.required("opaque", "");
        };
        let errors = &mut *errors.at("opaque");
        check_driver_name("driver", &opaque.driver, errors);
        let max = if stored { usize::MAX } else { MAX_PARAMETERS };
        check_object("parameters", &opaque.parameters, max, errors);
    }
}

/// Reports a value of `field` that is not a JSON object of at most `max` bytes.
pub(super) fn check_object(field: &str, value: &RawExtension, max: usize, errors: &mut FieldErrors) {
    let json = value.as_str();
    if json.is_empty() || value.is_null() {
        errors.required(field, "");
    } else if json.len() > max {
        errors.too_long(field, max as u64);
    } else if !json.starts_with('{') {
        errors.invalid(field, "<value omitted>", "must be a valid JSON object");
    }
}
