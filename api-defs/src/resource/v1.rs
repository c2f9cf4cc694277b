//! `resource.k8s.io/v1`: device classes, resource slices and resource claims.

mod allocation;
mod binding;
mod capacity;
mod configuration;
mod counter;
mod device;
mod device_claim;
mod device_class;
mod device_request;
mod device_status;
mod list;
mod names;
mod resource_claim;
mod resource_claim_template;
mod resource_slice;
mod selector;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use allocation::{
    AllocationResult, DeviceAllocationConfiguration, DeviceAllocationResult, DeviceRequestAllocationResult,
};
pub use capacity::{CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity};
pub use configuration::{DeviceConfiguration, OpaqueDeviceConfiguration};
pub use counter::{Counter, CounterSet, DeviceCounterConsumption};
pub use device::{Device, DeviceAttribute, DeviceTaint, NodeAllocatableResourceMapping};
pub use device_claim::{DeviceClaim, DeviceClaimConfiguration, DeviceConstraint};
pub use device_class::{DeviceClass, DeviceClassConfiguration, DeviceClassSpec};
pub use device_request::{CapacityRequirements, DeviceRequest, DeviceSubRequest, DeviceToleration, ExactDeviceRequest};
pub use device_status::{AllocatedDeviceStatus, NetworkDeviceData};
pub use resource_claim::{ResourceClaim, ResourceClaimConsumerReference, ResourceClaimSpec, ResourceClaimStatus};
pub use resource_claim_template::{ResourceClaimTemplate, ResourceClaimTemplateSpec};
pub use resource_slice::{ResourcePool, ResourceSlice, ResourceSliceSpec};
pub use selector::{CELDeviceSelector, DeviceSelector};

pub(crate) use device::check_mark;
pub(crate) use device_request::default_amount;
pub(crate) use names::{check_label, check_pool};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_200, 21);
