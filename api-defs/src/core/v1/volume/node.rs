//! Volumes on the node.

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

/// A file or directory of the node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostPathVolumeSource {
    /// Path on the node. Symbolic links are followed.
    #[field(proto = 1, keep)]
    pub path: String,
    /// Type that the path must have: empty for no check, DirectoryOrCreate, Directory, FileOrCreate, File, Socket,
    /// CharDevice or BlockDevice.
    #[field(
        proto = 2,
        known(
            "",
            "DirectoryOrCreate",
            "Directory",
            "FileOrCreate",
            "File",
            "Socket",
            "CharDevice",
            "BlockDevice"
        ),
        go_type = "HostPathType"
    )]
    pub type_: Option<String>,
}

/// A directory that is initially empty.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EmptyDirVolumeSource {
    /// Storage medium: empty for the node's disk, Memory, HugePages or HugePages-SIZE.
    #[field(proto = 1, go_type = "StorageMedium")]
    pub medium: String,
    /// Maximum size. In memory, the memory limits of the containers apply, too.
    #[field(proto = 2)]
    pub size_limit: Option<Quantity>,
}

/// A copy of a git repository.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GitRepoVolumeSource {
    /// URL of the repository.
    #[field(proto = 1, keep)]
    pub repository: String,
    /// Commit to check out.
    #[field(proto = 2)]
    pub revision: String,
    /// Directory in the volume; `.` for the volume itself. Must not contain `..`.
    #[field(proto = 3)]
    pub directory: String,
}

/// The content of an image.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageVolumeSource {
    /// Reference of the image or artifact, with a tag or digest.
    #[field(proto = 1)]
    pub reference: String,
    /// Pull policy of the image: Always, Never or IfNotPresent. By default Always for the tag latest, otherwise
    /// IfNotPresent.
    #[field(proto = 2, known("Always", "Never", "IfNotPresent"), go_type = "PullPolicy")]
    pub pull_policy: String,
}
