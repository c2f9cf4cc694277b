//! Runtime classes.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::node::v1::Overhead;
use crate::node::v1::Scheduling;

/// A class of container runtime that pods can select by name, for example one that isolates pods in virtual machines.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "node.k8s.io", version = "v1beta1", cluster, unserved)]
#[resource(storage_version = crate::node::v1::RuntimeClass)]
pub struct RuntimeClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Name of the handler in the container runtime of the nodes, a DNS label. Immutable.
    #[field(proto = 2, keep)]
    pub handler: String,
    /// Resources that a pod of the class needs besides its containers.
    #[field(proto = 3)]
    pub overhead: Option<Overhead>,
    /// Scheduling of pods of the class. Any node is suitable when absent.
    #[field(proto = 4)]
    pub scheduling: Option<Scheduling>,
}
