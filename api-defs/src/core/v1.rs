//! `v1`: namespaces, configuration, identities, nodes and events.

mod config_map;
mod event;
mod finalizer_name;
mod local_object_reference;
mod namespace;
mod node;
mod object_reference;
mod resource_list;
mod resource_name;
mod secret;
mod service_account;

pub use config_map::ConfigMap;
pub use event::{Event, EventSeries, EventSource};
pub use local_object_reference::LocalObjectReference;
pub use namespace::{Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus};
pub use node::{
    AttachedVolume, ConfigMapNodeConfigSource, ContainerImage, DaemonEndpoint, Node, NodeAddress, NodeCondition,
    NodeConfigSource, NodeConfigStatus, NodeDaemonEndpoints, NodeFeatures, NodeRuntimeHandler,
    NodeRuntimeHandlerFeatures, NodeSpec, NodeStatus, NodeSwapStatus, NodeSystemInfo, Taint,
};
pub use object_reference::ObjectReference;
pub use resource_list::ResourceList;
pub use resource_name::check_container_resource;
pub use secret::Secret;
pub use service_account::ServiceAccount;
