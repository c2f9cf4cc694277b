//! References to objects of a given kind.

use planesmith_machinery::Struct;

/// Typed local object reference.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct TypedLocalObjectReference {
    /// The api group.
    #[field(proto = 1, keep, optional)]
    pub api_group: Option<String>,
    /// The kind.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// The name.
    #[field(proto = 3, keep)]
    pub name: String,
}

/// Typed object reference.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TypedObjectReference {
    /// The api group.
    #[field(proto = 1, keep, optional)]
    pub api_group: Option<String>,
    /// The kind.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// The name.
    #[field(proto = 3, keep)]
    pub name: String,
    /// The namespace.
    #[field(proto = 4)]
    pub namespace: Option<String>,
}

/// Secret reference.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct SecretReference {
    /// The name.
    #[field(proto = 1)]
    pub name: String,
    /// The namespace.
    #[field(proto = 2)]
    pub namespace: String,
}
