//! One change in a watch.

use crate::raw::RawExtension;

use crate::Struct;

/// One change in a watch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WatchEvent {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    #[field(keep, required, proto = 1)]
    pub r#type: String,
    /// The object after the change. For a deletion it is the last state, for a bookmark an object with only a resource
    /// version, for an error a Status.
    #[field(keep, required, proto = 2)]
    pub object: RawExtension,
}
