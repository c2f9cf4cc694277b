//! What a server says about one resource.

use std::borrow::Cow;

use planesmith_machinery::resource::Scope;

use crate::request::Verb;

/// Text that is static for built-in kinds and owned for custom ones.
type Text = Cow<'static, str>;

/// A resource in one version, as discovery shows it and as its paths follow from it.
#[derive(Clone, Debug)]
pub struct ServedResource {
    /// API group; empty for the core group.
    pub group: Text,
    /// API version.
    pub version: Text,
    /// Name in paths, e.g. `configmaps`.
    pub plural: Text,
    /// E.g. `configmap`.
    pub singular: Text,
    /// E.g. `ConfigMap`.
    pub kind: Text,
    /// Abbreviations, e.g. `cm`.
    pub short_names: Vec<Text>,
    /// Groups of resources, e.g. `all`.
    pub categories: Vec<Text>,
    /// Whether objects live in namespaces.
    pub scope: Scope,
    /// What can be done, in the order in which discovery lists it.
    pub verbs: Vec<Verb>,
    /// What can be done though discovery does not tell.
    pub untold_verbs: Vec<Verb>,
    /// The version in which objects are stored; `None` for resources that are not stored.
    pub stored_as: Option<ServedKind>,
    /// Paths below an object, in the order in which discovery lists them.
    pub subresources: Vec<ServedSubresource>,
}

/// A kind by its full name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedKind {
    /// API group; empty for the core group.
    pub group: Text,
    /// API version.
    pub version: Text,
    /// E.g. `ConfigMap`.
    pub kind: Text,
}

/// A path below an object.
#[derive(Clone, Debug)]
pub struct ServedSubresource {
    /// Last part of the path, e.g. `status`.
    pub name: Text,
    /// What is read and written there; `None` for the resource's own kind.
    pub kind: Option<ServedKind>,
    /// What can be done.
    pub verbs: Vec<Verb>,
    /// Whether anything may follow in the path, with any method (`pods/x/proxy/any/thing`).
    pub open_ended: bool,
}
