//! Volumes that live on the node.

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

/// Host path volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostPathVolumeSource {
    /// The path.
    #[field(proto = 1, keep)]
    pub path: String,
    /// The type.
    #[field(proto = 2)]
    pub type_: Option<String>,
}

/// Empty dir volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EmptyDirVolumeSource {
    /// The medium.
    #[field(proto = 1)]
    pub medium: String,
    /// The size limit.
    #[field(proto = 2)]
    pub size_limit: Option<Quantity>,
}

/// Git repo volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GitRepoVolumeSource {
    /// The repository.
    #[field(proto = 1, keep)]
    pub repository: String,
    /// The revision.
    #[field(proto = 2)]
    pub revision: String,
    /// The directory.
    #[field(proto = 3)]
    pub directory: String,
}

/// Image volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageVolumeSource {
    /// The reference.
    #[field(proto = 1)]
    pub reference: String,
    /// The pull policy.
    #[field(proto = 2)]
    pub pull_policy: String,
}
