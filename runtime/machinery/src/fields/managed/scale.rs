//! Managers of the number of replicas, when it is written through the scale subresource.

use super::entries::{Entries, Operation};
use crate::custom::CustomKind;
use crate::fields::element::PathElement;
use crate::fields::set::Set;
use crate::meta::ManagedFieldsEntry;
use crate::resource::{ResourceFacts, SubresourceKind};

/// Brings managed fields up to date with a write to `/scale` that changed the number of replicas from `change.0` to
/// `change.1`. The number lives at the dotted `path` of the object in the version `api_version`.
///
/// A Scale leaves out no replicas at all, so that nobody manages them then; and what nobody manages is managed by nobody
/// until it is applied. Entries that come from here have no time, as kube-apiserver has it.
#[must_use]
pub fn track_scale(
    stored: &[ManagedFieldsEntry],
    manager: &str,
    api_version: &str,
    path: &str,
    change: (i64, i64),
) -> Vec<ManagedFieldsEntry> {
    let Some(mut entries) = Entries::read(stored).filter(|entries| !entries.is_empty()) else {
        return stored.to_vec();
    };
    let steps: Vec<_> = path.split('.').map(PathElement::field).collect();
    let is_managed = entries.as_slice().iter().any(|entry| entry.set.contains(&steps));
    if !is_managed || change.0 == change.1 {
        return stored.to_vec();
    }
    let replicas = Set::of([steps]);
    entries.retain(|entry| {
        entry.give_up(&replicas);
        !entry.set.is_empty()
    });
    if change.1 != 0 {
        entries.add(manager, Operation::Update, api_version, "scale", replicas, None);
    }
    entries.write()
}

/// The same of a custom kind. kube-apiserver cannot see a Scale as one of its versions, so that nobody manages the number
/// of replicas any more; what was managed in a version that is gone is forgotten.
#[must_use]
pub fn forget_replicas(stored: &[ManagedFieldsEntry], kind: &CustomKind) -> Vec<ManagedFieldsEntry> {
    let Some(mut entries) = Entries::read(stored).filter(|entries| !entries.is_empty()) else {
        return stored.to_vec();
    };
    entries.retain(|entry| {
        let Some(version) = kind.version(&entry.api_version) else {
            return false;
        };
        if let Some(path) = replicas_of(version) {
            entry.give_up(&Set::of([path.split('.').map(PathElement::field).collect::<Vec<_>>()]));
        }
        !entry.set.is_empty()
    });
    entries.write()
}

fn replicas_of(version: &ResourceFacts) -> Option<&'static str> {
    match &version.subresource("scale")?.kind {
        SubresourceKind::Scale(scale) => Some(scale.spec_replicas),
        _ => None,
    }
}
