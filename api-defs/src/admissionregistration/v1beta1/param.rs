//! Parameters of admission policies.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

/// The kind of objects that a policy is parameterized with.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ParamKind {
    /// Group and version, as group/version.
    #[field(proto = 1)]
    pub api_version: String,
    /// The kind.
    #[field(proto = 2)]
    pub kind: String,
}

/// The objects that a binding parameterizes its policy with: one by name, or some by labels.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ParamRef {
    /// The name of the object. Excludes selector.
    #[field(proto = 1)]
    pub name: String,
    /// The namespace of the objects; the one of the request when empty.
    #[field(proto = 2)]
    pub namespace: String,
    /// The objects by their labels; each is evaluated for itself. Excludes name.
    #[field(proto = 3)]
    pub selector: Option<LabelSelector>,
    /// Behavior when no parameter object is found: Allow or Deny.
    #[field(proto = 4, go_type = "ParameterNotFoundActionType")]
    pub parameter_not_found_action: Option<String>,
}
