//! Table columns of resource quotas.

use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::table::Cell;

use super::ResourceQuota;

/// Prefix of resources that limit limits instead of requests.
const LIMITS: &str = "limits.";

pub(super) fn request(quota: &ResourceQuota) -> Cell {
    usage(quota, |resource| !resource.starts_with(LIMITS))
}

pub(super) fn limit(quota: &ResourceQuota) -> Cell {
    usage(quota, |resource| resource.starts_with(LIMITS))
}

fn usage(quota: &ResourceQuota, shown: impl Fn(&str) -> bool) -> Cell {
    let none = Quantity::default();
    let used = |resource: &str| quota.status.used.get(resource).unwrap_or(&none);
    let hard = quota.status.hard.iter().filter(|(resource, _)| shown(resource));
    let parts: Vec<String> = hard
        .map(|(resource, hard)| format!("{resource}: {}/{hard}", used(resource)))
        .collect();
    Cell::Text(parts.join(", "))
}
