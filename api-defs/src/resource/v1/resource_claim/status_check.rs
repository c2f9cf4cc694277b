//! What is wrong with a write to the status of a claim.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::GoValue;

use super::super::AllocatedDeviceStatus;
use super::super::list::check_named;
use super::{ResourceClaim, ResourceClaimConsumerReference};

/// The most consumers of a claim.
const MAX_CONSUMERS: usize = 256;

/// Reports what is wrong with the status of `new`, below its path.
pub(super) fn check(new: &ResourceClaim, old: &ResourceClaim, errors: &mut FieldErrors) {
    let status = &new.status;
    check_named(
        "reservedFor",
        &status.reserved_for,
        MAX_CONSUMERS,
        |consumer| &consumer.uid,
        errors,
        |consumer, errors| consumer.check(errors),
    );
    check_devices(new, errors);
    if !status.reserved_for.is_empty() {
        let added = status
            .reserved_for
            .iter()
            .any(|consumer| !old.status.reserved_for.contains(consumer));
        if status.allocation.is_none() {
            errors.forbidden("reservedFor", "may not be specified when `allocated` is not set");
        } else if new.metadata.deletion_timestamp.is_some() && added {
            let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
            errors.forbidden("reservedFor", detail);
        }
    }
    match (&status.allocation, &old.status.allocation) {
        (Some(new), Some(old)) if new != old => {
            errors.invalid("allocation", GoValue(new), "field is immutable");
        }
        (Some(allocation), None) => {
            allocation.check(&new.spec.devices.request_names(), &mut errors.at("allocation"));
        }
        _ => {}
    }
}

/// Reports what drivers say about devices that the claim has not, and what is wrong with the rest.
fn check_devices(claim: &ResourceClaim, errors: &mut FieldErrors) {
    let allocated = claim
        .status
        .allocation
        .iter()
        .flat_map(|allocation| &allocation.devices.results);
    let allocated: BTreeSet<String> = allocated
        .map(|result| device_id(&result.driver, &result.pool, &result.device, result.share_id.as_deref()))
        .collect();
    let devices = &claim.status.devices;
    for (index, device) in devices.iter().enumerate() {
        device.check(&allocated, &mut errors.at_index("devices", index));
    }
    let mut seen = BTreeSet::new();
    for (index, device) in devices.iter().enumerate() {
        let id = device.id();
        if seen.contains(&id) {
            errors.at_index("devices", index).duplicate("", Json(&id));
        }
        seen.insert(id);
    }
}

/// What a device, or a share of it, is called in the whole cluster.
fn device_id(driver: &str, pool: &str, device: &str, share: Option<&str>) -> String {
    match share {
        None => format!("{driver}/{pool}/{device}"),
        Some(share) => format!("{driver}/{pool}/{device}/{share}"),
    }
}

impl AllocatedDeviceStatus {
    /// What the device is called in the whole cluster.
    pub(in crate::resource::v1) fn id(&self) -> String {
        device_id(&self.driver, &self.pool, &self.device, self.share_id.as_deref())
    }
}

impl ResourceClaimConsumerReference {
    fn check(&self, errors: &mut FieldErrors) {
        for (field, value) in [("resource", &self.resource), ("name", &self.name), ("uid", &self.uid)] {
            if value.is_empty() {
                errors.required(field, "");
            }
        }
    }
}
