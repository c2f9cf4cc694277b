//! Decides on an object, by the states of its owners.

use std::collections::{HashSet, VecDeque};

use planesmith_store::Revision;

use super::all_kinds::{AllKinds, Kind};
use super::graph::ObjectId;
use super::request::{Object, Propagation};
use super::{Shared, lock};
use crate::controllers::metadata::{FOREGROUND, Metadata, ORPHAN, OwnerReference};
use crate::controllers::served_kinds::ServedKind;
use crate::loopback::LoopbackError;
use crate::work_queue::Outcome;

/// The state of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Exists, and is not waiting for dependents.
    Solid,
    /// Deleted in the foreground, and waiting for its dependents.
    Waiting,
    /// Does not exist.
    Absent,
    /// Lives in a namespace while the object does not, which is invalid.
    Impossible,
    /// Of a kind that is not served, so that its state is unknown.
    Unknown,
}

/// The decision on an object whose owners are known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    /// Leave the object as it is.
    Keep,
    /// Leave it until its owners' kinds are served.
    Wait,
    /// Replace its owners by these.
    SetOwners(Vec<OwnerReference>),
    /// Delete the object.
    Delete(Propagation),
}

impl Shared {
    /// Reads the current state of an object, decides on it, and carries out the decision.
    pub(super) async fn reconcile_object(&self, id: &ObjectId) -> Result<Outcome, LoopbackError> {
        let kinds = self.kinds();
        let Some(object) = kinds.object(&self.loopback, id).await? else {
            return Ok(Outcome::Done);
        };
        if object.metadata().deleted {
            return match () {
                () if object.metadata().is_held_by(ORPHAN) => self.orphan(&kinds, &object).await,
                () if object.metadata().is_held_by(FOREGROUND) => self.finish(&kinds, &object).await,
                () => Ok(Outcome::Done),
            };
        }
        let owners = &object.metadata().owners;
        let mut states = Vec::with_capacity(owners.len());
        for owner in owners {
            states.push(self.state(&kinds, &object, owner).await?);
        }
        self.report(&kinds, &object, &states).await;
        let dependents = if states.contains(&Owner::Waiting) {
            self.catch_up(&object).await;
            self.graph().dependents(&object.metadata().uid)
        } else {
            Vec::new()
        };
        match decide(object.metadata(), &states, !dependents.is_empty()) {
            Decision::Keep => Ok(Outcome::Done),
            Decision::Wait => {
                lock(&self.unresolved).insert(id.clone());
                // Kinds that were added meanwhile did not find it in `unresolved`.
                if !self.kinds().are(&kinds) && lock(&self.unresolved).remove(id) {
                    self.queue.add([id.clone()]);
                }
                Ok(Outcome::Done)
            }
            Decision::SetOwners(owners) => object.set_owners(&self.loopback, &owners).await,
            Decision::Delete(propagation) => {
                // Two objects that wait for each other would wait for ever.
                if owners.iter().any(OwnerReference::blocks) && self.any_waits(&kinds, &dependents).await? {
                    let outcome = object.set_owners(&self.loopback, &released(owners)).await?;
                    // It is deleted when it is processed again, with its new state.
                    self.queue.add([id.clone()]);
                    return Ok(outcome);
                }
                object.delete(&self.loopback, propagation).await
            }
        }
    }

