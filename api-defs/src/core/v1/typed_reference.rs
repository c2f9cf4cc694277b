//! References to objects of a given kind.

use planesmith_machinery::Struct;

/// Names an object of any kind in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct TypedLocalObjectReference {
    /// API group of the kind; the core group when absent.
    #[field(proto = 1, keep, optional)]
    pub api_group: Option<String>,
    /// Kind of the object, such as VolumeSnapshot or PersistentVolumeClaim.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the object that is meant.
    #[field(proto = 3, keep)]
    pub name: String,
}

/// Names an object of any kind, perhaps in another namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TypedObjectReference {
    /// API group of the kind; the core group when absent.
    #[field(proto = 1, keep, optional)]
    pub api_group: Option<String>,
    /// Kind of the object, such as VolumeSnapshot or PersistentVolumeClaim.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the object that is meant.
    #[field(proto = 3, keep)]
    pub name: String,
    /// Namespace of the object. Another one than one's own must be permitted by a ReferenceGrant there.
    #[field(proto = 4)]
    pub namespace: Option<String>,
}

/// Names a secret in any namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct SecretReference {
    /// Name of the secret; no two secrets of a namespace share one.
    #[field(proto = 1)]
    pub name: String,
    /// Namespace that the secret lives in.
    #[field(proto = 2)]
    pub namespace: String,
}
