//! The graph of owners and dependents.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use crate::controllers::metadata::{Metadata, ORPHAN, OwnerReference};

/// An object, identified by its storage location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ObjectId {
    /// Its key, which is unique among the objects of all kinds.
    pub(super) key: Arc<str>,
    /// The prefix of the keys of all objects of its kind.
    pub(super) prefix: Arc<str>,
}

/// The references between all objects. Objects without owners and dependents take no memory.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The dependents that name an owner, by its UID.
    dependents: HashMap<Arc<str>, BTreeSet<ObjectId>>,
    /// The owners that an object names.
    owners: HashMap<ObjectId, Vec<Reference>>,
    /// Objects whose deletion waits for their dependents, by their UID.
    waiting: HashMap<String, ObjectId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Reference {
    uid: Arc<str>,
    blocks: bool,
    /// A hash of the owner's API version, kind and name; a change of them causes a new decision.
    place: u64,
}

impl Graph {
    /// Updates the state of an object. Returns the objects to process because of it.
    pub(super) fn put(&mut self, object: &ObjectId, metadata: &Metadata) -> Vec<ObjectId> {
        let mut attention = Vec::new();
        if self.set_owners(object, &metadata.owners, &mut attention) {
            attention.push(object.clone());
        }
        if metadata.waits_for_dependents() {
            let before = self.waiting.insert(metadata.uid.clone(), object.clone());
            if before.is_none() {
                attention.extend(self.dependents(&metadata.uid));
            }
            attention.push(object.clone());
        } else {
            self.waiting.remove(&metadata.uid);
            if metadata.deleted && metadata.is_held_by(ORPHAN) {
                attention.push(object.clone());
            }
        }
        attention
    }

    /// Removes a deleted object. Returns the objects to process because of it.
    pub(super) fn remove(&mut self, object: &ObjectId, uid: &str) -> Vec<ObjectId> {
        let mut attention = Vec::new();
        self.set_owners(object, &[], &mut attention);
        self.waiting.remove(uid);
        attention.extend(self.dependents(uid));
        attention
    }

    /// Removes the objects of a kind. Returns all others that have owners: some of those may not exist any more.
    pub(super) fn forget(&mut self, prefix: &str) -> Vec<ObjectId> {
        let of_kind = self.owners.keys().filter(|object| *object.prefix == *prefix);
        for object in of_kind.cloned().collect::<Vec<_>>() {
            self.set_owners(&object, &[], &mut Vec::new());
        }
        self.waiting.retain(|_, object| *object.prefix != *prefix);
        self.owners.keys().cloned().collect()
    }

    /// Returns the dependents of an owner.
    pub(super) fn dependents(&self, uid: &str) -> Vec<ObjectId> {
        let dependents = self.dependents.get(uid);
        dependents.map_or_else(Vec::new, |dependents| dependents.iter().cloned().collect())
    }

    /// Returns the dependents that block the deletion of an owner.
    pub(super) fn blocking(&self, uid: &str) -> Vec<ObjectId> {
        let mut dependents = self.dependents(uid);
        dependents.retain(|object| {
            let owners = self.owners.get(object);
            owners.is_some_and(|owners| owners.iter().any(|owner| *owner.uid == *uid && owner.blocks))
        });
        dependents
    }

    /// Sets the owners of an object. Returns true if it has a new one. Owners that no longer wait for it are to be
    /// processed.
    fn set_owners(&mut self, object: &ObjectId, owners: &[OwnerReference], attention: &mut Vec<ObjectId>) -> bool {
        if owners.is_empty() && !self.owners.contains_key(object) {
            return false;
        }
        let references: Vec<Reference> = owners.iter().map(|owner| self.reference(owner)).collect();
        let before = match references.is_empty() {
            true => self.owners.remove(object),
            false => self.owners.insert(object.clone(), references.clone()),
        };
        let before = before.unwrap_or_default();
        if before == references {
            return false;
        }
        let names = |references: &[Reference], uid: &str| references.iter().any(|other| *other.uid == *uid);
        for gone in before.iter().filter(|gone| !names(&references, &gone.uid)) {
            if let Some(dependents) = self.dependents.get_mut(&gone.uid) {
                dependents.remove(object);
                if dependents.is_empty() {
                    self.dependents.remove(&gone.uid);
                }
            }
        }
        for reference in &references {
            let dependents = self.dependents.entry(Arc::clone(&reference.uid)).or_default();
            dependents.insert(object.clone());
        }
        let blocks = |uid: &str| {
            let mut references = references.iter();
            references.any(|other| *other.uid == *uid && other.blocks)
        };
        let released = before.iter().filter(|old| old.blocks && !blocks(&old.uid));
        attention.extend(released.filter_map(|old| self.waiting.get(&*old.uid).cloned()));
        references.iter().any(|reference| !before.contains(reference))
    }

