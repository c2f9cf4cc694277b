//! Mutations that an admission policy applies to objects.

use planesmith_machinery::Struct;

/// A mutation of objects. Only the field that patchType names is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Mutation {
    /// Format of the change: ApplyConfiguration or JSONPatch.
    #[field(proto = 2, keep, known("ApplyConfiguration", "JSONPatch"), go_type = "PatchType")]
    pub patch_type: String,
    /// Fields to merge into the object.
    #[field(proto = 3)]
    pub apply_configuration: Option<ApplyConfiguration>,
    /// Operations of a JSON patch.
    #[field(proto = 4)]
    pub json_patch: Option<JSONPatch>,
}

/// Fields to merge into an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ApplyConfiguration {
    /// CEL expression that evaluates to an Object with the fields to set.
    #[field(proto = 1)]
    pub expression: String,
}

/// Operations of a JSON patch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JSONPatch {
    /// CEL expression that evaluates to a list of JSONPatch operations.
    #[field(proto = 1)]
    pub expression: String,
}
