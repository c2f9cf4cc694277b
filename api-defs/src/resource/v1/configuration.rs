//! Settings for devices.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::raw::RawExtension;

use crate::core::v1::check_driver_name;

/// Settings for a device. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceConfiguration {
    /// Settings that only the driver understands.
    #[field(proto = 1)]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Settings that only a driver understands.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct OpaqueDeviceConfiguration {
    /// The driver that the settings are for.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// The settings: any object, at most 10 KiB.
    #[field(proto = 2, keep)]
    pub parameters: RawExtension,
}

/// The most bytes of settings.
const MAX_PARAMETERS: usize = 10 * 1024;

impl DeviceConfiguration {
    /// Reports what is wrong with the settings; those that are `stored` already may be of any size.
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

/// Reports that `field` is not a JSON object of at most `max` bytes.
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