    /// True if one of the objects waits for its dependents.
    async fn any_waits(&self, kinds: &AllKinds, objects: &[ObjectId]) -> Result<bool, LoopbackError> {
        for id in objects {
            let object = kinds.object(&self.loopback, id).await?;
            if object.is_some_and(|object| object.metadata().waits_for_dependents()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the finalizer of an object whose dependents no longer block it.
    async fn finish(&self, kinds: &AllKinds, object: &Object) -> Result<Outcome, LoopbackError> {
        self.catch_up(object).await;
        let blocking = self.graph().blocking(&object.metadata().uid);
        if blocking.is_empty() {
            return object.release(&self.loopback, FOREGROUND).await;
        }
        for id in blocking {
            let dependent = kinds.object(&self.loopback, &id).await?;
            if dependent.is_some_and(|dependent| !dependent.metadata().deleted) {
                self.queue.add([id]);
            }
        }
        Ok(Outcome::Done)
    }

    /// Removes an object from the owners of its dependents, and then its finalizer.
    async fn orphan(&self, kinds: &AllKinds, owner: &Object) -> Result<Outcome, LoopbackError> {
        self.catch_up(owner).await;
        let uid = &owner.metadata().uid;
        let dependents = self.graph().dependents(uid);
        let mut outcome = Outcome::Done;
        for id in &dependents {
            let Some(dependent) = kinds.object(&self.loopback, id).await? else {
                continue;
            };
            let mut owners = dependent.metadata().owners.clone();
            owners.retain(|other| other.uid != *uid);
            if owners.len() < dependent.metadata().owners.len()
                && dependent.set_owners(&self.loopback, &owners).await? == Outcome::Requeue
            {
                outcome = Outcome::Requeue;
            }
        }
        match outcome {
            Outcome::Done => owner.release(&self.loopback, ORPHAN).await,
            Outcome::Requeue => Ok(Outcome::Requeue),
        }
    }

    /// Waits until the graph has all stored changes that are older than the object. Other servers count versions of
    /// their own, so for their objects it waits for everything stored by now; dependents on other servers may arrive
    /// later, once each server was queried.
    async fn catch_up(&self, object: &Object) {
        let newest = match &object.kind {
            Kind::Stored(_) => object.state.resource_version.parse().ok().map(Revision),
            Kind::Remote(_) => Some(self.storage.revision()),
        };
        if let Some(newest) = newest {
            self.catch_up_to(newest).await;
        }
    }

    /// Returns the state of an owner of an object.
    async fn state(&self, kinds: &AllKinds, object: &Object, owner: &OwnerReference) -> Result<Owner, LoopbackError> {
        let kind = kinds.named(&owner.api_version, &owner.kind);
        let Some(kind) = kind.filter(Kind::is_there) else {
            return Ok(Owner::Unknown);
        };
        let namespace = match (kind.is_namespaced(), object.namespace.as_str()) {
            (true, "") => return Ok(Owner::Impossible),
            (true, namespace) => namespace,
            (false, _) => "",
        };
        let found = kind.get(&self.loopback, namespace, &owner.name).await?;
        let found = found.map(|found| found.metadata);
        Ok(match found.filter(|found| found.uid == owner.uid) {
            None => Owner::Absent,
            Some(found) if found.waits_for_dependents() => Owner::Waiting,
            Some(_) => Owner::Solid,
        })
    }

    /// Reports owners that exist, but in another namespace.
    async fn report(&self, kinds: &AllKinds, object: &Object, states: &[Owner]) {
        for (owner, state) in object.metadata().owners.iter().zip(states) {
            if matches!(state, Owner::Absent | Owner::Impossible) && self.is_elsewhere(kinds, owner) {
                object.report_owner_elsewhere(&self.loopback, owner).await;
            }
        }
    }

    /// True if the owner is in any namespace. All namespaces are searched once for all dependents that name the
    /// owner: an owner that was in none does not appear later.
    fn is_elsewhere(&self, kinds: &AllKinds, owner: &OwnerReference) -> bool {
        if lock(&self.absent_owners).has(&owner.uid) {
            return false;
        }
        let found = match kinds.named(&owner.api_version, &owner.kind) {
            Some(Kind::Stored(kind)) => is_in_any_namespace(kinds, &kind, owner),
            Some(Kind::Remote(_)) => lock(&self.remote_followers).values().any(|kind| kind.knows(&owner.uid)),
            None => false,
        };
        if !found {
            lock(&self.absent_owners).add(&owner.uid);
        }
        found
    }
}

/// The last owners that were found in no namespace.
#[derive(Debug, Default)]
pub(super) struct AbsentOwnerCache {
    uids: HashSet<String>,
    oldest_first: VecDeque<String>,
}

impl AbsentOwnerCache {
    /// The number of owners that are remembered.
    const CAPACITY: usize = 512;

    fn has(&self, uid: &str) -> bool {
        self.uids.contains(uid)
    }

    fn add(&mut self, uid: &str) {
        if !self.uids.insert(uid.to_owned()) {
            return;
        }
        self.oldest_first.push_back(uid.to_owned());
        if self.oldest_first.len() > Self::CAPACITY
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.uids.remove(&oldest);
        }
    }
}

/// True if the owner is in any namespace.
fn is_in_any_namespace(kinds: &AllKinds, kind: &ServedKind, owner: &OwnerReference) -> bool {
    let namespaces = kinds.stored.named("v1", "Namespace");
    let Some(namespaces) = namespaces.filter(|_| kind.is_namespaced()) else {
        return false;
    };
    let is_owner = |namespace: &str| {
        let entry = kind.get(namespace, &owner.name);
        entry.is_some_and(|entry| Metadata::read(&entry.bytes()).uid == owner.uid)
    };
    namespaces.names().iter().any(|namespace| is_owner(namespace))
}

/// Decides on an object that is not deleted, by the states of its owners in their order.
fn decide(object: &Metadata, owners: &[Owner], has_dependents: bool) -> Decision {
    let count = |state: Owner| owners.iter().filter(|owner| **owner == state).count();
    match () {
        () if owners.is_empty() || count(Owner::Impossible) > 0 => Decision::Keep,
        () if count(Owner::Unknown) > 0 => Decision::Wait,
        () if count(Owner::Solid) == owners.len() => Decision::Keep,
        () if count(Owner::Solid) > 0 => {
            let kept = object.owners.iter().zip(owners);
            let kept = kept.filter(|(_, state)| **state == Owner::Solid);
            Decision::SetOwners(kept.map(|(owner, _)| owner.clone()).collect())
        }
        () if count(Owner::Waiting) > 0 && has_dependents => Decision::Delete(Propagation::Foreground),
        () if object.is_held_by(ORPHAN) => Decision::Delete(Propagation::Orphan),
        () if object.is_held_by(FOREGROUND) => Decision::Delete(Propagation::Foreground),
        () => Decision::Delete(Propagation::Background),
    }
}

/// Returns the owners with `blockOwnerDeletion` switched off.
fn released(owners: &[OwnerReference]) -> Vec<OwnerReference> {
    let mut owners = owners.to_vec();
    for owner in owners.iter_mut().filter(|owner| owner.blocks()) {
        owner.block_owner_deletion = Some(false);
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(owners: &[Owner], has_dependents: bool, expected: &Decision) {
        check_with(&[], owners, has_dependents, expected);
    }

    fn check_with(finalizers: &[&str], owners: &[Owner], has_dependents: bool, expected: &Decision) {
        let metadata = Metadata {
            owners: (0..owners.len()).map(owner).collect(),
            finalizers: finalizers.iter().map(|&finalizer| finalizer.to_owned()).collect(),
            ..Metadata::default()
        };
        assert_eq!(decide(&metadata, owners, has_dependents), *expected, "{owners:?}");
    }

    fn owner(number: usize) -> OwnerReference {
        OwnerReference {
            uid: number.to_string(),
            block_owner_deletion: (number > 0).then_some(true),
            ..OwnerReference::default()
        }
    }

    #[test]
    fn an_object_stays_while_any_owner_does() {
        use Owner::{Absent, Impossible, Solid, Unknown, Waiting};
        check(&[], false, &Decision::Keep);
        check(&[Solid, Solid], false, &Decision::Keep);
        check(&[Absent, Solid, Waiting], true, &Decision::SetOwners(vec![owner(1)]));
        check(&[Absent, Unknown], false, &Decision::Wait);
        check(&[Absent, Impossible], false, &Decision::Keep);
    }

    #[test]
    fn an_object_without_owners_goes_as_its_finalizers_say() {
        use Owner::{Absent, Waiting};
        check(&[Absent, Absent], true, &Decision::Delete(Propagation::Background));
        check(&[Absent, Waiting], false, &Decision::Delete(Propagation::Background));
        check(&[Absent, Waiting], true, &Decision::Delete(Propagation::Foreground));
        check_with(&["x", ORPHAN], &[Absent], true, &Decision::Delete(Propagation::Orphan));
        check_with(
            &[FOREGROUND],
            &[Absent],
            false,
            &Decision::Delete(Propagation::Foreground),
        );
    }

    #[test]
    fn only_the_last_who_are_nowhere_are_remembered() {
        let mut absent_owners = AbsentOwnerCache::default();
        for uid in 0..=AbsentOwnerCache::CAPACITY {
            absent_owners.add(&uid.to_string());
            absent_owners.add("1");
        }
        assert!(
            !absent_owners.has("0")
                && absent_owners.has("1")
                && absent_owners.has(&AbsentOwnerCache::CAPACITY.to_string())
        );
        assert_eq!(absent_owners.uids.len(), AbsentOwnerCache::CAPACITY);
    }

    #[test]
    fn a_released_object_holds_nobody() {
        let released = released(&[owner(0), owner(1)]);
        assert_eq!(released[0].block_owner_deletion, None);
        assert_eq!(released[1].block_owner_deletion, Some(false));
    }
}
