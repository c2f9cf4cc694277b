//! Facts about a kind in one version: names, scope, versions, subresources, selectors and columns.

pub mod object;
pub mod rules;

mod column;
mod dynamic_kind;
mod field_labels;
mod group_version;

pub use planesmith_wire::names::NameRule;

pub use column::{Cell, CellSource, Column, Completion};
pub use dynamic_kind::DynamicKind;
pub use field_labels::{FieldAlias, FieldLabels, FieldRefusal};

use crate::facts::StructFacts;
use object::Object;
use rules::RulesTable;

/// Facts about a kind in one version; a static table made by `#[derive(Resource)]`.
#[derive(Debug)]
pub struct ResourceFacts {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Version in the group, e.g. `v1`.
    pub version: &'static str,
    /// `v1` or `group/version`.
    pub api_version: &'static str,
    /// Kind, e.g. `ConfigMap`.
    pub kind: &'static str,
    /// Kind of the list, e.g. `ConfigMapList`.
    pub list_kind: &'static str,
    /// Resource name in paths, e.g. `configmaps`.
    pub plural: &'static str,
    /// Lower-case singular, e.g. `configmap`.
    pub singular: &'static str,
    /// Resource name in the keys of the store; that of the storage version counts.
    pub storage_name: &'static str,
    /// The version that discovery says objects are stored in, by a hash; that of the storage version counts.
    pub hashed_version: &'static str,
    /// Abbreviations that kubectl takes, e.g. `cm`.
    pub short_names: &'static [&'static str],
    /// Groups of resources, e.g. `all`.
    pub categories: &'static [&'static str],
    /// The scope of objects: namespaced or not.
    pub scope: Scope,
    /// True if the version is served; a version that is not can still be converted.
    pub served: bool,
    /// Warning sent with each answer of a deprecated version.
    pub deprecated: Option<&'static str>,
    /// The conversion to the storage version and back; `None` when this is the storage version.
    pub conversion: Option<ConversionFacts>,
    /// Subresources in the order of discovery.
    pub subresources: &'static [SubresourceFacts],
    /// Dotted paths that a field selector may name, besides `metadata.name` and `metadata.namespace`.
    pub selectable: &'static [&'static str],
    /// Printed columns, in order, without the leading `Name` and the trailing `Age` unless declared here.
    pub columns: &'static [Column],
    /// The rule for names.
    pub name_rule: NameRule,
    /// Deviations from the usual handling of writes.
    pub behavior: Behavior,
    /// The type's fields.
    pub schema: fn() -> &'static StructFacts,
    /// A zero object.
    pub new: fn() -> Box<dyn Object>,
    /// The kind's own functions.
    pub rules: RulesTable,
    /// The definition of a kind that is known at run time; `None` for one with a type of its own. In place of `schema` and
    /// `new`, use [`ResourceFacts::fields`] and [`ResourceFacts::zero`], which look here.
    pub custom: Option<&'static dyn DynamicKind>,
}

impl ResourceFacts {
    /// The facts of the storage version.
    #[must_use]
    pub fn hub(&'static self) -> &'static ResourceFacts {
        if let Some(custom) = self.custom {
            return custom.hub().unwrap_or(self);
        }
        match &self.conversion {
            None => self,
            Some(conversion) => (conversion.hub)(),
        }
    }

    /// True if this is the storage version.
    #[must_use]
    pub fn is_hub(&'static self) -> bool {
        std::ptr::eq(self, self.hub())
    }

    /// The first part of the keys of all objects in the store, as in kube-apiserver; that of the storage version counts.
    ///
    /// Kinds of Kubernetes are stored under their plural alone, so that a kind may move between groups; those of other groups
    /// and custom kinds under group and plural.
    #[must_use]
    pub fn storage_prefix(&self) -> String {
        let kubernetes = self.custom.is_none() && (!self.group.contains('.') || self.group.ends_with(".k8s.io"));
        match kubernetes {
            true => format!("/registry/{}/", self.storage_name),
            false => format!("/registry/{}/{}/", self.group, self.storage_name),
        }
    }

    /// The type's fields.
    #[must_use]
    pub fn fields(&self) -> &'static StructFacts {
        self.custom.map_or_else(self.schema, |kind| kind.fields())
    }

    /// A zero object.
    #[must_use]
    pub fn zero(&'static self) -> Box<dyn Object> {
        match self.custom {
            None => (self.new)(),
            Some(kind) => kind.zero(self),
        }
    }

    /// The subresource called `name`.
    #[must_use]
    pub fn subresource(&self, name: &str) -> Option<&'static SubresourceFacts> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }
}

/// The scope of objects: namespaced or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In none.
    Cluster,
}

/// Deviations of a kind from the usual handling of writes and tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behavior {
    /// The server counts changes of anything but metadata and status in `metadata.generation`.
    pub generation: bool,
    /// PUT creates a missing object.
    pub create_on_update: bool,
    /// PUT must carry a resourceVersion.
    pub conditional_update: bool,
    /// DELETE answers with the object instead of a Status.
    pub returns_deleted: bool,
    /// There is no collection to delete at once.
    pub no_delete_collection: bool,
    /// A creator may say the status; otherwise it starts empty.
    pub status_on_create: bool,
    /// Objects are questions: a POST is answered, and nothing is stored.
    pub create_only: bool,
    /// Objects are made when they are asked for: they are read, one or all of them, and nothing is stored.
    pub read_only: bool,
    /// Dotted paths that writers of the object never come to manage, besides `status` where it has its own path.
    pub resets: &'static [&'static str],
    /// Dotted paths that writers of `/status` never come to manage, besides all that is outside metadata.
    pub status_resets: &'static [&'static str],
    /// Dotted path of the number by which the table of a list has its rows, lowest first; empty: they are ordered by
    /// name, as the list is.
    pub rows_by: &'static str,
}

impl Behavior {
    /// No deviation.
    pub const NONE: Self = Self {
        generation: false,
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
    };
}

/// The conversion to the storage version and back.
///
/// Fields of the same JSON name and shape, and those with a declared new place, are copied by generic code before
/// the functions here run.
#[derive(Clone, Copy, Debug)]
pub struct ConversionFacts {
    /// The storage version.
    pub hub: fn() -> &'static ResourceFacts,
    /// Fills in the storage version (second) what copying could not.
    pub finish_to_hub: fn(&dyn Object, &mut dyn Object),
    /// Fills in this version (second) what copying from the storage version (first) could not.
    pub finish_from_hub: fn(&dyn Object, &mut dyn Object),
    /// True if this version can hold everything in an object of the storage version.
    pub can_hold: fn(&dyn Object) -> bool,
}

/// A path below an object.
#[derive(Debug)]
pub struct SubresourceFacts {
    /// Last path segment, e.g. `status`.
    pub name: &'static str,
    /// Its kind.
    pub kind: SubresourceKind,
}

/// The kinds of subresources.
#[derive(Debug)]
pub enum SubresourceKind {
    /// Reads the object, writes its `status`.
    Status,
    /// An `autoscaling/v1` Scale over the object.
    Scale(ScaleFacts),
    /// Served by a handler that is registered by name.
    Other,
}

/// The places of the numbers of a scale; dotted paths.
#[derive(Debug)]
pub struct ScaleFacts {
    /// Wanted replicas, e.g. `spec.replicas`.
    pub spec_replicas: &'static str,
    /// Observed replicas, e.g. `status.replicas`.
    pub status_replicas: &'static str,
    /// The selector's text or a label selector; may be empty.
    pub selector: &'static str,
}

impl Behavior {
    /// True if the objects of the kind are in the store.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        !self.create_only && !self.read_only
    }
}
