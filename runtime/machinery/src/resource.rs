//! Facts about a kind in one version: names, scope, versions, subresources, selectors and columns.

pub mod erased;
pub mod object;
pub mod strategy;

mod column;
mod convert;
mod dynamic_kind;
mod facts;
mod field_labels;
mod group_version;

use std::borrow::Cow;

pub use planesmith_wire::names::NameRule;

pub use column::{Cell, CellSource, Column, Completion};
pub use convert::{Convert, can_hold, finish_from_hub, finish_to_hub};
pub use dynamic_kind::DynamicKind;
pub use facts::ResourceFacts;
pub use field_labels::{FieldAlias, FieldLabels, FieldRefusal};

use crate::facts::StructFacts;
use crate::feature::Feature;
use object::Object;
use strategy::{DynStrategy, Extensions};

/// Text of a table: part of the program, or of a definition.
pub type Text = Cow<'static, str>;

/// Facts about a kind in one version, made by `#[derive(Resource)]` or from a definition. [`ResourceFacts`] refers to one.
#[derive(Debug)]
pub struct ResourceTable {
    /// API group; empty for the core group.
    pub group: Text,
    /// Version in the group, e.g. `v1`.
    pub version: Text,
    /// `v1` or `group/version`.
    pub api_version: Text,
    /// Kind, e.g. `ConfigMap`.
    pub kind: Text,
    /// Kind of the list, e.g. `ConfigMapList`.
    pub list_kind: Text,
    /// Resource name in paths, e.g. `configmaps`.
    pub plural: Text,
    /// Lower-case singular, e.g. `configmap`.
    pub singular: Text,
    /// Resource name in store keys; only the value of the storage version is used.
    pub storage_name: Text,
    /// The storage version whose hash discovery reports; only the value of the storage version is used.
    pub hashed_version: Text,
    /// Abbreviations that kubectl accepts, e.g. `cm`.
    pub short_names: Cow<'static, [Text]>,
    /// Groups of resources, e.g. `all`.
    pub categories: Cow<'static, [Text]>,
    /// The scope of objects: in a namespace or cluster-wide.
    pub scope: Scope,
    /// True if the version is served; a version that is not served can still be converted.
    pub served: bool,
    /// Warning sent with each response of a deprecated version; `None` if the version is not deprecated.
    pub deprecated: Option<Text>,
    /// The feature without which the version is not served; `None` if it needs none.
    pub feature: Option<&'static Feature>,
    /// Conversion to and from the storage version; `None` for the storage version itself.
    pub conversion: Option<ConversionFacts>,
    /// Subresources in the order of discovery.
    pub subresources: Cow<'static, [SubresourceFacts]>,
    /// Dotted paths that a field selector may name, besides `metadata.name` and `metadata.namespace`.
    pub selectable: Cow<'static, [Text]>,
    /// All printed columns, in order. If there are none, those of the storage version are printed, or else name and age.
    pub columns: Cow<'static, [Column]>,
    /// Rule for names.
    pub name_rule: NameRule,
    /// Deviations from the usual handling of writes.
    pub behavior: Behavior,
    /// The type's fields.
    pub schema: fn() -> &'static StructFacts,
    /// A zero object.
    pub new: fn() -> Box<dyn Object>,
    /// Behaviour beyond the declarations.
    pub strategy: &'static dyn DynStrategy,
    /// Deviations from the usual behaviour that kinds of kube-apiserver have.
    pub extensions: Extensions,
    /// The definition of a kind that is defined at run time; `None` for a kind with a Rust type. Use
    /// [`ResourceFacts::zero`], which consults this field, in place of `new`.
    pub custom: Option<Box<dyn DynamicKind>>,
}

impl ResourceTable {
    /// Returns the prefix of the store keys of all objects, as in kube-apiserver; only the prefix of the storage
    /// version is used.
    ///
    /// Kinds of Kubernetes are stored under their plural alone, so that a kind can move between groups. Kinds of other
    /// groups are stored under group and plural.
    #[must_use]
    pub fn storage_prefix(&self) -> String {
        let kubernetes = !self.group.contains('.') || self.group.ends_with(".k8s.io");
        match kubernetes && !self.behavior.keys_with_group {
            true => format!("/registry/{}/", self.storage_name),
            false => format!("/registry/{}/{}/", self.group, self.storage_name),
        }
    }

    /// Returns the fields of the type.
    #[must_use]
    pub fn fields(&self) -> &'static StructFacts {
        (self.schema)()
    }

    /// Returns the subresource `name`.
    #[must_use]
    pub fn subresource(&self, name: &str) -> Option<&SubresourceFacts> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }
}

