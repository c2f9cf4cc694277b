//! Status of allocated devices, reported by their drivers.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::Condition;
use planesmith_machinery::raw::RawExtension;

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
