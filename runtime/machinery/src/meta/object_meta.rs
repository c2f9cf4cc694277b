//! The metadata of objects.

use std::collections::BTreeMap;

use crate::time::Time;

use super::{ManagedFieldsEntry, OwnerReference};
use crate::Struct;

/// Metadata that every persisted object has: name, identity, version and owners among them.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ObjectMeta {
    /// Name, unique among the objects of one kind in one namespace. Required on create unless the server generates one;
    /// immutable.
    #[field(proto = 1)]
    pub name: String,
    /// Prefix of a name that the server completes with random characters if no name is given. The generated name may be
    /// taken: the request fails in that case and can be repeated.
    #[field(proto = 2)]
    pub generate_name: String,
    /// Namespace of the object; empty for cluster-scoped kinds. Immutable.
    #[field(proto = 3)]
    pub namespace: String,
    /// Path of the object; set by older servers only.
    #[field(proto = 4)]
    pub self_link: String,
    /// Identity of the object: set by the server on create and never reused. An object that is deleted and created
    /// again under the same name has another UID.
    #[field(proto = 5, go_type = "types.UID")]
    pub uid: String,
    /// Version of the object in the store, for the detection of changes and for optimistic concurrency. Clients treat
    /// it as opaque and send it back unchanged.
    #[field(proto = 6)]
    pub resource_version: String,
    /// Sequence number of the desired state; the server increments it with each change of the spec.
    #[field(proto = 7)]
    pub generation: i64,
    /// CreationTimestamp is a timestamp that the server sets when it creates the object.
    #[field(proto = 8, omit_zero)]
    pub creation_timestamp: Time,
    /// Expected time of deletion. Set by the server when graceful deletion is requested; the object remains visible
    /// until its finalizers are removed. It cannot be unset or postponed.
    #[field(proto = 9)]
    pub deletion_timestamp: Option<Time>,
    /// Seconds that the object has to terminate gracefully; set together with the deletion timestamp. It can only be
    /// reduced.
    #[field(proto = 10)]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Keys and values that organise objects; selectors match them.
    #[field(proto = 11)]
    pub labels: BTreeMap<String, String>,
    /// Keys and values that tools store with the object; selectors cannot match them.
    #[field(proto = 12)]
    pub annotations: BTreeMap<String, String>,
    /// The objects that this object depends on. The garbage collector deletes it once all owners are deleted. At most
    /// one owner is the managing controller.
    #[field(proto = 13, list_type = map, list_map_keys("uid"), patch_strategy(merge), patch_merge_key = "uid")]
    pub owner_references: Vec<OwnerReference>,
    /// Components that must finish before the object is deleted. Each entry is removed by the component that it names;
    /// once deletion is requested, entries can only be removed.
    #[field(proto = 14, list_type = set, patch_strategy(merge))]
    pub finalizers: Vec<String>,
    /// Ownership of fields by manager and version. Maintained by the server for server-side apply; most clients can
    /// ignore it.
    #[field(proto = 17, list_type = atomic)]
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

impl ObjectMeta {
    /// Restores from `old` the metadata that a write to the status may not change, for kinds whose status writes leave
    /// metadata alone.
    pub fn keep_for_status(&mut self, old: &ObjectMeta) {
        self.deletion_timestamp.clone_from(&old.deletion_timestamp);
        self.generation = old.generation;
        self.labels.clone_from(&old.labels);
        self.annotations.clone_from(&old.annotations);
        self.finalizers.clone_from(&old.finalizers);
        self.owner_references.clone_from(&old.owner_references);
    }
}
