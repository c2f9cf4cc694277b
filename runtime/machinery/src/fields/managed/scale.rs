//! Managers of the number of replicas, when it is written through the scale subresource.

use super::entries::{Entries, Operation};
use crate::fields::element::PathElement;
use crate::fields::set::Set;
use crate::meta::ManagedFieldsEntry;

/// Brings managed fields up to date with a write to `/scale` that changed the number of replicas, which lives at the
/// dotted `path` of the object in the version `api_version`.
///
/// Entries that come from here have no time, as kube-apiserver has it.
#[must_use]
pub fn track_scale(
    stored: &[ManagedFieldsEntry],
    manager: &str,
    api_version: &str,
    path: &str,
) -> Vec<ManagedFieldsEntry> {
    let Some(mut entries) = Entries::read(stored).filter(|entries| !entries.is_empty()) else {
        return stored.to_vec();
    };
    let steps = || path.split('.').map(PathElement::field);
    let replicas = Set::of([steps().collect::<Vec<_>>()]);
    entries.retain(|entry| {
        entry.give_up(&replicas);
        !entry.set.is_empty()
    });
    entries.add(manager, Operation::Update, api_version, "scale", replicas, None);
    entries.write()
}
