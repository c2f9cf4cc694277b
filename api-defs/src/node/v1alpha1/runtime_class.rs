//! Runtime classes.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

use crate::node::v1::Overhead;
use crate::node::v1::Scheduling;

/// A class of container runtime that pods can select by name, for example one that isolates pods in virtual machines.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "node.k8s.io", version = "v1alpha1", cluster, unserved)]
#[resource(storage_version = crate::node::v1::RuntimeClass)]
pub struct RuntimeClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Handler and overhead of the class.
    #[field(proto = 2, keep)]
    pub spec: RuntimeClassSpec,
}

/// Handler and overhead of a runtime class.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RuntimeClassSpec {
    /// Name of the handler in the container runtime of the nodes, a DNS label. Immutable.
    #[field(proto = 1, keep, moved_to = "handler")]
    pub runtime_handler: String,
    /// Resources that a pod of the class needs besides its containers.
    #[field(proto = 2, moved_to = "overhead")]
    pub overhead: Option<Overhead>,
    /// Scheduling of pods of the class. Any node is suitable when absent.
    #[field(proto = 3, moved_to = "scheduling")]
    pub scheduling: Option<Scheduling>,
}
