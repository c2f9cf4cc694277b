//! The description of one resource.

use std::borrow::Cow;

use planesmith_machinery::resource::Scope;

use crate::request::Verb;

/// Text that is static for built-in kinds and owned for custom ones.
type Text = Cow<'static, str>;

/// A resource in one version, as discovery lists it; its paths are derived from it.
#[derive(Clone, Debug)]
pub struct ServedResource {
    /// API group; empty for the core group.
    pub group: Text,
    /// API version.
    pub version: Text,
    /// Name in paths, e.g. `configmaps`.
    pub plural: Text,
    /// Singular name, e.g. `configmap`.
    pub singular: Text,
    /// Kind, e.g. `ConfigMap`.
    pub kind: Text,
    /// Abbreviations, e.g. `cm`.
    pub short_names: Vec<Text>,
    /// Groups of resources, e.g. `all`.
    pub categories: Vec<Text>,
    /// True if objects are namespaced.
    pub scope: Scope,
    /// Supported verbs, in the order in which discovery lists them.
    pub verbs: Vec<Verb>,
    /// Supported verbs that discovery does not list.
    pub hidden_verbs: Vec<Verb>,
    /// The version in which objects are stored, of which discovery has a hash; `None` if it has none, as for resources
    /// that are not stored.
    pub stored_as: Option<ServedKind>,
    /// Paths below an object, in the order in which discovery lists them.
    pub subresources: Vec<ServedSubresource>,
    /// True for a kind that is defined at run time: aggregated discovery has group and version of its answers, and of those of other
    /// kinds the name alone.
    pub is_custom: bool,
}

/// A fully qualified kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedKind {
    /// API group; empty for the core group.
    pub group: Text,
    /// API version.
    pub version: Text,
    /// Kind, e.g. `ConfigMap`.
    pub kind: Text,
}

/// A path below an object.
#[derive(Clone, Debug)]
pub struct ServedSubresource {
    /// Last part of the path, e.g. `status`.
    pub name: Text,
    /// The kind that is read and written there; `None` for the resource's own kind.
    pub kind: Option<ServedKind>,
    /// Supported verbs.
    pub verbs: Vec<Verb>,
    /// True if any path may follow, with any method (`pods/x/proxy/any/thing`).
    pub open_ended: bool,
}
