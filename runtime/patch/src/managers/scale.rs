//! Managers of the number of replicas, when it is written through the scale subresource.

use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};

use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::resource::DynamicKind;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};
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
    /// When.
    pub now: Time,
    /// The number before.
    pub old: i32,
    /// The number that is wanted.
    pub new: i32,
}

/// The managers of an object as those of its Scale, and the other way round.
///
/// A Scale has the managers of the number of replicas, and each of them manages nothing else there. What they are told apart by
/// has a version in it, but for appliers; so kube-apiserver does not find others again on the way back. It takes the number
/// from them and gives it to a new entry, which has no time, even when the number stays.
#[derive(Debug)]
pub struct ScaleManagers<'a> {
    parent: Entries<'a>,
    api_version: &'a str,
    path: &'a str,
    custom: Option<&'static dyn DynamicKind>,
}

/// The place of the number of replicas in some version of a kind.
enum Replicas<'p> {
    At(&'p str),
    /// The version has no Scale.
    Nowhere,
    /// The kind has no such version.
    Unknown,
}

impl<'a> ScaleManagers<'a> {
    /// The managers `stored` of an object of the kind `kind`, which has its replicas at the dotted `path`. `None` when they
    /// cannot be read.
    #[must_use]
    pub fn read(stored: &'a [ManagedFieldsEntry], kind: &'a ResourceFacts, path: &'a str) -> Option<Self> {
        Some(Self {
            parent: Entries::read(stored)?,
            api_version: kind.api_version,
            path,
            custom: kind.custom,
        })
    }

    /// The managers of the Scale.
    #[must_use]
    pub fn of_scale(&self) -> Vec<ManagedFieldsEntry> {
        self.scalers().write()
    }

    /// The managers of the object after a write that made a Scale out of another.
    #[must_use]
    pub fn track(self, write: &ScaleWrite<'_>) -> Vec<ManagedFieldsEntry> {
        let mut scalers = self.scalers();
        // Of a Scale that nobody manages nobody becomes the manager, and zero is no field at all.
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
            if !entry.set.contains(&steps(path)) {
                continue;
            }
            let who = (&*entry.manager, entry.operation, SCALE, &*entry.subresource);
            let scaler = Entry::new(who, entry.time, in_scale());
            // Managers that only a version tells apart are one.
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

    /// The managers of the object when its Scale has those.
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
                Replicas::At(path) => steps(path),
                Replicas::Nowhere => return true,
                Replicas::Unknown => return false,
            };
            if !entry.set.contains(&path) {
                return true;
            }
            // Who has a say about the Scale keeps what it had, even when it has let go of the number.
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

    fn replicas_in(&self, version: &str) -> Replicas<'a> {
        let Some(kind) = self.custom else {
            // Former versions of a kind had them there, too.
            let group = |version: &str| GroupVersion::parse(version).ok().map(|version| version.group);
            return match group(version) == group(self.api_version) {
                true => Replicas::At(self.path),
                false => Replicas::Unknown,
            };
        };
        match kind.version(version) {
            Some(version) => replicas_of(version).map_or(Replicas::Nowhere, Replicas::At),
            None => Replicas::Unknown,
        }
    }
}

fn in_scale() -> Set<'static> {
    Set::of([IN_SCALE.map(PathElement::field)])
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
