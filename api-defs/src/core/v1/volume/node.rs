//! Volumes that live on the node.

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

/// A file or folder of the node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostPathVolumeSource {
    /// Path on the node. Links are followed.
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

/// A folder that starts empty.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EmptyDirVolumeSource {
    /// Storage medium: empty for the node's disk, Memory, HugePages or HugePages-SIZE.
    #[field(proto = 1, go_type = "StorageMedium")]
    pub medium: String,
    /// The most that it may hold. In memory the limits of the containers count as well.
    #[field(proto = 2)]
    pub size_limit: Option<Quantity>,
}

/// A copy of a git repository.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GitRepoVolumeSource {
    /// URL of the repository that is cloned into the volume.
    #[field(proto = 1, keep)]
    pub repository: String,
    /// Commit that is checked out.
    #[field(proto = 2)]
    pub revision: String,
    /// Folder in the volume; . for the volume itself. Without .. in it.
    #[field(proto = 3)]
    pub directory: String,
}

/// The files of an image.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageVolumeSource {
    /// The image or artifact whose content becomes the volume, as name with tag or digest.
    #[field(proto = 1)]
    pub reference: String,
    /// Pull policy of the image: Always, Never or IfNotPresent. By default Always for the tag latest, otherwise
    /// IfNotPresent.
    #[field(proto = 2, known("Always", "Never", "IfNotPresent"), go_type = "PullPolicy")]
    pub pull_policy: String,
}
