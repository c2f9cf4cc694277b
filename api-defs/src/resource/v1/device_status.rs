//! Status of allocated devices, reported by their drivers.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::meta::Condition;
use planesmith_machinery::raw::RawExtension;
use planesmith_machinery::validation::check_conditions;
use planesmith_machinery::{Struct, ip};

use super::configuration::check_object;
use super::list::check_named;
use super::names::{check_label, check_pool, check_uuid};
use crate::core::v1::check_driver_name;

/// Status of an allocated device, reported by its driver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AllocatedDeviceStatus {
    /// Driver of the device.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Pool of the device.
    #[field(proto = 2, keep)]
    pub pool: String,
    /// Name of the device in its pool.
    #[field(proto = 3, keep)]
    pub device: String,
    /// ID that distinguishes several shares of one device.
    #[field(name = "shareID", proto = 7)]
    pub share_id: Option<String>,
    /// Conditions of the device; at most 8.
    #[field(proto = 4, keep, optional, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<Condition>,
    /// Driver-specific data: any object, at most 10 KiB.
    #[field(proto = 5)]
    pub data: Option<RawExtension>,
    /// Network data of the device.
    #[field(proto = 6)]
    pub network_data: Option<NetworkDeviceData>,
}

/// Network data of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NetworkDeviceData {
    /// Name of the network interface in the pod.
    #[field(proto = 1)]
    pub interface_name: String,
    /// IP addresses of the interface with prefix lengths.
    #[field(proto = 2, list_type = atomic, go_name = "IPs")]
    pub ips: Vec<String>,
    /// Hardware address of the interface.
    #[field(proto = 3)]
    pub hardware_address: String,
}

/// Maximum number of conditions of a device.
const MAX_CONDITIONS: usize = 8;

/// Maximum size of the driver-specific data in bytes.
const MAX_DATA: usize = 10 * 1024;

/// Maximum length of an interface name in bytes.
const MAX_INTERFACE: usize = 256;

/// Maximum length of a hardware address in bytes.
const MAX_HARDWARE_ADDRESS: usize = 128;

/// Maximum number of addresses of a device.
const MAX_ADDRESSES: usize = 16;

impl AllocatedDeviceStatus {
    /// Reports errors in the status, and a device that `allocated` does not contain.
    pub(super) fn check(&self, allocated: &BTreeSet<String>, errors: &mut FieldErrors) {
        check_driver_name("driver", &self.driver, errors);
        check_pool("pool", &self.pool, errors);
        check_label("device", &self.device, errors);
        if let Some(share) = &self.share_id {
            check_uuid("shareID", share, errors);
        }
        if !allocated.contains(&self.id()) {
            errors.invalid(
                "",
                Json(&self.rendered_id()),
                "must be an allocated device in the claim",
            );
        }
        if self.conditions.len() > MAX_CONDITIONS {
            errors.too_many("conditions", self.conditions.len(), MAX_CONDITIONS as u64);
        }
        check_conditions(errors, "conditions", &self.conditions);
        if let Some(data) = &self.data
            && !data.as_str().is_empty()
        {
            check_object("data", data, MAX_DATA, errors);
        }
        if let Some(data) = &self.network_data {
            data.check(&mut errors.at("networkData"));
        }
    }
}

impl NetworkDeviceData {
    fn check(&self, errors: &mut FieldErrors) {
        if self.interface_name.len() > MAX_INTERFACE {
            errors.too_long("interfaceName", MAX_INTERFACE as u64);
        }
        if self.hardware_address.len() > MAX_HARDWARE_ADDRESS {
            errors.too_long("hardwareAddress", MAX_HARDWARE_ADDRESS as u64);
        }
        check_named(
            "ips",
            &self.ips,
            MAX_ADDRESSES,
            |address| address,
            errors,
            |address, errors| {
                check_interface_address(address, errors);
            },
        );
    }
}

/// Reports an interface address that is malformed or not in canonical form.
fn check_interface_address(text: &str, errors: &mut FieldErrors) {
    let canonical = ip::parse_range(text).map(|(address, range)| format!("{address}/{}", range.bits()));
    match canonical {
        None => {
            let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
            errors.invalid("", text, detail);
        }
        Some(canonical) if canonical != text => {
            errors.invalid("", text, format!("must be in canonical form (\"{canonical}\")"));
        }
        Some(_) => {}
    }
}
