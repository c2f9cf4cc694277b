//! Managers of the number of replicas, when it is written through the scale subresource.

use super::entries::{Entries, Operation};
use crate::custom::CustomKind;
use crate::fields::element::PathElement;
use crate::fields::set::Set;
use crate::meta::ManagedFieldsEntry;
use crate::resource::{ResourceFacts, SubresourceKind};

/// A write to `/scale`.
#[derive(Clone, Copy, Debug)]
pub struct ScaleWrite<'w> {
    /// Who writes.
    pub manager: &'w str,
    /// The version of the object.
    pub api_version: &'w str,
    /// Where the number of replicas is in that version: a dotted path.
    pub path: &'w str,
    /// The number before.
    pub old: i32,
    /// The number that is wanted.
    pub new: i32,
    /// What is known of a kind that was defined while serving.
    pub custom: Option<&'static CustomKind>,
}

/// Brings managed fields up to date with a write to `/scale`, which kube-apiserver does on the Scale: there a number that does not
/// change changes hands no more than any other field, zero is no field at all, and of a Scale that nobody manages nobody becomes the
/// manager.
///
/// Entries that come from here have no time, as kube-apiserver has it. What was managed in a version of a custom kind that is
/// gone is forgotten.
#[must_use]
pub fn track_scale(stored: &[ManagedFieldsEntry], write: &ScaleWrite<'_>) -> Vec<ManagedFieldsEntry> {
    let Some(mut entries) = Entries::read(stored).filter(|entries| !entries.is_empty()) else {
        return stored.to_vec();
    };
    let mut is_managed = false;
    entries.retain(|entry| {
        let path = match write.custom {
            None => Some(write.path),
            Some(kind) => match kind.version(&entry.api_version) {
                Some(version) => replicas_of(version),
                None => return false,
            },
        };
        let Some(path) = path else { return true };
        let steps = steps(path);
        if !entry.set.contains(&steps) {
            return true;
        }
        is_managed = true;
        if write.old != write.new {
            entry.give_up(&Set::of([steps]));
        }
        !entry.set.is_empty()
    });
    if is_managed && write.old != write.new && write.new != 0 {
        let replicas = Set::of([steps(write.path)]);
        entries.add(
            write.manager,
            Operation::Update,
            write.api_version,
            "scale",
            replicas,
            None,
        );
    }
    entries.write()
}

fn steps(path: &str) -> Vec<PathElement<'_>> {
    path.split('.').map(PathElement::field).collect()
}

fn replicas_of(version: &ResourceFacts) -> Option<&'static str> {
    match &version.subresource("scale")?.kind {
        SubresourceKind::Scale(scale) => Some(scale.spec_replicas),
        _ => None,
    }
}
