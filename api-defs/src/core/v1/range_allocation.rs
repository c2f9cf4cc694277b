//! Allocations from a range.

use planesmith_machinery::Resource;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::meta::ObjectMeta;

/// Allocated members of a range of addresses or ports. Used by the server itself.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", storage_name = "ranges", unserved)]
pub struct RangeAllocation {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The range, such as 10.0.0.0/24 or 30000-32767.
    #[field(proto = 2, keep)]
    pub range: String,
    /// Bitmap with one bit for each member of the range.
    #[field(proto = 3, keep)]
    pub data: ByteString,
}
