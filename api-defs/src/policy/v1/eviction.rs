//! Evictions: deletions of pods that respect disruption budgets.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::{DeleteOptions, ObjectMeta};

/// A request to delete a pod. It is granted only if all disruption budgets that select the pod allow it.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "policy", version = "v1", unserved)]
pub struct Eviction {
    /// Name and namespace of the pod.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Options of the deletion. The defaults apply when absent.
    #[field(proto = 2)]
    pub delete_options: Option<DeleteOptions>,
}