/// The scope of objects: in a namespace or cluster-wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Objects belong to a namespace.
    Namespaced,
    /// Objects are cluster-scoped.
    Cluster,
}

/// The changes of an object that the server counts in `metadata.generation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// Objects have no generation.
    #[default]
    None,
    /// Changes outside of metadata and status.
    Content,
    /// Changes outside of metadata and status, and updates of the object that send an empty list or map there: kube-apiserver compares
    /// objects of the kind exactly and stores nothing of an empty list, so each one that is sent is a change.
    AsSent,
}

/// Deviations of a kind from the usual handling of writes and tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behavior {
    /// The changes that `metadata.generation` counts.
    pub generation: Generation,
    /// The store keys begin with group and plural, though the group is one of Kubernetes.
    pub keys_with_group: bool,
    /// PUT creates a missing object.
    pub create_on_update: bool,
    /// PUT must carry a resourceVersion.
    pub conditional_update: bool,
    /// DELETE answers with the object instead of a Status.
    pub returns_deleted: bool,
    /// The kind does not support the deletion of collections.
    pub no_delete_collection: bool,
    /// Creators can set the status; otherwise it starts empty.
    pub status_on_create: bool,
    /// Objects are reviews: the server answers a POST and stores nothing.
    pub create_only: bool,
    /// Objects are computed for each GET or LIST; nothing is stored.
    pub read_only: bool,
    /// Dotted paths that writers of the object never own, besides `status` if the kind has a status subresource.
    pub resets: &'static [&'static str],
    /// Dotted paths that writers of `/status` never own, besides everything outside metadata.
    pub status_resets: &'static [&'static str],
    /// Dotted path of the number by which the table of a list is sorted, in ascending order; empty for the order of the
    /// list, by name.
    pub rows_by: &'static str,
    /// Selectable path whose value says which of many clients watches an object; empty if clients watch all objects.
    pub partitioned_by: &'static str,
    /// Objects are namespaces: a write is in the namespace that has the object's own name.
    pub is_namespace: bool,
    /// Objects expire by themselves, and are not collected as garbage.
    pub expires: bool,
    /// Objects of a terminating namespace are deleted before those of other kinds.
    pub deleted_first: bool,
}

impl Behavior {
    /// No deviation.
    pub const NONE: Self = Self {
        generation: Generation::None,
        keys_with_group: false,
        create_on_update: false,
        conditional_update: false,
        returns_deleted: false,
        no_delete_collection: false,
        status_on_create: false,
        create_only: false,
        read_only: false,
        resets: &[],
        status_resets: &[],
        rows_by: "",
        partitioned_by: "",
        is_namespace: false,
        expires: false,
        deleted_first: false,
    };
}

/// Conversion to and from the storage version.
///
/// Generic code copies fields of the same JSON name and shape, and those with a declared new path, before these
/// functions run.
#[derive(Clone, Copy, Debug)]
pub struct ConversionFacts {
    /// The storage version.
    pub hub: fn() -> &'static ResourceFacts,
    /// Sets fields of the storage version (second) that copying could not.
    pub finish_to_hub: fn(&dyn Object, &mut dyn Object),
    /// Sets fields of this version (second) that copying from the storage version (first) could not.
    pub finish_from_hub: fn(&dyn Object, &mut dyn Object),
    /// True if this version can represent everything in an object of the storage version.
    pub can_hold: fn(&dyn Object) -> bool,
}

/// A path below an object.
#[derive(Clone, Debug)]
pub struct SubresourceFacts {
    /// Last path segment, e.g. `status`.
    pub name: &'static str,
    /// Function of the subresource.
    pub kind: SubresourceKind,
}

/// The function of a subresource.
#[derive(Clone, Debug)]
pub enum SubresourceKind {
    /// Reads the object, writes its `status`.
    Status,
    /// An `autoscaling/v1` Scale over the object.
    Scale(ScaleFacts),
    /// Served by a handler that is registered by name.
    Other,
}

/// Dotted paths of the values of a scale.
#[derive(Clone, Debug)]
pub struct ScaleFacts {
    /// Desired replicas, e.g. `spec.replicas`.
    pub spec_replicas: Text,
    /// Observed replicas, e.g. `status.replicas`.
    pub status_replicas: Text,
    /// The selector as text or as a label selector; empty if the scale has none.
    pub selector: Text,
}

impl Behavior {
    /// True if objects of the kind are stored.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        !self.create_only && !self.read_only
    }
}
