//! Validation of the status of claims.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldErrors, Json, go_object};
use planesmith_machinery::go_value::GoValue;

use super::super::AllocatedDeviceStatus;
use super::super::list::check_named;
use super::{ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus};

/// Maximum number of consumers of a claim.
const MAX_CONSUMERS: usize = 256;

/// Reports errors in the status of `new`. `errors` is at the status.
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

/// Drops the status of devices that this update deallocates.
pub(super) fn drop_returned(new: &mut ResourceClaimStatus, old: &ResourceClaimStatus) {
    let (before, after) = (allocated(old), allocated(new));
    new.devices.retain(|device| {
        let id = device.id();
        !before.contains(&id) || after.contains(&id)
    });
}

/// Returns the IDs of the devices that are allocated to a claim.
fn allocated(status: &ResourceClaimStatus) -> BTreeSet<String> {
    let results = status
        .allocation
        .iter()
        .flat_map(|allocation| &allocation.devices.results);
    results
        .map(|result| device_id(&result.driver, &result.pool, &result.device, result.share_id.as_deref()))
        .collect()
}

/// Reports errors in the status of devices, and statuses of devices that are not allocated.
fn check_devices(claim: &ResourceClaim, errors: &mut FieldErrors) {
    let allocated = allocated(&claim.status);
    let devices = &claim.status.devices;
    for (index, device) in devices.iter().enumerate() {
        device.check(&allocated, &mut errors.at_index("devices", index));
    }
    let mut seen = BTreeSet::new();
    for (index, device) in devices.iter().enumerate() {
        let id = device.id();
        if seen.contains(&id) {
            errors
                .at_index("devices", index)
                .duplicate("", Json(&device.rendered_id()));
        }
        seen.insert(id);
    }
}

/// Returns the cluster-wide ID of a device or of a share of it.
fn device_id(driver: &str, pool: &str, device: &str, share: Option<&str>) -> String {
    match share {
        None => format!("{driver}/{pool}/{device}"),
        Some(share) => format!("{driver}/{pool}/{device}/{share}"),
    }
}

impl AllocatedDeviceStatus {
    /// Returns the cluster-wide ID of the device.
    pub(in crate::resource::v1) fn id(&self) -> String {
        device_id(&self.driver, &self.pool, &self.device, self.share_id.as_deref())
    }

    /// Renders the ID for error messages.
    pub(in crate::resource::v1) fn rendered_id(&self) -> String {
        go_object([
            ("Driver", self.driver.as_str()),
            ("Pool", self.pool.as_str()),
            ("Device", self.device.as_str()),
            ("ShareID", self.share_id.as_deref().unwrap_or_default()),
        ])
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_is_said_about_devices_that_were_given_back() {
        let device = |name: &str| json!({"request": "r", "driver": "d", "pool": "p", "device": name});
        let status = |allocated: &[&str], known: &[&str]| -> ResourceClaimStatus {
            let [allocated, known] =
                [allocated, known].map(|names| names.iter().map(|name| device(name)).collect::<Vec<_>>());
            serde_json::from_value(json!({"allocation": {"devices": {"results": allocated}}, "devices": known}))
                .unwrap()
        };
        let old = status(&["a", "b"], &[]);
        let mut new = status(&["b"], &["a", "b", "c"]);
        drop_returned(&mut new, &old);
        let names: Vec<&str> = new.devices.iter().map(|device| device.device.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
    }

    #[test]
    fn devices_are_shown_with_all_their_names() {
        let device = json!({"driver": "d", "pool": "p", "device": "x"});
        let claim: ResourceClaim = serde_json::from_value(json!({"status": {"devices": [device]}})).unwrap();
        let mut errors = FieldErrors::default();
        check_devices(&claim, &mut errors);
        let expected = "devices[0]: Invalid value: {\"Driver\":\"d\",\"Pool\":\"p\",\"Device\":\"x\",\"ShareID\":\"\"}: must be \
                        an allocated device in the claim";
        let found = errors.joined().unwrap_or_default();
        assert!(found.contains(expected), "{found}");
    }
}
