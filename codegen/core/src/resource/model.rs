//! The validated facts of a kind; the textual form of machinery's `ResourceTable`.

use syn::Path;

use super::path_use::PathCheck;
use crate::structure::StructModel;

/// A kind in one version.
#[derive(Clone, Debug)]
pub struct ResourceModel {
    /// The struct and its fields.
    pub structure: StructModel,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// `v1` or `group/version`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The kind of the list.
    pub list_kind: String,
    /// The resource name in paths.
    pub plural: String,
    /// The lower-case singular.
    pub singular: String,
    /// The resource name in the keys of the store.
    pub storage_name: String,
    /// The storage version according to discovery.
    pub hashed_version: String,
    /// The short names.
    pub short_names: Vec<String>,
    /// The categories, names for groups of resources.
    pub categories: Vec<String>,
    /// True if objects are namespaced.
    pub namespaced: bool,
    /// True if the version is served.
    pub served: bool,
    /// The deprecation warning; `None` if the version is not deprecated.
    pub deprecated: Option<String>,
    /// The constant of the feature without which the version is not served, as written.
    pub feature: Option<Path>,
    /// The Rust type of the storage version, as written; `None` when this is the storage version.
    pub storage_version: Option<Path>,
    /// True if the kind implements `Convert` by hand.
    pub convert: bool,
    /// The subresources, sorted by name.
    pub subresources: Vec<Subresource>,
    /// The dotted paths available to field selectors.
    pub selectable: Vec<String>,
    /// The table columns.
    pub columns: Vec<ColumnModel>,
    /// The compile-time type checks of the paths above.
    pub paths: Vec<PathCheck>,
    /// The rule for object names.
    pub name_rule: NameRule,
    /// Deviations from the default handling of writes.
    pub behavior: BehaviorModel,
    /// True if the kind implements `Strategy` by hand.
    pub strategy: bool,
    /// True if the kind implements `StrategyExtensions`.
    pub strategy_extensions: bool,
}

/// A subresource of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// The last path segment.
    pub name: String,
    /// The behaviour of the subresource.
    pub kind: SubresourceKind,
}

/// The behaviour of a subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubresourceKind {
    /// Reads the object, writes its `status`.
    Status,
    /// An `autoscaling/v1` Scale over the object.
    Scale(ScaleModel),
    /// Served by a handler registered by name.
    Other,
}

/// The dotted paths of the scale subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleModel {
    /// The desired replicas.
    pub spec_replicas: String,
    /// The observed replicas.
    pub status_replicas: String,
    /// The label selector; empty for none.
    pub selector: String,
}

/// A table column.
#[derive(Clone, Debug)]
pub struct ColumnModel {
    /// The heading.
    pub name: String,
    /// The OpenAPI type of the cells.
    pub ty: String,
    /// The OpenAPI format of the cells; may be empty.
    pub format: String,
    /// The description.
    pub doc: String,
    /// The priority; columns with 0 are always printed.
    pub priority: i32,
    /// The source of the cells.
    pub source: CellSource,
}

/// The source of a column's cells.
#[derive(Clone, Debug)]
pub enum CellSource {
    /// The standard Name column.
    Name,
    /// The standard Age column.
    Age,
    /// A dotted path into the object.
    Path(String),
    /// A path in kubectl's JSONPath notation, without the leading dot.
    JsonPath(String),
    /// A function next to the kind.
    Function(Path),
}

impl CellSource {
    /// Classifies a path. Paths with more than names and dots, such as element filters or escaped dots, are in kubectl's
    /// notation.
    #[must_use]
    pub fn of_path(path: String) -> Self {
        match path.contains(['[', '\\', '*']) || path.contains("..") {
            true => Self::JsonPath(path),
            false => Self::Path(path),
        }
    }

    /// Returns the name of a path's first field; empty if it does not start with a field.
    #[must_use]
    pub fn first_name(path: &str) -> &str {
        path.split(['.', '[', '\\', '*']).next().unwrap_or_default()
    }
}

/// The rule for object names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// RFC 1123 subdomain.
    DnsSubdomain,
    /// RFC 1123 label.
    DnsLabel,
    /// RFC 1035 label.
    DnsLabel1035,
    /// A ConfigMap key.
    ConfigKey,
    /// Any single path segment.
    PathSegment,
    /// Any single path segment; the `generateName` prefix is one, too.
    WholePathSegment,
    /// RFC 1123 subdomain, without validation of the `generateName` prefix.
    LongName,
    /// An IP address in canonical form.
    IpAddress,
    /// The strategy of the kind has the rule.
    OfStrategy,
}

/// The changes that `metadata.generation` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GenerationModel {
    /// Objects have no generation.
    #[default]
    None,
    /// Changes of the content.
    Content,
    /// Changes of the content, and updates that send an empty list or map.
    AsSent,
}

/// Deviations of a kind from the default handling of writes and tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BehaviorModel {
    /// The changes that `metadata.generation` counts.
    pub generation: GenerationModel,
    /// PUT creates a missing object.
    pub create_on_update: bool,
    /// PUT requires a resourceVersion.
    pub conditional_update: bool,
    /// DELETE returns the object.
    pub returns_deleted: bool,
    /// There is no DELETE of a whole collection.
    pub no_delete_collection: bool,
    /// Creates can set the status.
    pub status_on_create: bool,
    /// POST returns a response instead of storing the object.
    pub create_only: bool,
    /// Objects are computed on demand.
    pub read_only: bool,
    /// Paths that updates of the object never own.
    pub resets: Vec<String>,
    /// Paths that updates of the status never own.
    pub status_resets: Vec<String>,
    /// The path of the number that orders table rows; empty for name order.
    pub rows_by: String,
    /// The selectable path whose value says which client watches an object; empty if clients watch all objects.
    pub partitioned_by: String,
    /// Objects are namespaces.
    pub is_namespace: bool,
    /// Objects expire by themselves.
    pub expires: bool,
    /// Objects of a terminating namespace are deleted before those of other kinds.
    pub deleted_first: bool,
}
