//! `/api`, `/apis` and below: the documents that list the served groups, versions and resources.
//!
//! The document of one version belongs to the table that serves it ([`crate::routes::RouteTable`]). The lists of groups
//! cover the whole chain and are computed here, once for each time a table or the [`GroupDirectory`] is swapped.

mod accept;
mod aggregated;
mod directory;
mod document;
mod groups;
mod plain;
mod resource_list;

pub use directory::{
    GroupDirectory, Groups, ListedGroup, RemoteResource, RemoteResources, RemoteVersion, VersionPriority,
};
pub(crate) use document::Document;
pub(crate) use groups::Discovery;
pub(crate) use resource_list::resource_list;

#[cfg(test)]
mod tests;
