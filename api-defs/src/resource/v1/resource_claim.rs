//! Resource claims.

mod status_check;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct};

use super::AllocatedDeviceStatus;
use super::AllocationResult;
use super::DeviceClaim;

/// A request for devices, and the devices allocated to it. Pods that refer to the claim can use them.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1",
    status,
    status_resets("metadata"),
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(column(name), column(name = "State", type = "string", doc = "Current state.", with = state_cell), column(age))]
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

fn state_cell(claim: &ResourceClaim) -> Cell {
    let deleted = claim.metadata.deletion_timestamp.is_some();
    let allocated = claim.status.allocation.is_some();
    let states = [
        (deleted, "deleted"),
        (!deleted && !allocated, "pending"),
        (allocated, "allocated"),
        (allocated && !claim.status.reserved_for.is_empty(), "reserved"),
    ];
    let states: Vec<&str> = states.iter().filter(|state| state.0).map(|state| state.1).collect();
    Cell::Text(states.join(","))
}

impl Strategy for ResourceClaim {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
        status_check::drop_returned(&mut self.status, &old.status);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec != old.spec {
            errors.invalid("spec", GoValue(&self.spec), "field is immutable");
        }
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        status_check::check(self, old, &mut errors.at("status"));
    }
}

impl StrategyExtensions for ResourceClaim {
    const CHECK_COST_PER_BYTE: u64 = 200;
    const STATUS_AS_TABLE: bool = false;

    // An immutable spec is not validated again.
    const UPDATE_ORDER: &'static [UpdateStep] = &[
        UpdateStep::Metadata,
        UpdateStep::Declared,
        UpdateStep::MetadataChange,
        UpdateStep::Change,
    ];
}

impl ResourceClaimSpec {
    /// Sets the defaults of the requests.
    pub(super) fn set_defaults(&mut self) {
        for request in &mut self.devices.requests {
            request.set_defaults();
        }
    }

    /// Reports errors in a new spec.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        self.devices.check(&mut errors.at("devices"));
    }
}
