//! References to objects of a given kind.

use planesmith_machinery::Struct;

/// Reference to an object of any kind in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct TypedLocalObjectReference {
    /// API group of the kind; the core group when absent.
    #[field(proto = 1, keep, optional)]
    pub api_group: Option<String>,
    /// Kind of the object, such as VolumeSnapshot or PersistentVolumeClaim.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the object.
    #[field(proto = 3, keep)]
    pub name: String,
}

/// Reference to an object of any kind, possibly in another namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TypedObjectReference {
    /// API group of the kind; the core group when absent.
    #[field(proto = 1, keep, optional)]
    pub api_group: Option<String>,
    /// Kind of the object, such as VolumeSnapshot or PersistentVolumeClaim.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the object.
    #[field(proto = 3, keep)]
    pub name: String,
    /// Namespace of the object. A reference into another namespace must be permitted by a ReferenceGrant there.
    #[field(proto = 4)]
    pub namespace: Option<String>,
}

/// Reference to a secret in any namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct SecretReference {
    /// Name of the secret, unique in its namespace.
    #[field(proto = 1)]
    pub name: String,
    /// Namespace of the secret.
    #[field(proto = 2)]
    pub namespace: String,
}
