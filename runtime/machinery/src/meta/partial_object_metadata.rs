//! Objects reduced to their metadata.

use super::{ListMeta, ObjectMeta};
use crate::Struct;

/// An object reduced to its metadata.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "PartialObjectMetadata"))]
pub struct PartialObjectMetadata {
    /// The metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
}

impl PartialObjectMetadata {
    /// The start of its JSON; the metadata and `}` follow.
    pub const OPEN: &str = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#;
}

/// Objects reduced to their metadata.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "PartialObjectMetadataList"))]
pub struct PartialObjectMetadataList {
    /// Metadata of the list.
    #[field(proto = 1)]
    pub metadata: ListMeta,
    /// The reduced objects.
    #[field(keep, required, proto = 2)]
    pub items: Vec<PartialObjectMetadata>,
}
