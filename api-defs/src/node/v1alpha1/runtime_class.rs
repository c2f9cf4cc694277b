//! Ways of running containers.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

use crate::node::v1::Overhead;
use crate::node::v1::Scheduling;

/// A way of running containers that pods can ask for by name, such as in a virtual machine of their own.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "node.k8s.io", version = "v1alpha1", cluster, unserved)]
#[resource(storage_version = crate::node::v1::RuntimeClass)]
pub struct RuntimeClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// How containers are run.
    #[field(proto = 2, keep)]
    pub spec: RuntimeClassSpec,
}

/// How containers are run.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RuntimeClassSpec {
    /// What the container runtime of the nodes calls this way: a DNS label. Cannot change.
    #[field(proto = 1, keep, moved_to = "handler")]
    pub runtime_handler: String,
    /// What a pod needs besides its containers.
    #[field(proto = 2, moved_to = "overhead")]
    pub overhead: Option<Overhead>,
    /// Where pods of the class can run; anywhere when absent.
    #[field(proto = 3, moved_to = "scheduling")]
    pub scheduling: Option<Scheduling>,
}
