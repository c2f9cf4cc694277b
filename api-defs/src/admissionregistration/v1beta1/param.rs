//! Parameters of admission policies.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

/// Kind of a policy's parameter objects.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ParamKind {
    /// API version of the kind, as group/version.
    #[field(proto = 1)]
    pub api_version: String,
    /// Kind of the parameter objects.
    #[field(proto = 2)]
    pub kind: String,
}

/// Parameter objects of a binding, selected by name or by labels.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ParamRef {
    /// Name of the object. Excludes selector.
    #[field(proto = 1)]
    pub name: String,
    /// Namespace of the objects. That of the request when empty.
    #[field(proto = 2)]
    pub namespace: String,
    /// Labels of the objects. The policy is evaluated for each of them. Excludes name.
    #[field(proto = 3)]
    pub selector: Option<LabelSelector>,
    /// Behavior when no parameter object is found: Allow or Deny.
    #[field(proto = 4, go_type = "ParameterNotFoundActionType")]
    pub parameter_not_found_action: Option<String>,
}
