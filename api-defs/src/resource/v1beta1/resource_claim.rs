//! Resource claims.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::resource::v1;

use super::AllocatedDeviceStatus;
use super::AllocationResult;
use super::DeviceClaim;

/// A request for devices, and the devices allocated to it. Pods that refer to the claim can use them.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1beta1",
    status,
    returns_deleted,
    strategy,
    convert
)]
#[resource(storage_version = crate::resource::v1::ResourceClaim)]
#[resource(deprecated = "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+")]
pub struct ResourceClaim {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The requested devices. Immutable.
    #[field(proto = 2, keep)]
    pub spec: ResourceClaimSpec,
    /// The allocated devices and their consumers.
    #[field(proto = 3)]
    pub status: ResourceClaimStatus,
}

/// The devices that a claim requests.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceClaimSpec {
    /// The requested devices.
    #[field(proto = 1, keep, optional)]
    pub devices: DeviceClaim,
}

/// The devices that are allocated to a claim, and their consumers.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceClaimStatus {
    /// The allocated devices. Absent before the allocation.
    #[field(proto = 1)]
    pub allocation: Option<AllocationResult>,
    /// Consumers that currently may use the devices, usually pods. At most 256.
    #[field(proto = 2, list_type = map, list_map_keys("uid"), patch_strategy(merge), patch_merge_key = "uid")]
    pub reserved_for: Vec<ResourceClaimConsumerReference>,
    /// Status of the devices, reported by their drivers.
    #[field(proto = 4, list_type = map, list_map_keys("driver", "device", "pool", "shareID"))]
    pub devices: Vec<AllocatedDeviceStatus>,
}

/// A consumer that may use the devices of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceClaimConsumerReference {
    /// Group of the resource; empty for the core group.
    #[field(proto = 1)]
    pub api_group: String,
    /// Resource, such as pods.
    #[field(proto = 3, keep)]
    pub resource: String,
    /// Name of the object.
    #[field(proto = 4, keep)]
    pub name: String,
    /// UID of the object.
    #[field(proto = 5, keep, go_type = "types.UID")]
    pub uid: String,
}

impl Strategy for ResourceClaim {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check_classes(&mut errors.at("spec"));
    }
}

impl Convert<v1::ResourceClaim> for ResourceClaim {
    fn finish_to_hub(&self, hub: &mut v1::ResourceClaim) {
        self.spec.finish_to_hub(&mut hub.spec);
    }

    fn finish_from_hub(&mut self, hub: &v1::ResourceClaim) {
        self.spec.finish_from_hub(&hub.spec);
    }
}

impl ResourceClaimSpec {
    /// Reports requests that have fields of an exact request but no class.
    pub(super) fn check_classes(&self, errors: &mut FieldErrors) {
        for (index, request) in self.devices.requests.iter().enumerate() {
            if request.device_class_name.is_empty() && request.wants_exactly() {
                errors
                    .at_index("devices.requests", index)
                    .required("deviceClassName", "");
            }
        }
    }

    /// Sets the defaults of the requests.
    pub(super) fn set_defaults(&mut self) {
        for request in &mut self.devices.requests {
            request.set_defaults();
        }
    }

    /// Converts the requests to the structure of newer versions.
    pub(super) fn finish_to_hub(&self, hub: &mut v1::ResourceClaimSpec) {
        for (request, hub) in self.devices.requests.iter().zip(&mut hub.devices.requests) {
            request.finish_to_hub(hub);
        }
    }

    /// Converts the requests from the structure of newer versions.
    pub(super) fn finish_from_hub(&mut self, hub: &v1::ResourceClaimSpec) {
        for (request, hub) in self.devices.requests.iter_mut().zip(&hub.devices.requests) {
            request.finish_from_hub(hub);
        }
    }
}
