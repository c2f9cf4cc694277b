//! The documents at `/api`, `/apis` and below, which list the served groups, versions and resources.
//!
//! They are made of [`ServedResource`]s, the descriptions of served resources, and of the [`GroupDirectory`], the
//! versions that other servers serve. The table that serves a version keeps its document; the lists of groups cover the
//! whole chain, which answers with them.

mod accept;
mod aggregated;
mod directory;
mod document;
mod plain;
mod resource_list;
mod served;

pub(crate) use accept::AggregatedEncoding;
pub(crate) use aggregated::{Group, GroupList, Version};
pub use directory::{
    GroupDirectory, GroupRegistry, Groups, ListedGroup, ListedGroups, RemoteResource, RemoteResources, RemoteVersion,
    VersionPriority,
};
pub(crate) use document::Document;
pub(crate) use plain::PlainList;
pub(crate) use resource_list::resource_list;
pub use served::{ServedKind, ServedResource, ServedSubresource};
