//! Managers of the number of replicas, when it is written through the scale subresource.

use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};

use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind, Text};
use planesmith_wire::time::Time;

use super::entries::{Entries, Entry, Identity, Operation};
use crate::fields::PathElement;
use crate::fields::Set;

/// The version of a Scale.
pub(crate) const SCALE: &str = "autoscaling/v1";

/// The path of the number of replicas in a Scale.
pub(crate) const IN_SCALE: [&str; 2] = ["spec", "replicas"];

/// A write to `/scale`.
#[derive(Clone, Copy, Debug)]
pub struct ScaleWrite<'w> {
    /// The manager that writes.
    pub manager: &'w str,
    /// Time of the write.
    pub now: Time,
    /// Number of replicas before the write.
    pub old: i32,
    /// Desired number of replicas.
    pub new: i32,
}

/// The conversion between the managers of an object and those of its Scale.
///
/// The managers of a Scale are the owners of the number of replicas, and own nothing else in it. Except for appliers,
/// their identity includes the version, so kube-apiserver does not find the others on the way back: it removes the
/// number from them and assigns it to a new entry without a time, even if the number is unchanged.
#[derive(Debug)]
pub struct ScaleManagers<'a> {
    parent: Entries<'a>,
    api_version: &'a str,
    path: &'a str,
    kind: &'a ResourceFacts,
}

/// The location of the number of replicas in a version of a kind.
enum Replicas {
    At(Text),
    /// The version has no Scale.
    NoScale,
    /// The kind has no such version.
    Unknown,
}

impl<'a> ScaleManagers<'a> {
    /// Reads the managers `stored` of an object of the kind `kind`, whose replicas are at the dotted `path`. `None` if
    /// they are malformed.
    #[must_use]
    pub fn read(stored: &'a [ManagedFieldsEntry], kind: &'a ResourceFacts, path: &'a str) -> Option<Self> {
        Some(Self {
            parent: Entries::read(stored)?,
            api_version: &kind.api_version,
            path,
            kind,
        })
    }

    /// Returns the managers of the Scale.
    #[must_use]
    pub fn of_scale(&self) -> Vec<ManagedFieldsEntry> {
        self.scalers().write()
    }

    /// Returns the managers of the object after a write that replaced one Scale by another.
    #[must_use]
    pub fn track(self, write: &ScaleWrite<'_>) -> Vec<ManagedFieldsEntry> {
        let mut scalers = self.scalers();
        // A Scale without managers does not get one, and zero replicas are an absent field.
        if !scalers.is_empty() && write.old != write.new {
            scalers = Entries::default();
            if write.new != 0 {
                let (operation, time) = (Operation::Update, Some(write.now));
                scalers.add(write.manager, operation, SCALE, "scale", in_scale(), time);
            }
        }
        self.of_object(&scalers)
    }

    pub(crate) fn scalers(&self) -> Entries<'static> {
        let mut scalers = Entries::default();
        let mut indexes = HashMap::new();
        for entry in self.parent.as_slice() {
            let Replicas::At(path) = self.replicas_in(&entry.api_version) else {
                continue;
            };
            if !entry.set.contains(&steps(&path)) {
                continue;
            }
            let who = (&*entry.manager, entry.operation, SCALE, &*entry.subresource);
            let scaler = Entry::new(who, entry.time, in_scale());
            // Managers that differ only in the version are one manager.
            match indexes.entry(who) {
                Occupied(known) => scalers.as_mut()[*known.get()] = scaler,
                Vacant(new) => {
                    new.insert(scalers.as_slice().len());
                    scalers.push(scaler);
                }
            }
        }
        scalers
    }

    /// Returns the managers of the object if its Scale has `scalers`.
    pub(crate) fn of_object(mut self, scalers: &Entries<'_>) -> Vec<ManagedFieldsEntry> {
        let mut parent = std::mem::take(&mut self.parent);
        let mut scalers: HashMap<Identity<String>, (&Entry<'_>, Option<Time>)> = scalers
            .as_slice()
            .iter()
            .map(|scaler| (scaler.identity(), (scaler, None)))
            .collect();
        for entry in parent.as_slice() {
            if let Some((_, time)) = scalers.get_mut(&entry.identity()) {
                *time = entry.time;
            }
        }
        parent.retain(|entry| {
            let path = match self.replicas_in(&entry.api_version) {
                Replicas::At(path) => path,
                Replicas::NoScale => return true,
                Replicas::Unknown => return false,
            };
            let path = steps(&path);
            if !entry.set.contains(&path) {
                return true;
            }
            // A manager of the Scale keeps its other fields even if it gave up the number.
            if scalers.remove(&entry.identity()).is_none() {
                entry.give_up(&Set::of([path]));
            }
            !entry.set.is_empty()
        });
        let number = IN_SCALE.map(PathElement::field);
        scalers.retain(|_, (scaler, _)| scaler.set.contains(&number));
        parent.retain(|entry| !scalers.contains_key(&entry.identity()));
        for (scaler, time) in scalers.into_values() {
            let who = (
                &*scaler.manager,
                scaler.operation,
                self.api_version,
                &*scaler.subresource,
            );
            parent.push(Entry::new(who, time, Set::of([steps(self.path)]).into_owned()));
        }
        parent.write()
    }

    fn replicas_in(&self, version: &str) -> Replicas {
        if let Some(mut versions) = self.kind.defined_versions() {
            let found = versions.find(|defined| defined.api_version == version);
            return found.map_or(Replicas::Unknown, |found| {
                replicas_of(&found).map_or(Replicas::NoScale, Replicas::At)
            });
        }
        // Former versions of a kind had the replicas at the same path.
        let group = |version: &str| GroupVersion::parse(version).ok().map(|version| version.group);
        match group(version) == group(self.api_version) {
            true => Replicas::At(self.path.to_owned().into()),
            false => Replicas::Unknown,
        }
    }
}

fn in_scale() -> Set<'static> {
    Set::of([IN_SCALE.map(PathElement::field)])
}

fn steps(path: &str) -> Vec<PathElement<'_>> {
    path.split('.').map(PathElement::field).collect()
}

fn replicas_of(version: &ResourceFacts) -> Option<Text> {
    match &version.subresource("scale")?.kind {
        SubresourceKind::Scale(scale) => Some(scale.spec_replicas.clone()),
        _ => None,
    }
}
