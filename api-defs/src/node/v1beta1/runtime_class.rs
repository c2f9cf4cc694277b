//! Ways of running containers.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::node::v1::Overhead;
use crate::node::v1::Scheduling;

/// A way of running containers that pods can ask for by name, such as in a virtual machine of their own.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "node.k8s.io", version = "v1beta1", cluster, unserved)]
#[resource(storage_version = crate::node::v1::RuntimeClass)]
pub struct RuntimeClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// What the container runtime of the nodes calls this way: a DNS label. Cannot change.
    #[field(proto = 2, keep)]
    pub handler: String,
    /// What a pod needs besides its containers.
    #[field(proto = 3)]
    pub overhead: Option<Overhead>,
    /// Where pods of the class can run; anywhere when absent.
    #[field(proto = 4)]
    pub scheduling: Option<Scheduling>,
}
