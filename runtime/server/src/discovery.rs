//! `/api`, `/apis` and below: what is served.
//!
//! The document of one version belongs to the table that serves it ([`crate::routes::RouteTable`]); the lists of groups
//! are about the chain as a whole and are computed here, once for each time a table or the [`GroupDirectory`] is swapped.

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
