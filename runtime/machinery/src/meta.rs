//! Metadata types shared by all kinds (`meta.k8s.io/v1`).

pub use planesmith_wire::type_meta::TypeMeta;

mod api_group;
mod api_resource;
mod condition;
mod field_selector_requirement;
mod group_resource;
mod group_version;
mod label_selector;
mod list_meta;
mod managed_fields_entry;
mod object_meta;
mod options;
mod owner_reference;
mod partial_object_metadata;
mod status;
mod watch_event;

pub use api_group::{ApiGroup, ApiGroupList, ApiVersions, GroupVersionForDiscovery, ServerAddressByClientCidr};
pub use api_resource::{ApiResource, ApiResourceList};
pub use condition::Condition;
pub use field_selector_requirement::FieldSelectorRequirement;
pub use group_resource::GroupResource;
pub use group_version::{GroupVersionKind, GroupVersionResource};
pub use label_selector::{LabelSelector, LabelSelectorRequirement};
pub use list_meta::{ListMeta, ShardInfo};
pub use managed_fields_entry::ManagedFieldsEntry;
pub use object_meta::ObjectMeta;
pub use options::{CreateOptions, DeleteOptions, GetOptions, ListOptions, PatchOptions, Preconditions, UpdateOptions};
pub use owner_reference::OwnerReference;
pub use partial_object_metadata::{PartialObjectMetadata, PartialObjectMetadataList};
pub use status::{Status, StatusCause, StatusDetails};
pub use watch_event::WatchEvent;
