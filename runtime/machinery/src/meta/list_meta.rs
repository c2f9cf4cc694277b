//! What every list carries besides its items.

use crate::Struct;

/// Metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ListMeta {
    /// Path of the list, as older servers filled it in. No longer set.
    #[field(proto = 1)]
    pub self_link: String,
    /// Version of the store that the list shows; a watch can start from it.
    #[field(proto = 2)]
    pub resource_version: String,
    /// Where the next page starts, when there is one. Opaque; it may become invalid after a while.
    #[field(proto = 3)]
    pub r#continue: String,
    /// How many items follow this page, when the server knows: not with selectors.
    #[field(proto = 4)]
    pub remaining_item_count: Option<i64>,
    /// Which part of the collection the list shows, when it was asked for a part.
    #[field(proto = 5)]
    pub shard_info: Option<ShardInfo>,
}

/// The part of a collection that a list shows.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ShardInfo {
    /// The selector of the part, as the client sent it.
    #[field(keep, required, proto = 1)]
    pub selector: String,
}
