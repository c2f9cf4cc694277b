//! What every object carries besides its content.

use std::collections::BTreeMap;

use crate::time::Time;

use super::{ManagedFieldsEntry, OwnerReference};
use crate::Struct;

/// Metadata that every persisted object has: its name, its identity, its place in history, its owners.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ObjectMeta {
    /// Name, unique among the objects of one kind in one namespace. It is needed to create an object unless one is
    /// generated, and cannot change afterwards.
    #[field(proto = 1)]
    pub name: String,
    /// Start of a name that the server completes with random characters when no name is given. The server does not
    /// promise that the name is free: on a collision the request fails and can be repeated.
    #[field(proto = 2)]
    pub generate_name: String,
    /// Namespace of the object; empty for kinds that live in none. It cannot change.
    #[field(proto = 3)]
    pub namespace: String,
    /// Path of the object, as older servers filled it in. No longer set.
    #[field(proto = 4)]
    pub self_link: String,
    /// Identity of the object across time and space: set by the server on creation, never used twice. An object that
    /// is deleted and created anew under the same name has another one.
    #[field(proto = 5, go_type = "types.UID")]
    pub uid: String,
    /// Version of the object in the store, to detect changes and to guard updates. Clients treat it as opaque and
    /// give it back unchanged.
    #[field(proto = 6)]
    pub resource_version: String,
    /// Number of the current desired state; the server raises it with each change of the spec.
    #[field(proto = 7)]
    pub generation: i64,
    /// When the server created the object; set by the server.
    #[field(proto = 8, omit_zero)]
    pub creation_timestamp: Time,
    /// When the object will be gone, at the latest to the knowledge of the server. Set by the server when deletion
    /// was asked for gracefully; the object stays visible until its finalizers are removed. It cannot be unset or
    /// moved into the future.
    #[field(proto = 9)]
    pub deletion_timestamp: Option<Time>,
    /// Seconds that the object has to end gracefully; set together with the deletion timestamp. It can only shrink.
    #[field(proto = 10)]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Short texts by key to organise and select objects.
    #[field(proto = 11)]
    pub labels: BTreeMap<String, String>,
    /// Texts by key that tools keep with the object; they cannot be selected by.
    #[field(proto = 12)]
    pub annotations: BTreeMap<String, String>,
    /// The objects that this one depends on: when all of them are gone, it is collected as garbage. At most one of
    /// them is the managing controller.
    #[field(proto = 13, list_type = map, list_map_keys("uid"), patch_strategy(merge), patch_merge_key = "uid")]
    pub owner_references: Vec<OwnerReference>,
    /// Who has to finish something before the object may vanish. Each entry is removed by the component that it
    /// names; entries can only be removed once deletion was asked for.
    #[field(proto = 14, list_type = set, patch_strategy(merge))]
    pub finalizers: Vec<String>,
    /// Which manager set which fields in which version. Kept by the server for server-side apply; most users need
    /// not look at it.
    #[field(proto = 17, list_type = atomic)]
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

impl ObjectMeta {
    /// Takes over from `old` what a write to a status may not change, for kinds that keep metadata out of it.
    pub fn keep_for_status(&mut self, old: &ObjectMeta) {
        self.deletion_timestamp.clone_from(&old.deletion_timestamp);
        self.generation = old.generation;
        self.labels.clone_from(&old.labels);
        self.annotations.clone_from(&old.annotations);
        self.finalizers.clone_from(&old.finalizers);
        self.owner_references.clone_from(&old.owner_references);
    }
}
