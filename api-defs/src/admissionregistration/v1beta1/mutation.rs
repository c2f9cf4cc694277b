//! Mutations that an admission policy applies to objects.

use planesmith_machinery::Struct;

/// A change of objects. The field that the type names is set, the other is not.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Mutation {
    /// Format of the change: ApplyConfiguration or JSONPatch.
    #[field(proto = 2, keep, known("ApplyConfiguration", "JSONPatch"), go_type = "PatchType")]
    pub patch_type: String,
    /// Fields that are merged into the object.
    #[field(proto = 3)]
    pub apply_configuration: Option<ApplyConfiguration>,
    /// Operations on the object.
    #[field(proto = 4)]
    pub json_patch: Option<JSONPatch>,
}

/// Fields that are merged into an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ApplyConfiguration {
    /// The fields, in CEL: an Object that holds what is to be set.
    #[field(proto = 1)]
    pub expression: String,
}

/// Operations on an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JSONPatch {
    /// The operations, in CEL: a list of JSONPatch.
    #[field(proto = 1)]
    pub expression: String,
}
