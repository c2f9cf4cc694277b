//! The metadata of lists.

use crate::Struct;

/// Metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ListMeta {
    /// Path of the list; set by older servers only.
    #[field(proto = 1)]
    pub self_link: String,
    /// Store revision of the list; a watch can start from it.
    #[field(proto = 2)]
    pub resource_version: String,
    /// Token of the next page; empty on the last page. Opaque; it may expire.
    #[field(proto = 3)]
    pub r#continue: String,
    /// Number of items after this page; absent if it is unknown, as with selectors.
    #[field(proto = 4)]
    pub remaining_item_count: Option<i64>,
    /// The shard that the list contains; absent if the request has no shard selector.
    #[field(proto = 5)]
    pub shard_info: Option<ShardInfo>,
}

/// The shard of a collection that a list contains.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ShardInfo {
    /// The shard selector of the request.
    #[field(keep, required, proto = 1)]
    pub selector: String,
}
