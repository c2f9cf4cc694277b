//! Actions in authorization reviews.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::meta::{FieldSelectorRequirement, LabelSelectorRequirement};

pub(super) use check::{check_attributes, check_no_metadata, rendered};

/// An action on a resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceAttributes {
    /// Namespace of the action. Empty for all namespaces and for resources outside of namespaces.
    #[field(proto = 1)]
    pub namespace: String,
    /// Verb, such as get, list, watch, create, update, delete or proxy; `*` for all.
    #[field(proto = 2)]
    pub verb: String,
    /// API group; `*` for all.
    #[field(proto = 3)]
    pub group: String,
    /// API version; `*` for all.
    #[field(proto = 4)]
    pub version: String,
    /// Resource, in the plural; `*` for all.
    #[field(proto = 5)]
    pub resource: String,
    /// Subresource; empty for none.
    #[field(proto = 6)]
    pub subresource: String,
    /// Name of the object; empty for all.
    #[field(proto = 7)]
    pub name: String,
    /// Field selector that limits the action. It can only narrow the request.
    #[field(proto = 8)]
    pub field_selector: Option<FieldSelectorAttributes>,
    /// Label selector that limits the action. It can only narrow the request.
    #[field(proto = 9)]
    pub label_selector: Option<LabelSelectorAttributes>,
}

/// An action on a path that is not a resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NonResourceAttributes {
    /// URL path.
    #[field(proto = 1)]
    pub path: String,
    /// The HTTP method in lower case.
    #[field(proto = 2)]
    pub verb: String,
}

/// A field selector, either as text or as requirements.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FieldSelectorAttributes {
    /// Selector in query syntax.
    #[field(proto = 1)]
    pub raw_selector: String,
    /// Requirements, all of which must hold.
    #[field(proto = 2, list_type = atomic)]
    pub requirements: Vec<FieldSelectorRequirement>,
}

/// A label selector, either as text or as requirements.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LabelSelectorAttributes {
    /// Selector in query syntax.
    #[field(proto = 1)]
    pub raw_selector: String,
    /// Requirements, all of which must hold.
    #[field(proto = 2, list_type = atomic)]
    pub requirements: Vec<LabelSelectorRequirement>,
}