    fn reference(&self, owner: &OwnerReference) -> Reference {
        // Dependents of one owner share its name.
        let known = self.dependents.get_key_value(owner.uid.as_str());
        let place = (&owner.api_version, &owner.kind, &owner.name);
        Reference {
            uid: known.map_or_else(|| owner.uid.as_str().into(), |(uid, _)| Arc::clone(uid)),
            blocks: owner.blocks(),
            place: BuildHasherDefault::<DefaultHasher>::default().hash_one(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::metadata::FOREGROUND;

    fn object(name: &str) -> ObjectId {
        ObjectId {
            key: format!("/registry/pods/{name}").into(),
            prefix: "/registry/pods/".into(),
        }
    }

    fn metadata(uid: &str, owners: &[(&str, bool)]) -> Metadata {
        let owner = |(uid, blocks): &(&str, bool)| OwnerReference {
            uid: (*uid).to_owned(),
            block_owner_deletion: Some(*blocks),
            ..OwnerReference::default()
        };
        Metadata {
            uid: uid.to_owned(),
            owners: owners.iter().map(owner).collect(),
            ..Metadata::default()
        }
    }

    fn waiting(uid: &str) -> Metadata {
        Metadata {
            deleted: true,
            finalizers: vec![FOREGROUND.to_owned()],
            ..metadata(uid, &[])
        }
    }

    #[test]
    fn dependents_are_looked_at_when_their_owner_goes() {
        let mut graph = Graph::default();
        assert_eq!(graph.put(&object("owner"), &metadata("1", &[])), []);
        assert_eq!(graph.put(&object("a"), &metadata("2", &[("1", false)])), [object("a")]);
        assert_eq!(graph.put(&object("a"), &metadata("2", &[("1", false)])), []);
        assert_eq!(graph.remove(&object("owner"), "1"), [object("a")]);
        assert_eq!(graph.remove(&object("a"), "2"), []);
        assert!(graph.dependents.is_empty() && graph.owners.is_empty());
    }

    #[test]
    fn an_owner_that_waits_is_looked_at_when_it_is_released() {
        let mut graph = Graph::default();
        graph.put(&object("a"), &metadata("2", &[("1", true)]));
        graph.put(&object("b"), &metadata("3", &[("1", true)]));
        graph.put(&object("c"), &metadata("4", &[("1", false)]));
        let attention = graph.put(&object("owner"), &waiting("1"));
        assert_eq!(attention, [object("a"), object("b"), object("c"), object("owner")]);
        assert_eq!(graph.blocking("1"), [object("a"), object("b")]);
        assert_eq!(graph.remove(&object("a"), "2"), [object("owner")]);
        let unblocked = graph.put(&object("b"), &metadata("3", &[("1", false)]));
        assert_eq!(unblocked, [object("owner"), object("b")]);
        assert_eq!(graph.blocking("1"), []);
        graph.remove(&object("owner"), "1");
        assert!(graph.waiting.is_empty());
    }

    #[test]
    fn a_kind_can_be_read_anew() {
        let mut graph = Graph::default();
        graph.put(&object("a"), &metadata("2", &[("1", true)]));
        graph.put(&object("owner"), &waiting("1"));
        graph.forget("/registry/pods/");
        assert!(graph.dependents.is_empty() && graph.owners.is_empty() && graph.waiting.is_empty());
    }
}
