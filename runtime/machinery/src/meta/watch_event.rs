//! One change in a watch.

use crate::raw::RawExtension;

use crate::Struct;

/// One change in a watch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WatchEvent {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    #[field(keep, required, proto = 1)]
    pub r#type: String,
    /// The object after the change, before it when deleted, with only a version in a bookmark, and a status in an
    /// error.
    #[field(keep, required, proto = 2)]
    pub object: RawExtension,
}
